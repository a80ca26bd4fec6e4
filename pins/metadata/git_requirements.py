"""What projects of git repositories require: a `RequirementSource` over ranges of commits.

The lines of a project are told apart by extras, since an environment that builds it needs other things than one that
has it installed: `NAME[build-requires]` asks for what building it takes, `NAME[install-requires]` for what its
distribution requires. The project's own extras keep their names.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from pins.errors import PinsError
from pins.metadata.declarations import Statement, Subject, with_extra
from pins.metadata.environments.model import Project
from pins.metadata.git_history import CommitRange, ProjectHistory
from pins.metadata.inferred.pybind11 import RULE, implied_by_internals
from pins.metadata.inferred.rules import RULES, implied_by_modules
from pins.metadata.project_state import Implied, ProjectPlace, ProjectState
from pins.resolve.problem import Choice, Choices, Constraint, Origin, OriginKind, RequirementSource, Requires
from pins.sources.git.branches import Line, LineCommit, branch_of, line_of, release_tags
from pins.sources.git.clone import Clone
from pins.sources.git.revisions import resolve_revision
from pins.sources.git.searching import lines_with
from pins.sources.git.trees import MissingObjectsError, Trees
from pins.sources.metadata_cache import MetadataCache

BUILD = "build-requires"
INSTALL = "install-requires"
MOST_COMMITS = 1500
"""How far back a branch is followed."""
_MOST_SEARCHED = 100
_NOT_INSTALLED = re.compile(
    r"(?:^|/)(?:[a-z_]*tests?|docs?|examples?|benchmarks?|scripts|tools|ci|third_party|3rdparty|setup\.py|conftest\.py)(?:/|\Z)"
    r"|^\."
)
"""Paths of a tree that are hardly ever part of what is installed."""
_KNOWN_NAMES = {
    "pytorch": "torch",
    "vision": "torchvision",
    "audio": "torchaudio",
    "flash-attention": "flash-attn",
    "aiter": "amd-aiter",
    "apex": "apex",
}
"""Distributions of repositories that are called otherwise, for where no tree can be read that tells."""


@dataclass
class GitProject:
    """One pinned repository, in the light of how it is built.

    Attributes:
        project: as the file has it.
        clone: of the repository, None where none is at hand.
        markers: of the target.
        python: of the target.
        rules: by which its code is read.
        cache: where what was read is kept.
    """

    project: Project
    clone: Clone | None
    markers: Mapping[str, str]
    python: Version
    rules: tuple[str, ...] = RULES
    cache: MetadataCache | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def where(self) -> str:
        """The repository for people, such as "ROCm/aiter"."""
        parts = self.project.address.removesuffix(".git").rstrip("/").replace(":", "/").split("/")
        return "/".join(parts[-2:]) if len(parts) > 1 else self.project.address

    @cached_property
    def commit(self) -> str:
        """The full hash of what is pinned, "" where the repository at hand does not have it."""
        if self.clone is None or not self.project.revision:
            return ""
        try:
            return resolve_revision(self.clone, self.project.revision, name=self.project.pin)
        except PinsError:
            return ""

    @cached_property
    def trees(self) -> Trees:
        """The repository's trees."""
        assert self.clone is not None, "asked only where there is a clone"
        return Trees(self.clone)

    @cached_property
    def ranges(self) -> tuple[CommitRange, ...]:
        """The branch's commits in ranges; the pinned commit alone where no branch holds it."""
        if self.clone is None:
            return ()
        history = ProjectHistory(self.trees, self._place, self.markers, self.cache)
        branch, tip = branch_of(self.clone, self.commit, comment=self.project.comment)
        line = Line("", (), complete=True)
        if tip:
            try:
                line = line_of(self.clone, tip, branch, most=MOST_COMMITS)
            except MissingObjectsError as error:
                self.notes.append(str(error))
        if not line.complete:
            self.notes.append(
                f"{self.where}: of {branch}, the newest {len(line.commits)} commits were read, from "
                f"{line.commits[0].id[:10] if line.commits else 'none'} on"
            )
        if self.commit and all(commit.id != self.commit for commit in line.commits):
            alone = LineCommit(self.commit, None)
            line = Line(line.branch, (*line.commits, alone), line.complete)
            if tip:
                self.notes.append(
                    f"{self.where}: {self.project.revision} is no commit that {branch} went through; it stands alone"
                )
        return history.ranges(line, self.commit)

    @property
    def _place(self) -> ProjectPlace:
        project = self.project
        return ProjectPlace(project.subdirectories, project.requirement_files, dict(project.variables), self.rules)

    @cached_property
    def pinned(self) -> CommitRange | None:
        """The range that holds the pinned commit."""
        if not self.commit:
            return None
        return next((one for one in self.ranges if any(c.id == self.commit for c in one.commits)), None)

    @cached_property
    def name(self) -> str:
        """The distribution's name: as the pinned tree says, as others of the branch say, as is known, or the pin's."""
        told = [self.pinned] if self.pinned else []
        for one in (*told, *reversed(self.ranges)):
            if one.state.tree.name:
                return one.state.tree.name
        repository = self.where.rpartition("/")[2].lower()
        return canonicalize_name(_KNOWN_NAMES.get(repository, repository or self.project.pin))

    @cached_property
    def used_where_installed(self) -> tuple[Constraint, ...]:
        """What the modules of the pinned commit imply where they are installed: they are searched, not run."""
        if self.clone is None or not self.commit:
            return ()
        hits = lines_with(self.clone, self.commit, "pkg_resources", ("*.py",))
        if hits is None:
            self.notes.append(f"{self.where}: its modules could not be searched for what they import")
            return ()
        paths = list(dict.fromkeys(hit.path for hit in hits if not _NOT_INSTALLED.search(hit.path)))[:_MOST_SEARCHED]
        nodes = self.trees.nodes([self.commit], paths).get(self.commit, {})
        files = [(path, self.trees.content(node.id)) for path, node in nodes.items() if node.is_file]
        return tuple(
            Constraint(implied.text, self._implied(implied, self.commit))
            for implied in implied_by_modules(files, self.rules)
        )

    @cached_property
    def labels(self) -> dict[str, CommitRange]:
        """The ranges by their labels; hashes are as long as is needed to tell them apart."""
        for length in (7, 10, 16, 40):
            found = {one.label(length): one for one in self.ranges}
            if len(found) == len(self.ranges):
                break
        return found

    @property
    def current(self) -> str:
        """The label of the range that is pinned, "" where that is not known."""
        return next((label for label, one in self.labels.items() if one is self.pinned), "")

    @property
    def why_unknown(self) -> str:
        """Why it is not known what the pinned commit requires, "" where it is."""
        if self.clone is None:
            return f"no clone of {self.where} is at hand: give --repo {self.project.pin}=PATH"
        if not self.commit:
            return f"the clone of {self.where} does not have {self.project.revision}"
        return ""

    def choices(self) -> Choices:
        """The ranges, in the branch's order."""
        if not self.ranges:
            if self.clone is None:
                return Choices((Choice(self.project.revision or "unknown", None),))
            return Choices(unknown=self.why_unknown or f"{self.where} has no branch that can be followed")
        return Choices(tuple(self._choice(label, one) for label, one in self.labels.items()))

    @cached_property
    def _tagged(self) -> dict[str, Version]:
        return release_tags(self.clone) if self.clone is not None else {}

    def _choice(self, label: str, one: CommitRange) -> Choice:
        dates = [commit.date for commit in one.commits if commit.date is not None]
        count = len(one.commits)
        span = f", {min(dates):%Y-%m-%d} to {max(dates):%Y-%m-%d}" if dates and count > 1 else ""
        day = f"{dates[0]:%Y-%m-%d}" if dates and count == 1 else ""
        wanted = one.state.tree.requires_python
        tagged = [self._tagged[commit.id] for commit in one.commits if commit.id in self._tagged]
        releases = f", releases {tagged[0]} to {tagged[-1]}" if len(tagged) > 1 else ""
        releases = f", release {tagged[0]}" if len(tagged) == 1 else releases
        return Choice(
            label=label,
            # A range has no version where each of its commits has one of its own, made from tags.
            version=one.state.version or (tagged[0] if tagged and count == 1 else None),
            unusable="" if _takes(wanted, self.python) else f"needs Python {wanted}",
            date=max(dates, default=None),
            detail=(f"{count} commits{span}" if count > 1 else day) + releases,
        )

    def requires(self, label: str) -> Requires:
        """What a range requires: for building it, and where it is installed."""
        if self.clone is None:
            return Requires(unknown=self.why_unknown)
        one = self.labels[label]
        state, at = one.state, one.at
        lines: list[tuple[str, Origin]] = []
        for extra, statements in ((INSTALL, state.tree.runtime), (BUILD, (*state.installed, *state.tree.build))):
            lines += [(self._tied(one, extra), self._origin(one, at)) for one in statements]
        lines += [(with_extra(implied.text, BUILD), self._implied(implied, at)) for implied in self._lines_of(state)]
        internals, note = self._internals(state)
        if internals is not None:
            lines.append((with_extra(internals.text, INSTALL), self._implied(internals, at)))
        return Requires(
            tuple(line for line, _ in lines),
            tuple(origin for _, origin in lines),
            unknown=_unknown(state),
            note=note,
        )

    def _internals(self, state: ProjectState) -> tuple[Implied | None, str]:
        if RULE not in self.rules:
            return None, ""
        return implied_by_internals(state, self.python, f"stage {self.project.stage}")

    def _tied(self, statement: Statement, extra: str) -> str:
        """A line with the extra by which environments ask for it; lines of the project's own extras have theirs."""
        own = "extra ==" in statement.text or "extra==" in statement.text
        return statement.text if own else with_extra(statement.text, extra)

    def _origin(self, statement: Statement, commit: str) -> Origin:
        assumed = f"taken for granted: {statement.assumption}" if statement.assumption else ""
        return Origin(file=self.file_at(statement.file, commit), line=statement.line, sentence=assumed)

    def _implied(self, implied: Implied, commit: str) -> Origin:
        return Origin(OriginKind.INFERRED, self.file_at(implied.file, commit), implied.line, implied.sentence)

    def _lines_of(self, state: ProjectState) -> list[Implied]:
        """What the code implies of what building it asks for anyway."""
        return [one for one in state.implied if not one.text.startswith("cmake") or _asks_for_cmake(state)]

    @property
    def bounds_where_built(self) -> tuple[Constraint, ...]:
        """What the code of the pinned commit implies of a cmake that building it does not ask for, but may find."""
        if self.pinned is None or _asks_for_cmake(self.pinned.state):
            return ()
        implied = [one for one in self.pinned.state.implied if one.text.startswith("cmake")]
        return tuple(Constraint(one.text, self._implied(one, self.pinned.at)) for one in implied)

    def file_at(self, path: str, commit: str) -> str:
        """A file of the tree for people, such as "ROCm/aiter@f0b55c0:pyproject.toml"."""
        shown = self.project.revision if commit == self.commit else commit[:7]
        return f"{self.where}@{shown}:{path}"


def _unknown(state: ProjectState) -> str:
    reasons = [state.tree.unknown.get(Subject.RUNTIME, ""), state.tree.unknown.get(Subject.BUILD, ""), state.unknown]
    return next((reason for reason in reasons if reason), "")


def _asks_for_cmake(state: ProjectState) -> bool:
    return any(re.match(r"cmake(?![\w-])", one.text, re.IGNORECASE) for one in state.tree.build)


def _takes(wanted: str, python: Version) -> bool:
    try:
        return SpecifierSet(wanted).contains(python, prereleases=True)
    except InvalidSpecifier:
        return True


class GitRequirements:
    """Answers for the projects of repositories, and hands all other names on.

    Args:
        projects: by the names of their distributions.
        others: answers for every other name.
    """

    def __init__(self, projects: Mapping[str, GitProject], others: RequirementSource) -> None:
        self._projects = dict(projects)
        self._others = others

    def choices(self, names: Collection[str]) -> Mapping[str, Choices]:
        """What each name can be; raises SourceError as the contract says."""
        rest = [name for name in names if name not in self._projects]
        found = dict(self._others.choices(rest)) if rest else {}
        return found | {name: self._projects[name].choices() for name in names if name in self._projects}

    def requires(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Requires]:
        """What each choice requires; raises SourceError as the contract says."""
        rest = [pair for pair in wanted if pair[0] not in self._projects]
        found = dict(self._others.requires(rest)) if rest else {}
        return found | {
            (name, label): self._projects[name].requires(label) for name, label in wanted if name in self._projects
        }
