"""Both pin sets as files: each in a tree of its own, in which everything around the file is as it is.

A file is read together with what lies around it (`-r requirements.txt`, `pins.toml`), and the user's own file must not
change. So each tree holds links to all that the repository holds, and the file itself as it would be.
"""

import shutil
import subprocess
from pathlib import Path, PurePosixPath

from pins.errors import EnvironmentFailureError
from pins.suggest.newest import NewestFile

_KEPT = 5
"""Pairs of trees that are kept of one file: a run that is resumed reads them."""


def write_trees(newest: NewestFile, room: Path, name: str) -> tuple[Path, Path]:
    """Write both trees.

    Args:
        newest: the file as it is, and with everything moved.
        room: where the trees of this file are kept.
        name: of this pair, later than those before.

    Returns:
        The paths of the file as it is and of the newest.

    Raises:
        EnvironmentFailureError: they cannot be written.
    """
    try:
        before = sorted(path for path in room.glob("*") if path.is_dir())
        for old in before[: max(0, len(before) - _KEPT + 1)]:
            shutil.rmtree(old, ignore_errors=True)
        root, relative, pair = newest.tree.root, newest.relative, room / name
        today = _tree(root, relative, newest.today, pair / "today")
        return today, _tree(root, relative, newest.newest, pair / "newest")
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentFailureError(f"the pin sets cannot be written below {room}: {error}") from error


def _tree(root: Path, relative: str, data: bytes, into: Path) -> Path:
    into.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(into)], check=True, capture_output=True)  # says where its top is
    *directories, name = PurePosixPath(relative).parts
    here, there = root, into
    for following in (*directories, name):
        for entry in here.iterdir():
            if entry.name not in {following, ".git"}:
                (there / entry.name).symlink_to(entry.resolve())
        here, there = here / following, there / following
        if following != name or here.is_dir():
            there.mkdir()
    there.write_bytes(data)
    return there
