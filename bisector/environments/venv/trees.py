"""Local projects among the requirements: copied before anything is built from them.

A build leaves files where it is made. In the user's own directory they would be in the way of the user, and of the next
candidate's build, which might take them for up to date.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bisector.environments.venv.cache import cache_for
from pins.errors import EnvironmentFailureError

_NOT_SOURCE = {
    *("__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
    *("node_modules",),
}
_ARTEFACTS = ("lib", "lib.", "temp.", "bdist.", "scripts-")
"""How the entries begin of a directory `build` that setuptools has made."""


def tree_state(path: Path) -> str:
    """A digest that changes when a source file below a directory does: names, sizes and times, not content."""
    digest = hashlib.sha256()
    for line in sorted(_files(path, "")):
        digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()


def copied(path: Path, state: str, *, cache: Path, circumstances: str) -> Path:
    """A copy of a project to build from in these circumstances; the same one each time.

    Args:
        path: the user's directory.
        state: what `tree_state` said of it when the run began.
        cache: bisector's cache directory.
        circumstances: see `cache.cache_for`.

    Raises:
        EnvironmentFailureError: it cannot be copied, or has changed meanwhile.
    """
    name = hashlib.sha256(f"{path} {state}".encode(errors="surrogateescape")).hexdigest()[:16]
    place = cache_for(cache, circumstances) / "trees" / name / (path.name or "tree")
    if place.is_dir():
        return place
    if tree_state(path) != state:
        raise EnvironmentFailureError(f"{path} has changed since the run began; start a new run")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, ignore_cleanup_errors=True) as temporary:
            copy = Path(temporary) / "copy"
            shutil.copytree(path, copy, symlinks=True, ignore=_left_behind)
            try:
                copy.rename(place)
            except OSError:
                if not place.is_dir():  # another thread was quicker
                    raise
    except (OSError, shutil.Error) as error:
        raise EnvironmentFailureError(f"cannot copy {path} to build from it: {error}") from error
    return place


def _left_behind(directory: str, names: Sequence[str]) -> set[str]:
    return {name for name in names if _is_left_behind(directory, name)}


def _is_left_behind(directory: str, name: str) -> bool:
    if name in _NOT_SOURCE or name.endswith((".egg-info", ".pyc")):
        return True
    if name != "build":
        return False
    try:
        entries = os.listdir(os.path.join(directory, name))  # noqa: PTH118, PTH208
    except OSError:
        return False
    return bool(entries) and all(entry.startswith(_ARTEFACTS) for entry in entries)


def _files(path: Path, prefix: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(path))
    except OSError:
        return
    for entry in entries:
        if entry.name == ".git" or _is_left_behind(str(path), entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path), f"{prefix}{entry.name}/")
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        yield f"{prefix}{entry.name} {status.st_size} {status.st_mtime_ns}\n"
