"""uv's cache: shared by all runs, but for what is built.

uv builds a source distribution where it has unpacked it, in its cache, and keeps what the build leaves there: object
files, `build/lib`. When the same source is built again in other circumstances (another version of a build tool, another
constraint), the backend may take those for up to date, and a verdict would leak from one candidate to the next. So each
set of circumstances has a cache of its own, made of links to the shared one for all that is only downloaded, and of
directories of its own for all that is unpacked to be built.
"""

import os
import shutil
import time
from pathlib import Path

from pins.errors import EnvironmentFailureError

SHARED = "uv"
BUILT = "built"
UNUSED = 3 * 24 * 3600.0
"""Seconds after which what was built is removed: the next run reads the index as of another time, and builds anew."""

_BUILT_IN_PLACE = ("sdists", "builds", "git", "environments")
"""How the names of uv's directories begin that hold sources or environments of builds."""


def cache_for(cache: Path, circumstances: str) -> Path:
    """The cache to give to uv, made where it does not exist yet.

    Args:
        cache: bisector's own cache directory.
        circumstances: a digest of all that decides a build besides its source.

    Raises:
        EnvironmentFailureError: it cannot be made.
    """
    shared = cache / SHARED
    own = cache / BUILT / circumstances[:32]
    try:
        shared.mkdir(parents=True, exist_ok=True)
        is_new = not own.exists()
        own.mkdir(parents=True, exist_ok=True)
        if is_new:
            _share_what_others_hold(shared, own)
        for name in _shared_names(shared):
            if not os.path.lexists(own / name):
                _link(own / name, Path("..", "..", SHARED, name))
        os.utime(own)
    except OSError as error:
        raise EnvironmentFailureError(f"cannot prepare the cache {own}: {error.strerror}; is the disk full?") from error
    return own


def discard(cache: Path, circumstances: str) -> None:
    """Remove what was built in circumstances that will not come again."""
    shutil.rmtree(cache / BUILT / circumstances[:32], ignore_errors=True)


def remove_unused(cache: Path) -> tuple[str, ...]:
    """Remove what has not been used for `UNUSED` seconds; says what that was."""
    removed = []
    for own in _entries(cache / BUILT):
        try:
            age = time.time() - own.stat().st_mtime
        except OSError:
            continue
        if age > UNUSED:
            shutil.rmtree(own, ignore_errors=True)
            removed.append(f"what was built in a run of the past ({own})")
    return tuple(removed)


def _share_what_others_hold(shared: Path, own: Path) -> None:
    """Share what the first cache of all has downloaded: uv itself names its directories, when it makes them."""
    for other in _entries(own.parent):
        if other == own:
            continue
        for entry in _entries(other):
            if _is_shared(entry.name) and not entry.is_symlink() and not (shared / entry.name).exists():
                entry.rename(shared / entry.name)
                _link(entry, Path("..", "..", SHARED, entry.name))


def _link(place: Path, target: Path) -> None:
    try:
        place.symlink_to(target, target_is_directory=True)
    except FileExistsError:  # another thread or process was quicker
        return


def _shared_names(shared: Path) -> list[str]:
    return [entry.name for entry in _entries(shared) if _is_shared(entry.name) and entry.is_dir()]


def _is_shared(name: str) -> bool:
    return "-v" in name and not name.startswith((".", *_BUILT_IN_PLACE))


def _entries(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except FileNotFoundError:
        return []
