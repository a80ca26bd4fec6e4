"""The document as a file: written aside and moved into place, under a lock that lasts as long as a run."""

import contextlib
import os
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
        """Hold the document for a run; see `StateStore`."""
        if self.path.is_dir():
            raise UsageError(f"--state {self.shown} is a directory; name a file")
        with lock_on(self.path.with_name(self.path.name + ".lock"), wait=False) as mine:
            if not mine:
                raise EnvironmentFailureError(
                    f"another check holds {self.shown}; let it end, or name another place with --state"
                )
            yield self._read()

    def _read(self) -> "_HeldFile":
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return _HeldFile(self.path, Remembered(), ())
        except OSError as error:
            raise EnvironmentFailureError(f"{self.path} cannot be read: {error.strerror}") from error
        aside = self._aside()
        remembered, note = taken_in(data, str(self.path), aside.name)
        return _HeldFile(self.path, remembered, (note,) if note else (), aside if note else None)

    def _aside(self) -> Path:
        """A name that no file has yet."""
        stem = f"{self.path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        names = (self.path.with_name(stem if not count else f"{stem}-{count}") for count in range(1000))
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
