"""Directories that a resolution works in, and what killed ones have left."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bisector.environments.venv.cache import remove_unused
from bisector.processes import end_marked
from pins.errors import EnvironmentFailureError


@contextmanager
def workplace(cache: Path) -> Iterator[Path]:
    """An empty directory below `cache` for one resolution, removed afterwards; its name says whose it is."""
    parent = cache / "work"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=parent))
    except OSError as error:
        raise EnvironmentFailureError(f"cannot make a directory in {parent}: {error.strerror}") from error
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def workplace_marker(path: Path) -> str:
    """The id that marks the processes of the resolution in this workplace."""
    return f"resolve.{path.name}"


def remove_abandoned(cache: Path) -> tuple[str, ...]:
    """Remove the workplaces of processes that are gone, and end what still runs for them.

    Args:
        cache: what `VenvEnvironment` is given as its cache directory.

    Returns:
        What was removed, for a report.
    """
    removed = []
    for path in (cache / "work").glob("*-*"):
        owner = path.name.split("-", 1)[0]
        if owner.isdigit() and not _is_alive(int(owner)):
            end_marked({workplace_marker(path)})
            shutil.rmtree(path, ignore_errors=True)
            removed.append(f"the directory of a resolution ({path})")
    return (*removed, *remove_unused(cache))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
