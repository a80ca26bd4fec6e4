"""Where files are: on disk, or in a commit of the repository around them."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pins.choices import not_there
from pins.errors import EnvironmentFailureError, UsageError
from pins.files.context import Commit, Context, Directory
from pins.files.local_git import ask_git, no_revision
from pins.files.patterns import Pattern, read_patterns


@dataclass(frozen=True)
class Tree:
    """A tree of files that pins are looked for in.

    Attributes:
        root: top of the repository, or the directory itself where there is none.
        revision: "" for the files on disk, else what git calls the commit.
        repository: whether `root` is a repository.
        bare: whether it is one without files of its own.
    """

    root: Path
    revision: str
    repository: bool
    bare: bool = False

    @cached_property
    def _context(self) -> "Commit | Directory":
        return Commit(self.root, self.revision) if self.revision else Directory(self.root)

    def context(self) -> Context:
        """The tree as a build context."""
        return self._context

    def prepare(self, paths: list[str]) -> None:
        """Make ready to read many files."""
        if isinstance(self._context, Commit):
            self._context.prepare(paths)

    def why_not(self, path: str) -> str:
        """Why a file that the tree lists cannot be read, "" where it can."""
        return self._context.why_not(path) if isinstance(self._context, Directory) else ""

    def read(self, path: str) -> bytes | None:
        """A file by its path from the root, None when there is none."""
        return self._context.read(path)

    def files(self, under: str) -> list[str]:
        """Paths of all files below `under` (from the root, "" for all)."""
        if self.revision:
            return _listed(self.root, "ls-tree", "-r", "--name-only", "-z", self.revision, "--", under or ".")
        if self.repository:
            options = ("-z", "--cached", "--others", "--exclude-standard", "--", under or ".")
            return [path for path in dict.fromkeys(_listed(self.root, "ls-files", *options)) if self._is_file(path)]
        found: list[str] = []
        for directory, names, files in os.walk(self.root / under):
            names[:] = [name for name in names if not name.startswith(".") or name in {".github", ".buildkite", ".ci"}]
            base = Path(directory).relative_to(self.root)
            found.extend((base / file).as_posix() for file in files)
        return found

    def _is_file(self, path: str) -> bool:
        try:
            return (self.root / path).is_file()
        except OSError:
            return False

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
    if not revision and not _exists(absolute):
        raise UsageError(not_there(path))
    if revision.startswith("-") or not revision.isprintable():
        raise UsageError(f"{revision!r} is not a revision")
    nearest = absolute
    while not _is_directory(nearest):
        nearest = nearest.parent
    top, bare = _top(nearest)
    if top is None:
        if revision:
            raise UsageError(f"{path}: there is no revision {revision!r} of it, for {_no_repository(nearest)}")
        root = absolute if absolute.is_dir() else absolute.parent
        return Tree(root, "", repository=False), "" if absolute.is_dir() else absolute.name
    if revision and not has_commit(top, revision):
        raise UsageError(no_revision(top, revision))
    real = nearest.resolve() / absolute.relative_to(nearest)
    relative = real.relative_to(top.resolve()).as_posix()
    return Tree(top, revision, repository=True, bare=bare), "" if relative == "." else relative


def _exists(path: Path) -> bool:
    """Whether there is anything at `path`.

    Raises:
        UsageError: a directory on the way may not be entered.
    """
    try:
        return path.exists()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _top(directory: Path) -> tuple[Path | None, bool]:
    """The top of the repository around a directory, the repository itself where it is bare, and whether it is."""
    try:
        found = ask_git(directory, "rev-parse", "--show-toplevel")
        if found.ok and found.text.strip():
            return Path(found.text.rstrip("\n")), False
        bare = ask_git(directory, "rev-parse", "--is-bare-repository")
    except EnvironmentFailureError:  # without git a directory is just a directory
        return None, False
    return (directory, True) if bare.ok and bare.text.strip() == "true" else (None, False)


def _no_repository(directory: Path) -> str:
    """Why git knows no repository there.

    Raises:
        EnvironmentFailureError: git is not installed.
    """
    complaint = ask_git(directory, "rev-parse", "--git-dir").complaint
    if "safe.directory" in complaint or "dubious ownership" in complaint:
        return f"git does not trust the repository, which belongs to another user (git's safe.directory): {directory}"
    if complaint and "not a git repository" not in complaint:
        return f"git cannot read the repository: {complaint}"
    return "it is not in a git repository"


def _listed(directory: Path, *arguments: str) -> list[str]:
    return [path for path in ask_git(directory, *arguments).text.split("\0") if path]


def has_commit(repository: Path, revision: str) -> bool:
    """Whether a repository knows a commit by that name."""
    return ask_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").ok


def commits_between(repository: Path, old: str, new: str) -> tuple[int, int] | None:
    """(commits that only `new` has, commits that only `old` has); None when the repository lacks one of them."""
    if old.startswith("-") or new.startswith("-"):
        return None
    answer = ask_git(repository, "rev-list", "--left-right", "--count", "--end-of-options", f"{old}...{new}")
    if not answer.ok:
        return None
    behind, ahead = answer.output.split()
    return int(ahead), int(behind)
