"""What a repository's project requires at a commit: plain facts, no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packaging.version import InvalidVersion, Version

from pins.metadata.declarations import Statement, Subject
from pins.metadata.tree import TreeRequirements


@dataclass(frozen=True)
class Implied:
    """A requirement that code implies without declaring it.

    Attributes:
        rule: which rule says so; see `pins.metadata.inferred.rules`.
        text: of PEP 508.
        file, line: what it stands on, a path in the tree.
        sentence: why, for people, without a full stop.
    """

    rule: str
    text: str
    file: str
    line: int
    sentence: str


@dataclass(frozen=True)
class ProjectPlace:
    """Where in a repository a project lies, and how it is built.

    Attributes:
        directories: where it may lie, the first with a `setup.py` counts: ("", "python") for a script that looks for
            `setup.py` at the top and goes to `python` where there is none.
        requirement_files: files with requirements that are installed before it is built, from the top of the tree.
        variables: the environment of the build.
        rules: those by which its code is read for what it implies.
    """

    directories: tuple[str, ...] = ("",)
    requirement_files: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProjectState:
    """What a project requires at a commit.

    Attributes:
        tree: as its build files say.
        installed: what its requirement files ask for.
        unknown: why these do not tell all, "" where they do.
        implied: what was read from its code, by rule (see `pins.metadata.inferred`).
        lasting: whether the files themselves say so, and will say so again: then it can be kept.
    """

    tree: TreeRequirements
    installed: tuple[Statement, ...] = ()
    unknown: str = ""
    implied: tuple[Implied, ...] = ()
    lasting: bool = True

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for states that require the same, wherever in their files it is written."""
        tree = self.tree
        return (
            tree.name,
            tree.version,
            tree.requires_python,
            *(tuple(one.text for one in part) for part in (tree.runtime, tree.build, self.installed, self.implied)),
            tree.unknown.get(Subject.RUNTIME, "") != "",
            tree.unknown.get(Subject.BUILD, "") != "",
            self.unknown != "",
        )

    @property
    def version(self) -> Version | None:
        """The version that the tree says it has, None where it does not."""
        try:
            return Version(self.tree.version) if self.tree.version else None
        except InvalidVersion:
            return None
