"""What becomes of the pins of a file when they are resolved together."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Conflict:
    """An environment in which nothing fits.

    Attributes:
        name: of the environment, "" where there is only one.
        because: the fewest facts that exclude a solution, as sentences.
        also: how many more environments they exclude one in.
    """

    name: str
    because: tuple[str, ...]
    also: int = 0


@dataclass(frozen=True)
class Newer:
    """What is newer than an exact pin and still fits.

    Attributes:
        version: the newest such release, "" for none.
        unknown: why it cannot be told, "" where it can.
        lasting: whether that is so for as long as the file and the releases stay the same.
    """

    version: str = ""
    unknown: str = ""
    lasting: bool = True


@dataclass(frozen=True)
class Resolved:
    """What became of a file.

    Attributes:
        conflicts: environments in which nothing fits.
        unknown: why that cannot be told of others, as sentences.
        newer: by name of an exact pin.
        lasting: whether what is unknown is so for as long as the file and the releases stay the same: not where a
            requirement could not be read this time.
        uncounted: what is installed besides, and of which it is not known what it requires, as sentences.
    """

    conflicts: tuple[Conflict, ...]
    unknown: tuple[str, ...]
    newer: Mapping[str, Newer]
    uncounted: tuple[str, ...] = ()
    lasting: bool = True
