"""The files around a Dockerfile: its build context, on disk or in a commit, and checkouts of pinned repositories."""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pins.files.local_git import ask_git

_FOUND = re.compile(rb"(?:[0-9a-f]{40,64} )?(blob|commit|dangling|loop|notdir|symlink|tag|tree) (\d+)\Z")
"""What git says of an object, or of a link that it cannot follow, whose target then stands in the object's place."""


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

    def why_not(self, path: str) -> str:
        """Why the file at `path`, which is there, cannot be read; "" where it can."""
        target = self.root / path.lstrip("/")
        try:
            if not target.resolve().is_relative_to(self.root.resolve()):
                return f"a link to {target.resolve()}, outside {self.root}: name that file to have it read"
            with target.open("rb"):
                return ""
        except OSError as error:
            return f"cannot be read: {error.strerror}"

    def read(self, path: str) -> bytes | None:
        """The file at `path`, None when there is none."""
        try:
            target = (self.root / path.lstrip("/")).resolve()
            if not target.is_relative_to(self.root.resolve()) or not target.is_file():
                return None
            return target.read_bytes()
        except (OSError, RuntimeError, ValueError):  # no permission, links in a circle, a NUL byte
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
            self.known[normal] = self._blob(normal)
        return self.known[normal]

    def prepare(self, paths: Iterable[str]) -> None:
        """Read many files at once, for one call of git each takes its time."""
        names = [path for path in dict.fromkeys(paths) if path not in self.known and "\n" not in path]
        if not names:
            return
        asked = "".join(f"{self.revision}:{name}\n" for name in names).encode("utf-8", "surrogateescape")
        output = ask_git(self.repository, "cat-file", "--batch", "--follow-symlinks", given=asked).output
        position = 0
        for name in names:
            head, position = _line(output, position)
            self.known[name] = None
            if found := _FOUND.match(head):
                size = int(found[2])
                if found[1] == b"blob":
                    self.known[name] = output[position : position + size]
                position += size + 1

    def _blob(self, path: str) -> bytes | None:
        """A file's content; a link is followed as far as it stays in the tree."""
        if "\n" in path:
            plain = ask_git(self.repository, "cat-file", "blob", f"{self.revision}:{path}")
            return plain.output if plain.ok else None
        self.prepare([path])
        return self.known.pop(path, None)


def _line(output: bytes, position: int) -> tuple[bytes, int]:
    """The line at `position`, and where the next one begins."""
    end = output.find(b"\n", position)
    end = len(output) if end < 0 else end
    return output[position:end], end + 1


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
            if is_directory and path == posixpath.normpath(posixpath.join(destination, posixpath.basename(source))):
                found.append(source)
            # "." is the working directory of a base image, which nobody here knows: all relative paths begin there
            prefix = "" if destination == "." else destination.rstrip("/") + "/"
            if path.startswith(prefix) and (prefix or not path.startswith(("/", "../"))):
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
