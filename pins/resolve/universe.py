"""A problem as variables and constraints of the search, read from its source only as far as the search asks.

A name has a variable, and so has each extra of it that something asks for. What a choice requires becomes rows of edges
once the search wants to use that choice; until then the choice asks for nothing, so that "impossible" never stands on
what was not read, and a solution is one only once everything in it was read.
"""

from collections.abc import Collection, Iterable, Sequence

from pins.errors import UsageError
from pins.resolve.admission import Admissions
from pins.resolve.facts import Asks, NotKnown, Stated, Unusable
from pins.resolve.matching import VersionList, compares_versions
from pins.resolve.nodes import Node, Variables, reasons_of
from pins.resolve.problem import Choice, Constraint, Origin, Problem, RequirementSource, Requires
from pins.resolve.requirement_line import Markers, RequirementLine, read_line
from pins.resolve.search import ABSENT, Edge

GUESS = 2
"""The value of `Universe.guess` where a solution stands on something that is not known."""


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
        admissions: which yanked releases and pre-releases may be used.

    Raises:
        UsageError: a requirement of the problem cannot be parsed.
    """

    def __init__(self, problem: Problem, source: RequirementSource) -> None:
        self.problem = problem
        self.source = source
        self._variables = Variables()
        self.search = self._variables.search
        self.nodes = self._variables.nodes
        self.facts = self._variables.facts
        self.guess = self._variables.bare()
        self.guess_is_possible = False
        self.required: set[int] = set()
        self._markers = Markers(dict(problem.markers))
        self._by_name: dict[tuple[str, str], Node] = {}
        self._extras: dict[str, list[Node]] = {}
        self._edges: dict[tuple[int, int], Edge] = {}
        self._read: dict[str, dict[int, tuple[RequirementLine, ...]]] = {}
        self._requires: dict[tuple[str, int], Requires] = {}
        self._unknown_edges: dict[int, Edge] = {}
        self._bounds: dict[str, list[tuple[Constraint, RequirementLine]]] = {}
        self._overridden: set[str] = set()
        self._missing: dict[str, str] = {}
        named: dict[str, list[RequirementLine]] = {}
        self.admissions = Admissions(problem, self._variables, named)
        self._state_problem(named)

    # What is asked for.

    def _state_problem(self, named: dict[str, list[RequirementLine]]) -> None:
        required = self._active(self.problem.requirements)
        bounds = self._active(self.problem.bounds)
        overrides = self._active(self.problem.overrides)
        self._overridden = {line.name for _, line in overrides}
        for constraint, line in [*bounds, *overrides]:
            self._bounds.setdefault(line.name, []).append((constraint, line))
        for _, line in [*required, *bounds, *overrides]:
            named.setdefault(line.name, []).append(line)
        self._add_names({line.name for _, line in required})
        for constraint, line in required:
            node = self._by_name[line.name, ""]
            mask = node.versions.all
            if line.name not in self._overridden:
                mask = node.versions.taken_by(line.specifiers)
            fact = self._variables.fact(Stated(constraint, line.name, line.extras, mask, is_requirement=True))
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
        return self._by_name.get((name, ""))

    def names(self) -> Sequence[Node]:
        """Every name that was mentioned so far."""
        return self._variables.names

    def base(self, node: Node) -> Node:
        """The variable of the distribution that an extra belongs to."""
        return self._by_name[node.name, ""]

    def variable(self, name: str, extra: str = "") -> int:
        """The variable of a name that was mentioned, or of an extra that was asked for."""
        return self._by_name[name, extra].variable

    def counting_lines(self, node: Node, choice: int) -> list[tuple[RequirementLine, Origin | None]]:
        """The lines that count for a choice of a node, with their origins where a source tree tells."""
        answer = self._requires.get((node.name, choice))
        if answer is None:
            return []
        origins = answer.origins or (None,) * len(answer.lines)
        counting = set(self._lines(node, choice))
        lines = zip(self._read[node.name][choice], origins, strict=True)
        return [(line, origin) for line, origin in lines if line in counting]

    def missing(self, name: str) -> str:
        """Why a name has no choices."""
        return self._missing.get(name, f"{name} has no release")

    def extras(self, node: Node) -> Sequence[Node]:
        """The variables of a name's extras."""
        return self._extras.get(node.name, ())

    def mentioned(self, names: Sequence[str]) -> list[Node]:
        """The variables of these names, which need not be required by anything."""
        self._add_names(names)
        return [self._by_name[name, ""] for name in names]

    def _add_names(self, names: Collection[str]) -> None:
        new = [name for name in names if (name, "") not in self._by_name]
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
        for reason, mask in reasons_of(node.choices).items():
            fact = self._variables.fact(Unusable(node.name, mask, reason))
            self.search.unit(node.variable, ~mask & self.search.full[node.variable], fact)
        node.avoid |= node.versions.versionless
        self.admissions.limit(node)
        for constraint, line in self._bounds.get(node.name, ()):
            mask = node.versions.taken_by(line.specifiers)
            fact = self._variables.fact(Stated(constraint, node.name, (), mask, is_requirement=False))
            self.search.unit(node.variable, mask | ABSENT, fact)
            self._unknown_if_unmatched(node, line)

    def _node(self, name: str, extra: str) -> Node:
        """The variable of an extra; new ones get the rows of what was already read."""
        known = self._by_name.get((name, extra))
        if known is not None:
            return known
        base = self._by_name[name, ""]
        node = self._new_node(name, extra, base.choices, base.versions)
        self.search.mirror(base.variable, node.variable)
        self._extras.setdefault(name, []).append(node)
        return node

    def _new_node(self, name: str, extra: str, choices: tuple[Choice, ...], versions: VersionList) -> Node:
        node = self._by_name[name, extra] = self._variables.name(name, extra, choices, versions)
        return node

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
                base = self._by_name[node.name, ""]
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
            if answer.unknown or any(line.problem for line in lines):
                self._unknown(node, 2 << choice)
        new = [(node, choice) for base, choice in pairs for node in (base, *self._extras.get(base.name, ()))]
        asked_for: list[tuple[Node, int, int]] = []
        while new:
            found = [(node, choice, self._lines(node, choice)) for node, choice in new]
            self._add_names({line.name for _, _, counting in found for line in counting})
            extras = {(line.name, extra) for _, _, counting in found for line in counting for extra in line.extras}
            new_extras = [self._node(*key) for key in sorted(extras) if key not in self._by_name]
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
            base = self._by_name[line.name, ""]
            mask = base.versions.all
            if line.name not in self._overridden and not line.url:
                mask = base.versions.taken_by(line.specifiers)
            for extra in ("", *line.extras):
                target = self._by_name[line.name, extra].variable
                allowed[target] = allowed.get(target, mask) & mask
            if line.url:
                self._unknown(node, value)
            self.admissions.read(node, value, line, base)
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
            self._variables.fact(Asks(edge))
            self._edges[source, target] = edge
        return edge

    # What is not known.

    def _unknown(self, node: Node, mask: int) -> None:
        edge = self._unknown_edges.get(node.variable)
        if edge is None:
            edge = self.search.edge(node.variable, self.guess, self._variables.fact(NotKnown(node.name)))
            self._unknown_edges[node.variable] = edge
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
        if base is node:
            return
        fact = self._variables.fact(NotKnown(base.name))
        without = self.search.full[base.variable] & ~base.versions.versionless
        mine = self.search.full[node.variable] & ~value
        self.search.clause([(base.variable, without), (node.variable, mine), (self.guess, GUESS)], fact)
        self.guess_is_possible = True
