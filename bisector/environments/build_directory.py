"""The directory of one build: whose it is, whether it is whole, and how it goes."""

import json
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bisector.runs import marker_of
from pins.errors import EnvironmentFailureError

STAMP = "whole.json"
"""Written last: a directory without it is what a killed build left."""

BYTECODE = "bytecode"
"""Where Python keeps what it compiles in the runs of a build, below the build's own directory.

So nothing is written beside the user's script and the modules that it brings along; the runs of one build share it, as
they would share what lies in their environment, and other builds do not see it.
"""


def build_marker(directory: Path) -> str:
    """The id that marks the processes of the build in `RUN/builds/PROBE`, as for the probe's own runs."""
    return marker_of(directory.parent.parent, directory.name)


def write_stamp(directory: Path, facts: Mapping[str, object]) -> None:
    """Say that the environment in a directory is whole.

    Raises:
        EnvironmentFailureError: it cannot be written.
    """
    temporary = directory / f"{STAMP}.new"
    try:
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(facts, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(directory / STAMP)
    except OSError as error:
        raise EnvironmentFailureError(f"cannot write {directory / STAMP}: {error.strerror}") from error


def read_stamp(directory: Path) -> dict[str, Any] | None:
    """What `write_stamp` wrote; None where the environment is not whole."""
    try:
        facts = json.loads((directory / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None


def remove_tree(path: Path) -> None:
    """Remove a directory tree, also one with read-only directories; what is not there is fine.

    Raises:
        EnvironmentFailureError: something in it cannot be removed.
    """

    def make_writable_and_retry(function: Callable[..., object], name: str, _: object) -> None:
        for place in (Path(name).parent, Path(name)):
            if place.is_symlink() or not place.exists():
                continue
            place.chmod(place.stat().st_mode | stat.S_IRWXU)
        if not os.path.lexists(name):
            return
        if function in (os.unlink, os.rmdir):
            function(name)
        else:  # a directory that could not be listed
            shutil.rmtree(name)

    if not os.path.lexists(path):
        return
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, onerror=make_writable_and_retry)
        else:
            path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise EnvironmentFailureError(f"cannot remove {error.filename or path}: {error.strerror}") from error


def keep_bytecode_with(build: Path, variables: dict[str, str]) -> None:
    """Have Python keep what it compiles with the build, unless the user says where."""
    variables.setdefault("PYTHONPYCACHEPREFIX", str(build / BYTECODE))
