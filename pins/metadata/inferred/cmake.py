"""Which versions of CMake a project's `CMakeLists.txt` takes."""

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from packaging.version import InvalidVersion, Version

from pins.metadata.inferred.facts import OLDEST_CMAKE

_COMMENT = re.compile(r"#\[(=*)\[.*?\]\1\]|#[^\n]*", re.DOTALL)
_MINIMUM = re.compile(
    r"\bcmake_minimum_required\s*\(\s*VERSION\s+(\d+(?:\.\d+)*)(?:\.\.\.(\d+(?:\.\d+)*))?", re.IGNORECASE
)
_BELOW = re.compile(r"\b(add_subdirectory|include)\s*\(\s*\"?([A-Za-z0-9_./-]+)\"?", re.IGNORECASE)
_MOST_FILES = 200
Read = Callable[[str], bytes | None]


def old_minimums(read: Read, directory: str) -> Iterator[tuple[str, int, str]]:
    """(file, line, version) of every minimum that CMake 4 refuses, in the files that a project's build goes through.

    Followed are directories and files that are named outright; what lies in a submodule is not in the tree.

    Args:
        read: gives a file by its path from the top of the tree, None when there is none.
        directory: where the build starts.
    """
    waiting = [posixpath.join(directory, "CMakeLists.txt").lstrip("/")]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        content = read(path)
        if content is None:
            continue
        found, below = _parsed(content)
        yield from ((path, line, version) for line, version in found)
        for command, name in below:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            if target.startswith(".."):
                continue
            if command == "add_subdirectory":
                waiting.append(posixpath.join(target, "CMakeLists.txt"))
            elif target.endswith(".cmake"):
                waiting.append(target)


@lru_cache(maxsize=4096)
def _parsed(content: bytes) -> tuple[tuple[tuple[int, str], ...], tuple[tuple[str, str], ...]]:
    """(line, version) of every old minimum of a file, and (command, name) of what it goes on with.

    Commits share nearly all of these files, and the same bytes come again for each.
    """
    text = _without_comments(content.decode("utf-8", "replace"))
    found = []
    for match in _MINIMUM.finditer(text):
        newest = _version(match[2] or match[1])
        if newest is not None and newest < OLDEST_CMAKE:
            found.append((text.count("\n", 0, match.start()) + 1, match[1]))
    return tuple(found), tuple((match[1].lower(), match[2]) for match in _BELOW.finditer(text))


def _without_comments(text: str) -> str:
    """The text with comments blanked out; lines stay where they are."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _version(text: str) -> Version | None:
    try:
        return Version(text.strip("."))
    except InvalidVersion:
        return None
