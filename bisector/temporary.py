"""Directories for a moment, which are found again when the process that made them was killed.

Each is locked while it is in use, so that nobody need know which process it belongs to, or whether that is still alive.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "bisector-tmp-"


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """An empty directory below the system's temporary one, removed afterwards.

    Raises:
        OSError: it cannot be made.
    """
    path, descriptor = _locked()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned_directories(*, dry_run: bool = False) -> list[str]:
    """Remove this user's temporary directories that nobody uses; returns their paths."""
    removed = []
    for path in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        try:
            if path.is_symlink() or path.stat().st_uid != os.geteuid():
                continue
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            removed.append(str(path))
            if not dry_run:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(descriptor)
    return removed


def _locked() -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if path.exists():  # else it was taken for abandoned in the moment before it was locked
            return path, descriptor
        os.close(descriptor)
