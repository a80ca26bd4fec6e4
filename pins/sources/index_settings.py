"""What one origin (the command line, uv, pip) says about package indexes."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pins.home import home
from pins.sources.index_location import IndexLocation


class IndexStrategy(StrEnum):
    """Which versions count where several indexes have a project; the values are uv's."""

    FIRST_INDEX = "first-index"
    """Those of the first index that has it: what uv does."""
    UNSAFE_FIRST_MATCH = "unsafe-first-match"
    UNSAFE_BEST_MATCH = "unsafe-best-match"
    """The best of all indexes: what pip does."""


@dataclass(frozen=True)
class IndexSettings:
    """What one origin says; where it says nothing, the field is empty.

    Attributes:
        default: the index that is asked last (uv) or first (pip).
        indexes: further indexes, in order.
        flat: lists of files (`--find-links`).
        no_index: only `flat` counts.
        strategy: named outright, or None.
        keyring_provider: "subprocess", "disabled" or "".
        certificates: a file of certificate authorities, "" for none named.
        insecure_hosts: hosts whose certificates are not checked.
    """

    default: IndexLocation | None = None
    indexes: tuple[IndexLocation, ...] = ()
    flat: tuple[IndexLocation, ...] = ()
    no_index: bool = False
    strategy: IndexStrategy | None = None
    keyring_provider: str = ""
    certificates: str = ""
    insecure_hosts: tuple[str, ...] = ()

    @property
    def says_where(self) -> bool:
        """Whether it names any place that packages come from."""
        return bool(self.default or self.indexes or self.flat or self.no_index)


def is_true(text: str) -> bool:
    """Whether uv and pip take this value of a variable for "yes"."""
    return text.strip().lower() in ("1", "true", "yes", "on", "y", "t")


def home_directory(environment: Mapping[str, str]) -> Path:
    """The user's home as this environment says."""
    return Path(environment["HOME"]) if environment.get("HOME") else home()


def user_configuration_directory(environment: Mapping[str, str]) -> Path:
    """`$XDG_CONFIG_HOME`, or what stands in for it."""
    named = environment.get("XDG_CONFIG_HOME", "")
    return Path(named) if Path(named).is_absolute() else home_directory(environment) / ".config"


def system_configuration_directories(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """`$XDG_CONFIG_DIRS`, most important first."""
    named = environment.get("XDG_CONFIG_DIRS", "") or "/etc/xdg"
    return tuple(Path(part) for part in named.split(":") if Path(part).is_absolute())
