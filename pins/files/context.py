"""The files around a Dockerfile: its build context, on disk or in a commit, and checkouts of pinned repositories."""

import posixpath
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class Context(Protocol):
    """A tree of files."""

    def read(self, path: str) -> bytes | None:
        """The file at `path` (relative, ``/`` between parts), None when there is none."""


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory on disk.

    Attributes:
        root: nothing outside it is read.
    """

    root: Path

    def read(self, path: str) -> bytes | None:
        """The file at `path`, None when there is none."""
        target = (self.root / path.lstrip("/")).resolve()
        try:
            if not target.is_relative_to(self.root.resolve()) or not target.is_file():
                return None
            return target.read_bytes()
        except OSError:
            return None


@dataclass(slots=True)
class Commit:
    """The tree of a commit.

    Attributes:
        repository: path of the repository or a directory in it.
        revision: what git calls it.
    """

    repository: Path
    revision: str
    known: dict[str, bytes | None] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        """The file at `path` from the top of the tree, None when there is none."""
        normal = posixpath.normpath(path.lstrip("/"))
        if normal.startswith(".."):
            return None
        if normal not in self.known:
            done = subprocess.run(
                ["git", "-C", str(self.repository), "cat-file", "blob", f"{self.revision}:{normal}"],
                capture_output=True,
                check=False,
            )
            self.known[normal] = done.stdout if done.returncode == 0 else None
        return self.known[normal]


@dataclass(slots=True)
class Copies:
    """What COPY and mounts have put where in a stage.

    Attributes:
        entries: (destination, source in the context, destination is a directory), in order.
    """

    entries: list[tuple[str, str, bool]] = field(default_factory=list)

    def child(self) -> "Copies":
        """What a stage built from this one starts with."""
        return Copies(list(self.entries))

    def candidates(self, path: str) -> list[str]:
        """Paths in the context that may have become `path`, the latest copy first."""
        found: list[str] = []
        for destination, source, is_directory in reversed(self.entries):
            if path == destination:
                found.append(source)
            if is_directory and path == posixpath.join(destination, posixpath.basename(source)):
                found.append(source)
            prefix = destination.rstrip("/") + "/"
            if path.startswith(prefix):
                rest = path[len(prefix) :]
                found.append(posixpath.normpath(posixpath.join(source, rest)))
        return found


def read_through(context: Context | None, copies: Copies, path: str) -> tuple[str, bytes] | None:
    """The context's file that lies at `path` in the image, with its path in the context."""
    if context is None:
        return None
    for candidate in copies.candidates(path):
        data = context.read(candidate)
        if data is not None:
            return candidate, data
    return None


Repositories = Mapping[str, Path]
"""Local clones by pin name or by repository address, for files that a pinned repository holds."""
