"""Which yanked releases and pre-releases an installer may use: tried with uv 0.13.9 and pip 26.

uv takes a yanked release where the user pins it exactly, pip where anything does. uv takes a pre-release where no final
release fits, so that one can always be part of a solution (it is tried last); pip where a specifier names a
pre-release, or where there are no others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pins.resolve.facts import Admission
from pins.resolve.matching import VersionList
from pins.resolve.nodes import Node, Variables
from pins.resolve.problem import Problem
from pins.resolve.requirement_line import RequirementLine
from pins.resolve.search import ABSENT, Literal
from pins.sources.target import Installer


@dataclass
class _Support:
    """Choices that need somebody who names them (see `Admissions._admit_where_named`)."""

    node: Node
    mask: int
    fact: int
    tail: int
    named_by: list[Literal] = field(default_factory=list)


class Admissions:
    """Limits names to the choices that may be used.

    Args:
        problem: whose installer and admitted pre-releases count.
        variables: of the search.
        named: the lines of the problem, by the name that they are about.
    """

    def __init__(self, problem: Problem, variables: Variables, named: Mapping[str, Sequence[RequirementLine]]) -> None:
        self._problem = problem
        self._variables = variables
        self._named = named
        self._supports: dict[tuple[str, str], _Support] = {}
        self._questions: dict[frozenset[int], int] = {}

    def limit(self, node: Node) -> None:
        """Say which yanked releases and pre-releases of a new name cannot be used; what can is tried last."""
        yanked = self._yanked(node)
        pre_releases = _pre_releases(node)
        node.avoid |= yanked | pre_releases
        if self._problem.installer is Installer.UV:
            if yanked:
                fact = self._variables.fact(Admission(node.name, yanked, "yanked"))
                search = self._variables.search
                search.unit(node.variable, ~yanked & search.full[node.variable], fact)
            return
        if yanked:
            self._admit_where_named(node, yanked, "yanked")
        if pre_releases and not self._admits_pre_releases(node) and pre_releases != node.versions.all:
            self._admit_where_named(node, pre_releases, "pre-releases")

    def decided_by_installer(self, node: Node) -> int:
        """The choices of a name that one installer may take where another does not."""
        found = self._yanked(node)
        early = _pre_releases(node)
        if early != node.versions.all and not self._admits_pre_releases(node):
            found |= early
        return found

    def offered(self, node: Node) -> int:
        """The choices that a window speaks of.

        Not those that cannot be installed; nor yanked ones that no requirement of the problem pins, nor pre-releases,
        unless they are admitted, a requirement of the problem names one, or there is nothing else.
        """
        usable = sum(2 << i for i, choice in enumerate(node.choices) if not choice.unusable)
        usable &= ~self._yanked(node)
        final = usable & ~_pre_releases(node)
        return final if final and not self._admits_pre_releases(node) else usable

    def _yanked(self, node: Node) -> int:
        """The yanked choices that no requirement of the problem pins."""
        yanked = sum(2 << i for i, choice in enumerate(node.choices) if choice.yanked)
        for line in self._named.get(node.name, ()):
            yanked &= ~_pinned(node.versions, line)
        return yanked

    def _admits_pre_releases(self, node: Node) -> bool:
        if self._problem.prereleases & {node.name, "*"}:
            return True
        return any(_names_pre_release(line) for line in self._named.get(node.name, ()))

    def _admit_where_named(self, node: Node, mask: int, reason: str) -> None:
        """Say that these choices need somebody who names them, of whom not all are known yet.

        "One of these, or someone not read yet": the last literal is a variable of its own, the tail, which every
        question assumes to be absent. When somebody new is read, the tail is replaced: "the tail, or the new one, or a
        new tail". So whatever was learned before stays true.
        """
        fact = self._variables.fact(Admission(node.name, mask, reason))
        tail = self._variables.bare()
        search = self._variables.search
        search.clause([(node.variable, search.full[node.variable] & ~mask), (tail, 2)], fact)
        self._supports[node.name, reason] = _Support(node, mask, fact, tail)

    def read(self, node: Node, value: int, line: RequirementLine, base: Node) -> None:
        """Note that a choice of a node asks for `base` with this line, which may name what needs to be named."""
        named_by_reason = (
            ("yanked", _pinned(base.versions, line)),
            ("pre-releases", base.versions.all if _names_pre_release(line) else 0),
        )
        for reason, named in named_by_reason:
            support = self._supports.get((base.name, reason))
            if support is None or not named & support.mask:
                continue
            support.named_by.append((node.variable, value))
            tail = self._variables.bare()
            self._variables.search.clause([(support.tail, ABSENT), (node.variable, value), (tail, 2)], support.fact)
            support.tail = tail

    def closed_world(self) -> list[Literal]:
        """What every question assumes: nobody names a version but those that were read."""
        return [(support.tail, ABSENT) for support in self._supports.values()]

    def question(self, about: frozenset[int]) -> int:
        """A variable that stands for the question about these variables: present where it is asked.

        A clause that holds for one question only has it among its literals.
        """
        variable = self._questions.get(about)
        if variable is None:
            variable = self._questions[about] = self._variables.bare()
        return variable

    def supports(self) -> Iterable[tuple[Node, int, int, list[Literal]]]:
        """For each name with choices that must be named: the choices, the fact, and who names them."""
        return ((s.node, s.mask, s.fact, s.named_by) for s in self._supports.values())

    def delicate(self, node: Node, values: Mapping[int, int]) -> int:
        """Choices of a name that more than edges decide about, so that they are not exchanged freely."""
        mask = node.versions.versionless
        for support in self._supports.values():
            if support.node is node:
                mask |= support.mask
            chosen = values.get(support.node.variable)
            if chosen is not None and support.mask & 2 << chosen:
                return node.versions.all  # what names that choice may hang on this one
        return mask


def _pre_releases(node: Node) -> int:
    return sum(
        2 << i for i, choice in enumerate(node.choices) if choice.version is not None and choice.version.is_prerelease
    )


def _pinned(versions: VersionList, line: RequirementLine) -> int:
    """The choices that a line names exactly: with == (without *) or ===."""
    for specifier in line.specifiers:
        if specifier.operator == "===" or (specifier.operator == "==" and not specifier.version.endswith(".*")):
            return versions.taken_by(line.specifiers)
    return 0


def _names_pre_release(line: RequirementLine) -> bool:
    """Whether a specifier of a line is written with a pre-release."""
    return any(specifier.operator != "!=" and specifier.prereleases for specifier in line.specifiers)
