"""Where the document is kept: what every such place does, and how `--state` names one."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from pins.drift.state.document import DamagedError, ForeignVersionError, Remembered, read
from pins.errors import UsageError
from pins.home import home

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


def state_store(text: str, *, directory: Path, targets: Sequence[str], push: str = "") -> StateStore:
    """The place that `--state` names.

    Args:
        text: "file:PATH", "git:BRANCH", or "" for the user's own state directory.
        directory: in the repository that is checked.
        targets: what is checked; the default place has one document for each set of them.
        push: the remote that a branch is fetched from and pushed to, "" for none.

    Raises:
        UsageError: it names no place, or `--push` makes no sense with it.
    """
    from pins.drift.state.file_store import FileStore
    from pins.drift.state.git_store import GitStore, branch_store

    kind, colon, rest = text.partition(":")
    if kind == "git" and rest:
        store: GitStore = branch_store(directory, rest, push)
        return store
    if push:
        raise UsageError("--push goes with --state git:BRANCH")
    if not text:
        return FileStore(default_file(directory, targets, os.environ))
    if kind != "file" or not colon or not rest:
        raise UsageError(f"--state {text!r} must be file:PATH or git:BRANCH")
    return FileStore(Path(rest))


def default_file(directory: Path, targets: Sequence[str], environment: Mapping[str, str]) -> Path:
    """Below the user's state directory, one file for what is checked of a repository."""
    base = Path(environment.get("XDG_STATE_HOME", ""))
    top = (base if base.is_absolute() else home() / ".local" / "state") / "bisector" / "drift"
    named = "\0".join((str(directory.resolve()), *sorted(targets)))
    word = re.sub(r"[^A-Za-z0-9._-]+", "-", directory.resolve().name)[:40] or "files"
    return top / f"{word}-{hashlib.sha256(named.encode('utf-8', 'surrogateescape')).hexdigest()[:10]}.json"
