"""A user whom the system does not know, and paths that begin with a tilde."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bisector.cli.arguments import parse_path, parse_repository
from bisector.runs import state_directory
from pins.errors import EnvironmentFailureError, UsageError
from pins.home import home
from pins.sources.git.address import parse_address


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)


@pytest.mark.usefixtures("no_home")
@pytest.mark.parametrize("ask", [home, state_directory])
def test_without_a_home_directory_the_message_says_so(ask: Callable[[], Path]) -> None:
    with pytest.raises(EnvironmentFailureError, match="set HOME"):
        ask()


@pytest.mark.parametrize(
    "ask",
    [
        lambda text: parse_path(text, Path("/tmp")),
        lambda text: parse_address(text, Path("/tmp")),
        lambda text: parse_repository(f"foo={text}", Path("/tmp")),
    ],
)
def test_a_tilde_with_an_unknown_user_is_a_wrong_path(ask: Callable[[str], object]) -> None:
    with pytest.raises(UsageError, match="user that does not exist"):
        ask("~nobody-of-this-name/x")
