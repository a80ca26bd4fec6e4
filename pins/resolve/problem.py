"""What is solved: choices, what each requires, and one problem per environment. Plain facts, no I/O.

This module is the contract between those who gather (`pins.metadata`, `pins.sources`) and those who solve
(`pins.resolve`):

- Gathering gives `Problem`s, one per environment (each is solved apart), and a `RequirementSource` that answers for
  every name that a problem, or an answer of the source itself, mentions.
- A *name* is a canonical distribution name (`packaging.utils.canonicalize_name`). Extras are no names: the source
  gives the lines of all extras, with their ``extra == "x"`` markers, and the solver activates those asked for.
- A *requirement* is a line of PEP 508 as it was written, markers included; the solver evaluates them with
  `Problem.markers`.
- A git branch is a name too: its choices are ranges of commits whose requirements are equal, in the branch's order,
  and `Choice.version` is the version that the tree says it has (None: unknown), against which specifiers are matched.
- Nothing unknown is guessed: `Requires.unknown` and `Choices.unknown` carry a reason, and what depends on it is
  reported as unknown, neither inside nor outside of a window.
- `pins.metadata.gather.gather(...)` makes `Gathered` of a Dockerfile or requirements file;
  `pins.metadata.index_requirements.IndexRequirements(index, ...)` is the source over package indexes alone, for
  requirements that are given on the command line.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from packaging.version import Version

from pins.sources.target import Installer


class OriginKind(StrEnum):
    """How a constraint is known."""

    DECLARED = "declared"  # written as a requirement, in a file or on the command line
    INFERRED = "inferred"  # read from code by a rule of ours
    KNOWN_BAD = "known-bad"  # found by a bisect run, or written down by a person
    HOLD = "hold"  # temporary, with a reason and a condition that ends it
    GIVEN = "given"  # assumed for this question only (`--given`, `pins why NAME==VERSION`)


@dataclass(frozen=True)
class Origin:
    """Where a constraint comes from.

    Attributes:
        kind: how it is known.
        file: for a person: a path, "ROCm/aiter@f0b55c0:pyproject.toml", "--require"; "" where no file says it.
        line: in the file, counted from 1; 0 where there is none.
        sentence: what a person needs to know beyond the requirement, without a full stop: why a rule infers it, a
            hold's reason, the bisect run; "" where the requirement says it all.
    """

    kind: OriginKind = OriginKind.DECLARED
    file: str = ""
    line: int = 0
    sentence: str = ""

    @property
    def place(self) -> str:
        """File and line, such as "docker/Dockerfile:12"; "" without a file."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file


@dataclass(frozen=True)
class Constraint:
    """One requirement and its origin.

    Attributes:
        requirement: as PEP 508 has it, such as 'pybind11>=3.0.1,<3.1.0; python_version >= "3.9"'. A known-bad version
            is "pybind11!=3.1.0".
        origin: who says so.
    """

    requirement: str
    origin: Origin = Origin()


@dataclass(frozen=True)
class Choice:
    """One thing that a name can be: a release, or a range of commits with equal requirements.

    Attributes:
        label: unique among the name's choices: the version as the index writes it, "f0b55c0..532137f" for commits.
        version: what specifiers are matched against; None where a source tree does not tell.
        yanked: whether every usable file is yanked.
        unusable: why it cannot be installed on the problem's Python and platform, as a phrase ("needs Python >=3.13",
            "has no wheel for linux_x86_64"); "" where it can.
        date: of the upload, or of the newest commit (aware).
        detail: for reports, such as "24 commits, 2026-08-01 to 2026-08-09".
    """

    label: str
    version: Version | None
    yanked: bool = False
    unusable: str = ""
    date: datetime | None = None
    detail: str = ""


@dataclass(frozen=True)
class Choices:
    """What a name can be.

    Attributes:
        choices: ascending: by version, or along a branch. Unusable and yanked ones and pre-releases are among them.
        missing: why there are none: "no index has a project of this name"; a sentence's end.
        unknown: why it is not known what there is (`--offline` and never read, a repository without the commits).
    """

    choices: tuple[Choice, ...] = ()
    missing: str = ""
    unknown: str = ""


@dataclass(frozen=True)
class Requires:
    """What one choice requires.

    Attributes:
        lines: requirements as PEP 508 has them, the lines of extras included.
        origins: one for each line; () where all are the release's own metadata.
        unknown: why the requirements are not known ("its sdist says that they are dynamic"); "" where they are.
            With a reason, `lines` holds what is known all the same.
        note: what a person should know, such as "two wheels of this version differ in what they require".
    """

    lines: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    unknown: str = ""
    note: str = ""


class RequirementSource(Protocol):
    """Answers what there is and what it requires.

    Both methods take many questions at once, so that a source can ask its servers in parallel; the solver asks in few,
    wide waves. Both answer the same for the life of the object (the source keeps its answers).
    """

    def choices(self, names: Collection[str]) -> Mapping[str, Choices]:
        """What each name can be, for every name asked.

        A name that does not exist is an answer (`Choices.missing`), not an error.

        Raises:
            SourceError: a server could not be read.
        """
        ...

    def requires(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Requires]:
        """What each (name, label) requires, for every one asked.

        Raises:
            SourceError: a server could not be read.
        """
        ...


@dataclass(frozen=True)
class Problem:
    """One environment: what is installed together and must fit.

    Attributes:
        name: for a person: "stage build_aiter", "isolated build of aiter"; "" where there is only one.
        requirements: what must be installed.
        bounds: what limits a choice where it is made, without asking for it: constraints files, inferred bounds,
            known-bad versions, holds.
        overrides: each takes the place of every other requirement on its name (uv's overrides); bounds still hold.
        without_dependencies: names whose requirements the installer does not enforce (`--no-deps`); broken ones are
            reported (`Solution.broken`), and rule nothing out.
        markers: of the target, "python_version", "sys_platform" and so on: the keys of
            `packaging.markers.default_environment`.
        installer: whose rules hold where they differ.
        prereleases: names whose pre-releases are admitted whatever the requirements say; "*" for all.
        targets: whose windows are asked for; () for the names in `requirements`.
        current: name -> label of what is pinned now, where that is known.
        not_counted: what is installed besides whose requirements are not known, as sentences: each could make windows
            smaller, never wider.
    """

    requirements: tuple[Constraint, ...]
    name: str = ""
    bounds: tuple[Constraint, ...] = ()
    overrides: tuple[Constraint, ...] = ()
    without_dependencies: frozenset[str] = frozenset()
    markers: Mapping[str, str] = field(default_factory=dict)
    installer: Installer = Installer.UV
    prereleases: frozenset[str] = frozenset()
    targets: tuple[str, ...] = ()
    current: Mapping[str, str] = field(default_factory=dict)
    not_counted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gathered:
    """All that a file asks for.

    Attributes:
        problems: one per environment.
        source: answers for all of them.
        notes: what a person should know about the gathering: files that disagree, what could not be read.
    """

    problems: tuple[Problem, ...]
    source: RequirementSource
    notes: tuple[str, ...] = ()
