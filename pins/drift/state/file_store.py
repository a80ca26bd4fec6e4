"""The document as a file: written aside and moved into place, under a lock that lasts as long as a run."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pins.drift.state.document import Remembered, written
from pins.drift.state.store import Change, taken_in
from pins.errors import EnvironmentFailureError, UsageError
from pins.sources.git.lock import lock_on


@dataclass(frozen=True)
class FileStore:
    """A file.

    Attributes:
        path: where; directories are made when it is first written.
    """

    path: Path

    @property
    def shown(self) -> str:
        """How a person names it."""
        return f"file:{self.path}"

    @contextmanager
    def held(self) -> Iterator["_HeldFile"]:
        """Hold the document for a run; see `StateStore`. Of a link, what it leads to is held, read and replaced."""
        path = self._path()
        with lock_on(path.with_name(path.name + ".lock"), wait=False) as mine:
            if not mine:
                raise EnvironmentFailureError(
                    f"another check holds {self.shown}; let it end, or name another place with --state"
                )
            yield _read(path)

    def _path(self) -> Path:
        try:
            path = self.path.resolve()
            kind = path.stat().st_mode
        except FileNotFoundError:
            return path
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead to one another
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise EnvironmentFailureError(f"--state {self.shown} cannot be read: {why}") from error
        if stat.S_ISDIR(kind):
            raise UsageError(f"--state {self.shown} is a directory; name a file")
        if not stat.S_ISREG(kind):  # to replace a device such as /dev/null would harm everybody
            raise UsageError(f"--state {self.shown} is no regular file; name one, or one that does not exist yet")
        return path


def _read(path: Path) -> "_HeldFile":
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return _HeldFile(path, Remembered(), ())
    except OSError as error:
        raise EnvironmentFailureError(f"{path} cannot be read: {error.strerror}") from error
    aside = _aside(path)
    remembered, note = taken_in(data, str(path), aside.name)
    return _HeldFile(path, remembered, (note,) if note else (), aside if note else None)


def _aside(path: Path) -> Path:
    """A name that no file has yet."""
    stem = f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    names = (path.with_name(stem if not count else f"{stem}-{count}") for count in range(1000))
    return next(name for name in names if not name.exists())


@dataclass
class _HeldFile:
    path: Path
    remembered: Remembered
    notes: Sequence[str]
    aside: Path | None = None

    def save(self, change: Change, message: str) -> None:
        """Keep what a change makes of the document; nobody else has written it meanwhile, for it is locked."""
        del message
        data = written(change(self.remembered))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.aside is not None:
                self.path.replace(self.aside)
                self.aside = None
            handle, beside = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                Path(beside).replace(self.path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    Path(beside).unlink()
        except OSError as error:
            raise EnvironmentFailureError(
                f"{self.path} cannot be written, so the next check will report the same again: {error.strerror}"
            ) from error
