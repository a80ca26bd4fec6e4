"""Taking turns between processes and threads: a lock on a file, which its holder's end gives back."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pins.errors import EnvironmentFailureError


@contextmanager
def lock_on(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold a lock on a file; gives whether it was to be had (always, where it is waited for)."""
    descriptor = -1
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        except OSError as error:
            raise EnvironmentFailureError(f"cannot lock {path}: {error.strerror}") from error
        yield True
    finally:
        if descriptor >= 0:
            os.close(descriptor)
