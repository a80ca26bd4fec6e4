"""Problems from environments: what is required together, what bounds it, and what is left out because it is unknown."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pins.metadata.environments.model import FileEnvironments, Project, StageContents
from pins.metadata.environments.requests_in_force import effective_requests
from pins.metadata.git_requirements import BUILD, INSTALL, GitProject
from pins.metadata.known_facts import KnownFacts
from pins.resolve.problem import Constraint, Origin, Problem
from pins.sources.target import Target


@dataclass
class _Joined:
    """What is in one environment.

    Attributes:
        requirements: of everything.
        git: projects of repositories, by the names of their distributions.
        not_counted: what is there besides, as sentences.
    """

    requirements: list[Constraint] = field(default_factory=list)
    git: dict[str, GitProject] = field(default_factory=dict)
    not_counted: list[str] = field(default_factory=list)


@dataclass
class Assembly:
    """Makes the problems of a file.

    Attributes:
        environments: what the file installs and builds.
        facts: known-bad versions and holds.
        projects: by identity.
        target: what everything must fit.
        rules: those that are switched on.
        identity: what tells projects apart.
        by_name: those that answer, by the names of their distributions.
        notes: what a person should know; filled by `problems`.
    """

    environments: FileEnvironments
    facts: KnownFacts
    projects: Mapping[Project, GitProject]
    target: Target
    rules: tuple[str, ...]
    identity: Callable[[Project], Project]
    by_name: Mapping[str, GitProject]
    notes: list[str] = field(default_factory=list)

    def problems(self) -> Iterator[Problem]:
        """One for each stage that installs or builds something, then one for each isolated build.

        Each git pin gets one more, in which it alone is free to be another commit: its own window.
        """
        isolated: dict[Project, Project] = {}
        for contents in self.environments.stages:
            self.notes += contents.notes
            for project in contents.built:
                if project.isolated:
                    isolated.setdefault(self.identity(project), project)
            if contents.does_something:
                yield from self._of_stage(contents)
        for project in isolated.values():
            yield from self._of_isolated_build(project)

    def _of_stage(self, contents: StageContents) -> Iterator[Problem]:
        joined = _Joined(not_counted=[*self.environments.notes, *contents.not_counted])
        alone: set[str] = set()
        for one, replaced in effective_requests(contents):
            try:
                name = canonicalize_name(Requirement(one.text).name)
            except InvalidRequirement:
                self._leave_out(joined, f"{one.file}:{one.line}: {one.text!r} is no requirement, and not counted")
                continue
            if replaced:
                self.notes.append(f"{one.file}:{one.line}: {one.text} is replaced by {replaced}")
                continue
            joined.requirements.append(Constraint(one.text, Origin(file=one.file, line=one.line)))
            if one.without_dependencies:
                alone.add(name)
        bounds = [*contents.bounds, *self.facts.bounds]
        for project in contents.built:
            if not project.isolated:
                found = self._join(project, BUILD, project.line, "builds it without isolation", joined)
                bounds += found.bounds_where_built if found is not None else ()
        for installed in contents.installed:
            extra = "" if installed.without_dependencies else ",".join([INSTALL, *installed.extras])
            found = self._join(installed.project, extra, installed.line, "installs it", joined)
            if found is None:
                continue
            if installed.without_dependencies:
                alone.add(found.name)
            bounds += found.used_where_installed
        title = f"stage {contents.name}" if contents.name and self.environments.stages[0].name else contents.name
        yield from self._with_pins(
            Problem(
                tuple(joined.requirements),
                title,
                tuple(bounds),
                tuple(contents.overrides),
                frozenset(alone),
                dict(self.target.markers),
                self.target.installer,
                targets=tuple(dict.fromkeys(_names(joined.requirements, joined.git, contents))),
                current=_exact(joined.requirements),
                not_counted=tuple(dict.fromkeys(joined.not_counted)),
            ),
            joined.git,
        )

    def _leave_out(self, joined: _Joined, note: str) -> None:
        self.notes.append(note)
        joined.not_counted.append(note)

    def _join(self, project: Project, extra: str, line: int, does: str, joined: _Joined) -> GitProject | None:
        """Add what a project requires to an environment; None, and a note, where that is not known."""
        found = self.projects[self.identity(project)]
        first = self.by_name[found.name]
        if first is not found:
            at = f"{self.environments.file}:{project.line}"
            if (first.commit or first.project.revision) != (found.commit or project.revision):
                self._leave_out(
                    joined,
                    f"{at}: {found.name} is built from {first.project.revision} and from {project.revision}; what it "
                    "requires at the latter is not counted",
                )
                return None
            self.notes.append(
                f"{at}: {found.name} is built in two ways; its requirements are those of the build in line "
                f"{first.project.line}"
            )
            found = first
        if found.why_unknown:
            self._leave_out(
                joined,
                f"{self.environments.file}:{project.pin_line}: {found.why_unknown}; what {project.pin} at "
                f"{project.revision or 'an unknown revision'} requires is not known, and not counted",
            )
            if not found.ranges:
                return None
        wanted = f"{found.name}[{extra}]" if extra else found.name
        origin = Origin(file=self.environments.file, line=line, sentence=f"line {line} {does}")
        if found.pinned is not None:
            self.notes += [f"{found.where}@{project.revision}: {one}" for one in found.pinned.state.tree.disagreements]
        if found.current:
            joined.requirements.append(Constraint(wanted, origin))
        joined.git[found.name] = found
        return found if found.current else None

    def _with_pins(self, problem: Problem, git: Mapping[str, GitProject]) -> Iterator[Problem]:
        """The problem with every git pin where it is, then for each one the problem in which it is free."""
        pins = {
            name: Constraint(
                f"{name}==={found.current}",
                Origin(
                    file=self.environments.file,
                    line=found.project.pin_line,
                    sentence=f"{found.project.pin} is pinned at {found.project.revision}",
                ),
            )
            for name, found in git.items()
            if found.current
        }
        packages = tuple(name for name in problem.targets if name not in git)
        current = {**problem.current, **{name: found.current for name, found in git.items() if found.current}}
        yield replace(problem, bounds=(*problem.bounds, *pins.values()), targets=packages, current=current)
        for name, found in git.items():
            if len(found.ranges) < 2:
                continue
            others = tuple(bound for other, bound in pins.items() if other != name)
            free = problem.requirements
            if name not in pins:  # the pinned commit is not at hand, the branch is
                free = (*free, *self._wanted(found, problem))
            yield replace(
                problem,
                name=f"{problem.name}, {found.project.pin} free" if problem.name else f"{found.project.pin} free",
                requirements=free,
                bounds=(*problem.bounds, *others),
                targets=(name,),
                current=current,
            )

    def _wanted(self, found: GitProject, problem: Problem) -> Iterator[Constraint]:
        builds = problem.name.endswith(found.project.stage)
        extra = BUILD if builds else INSTALL
        line = found.project.line
        yield Constraint(f"{found.name}[{extra}]", Origin(file=self.environments.file, line=line))

    def _of_isolated_build(self, project: Project) -> Iterator[Problem]:
        joined = _Joined()
        self._join(project, BUILD, project.line, "builds it in isolation", joined)
        if joined.git:
            name = f"isolated build of {project.pin}"
            problem = Problem(
                tuple(joined.requirements),
                name,
                self.facts.bounds,
                markers=dict(self.target.markers),
                installer=self.target.installer,
                targets=tuple(joined.git),
                not_counted=tuple(joined.not_counted),
            )
            yield from self._with_pins(problem, joined.git)


def _names(requirements: list[Constraint], git: Mapping[str, GitProject], contents: StageContents) -> Iterator[str]:
    """Whose windows are asked for: all that is named, and what the trees that are built there name in turn."""
    for one in requirements:
        yield canonicalize_name(Requirement(one.requirement).name)
    built = {project.pin for project in contents.built if not project.isolated}
    for found in git.values():
        if found.pinned is not None:
            state = found.pinned.state
            here = found.project.pin in built
            plain = [one for one in state.tree.runtime if "extra" not in one.text]
            for statement in (*state.tree.build, *state.installed) if here else plain:
                yield canonicalize_name(Requirement(statement.text).name)


def _exact(requirements: list[Constraint]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in requirements:
        requirement = Requirement(one.requirement)
        pieces = list(requirement.specifier)
        if len(pieces) == 1 and pieces[0].operator == "==" and not pieces[0].version.endswith(".*"):
            found[canonicalize_name(requirement.name)] = pieces[0].version
    return found
