"""Build contexts made of others: a repository and a directory of it, or a tree under the paths that a user sees."""

import posixpath
from dataclasses import dataclass

from pins.files.context import Context


@dataclass(frozen=True)
class Both:
    """A build context that may be the repository or the directory of the file."""

    first: Context
    second: Context

    def read(self, path: str) -> bytes | None:
        """The file at `path`, None when there is none."""
        found = self.first.read(path)
        return found if found is not None else self.second.read(path)


@dataclass(frozen=True)
class Below:
    """A directory of a tree as a context of its own."""

    tree: Context
    directory: str

    def read(self, path: str) -> bytes | None:
        """The file at `path`, None when there is none."""
        return self.tree.read(f"{self.directory}/{path}" if self.directory else path)


@dataclass(frozen=True)
class Shown:
    """A tree addressed by the paths that are shown to the user."""

    tree: Context
    relative: str
    shown: str

    def read(self, path: str) -> bytes | None:
        """The file at `path`, None when there is none."""
        inside = posixpath.relpath(path, posixpath.dirname(self.shown) or ".")
        return self.tree.read(posixpath.normpath(posixpath.join(posixpath.dirname(self.relative), inside)))
