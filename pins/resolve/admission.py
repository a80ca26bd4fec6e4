"""Which yanked releases and pre-releases an installer may use: tried with uv 0.13.9 and pip 26.3.

uv takes a yanked release where the user pins it exactly, pip where anything does. uv takes a pre-release where no final
release fits, so that one can always be part of a solution (it is tried last). pip takes one where a specifier names a
pre-release, or where what is asked of the name leaves no final release, yanked ones included; a final release that is
asked for and fails for another reason is in its way.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
    """Choices that need somebody who names them, or excludes what is in their way (see `Admissions._support`)."""

    node: Node
    mask: int
    fact: int
    tail: int
    instead: int = 0
    named_by: list[Literal] = field(default_factory=list)


@dataclass(frozen=True)
class _Asked:
    """What one choice of a variable asks of a name: the choices that it takes, and whether it names a pre-release."""

    variable: int
    value: int
    takes: int
    names_pre_release: bool


@dataclass
class _Early:
    """A name with pre-releases that pip takes only where no final release will do.

    Attributes:
        node: of the name.
        mask: the pre-releases.
        finals: final releases that can be installed here and that the problem itself does not exclude.
        asked: what is asked of the name, as far as it was read.
    """

    node: Node
    mask: int
    finals: int
    asked: list[_Asked] = field(default_factory=list)


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
        self._supports: dict[tuple[str, str, int], _Support] = {}
        self._early: dict[str, _Early] = {}
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
            self._support(node, yanked, "yanked")
        finals = sum(2 << i for i, choice in enumerate(node.choices) if not choice.unusable) & ~pre_releases
        for line in self._named.get(node.name, ()):
            finals &= node.versions.taken_by(line.specifiers)
        if pre_releases and finals and not self._admits_pre_releases(node):
            self._early[node.name] = _Early(node, pre_releases, finals)

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

    def _support(self, node: Node, mask: int, reason: str, instead: int = 0, by: Sequence[Literal] = ()) -> None:
        """Say that these choices need somebody who names them, of whom not all are known yet.

        "One of these, or someone not read yet": the last literal is a variable of its own, the tail, which every
        question assumes to be absent. When somebody new is read, the tail is replaced: "the tail, or the new one, or a
        new tail". So whatever was learned before stays true.

        Args:
            node: of the name.
            mask: the choices.
            reason: as `Admission` has it.
            instead: a final release (as a mask) that is in their way, unless something excludes it.
            by: those who are known to name them, or to exclude what is in their way.
        """
        label = node.choices[instead.bit_length() - 2].label if instead else ""
        fact = self._variables.fact(Admission(node.name, mask, reason, label))
        tail = self._variables.bare()
        search = self._variables.search
        literals = [(node.variable, search.full[node.variable] & ~mask), *by, (tail, 2)]
        search.clause(literals, fact)
        self._supports[node.name, reason, instead] = _Support(node, mask, fact, tail, instead, list(by))

    def read(self, node: Node, value: int, line: RequirementLine, base: Node) -> None:
        """Note that a choice of a node asks for `base` with this line, which may name what needs to be named."""
        early = self._early.get(base.name)
        if early is not None:
            names_one = _names_pre_release(line)
            asked = _Asked(node.variable, value, base.versions.taken_by(line.specifiers), names_one)
            early.asked.append(asked)
            for (name, _, instead), support in self._supports.items():
                if name == base.name and instead and (names_one or not asked.takes & instead):
                    self._extend(support, (node.variable, value))
        support_of_yanked = self._supports.get((base.name, "yanked", 0))
        if support_of_yanked is not None and _pinned(base.versions, line) & support_of_yanked.mask:
            self._extend(support_of_yanked, (node.variable, value))

    def _extend(self, support: _Support, by: Literal) -> None:
        support.named_by.append(by)
        tail = self._variables.bare()
        self._variables.search.clause([(support.tail, ABSENT), by, (tail, 2)], support.fact)
        support.tail = tail

    def limit_early(self, values: Mapping[int, int], asked: Collection[int], accepted: Collection[int]) -> bool:
        """Say of a pre-release that pip would not take what is in its way; False where there was nothing new to say.

        There are many final releases, and nearly always few of them matter: so each is spoken of when a solution has
        shown that it does.

        Args:
            values: variable -> number of the choice, of a solution.
            asked: the variables that are asked for.
            accepted: those of them whose values pip gets to.
        """
        news = False
        for name, early in self._early.items():
            variable = early.node.variable
            if variable not in asked or variable in accepted:
                continue
            in_the_way = self._in_the_way(early, values, accepted)
            best = 1 << (in_the_way.bit_length() - 1) if in_the_way else 0
            if best and (name, "pre-releases", best) not in self._supports:
                by = [(a.variable, a.value) for a in early.asked if a.names_pre_release or not a.takes & best]
                self._support(early.node, early.mask, "pre-releases", best, list(dict.fromkeys(by)))
                news = True
        return news

    def _in_the_way(self, early: _Early, values: Mapping[int, int], accepted: Collection[int]) -> int:
        """The final releases that pip would take before the pre-release of a solution; 0 where it may be taken."""
        if not early.mask & 2 << values[early.node.variable]:
            return 0
        finals = early.finals
        for one in early.asked:
            if one.variable in accepted and one.value & 2 << values[one.variable]:
                if one.names_pre_release:
                    return 0
                finals &= one.takes
        return finals

    def is_admitted(self, variable: int, values: Mapping[int, int], accepted: Collection[int]) -> bool:
        """Whether pip takes what a variable has, because of what those ask for that it has accepted already."""
        node = self._variables.nodes[variable]
        early = self._early.get(node.name) if node is not None else None
        return early is None or not self._in_the_way(early, values, accepted)

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

    @property
    def decides(self) -> bool:
        """Whether there is anything that needs somebody who names it."""
        return bool(self._supports or self._early)

    def supports(self) -> Iterable[tuple[Node, int, int, list[Literal]]]:
        """For each name with choices that must be named: the choices, the fact, and who names them."""
        return ((s.node, s.mask, s.fact, s.named_by) for s in self._supports.values())

    def delicate(self, node: Node, values: Mapping[int, int]) -> int:
        """Choices of a name that more than edges decide about, so that they are not exchanged freely."""
        mask = node.versions.versionless
        for early in self._early.values():
            if early.node is node:
                mask |= early.mask
            chosen = values.get(early.node.variable)
            if chosen is not None and early.mask & 2 << chosen:
                return node.versions.all  # what makes room for that choice may hang on this one
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
