"""A problem as variables and constraints of the search, read from its source only as far as the search asks.

A name has a variable, and so has each extra of it that something asks for. What a choice requires becomes rows of edges
once the search wants to use that choice; until then the choice asks for nothing, so that "impossible" never stands on
what was not read, and a solution is one only once everything in it was read.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from packaging.specifiers import SpecifierSet

from pins.errors import UsageError
from pins.resolve.facts import Admission, Asks, Fact, NotKnown, Stated, Unusable
from pins.resolve.matching import VersionList, compares_versions
from pins.resolve.problem import Choice, Constraint, Origin, Problem, RequirementSource, Requires
from pins.resolve.requirement_line import Markers, RequirementLine, read_line
from pins.resolve.search import ABSENT, Edge, Literal, Search
from pins.sources.target import Installer

GUESS = 2
"""The value of `Universe.guess` where a solution stands on something that is not known."""


@dataclass
class Node:
    """A variable of the search.

    Attributes:
        name: of the distribution, or of the branch.
        extra: "" for the distribution itself.
        variable: its number.
        choices: what it can be.
        versions: what specifiers take of them.
        avoid: choices to try last: pre-releases, yanked ones, such with unknown requirements.
    """

    name: str
    extra: str
    variable: int
    choices: tuple[Choice, ...]
    versions: VersionList
    avoid: int = 0


@dataclass
class _Support:
    """Choices that need somebody who names them (see `Universe._admit_where_named`)."""

    node: Node
    mask: int
    fact: int
    tail: int
    named_by: list[Literal] = field(default_factory=list)


@dataclass(frozen=True)
class AskingLine:
    """One requirement of a choice on another name.

    Attributes:
        text: without its marker.
        origin: who says so; None for the metadata of the release.
        mask: the choices of the other that it takes.
    """

    text: str
    origin: Origin | None
    mask: int


class NeedsReading(Exception):  # noqa: N818 - not an error: the search is to go on after reading
    """The search wants to use choices whose requirements were not read yet."""

    def __init__(self, wanted: list[tuple[int, int]]) -> None:
        self.wanted = wanted


class Universe:
    """Variables, constraints and facts of one problem.

    Args:
        problem: what is asked.
        source: what there is.

    Attributes:
        search: holds the constraints.
        nodes: by variable; None for variables that are no name.
        facts: bit i of a mask of facts is `facts[i]`.
        guess: a variable that is GUESS where a solution uses something unknown.
        guess_is_possible: whether anything unknown was met.
        required: the variables that the problem itself requires.

    Raises:
        UsageError: a requirement of the problem cannot be parsed.
    """

    def __init__(self, problem: Problem, source: RequirementSource) -> None:
        self.problem = problem
        self.source = source
        self.search = Search()
        self.nodes: list[Node | None] = []
        self.facts: list[Fact] = []
        self.guess = self._bare_variable()
        self.guess_is_possible = False
        self.required: set[int] = set()
        self._markers = Markers(dict(problem.markers))
        self._variables: dict[tuple[str, str], Node] = {}
        self._extras: dict[str, list[Node]] = {}
        self._edges: dict[tuple[int, int], Edge] = {}
        self._read: dict[str, dict[int, tuple[RequirementLine, ...]]] = {}
        self._requires: dict[tuple[str, int], Requires] = {}
        self._unknown_edges: dict[str, Edge] = {}
        self._supports: dict[tuple[str, str], _Support] = {}
        self._bounds: dict[str, list[tuple[Constraint, RequirementLine]]] = {}
        self._overridden: set[str] = set()
        self._missing: dict[str, str] = {}
        self._questions: dict[frozenset[int], int] = {}
        self._named: dict[str, list[RequirementLine]] = {}
        self._state_problem()

    # What is asked for.

    def _state_problem(self) -> None:
        required = self._active(self.problem.requirements)
        bounds = self._active(self.problem.bounds)
        overrides = self._active(self.problem.overrides)
        self._overridden = {line.name for _, line in overrides}
        for constraint, line in [*bounds, *overrides]:
            self._bounds.setdefault(line.name, []).append((constraint, line))
        for _, line in [*required, *bounds, *overrides]:
            self._named.setdefault(line.name, []).append(line)
        self._add_names({line.name for _, line in required})
        for constraint, line in required:
            node = self._variables[line.name, ""]
            mask = node.versions.all
            if line.name not in self._overridden:
                mask = node.versions.taken_by(line.specifiers)
            fact = self._new_fact(Stated(constraint, line.name, line.extras, mask, is_requirement=True))
            self._unknown_if_unmatched(node, line)
            for extra in ("", *line.extras):
                variable = self._node(line.name, extra).variable
                self.required.add(variable)
                self.search.unit(variable, mask, fact)

    def _active(self, constraints: Sequence[Constraint]) -> list[tuple[Constraint, RequirementLine]]:
        found = []
        for constraint in constraints:
            line = read_line(constraint.requirement)
            if line.problem:
                at = f"{constraint.origin.place}: " if constraint.origin.place else ""
                raise UsageError(f"{at}{constraint.requirement!r} is not a requirement: {line.problem}")
            if self._markers.hold(line.marker, ""):
                found.append((constraint, line))
        return found

    # Names, extras and what may be used of them.

    def node(self, name: str) -> Node | None:
        """The variable of a name, None where nothing has mentioned it."""
        return self._variables.get((name, ""))

    def names(self) -> list[Node]:
        """Every name that was mentioned so far."""
        return [node for node in self.nodes if node is not None and not node.extra]

    def base(self, node: Node) -> Node:
        """The variable of the distribution that an extra belongs to."""
        return self._variables[node.name, ""]

    def stated(self, fact: Stated) -> list[Literal]:
        """What a constraint of the problem says, as literals that all hold."""
        asks = 0 if fact.is_requirement else ABSENT
        return [(self._variables[fact.name, extra].variable, fact.mask | asks) for extra in ("", *fact.extras)]

    def unit_of(self, fact: Fact) -> list[Literal]:
        """What a fact that is no edge says, as literals that all hold; what depends on others is left out."""
        match fact:
            case Stated():
                return self.stated(fact)
            case Unusable(name=name, mask=mask) | Admission(name=name, mask=mask):
                variable = self._variables[name, ""].variable
                return [(variable, self.search.full[variable] & ~mask)]
            case _:
                return []

    def missing(self, name: str) -> str:
        """Why a name has no choices."""
        return self._missing.get(name, f"{name} has no release")

    def lines_between(self, source: Node, choice: int, target: Node) -> list[AskingLine]:
        """The requirements of a choice on a name (or an extra of it)."""
        answer = self._requires.get((source.name, choice))
        if answer is None:
            return []
        counting = set(self._lines(source, choice))
        found = []
        for position, line in enumerate(self._read[source.name][choice]):
            if line in counting and line.name == target.name and (not target.extra or target.extra in line.extras):
                extras = f"[{','.join(line.extras)}]" if line.extras else ""
                origin = answer.origins[position] if answer.origins else None
                mask = target.versions.taken_by(line.specifiers)
                found.append(AskingLine(f"{line.name}{extras}{_in_order(line.specifiers)}", origin, mask))
        return found

    def extras(self, node: Node) -> Sequence[Node]:
        """The variables of a name's extras."""
        return self._extras.get(node.name, ())

    def mentioned(self, names: Sequence[str]) -> list[Node]:
        """The variables of these names, which need not be required by anything."""
        self._add_names(names)
        return [self._variables[name, ""] for name in names]

    def offered(self, node: Node) -> int:
        """The choices that a window speaks of.

        Not those that cannot be installed; nor yanked ones that no requirement of the problem pins, nor pre-releases,
        unless they are admitted, a requirement of the problem names one, or there is nothing else.
        """
        usable = yanked = pre_releases = 0
        for i, choice in enumerate(node.choices):
            usable |= 0 if choice.unusable else 2 << i
            yanked |= 2 << i if choice.yanked else 0
            pre_releases |= 2 << i if choice.version is not None and choice.version.is_prerelease else 0
        lines = self._named.get(node.name, ())
        for line in lines:
            yanked &= ~_pinned(node.versions, line)
        usable &= ~yanked
        admitted = self.problem.prereleases & {node.name, "*"} or any(_names_pre_release(line) for line in lines)
        return usable if admitted or not usable & ~pre_releases else usable & ~pre_releases

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

    def _add_names(self, names: Collection[str]) -> None:
        new = [name for name in names if (name, "") not in self._variables]
        if not new:
            return
        answers = self.source.choices(new)
        for name in sorted(new):
            found = answers[name]
            choices = found.choices or ((Choice("unknown", None),) if found.unknown else ())
            node = self._new_node(name, "", choices, VersionList(choices))
            if found.missing:
                self._missing[name] = found.missing
            self._read[name] = {}
            if found.unknown and not found.choices:
                self._requires[name, 0] = Requires(unknown=found.unknown)
                self._unknown(node, 2)
                self._read[name][0] = ()
            self._limit(node)

    def _limit(self, node: Node) -> None:
        """Say which choices of a name cannot be used, whoever asks for it."""
        reasons: dict[str, int] = {}
        yanked = pre_releases = 0
        for i, choice in enumerate(node.choices):
            if choice.unusable:
                reasons[choice.unusable] = reasons.get(choice.unusable, 0) | 2 << i
            if choice.yanked:
                yanked |= 2 << i
            if choice.version is not None and choice.version.is_prerelease:
                pre_releases |= 2 << i
        for reason, mask in reasons.items():
            fact = self._new_fact(Unusable(node.name, mask, reason))
            self.search.unit(node.variable, ~mask & self.search.full[node.variable], fact)
        node.avoid = yanked | pre_releases | node.versions.versionless
        self._admit(node, yanked, pre_releases)
        for constraint, line in self._bounds.get(node.name, ()):
            mask = node.versions.taken_by(line.specifiers)
            fact = self._new_fact(Stated(constraint, node.name, (), mask, is_requirement=False))
            self.search.unit(node.variable, mask | ABSENT, fact)
            self._unknown_if_unmatched(node, line)

    def _admit(self, node: Node, yanked: int, pre_releases: int) -> None:
        """Which yanked releases and pre-releases the installer may use: tried with uv 0.13.9 and pip 26.

        uv takes a yanked release where the user pins it exactly, pip where anything does. uv takes a pre-release where
        no final release fits, so that one can always be part of a solution (it is tried last); pip where a specifier
        names a pre-release, or where there are no others and nothing but the name is asked for.
        """
        lines = self._named.get(node.name, ())
        for line in lines:
            yanked &= ~_pinned(node.versions, line)
        if yanked and self.problem.installer is Installer.UV:
            fact = self._new_fact(Admission(node.name, yanked, "yanked"))
            self.search.unit(node.variable, ~yanked & self.search.full[node.variable], fact)
        if self.problem.installer is Installer.UV:
            return
        if yanked:
            self._admit_where_named(node, yanked, "yanked")
        admitted = self.problem.prereleases & {node.name, "*"} or any(_names_pre_release(line) for line in lines)
        if pre_releases and not admitted and pre_releases != node.versions.all:
            self._admit_where_named(node, pre_releases, "pre-releases")

    def _admit_where_named(self, node: Node, mask: int, reason: str) -> None:
        """Say that these choices need somebody who names them, of whom not all are known yet.

        "One of these, or someone not read yet": the last literal is a variable of its own, the tail, which every
        question assumes to be absent. When somebody new is read, the tail is replaced: "the tail, or the new one, or a
        new tail". So whatever was learned before stays true.
        """
        fact = self._new_fact(Admission(node.name, mask, reason))
        tail = self._bare_variable()
        self.search.clause([(node.variable, self.search.full[node.variable] & ~mask), (tail, 2)], fact)
        self._supports[node.name, reason] = _Support(node, mask, fact, tail)

    def closed_world(self) -> list[Literal]:
        """What every question assumes: nobody names a version but those that were read."""
        return [(support.tail, ABSENT) for support in self._supports.values()]

    def question(self, about: frozenset[int]) -> int:
        """A variable that stands for the question about these variables: present where it is asked.

        A clause that holds for one question only has it among its literals.
        """
        variable = self._questions.get(about)
        if variable is None:
            variable = self._questions[about] = self._bare_variable()
        return variable

    def supports(self) -> Iterable[tuple[Node, int, int, list[Literal]]]:
        """For each name with choices that must be named: the choices, the fact, and who names them."""
        return ((s.node, s.mask, s.fact, s.named_by) for s in self._supports.values())

    def _node(self, name: str, extra: str) -> Node:
        """The variable of an extra; new ones get the rows of what was already read."""
        known = self._variables.get((name, extra))
        if known is not None:
            return known
        base = self._variables[name, ""]
        node = self._new_node(name, extra, base.choices, base.versions)
        self.search.mirror(base.variable, node.variable)
        self._extras.setdefault(name, []).append(node)
        return node

    def _new_node(self, name: str, extra: str, choices: tuple[Choice, ...], versions: VersionList) -> Node:
        node = Node(name, extra, self.search.variable(len(choices)), choices, versions)
        self.nodes.append(node)
        self._variables[name, extra] = node
        return node

    def _bare_variable(self) -> int:
        self.nodes.append(None)
        return self.search.variable(1)

    def _new_fact(self, fact: Fact) -> int:
        self.facts.append(fact)
        return 1 << (len(self.facts) - 1)

    # What choices require.

    def is_read(self, node: Node, choice: int) -> bool:
        """Whether the requirements of a choice are among the constraints."""
        return choice in self._read[node.name]

    def requires(self, name: str, choice: int) -> Requires | None:
        """What a choice requires, where it was read."""
        return self._requires.get((name, choice))

    def read(self, wanted: Collection[tuple[int, int]]) -> list[tuple[Node, int, int]]:
        """Read what these (variable, choice) require and make constraints of it. Only outside of a search.

        Returns:
            (node, values, allowed) of what was asked for by them, for whoever wants to read on.
        """
        pairs: list[tuple[Node, int]] = []
        for variable, choice in wanted:
            node = self.nodes[variable]
            if node is not None:
                base = self._variables[node.name, ""]
                if choice not in self._read[base.name]:
                    pairs.append((base, choice))
        asked = {(node.name, node.choices[choice].label) for node, choice in pairs}
        if self.problem.without_dependencies:
            asked = {pair for pair in asked if pair[0] not in self.problem.without_dependencies}
        answers = self.source.requires(asked) if asked else {}
        for node, choice in pairs:
            answer = answers.get((node.name, node.choices[choice].label), Requires())
            lines = tuple(read_line(text) for text in answer.lines)
            self._requires[node.name, choice] = answer
            self._read[node.name][choice] = lines
            if answer.unknown or any(line.problem or line.url for line in lines):
                self._unknown(node, 2 << choice)
        new = [(node, choice) for base, choice in pairs for node in (base, *self._extras.get(base.name, ()))]
        asked_for: list[tuple[Node, int, int]] = []
        while new:
            found = [(node, choice, self._lines(node, choice)) for node, choice in new]
            self._add_names({line.name for _, _, counting in found for line in counting})
            extras = {(line.name, extra) for _, _, counting in found for line in counting for extra in line.extras}
            new_extras = [self._node(*key) for key in sorted(extras) if key not in self._variables]
            for node, choice, counting in found:
                asked_for.extend(self._add_rows(node, choice, counting))
            new = [(node, choice) for node in new_extras for choice in self._read[node.name]]
        return asked_for

    def _lines(self, node: Node, choice: int) -> list[RequirementLine]:
        """The lines that count for a choice of a node; for an extra those that count only with it."""
        lines = self._read[node.name][choice]
        hold = self._markers.hold
        return [
            line
            for line in lines
            if line.name
            and not line.problem
            and hold(line.marker, node.extra)
            and not (node.extra and hold(line.marker, ""))
        ]

    def _add_rows(self, node: Node, choice: int, lines: list[RequirementLine]) -> Iterable[tuple[Node, int, int]]:
        allowed: dict[int, int] = {}
        value = 2 << choice
        for line in lines:
            base = self._variables[line.name, ""]
            mask = base.versions.all
            if line.name not in self._overridden and not line.url:
                mask = base.versions.taken_by(line.specifiers)
            for extra in ("", *line.extras):
                target = self._variables[line.name, extra].variable
                allowed[target] = allowed.get(target, mask) & mask
            self._support(node, value, line, base)
            if base.versions.versionless and compares_versions(line.specifiers):
                self._unknown_match(node, value, base)
        for target, mask in allowed.items():
            if target == node.variable:
                if not mask & value:
                    edge = self._edge(node.variable, self.guess)
                    self.search.row(edge, value, 0)
                continue
            self.search.row(self._edge(node.variable, target), value, mask)
            found = self.nodes[target]
            if found is not None:
                yield found, value, mask

    def _edge(self, source: int, target: int) -> Edge:
        edge = self._edges.get((source, target))
        if edge is None:
            edge = self.search.edge(source, target, 1 << len(self.facts))
            self.facts.append(Asks(edge))
            self._edges[source, target] = edge
        return edge

    def _support(self, node: Node, value: int, line: RequirementLine, base: Node) -> None:
        for reason, named in (
            ("yanked", _pinned(base.versions, line)),
            ("pre-releases", base.versions.all if _names_pre_release(line) else 0),
        ):
            support = self._supports.get((base.name, reason))
            if support is None or not named & support.mask:
                continue
            support.named_by.append((node.variable, value))
            tail = self._bare_variable()
            clause = [(support.tail, ABSENT), (node.variable, value), (tail, 2)]
            self.search.clause(clause, support.fact)
            support.tail = tail

    # What is not known.

    def _unknown(self, node: Node, mask: int) -> None:
        edge = self._unknown_edges.get(node.name)
        if edge is None:
            edge = self.search.edge(node.variable, self.guess, self._new_fact(NotKnown(node.name)))
            self._unknown_edges[node.name] = edge
        self.search.row(edge, mask, GUESS)
        self.guess_is_possible = True
        node.avoid |= mask

    def _unknown_if_unmatched(self, node: Node, line: RequirementLine) -> None:
        if line.url:
            self._unknown(node, node.versions.all)
        elif node.versions.versionless and compares_versions(line.specifiers):
            self._unknown(node, node.versions.versionless)

    def _unknown_match(self, node: Node, value: int, base: Node) -> None:
        """A specifier is matched against choices without a version: such a solution is a guess."""
        fact = self._new_fact(NotKnown(base.name))
        without = self.search.full[base.variable] & ~base.versions.versionless
        mine = self.search.full[node.variable] & ~value
        self.search.clause([(base.variable, without), (node.variable, mine), (self.guess, GUESS)], fact)
        self.guess_is_possible = True


def _pinned(versions: VersionList, line: RequirementLine) -> int:
    """The choices that a line names exactly: with == (without *) or ===."""
    for specifier in line.specifiers:
        if specifier.operator == "===" or (specifier.operator == "==" and not specifier.version.endswith(".*")):
            return versions.taken_by(line.specifiers)
    return 0


def _names_pre_release(line: RequirementLine) -> bool:
    """Whether a specifier of a line is written with a pre-release."""
    return any(specifier.operator != "!=" and specifier.prereleases for specifier in line.specifiers)


def _in_order(specifiers: SpecifierSet) -> str:
    """Specifiers as people write them: lower bounds before upper ones."""
    order = {"<": 1, "<=": 1, "!=": 2}
    return ",".join(str(one) for one in sorted(specifiers, key=lambda one: (order.get(one.operator, 0), str(one))))
