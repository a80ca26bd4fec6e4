"""Where in a stage wheels lie, and where they are when files are copied or mounted."""

import posixpath
import re
from collections.abc import Mapping

from pins.metadata.environments.model import Project, StageContents

_WHEELS = re.compile(r"(?:\*[^/]*\.whl|\*|[^/]*\.whl)\Z")


def names_wheels(path: str) -> bool:
    """Whether a path, as a command has it, names wheels."""
    return _WHEELS.search(posixpath.basename(path)) is not None and not path.endswith("/")


def rooted(path: str) -> str:
    """A path as a name for a place: what is relative where the working directory is not known counts from the top."""
    return posixpath.normpath(posixpath.join("/", path))


def joined(directory: str, path: str) -> str:
    """A path as seen from a directory."""
    return posixpath.normpath(posixpath.join(directory or ".", path))


def without_wildcard(path: str) -> str:
    """The directory of a path that names wheels, any other path as it is."""
    return posixpath.dirname(path) if names_wheels(path) else path


def moved(wheels: Mapping[str, list[Project]], source: str, target: str) -> dict[str, list[Project]]:
    """Where wheels below one directory lie when the directory is seen at another place."""
    start, end = rooted(source), rooted(target)
    return {
        posixpath.normpath(posixpath.join(end, posixpath.relpath(directory, start))): list(projects)
        for directory, projects in wheels.items()
        if directory == start or directory.startswith(start.rstrip("/") + "/")
    }


def add_wheels(contents: StageContents, wheels: Mapping[str, list[Project]]) -> None:
    """Put wheels into a stage, beside those that lie there."""
    for directory, projects in wheels.items():
        there = contents.wheels.setdefault(directory, [])
        there += [project for project in projects if project not in there]
