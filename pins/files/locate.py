"""Where files are: on disk, or in a commit of the repository around them."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pins.errors import UsageError
from pins.files.context import Commit, Context, Directory
from pins.files.patterns import Pattern, read_patterns


@dataclass(frozen=True)
class Tree:
    """A tree of files that pins are looked for in.

    Attributes:
        root: top of the repository, or the directory itself where there is none.
        revision: "" for the files on disk, else what git calls the commit.
        repository: whether `root` is a repository.
    """

    root: Path
    revision: str
    repository: bool

    def context(self) -> Context:
        """The tree as a build context."""
        return Commit(self.root, self.revision) if self.revision else Directory(self.root)

    def read(self, path: str) -> bytes | None:
        """A file by its path from the root, None when there is none."""
        return self.context().read(path)

    def files(self, under: str) -> list[str]:
        """Paths of all files below `under` (from the root, "" for all)."""
        if self.revision:
            return _git_lines(self.root, ["ls-tree", "-r", "--name-only", "-z", self.revision, "--", under or "."])
        if self.repository:
            listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", under or "."]
            return [path for path in _git_lines(self.root, listed) if (self.root / path).is_file()]
        found: list[str] = []
        for directory, names, files in os.walk(self.root / under):
            names[:] = [name for name in names if not name.startswith(".") or name in {".github", ".buildkite", ".ci"}]
            base = Path(directory).relative_to(self.root)
            found.extend((base / file).as_posix() for file in files)
        return found

    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns that `pins.toml` or `pyproject.toml` at the root describe.

        Raises:
            UsageError: the configuration is wrong.
        """
        found: tuple[Pattern, ...] = ()
        for name in ("pins.toml", "pyproject.toml"):
            data = self.read(name)
            if data is not None and (name == "pins.toml" or b"tool.pins" in data):
                found += read_patterns(data, name)
        return found


def locate(path: Path, revision: str = "") -> tuple[Tree, str]:
    """The tree around a file or directory, and its path from the tree's root.

    Args:
        path: as the user gave it; with a revision it need not exist on disk.
        revision: "" for the files on disk.

    Raises:
        UsageError: the path does not exist, the revision does not exist, or there is no repository.
    """
    absolute = Path(os.path.normpath(path.absolute()))
    if not revision and not absolute.exists():
        raise UsageError(f"{path} does not exist")
    if revision.startswith("-"):
        raise UsageError(f"{revision!r} is not a revision")
    nearest = absolute
    while not nearest.is_dir():
        nearest = nearest.parent
    top = _top(nearest)
    if top is None:
        if revision:
            raise UsageError(f"{path} is not in a git repository, so there is no revision {revision!r} of it")
        root = absolute if absolute.is_dir() else absolute.parent
        return Tree(root, "", repository=False), "" if absolute.is_dir() else absolute.name
    if (
        revision
        and _git(top, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]) is None
    ):
        raise UsageError(f"{top} has no revision {revision!r}")
    real = nearest.resolve() / absolute.relative_to(nearest)
    relative = real.relative_to(top.resolve()).as_posix()
    return Tree(top, revision, repository=True), "" if relative == "." else relative


def _top(directory: Path) -> Path | None:
    found = _git(directory, ["rev-parse", "--show-toplevel"])
    if found is not None and found.strip():
        return Path(found.decode("utf-8", "surrogateescape").rstrip("\n"))
    bare = _git(directory, ["rev-parse", "--is-bare-repository"])
    return directory if bare is not None and bare.strip() == b"true" else None


def _git(directory: Path, arguments: list[str]) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments], capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def _git_lines(directory: Path, arguments: list[str]) -> list[str]:
    output = _git(directory, arguments) or b""
    return [part.decode("utf-8", "surrogateescape") for part in output.split(b"\0") if part]


def commits_between(repository: Path, old: str, new: str) -> tuple[int, int] | None:
    """(commits that only `new` has, commits that only `old` has); None when the repository lacks one of them."""
    if old.startswith("-") or new.startswith("-"):
        return None
    output = _git(repository, ["rev-list", "--left-right", "--count", "--end-of-options", f"{old}...{new}"])
    if output is None:
        return None
    behind, ahead = output.split()
    return int(ahead), int(behind)
