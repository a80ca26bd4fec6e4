import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.session.conftest import ask

__all__ = ["ask"]


@pytest.fixture
def short_directory() -> Iterator[Path]:
    """A directory whose name is short, for a socket's name has a limit."""
    directory = Path(tempfile.mkdtemp(prefix="engine-"))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)
