"""Pins that are installed from a commit: checked out, built as a local project is, and named by what they are.

uv is given the directory of a clean checkout whose path names the commit. Recipes and reports name repository and
commit instead, since the directory is lent, and another the next time.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from bisector.environments.base import BuildFailedError
from bisector.environments.venv.lock import LockedPackage
from bisector.environments.venv.requirements import RequirementLine
from bisector.model import Candidate, Ended, short_text
from pins.sources.git.clone import Clone
from pins.sources.git.work_trees import UnusableCommitError, lent_tree
from pins.sources.redaction import redact

_OTHER_NAME = re.compile(r"Package metadata name `([^`]+)` does not match given name")


@dataclass(frozen=True)
class CommitSource:
    """Where the commits of one pin come from.

    Attributes:
        name: of the distribution.
        clone: of its repository.
        subdirectory: where in the tree the project lies, "" for the top.
        cache: the user's cache directory.
    """

    name: str
    clone: Clone
    subdirectory: str
    cache: Path

    def requirement(self, commit: str) -> str:
        """The commit as a requirement, for recipes and people; it is not handed to uv."""
        address = self.clone.address
        place = Path(address.text).as_uri() if address.local else redact(address.text, ())
        below = f"#subdirectory={self.subdirectory}" if self.subdirectory else ""
        return f"{canonicalize_name(self.name)} @ git+{place}@{commit}{below}"

    @contextmanager
    def project(self, commit: str) -> Iterator[Path]:
        """The project's directory in a clean checkout, for as long as the context lasts.

        Raises:
            BuildFailedError: the commit cannot be checked out, or has no such subdirectory.
        """
        try:
            with lent_tree(self.clone, commit, self.cache) as tree:
                project = tree / self.subdirectory if self.subdirectory else tree
                if not project.is_dir():
                    raise self._unusable(commit, f"its tree has no directory {self.subdirectory}")
                yield project
        except UnusableCommitError as error:
            raise self._unusable(commit, str(error)) from error

    def _unusable(self, commit: str, reason: str) -> BuildFailedError:
        message = f"{self.name} {short_text(commit)} cannot be installed: {reason}"
        return BuildFailedError(message, Ended(1, errors=f"{message}\n"))


@dataclass(frozen=True)
class LentProjects:
    """The projects of one candidate's commits, while they are lent.

    Attributes:
        directories: by the requirement that names the commit.
        pins: by the same, the name of the distribution.
    """

    directories: Mapping[str, Path]
    pins: Mapping[str, str]

    def lines(self) -> tuple[RequirementLine, ...]:
        """What uv is asked to install."""
        return tuple(
            RequirementLine(
                f"{name} @ {self.directories[commit].as_uri()}", "--pin", canonicalize_name(name), exact=True
            )
            for commit, name in self.pins.items()
        )

    def named(self, package: LockedPackage) -> LockedPackage:
        """A resolved package by its commit, where it comes from one of the directories."""
        for commit, directory in self.directories.items():
            if package.line.endswith(f" @ {directory.as_uri()}"):
                return replace(package, line=commit, identity=f"{package.version} {commit}")
        return package

    def in_words(self, message: str) -> str:
        """What uv says of a directory, said of the commit; a wrong name with what to write instead."""
        for commit, directory in self.directories.items():
            name = self.pins[commit]
            value = commit.partition("#")[0].rpartition("@")[2]
            message = message.replace(f"{name} @ {directory.as_uri()}", f"{name} {short_text(value)}")
        if found := _OTHER_NAME.search(message):
            other = found[1]
            message += f"; write --pin {other}=... and --repo {other}=..., or only check it out (--checkout-only)"
        return message

    def in_directory(self, line: str) -> str:
        """A line of a recipe as uv can install it."""
        directory = self.directories.get(line)
        return line if directory is None else f"{self.pins[line]} @ {directory.as_uri()}"


@contextmanager
def lent_projects(sources: Mapping[str, CommitSource], commits: Mapping[str, str]) -> Iterator[LentProjects]:
    """The projects of these commits (by pin), each in a checkout of its own.

    Raises:
        BuildFailedError: one cannot be checked out.
        EnvironmentFailureError: the repository cannot be read, or the disk is full.
    """
    with ExitStack() as stack:
        directories: dict[str, Path] = {}
        names: dict[str, str] = {}
        for pin, commit in commits.items():
            source = sources[pin]
            line = source.requirement(commit)
            directories[line] = stack.enter_context(source.project(commit))
            names[line] = source.name
        yield LentProjects(directories, names)


def commits_of(candidate: Candidate, sources: Mapping[str, CommitSource]) -> dict[str, str]:
    """Those of a candidate's pins that are commits."""
    return {pin: value for pin, value in candidate.items() if pin in sources}
