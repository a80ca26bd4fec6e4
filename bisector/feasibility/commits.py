"""Whether what a commit's source tree requires leaves room for the package pins beside it, before anything is built.

In a virtual environment commits and packages are installed together, so that a tree that requires `spam<2` and the pin
`spam==2.1` exclude each other. That stands in the tree's own files (`pyproject.toml`, `setup.cfg`, `setup.py`), which
are read, never run: asking uv would have it check out the commit and build its metadata.

Only what is certain counts. Of what files do not tell (computed in `setup.py`, left to the build), and of what rests on
an assumption, nothing is concluded; nor of a requirement that an end breaks as well, since ends are there to be built.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import Environment, InfeasibleError
from bisector.model import Candidate, Recipe, short_text
from pins.errors import PinsError
from pins.sources.git.clone import Clone

if TYPE_CHECKING:
    from pins.metadata.declarations import Statement
    from pins.metadata.git_history import ProjectHistory


@dataclass
class CommitProject:
    """A project whose commits are a pin's values.

    Attributes:
        pin: its name.
        clone: of its repository.
        subdirectory: where in the tree it lies, "" for the top.
    """

    pin: str
    clone: Clone
    subdirectory: str = ""
    _told: dict[str, "tuple[Statement, ...]"] = field(default_factory=dict)

    @cached_property
    def _history(self) -> "ProjectHistory":
        from pins.metadata.git_history import ProjectHistory
        from pins.metadata.project_state import ProjectPlace
        from pins.sources.git.trees import Trees

        return ProjectHistory(Trees(self.clone), ProjectPlace((self.subdirectory,)))

    def requirements(self, commit: str) -> "tuple[Statement, ...]":
        """What is certain of what a commit requires where it is installed."""
        if commit not in self._told:
            try:
                runtime = self._history.states([commit])[commit].tree.runtime
            except PinsError:
                runtime = ()  # what cannot be read here, the build shows
            self._told[commit] = tuple(one for one in runtime if not one.assumption)
        return self._told[commit]


class FeasibleCommits(AroundEnvironment):
    """Virtual environments that refuse candidates whose commits require other versions than their package pins have.

    Args:
        environment: the one that does the work.
        projects: those that are installed from commits.
        ends: gives both ends, commits as full hashes.
    """

    def __init__(
        self,
        environment: Environment,
        projects: Sequence[CommitProject],
        ends: Callable[[], Sequence[Candidate]],
    ) -> None:
        super().__init__(environment)
        self._projects = tuple(projects)
        self._ends = ends

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`; what a tree excludes is infeasible."""
        for project, statement, name in self._broken(candidate):
            if (project.pin, name) not in self._distrusted:
                commit = short_text(candidate[project.pin])
                raise InfeasibleError(
                    f"{project.pin} {commit} requires {statement.text} ({statement.file}:{statement.line}), and {name}"
                    f" is {candidate[name]}"
                )
        return super().resolve(candidate)

    @cached_property
    def _distrusted(self) -> frozenset[tuple[str, str]]:
        return frozenset((project.pin, name) for end in self._ends() for project, _, name in self._broken(end))

    def _broken(self, candidate: Candidate) -> "Iterator[tuple[CommitProject, Statement, str]]":
        """The requirements that a candidate breaks, each with the pin that breaks it."""
        commits = {project.pin for project in self._projects}
        versions = {canonicalize_name(pin): pin for pin in candidate if pin not in commits}
        for project in self._projects:
            for statement in self._requirements(project, candidate) if versions else ():
                try:
                    requirement = Requirement(statement.text)
                    pin = versions.get(canonicalize_name(requirement.name), "")
                    version = Version(candidate[pin]) if pin else None
                except (InvalidRequirement, InvalidVersion):
                    continue
                if version is None or requirement.url or not self._holds(requirement):
                    continue
                if not requirement.specifier.contains(version, prereleases=True):
                    yield project, statement, pin

    @cached_property
    def _markers(self) -> Mapping[str, str]:
        from pins.sources.target import target_of

        interpreter = self._environment.interpreter
        return dict(target_of(interpreter).markers) if interpreter is not None else {}

    @staticmethod
    def _requirements(project: CommitProject, candidate: Candidate) -> "tuple[Statement, ...]":
        return project.requirements(candidate[project.pin]) if project.pin in candidate else ()

    def _holds(self, requirement: Requirement) -> bool:
        return requirement.marker is None or requirement.marker.evaluate({**self._markers, "extra": ""})
