from tests.session.conftest import ask

__all__ = ["ask"]
