"""What every place does that keeps the document."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from pins.drift.state.document import DamagedError, ForeignVersionError, Remembered, read
from pins.errors import UsageError

Change = Callable[[Remembered], Remembered]


class Held(Protocol):
    """The document while a run holds it.

    Attributes:
        remembered: what it held when the run began; an empty one where there was none.
        notes: for the person, such as that a damaged one is kept aside.
    """

    @property
    def remembered(self) -> Remembered: ...  # noqa: D102 - said above, as with the others
    @property
    def notes(self) -> Sequence[str]: ...  # noqa: D102

    def save(self, change: Change, message: str) -> None:
        """Keep what a change makes of the document.

        Args:
            change: given what it holds, which is not what it held at first where another run was quicker; then it is
                called again.
            message: what happened, one line.

        Raises:
            EnvironmentFailureError: it cannot be kept.
        """


class StateStore(Protocol):
    """A place for the document."""

    @property
    def shown(self) -> str:
        """How a person names it, as in `--state`."""

    def held(self) -> AbstractContextManager[Held]:
        """Hold the document for a run.

        Raises:
            EnvironmentFailureError: another run holds it, or it cannot be read.
            UsageError: a newer version of this program wrote it.
        """


def taken_in(data: bytes, shown: str, aside: str) -> tuple[Remembered, str]:
    """What a document holds, and what to say where it had to be set aside.

    Args:
        data: the document.
        shown: where it is.
        aside: where it will be kept when it cannot be read.

    Raises:
        UsageError: a newer version of this program wrote it: then it is left alone.
    """
    try:
        return read(data), ""
    except ForeignVersionError as error:
        if error.newer:
            raise UsageError(
                f"{shown} was written by a newer version: {error}. Use that version, or name another place with --state"
            ) from error
        return Remembered(), f"{shown} is of an older version: {error}. It is kept as {aside}; everything is new again"
    except DamagedError as error:
        return Remembered(), f"{shown} is damaged: {error}. It is kept as {aside}; everything is new again"
