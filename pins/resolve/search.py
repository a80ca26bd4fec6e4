"""A complete search over finite domains, which learns from its conflicts. It knows nothing of packages.

Every variable has one value out of a few, written as a mask: bit 0 is "absent", the others are its choices, ascending.
A *literal* `(variable, mask)` is true where the variable's value is in the mask; a *clause* is a set of literals of
which one must be true. Three more kinds of constraint are known:

- a *unit*: a literal that always holds;
- an *edge* from one variable to another: rows `(A, B)`, "where the first is in A, the second is in B". Propagation
  keeps edges arc-consistent: what all remaining rows agree on holds, and a row whose B is impossible rules out its A;
- a *mirror*: an extra's variable is absent or has the value of its distribution's variable.

Each constraint belongs to a *fact* (a bit), and whatever is derived keeps the facts that it stands on. So a failure
comes with a set of facts that is impossible by itself, which anyone can check.

The search is conflict-driven: decide, propagate, and at a conflict derive the clause that would have prevented it by
resolving backwards to the first single cause (Marques-Silva and Sakallah 1996), over masks instead of booleans as in
PubGrub (Weizenbaum 2018): from `x in M or P` and `x in N or Q` follows `x in M and N, or P, or Q`. Learned clauses
follow from the constraints alone, not from assumptions, so they are kept for all later questions. It ends, since each
learned clause rules out a part of the space that no earlier one does, and it answers "impossible" only where the empty
clause was derived.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

ABSENT = 1
"""The mask of "absent"."""

Literal = tuple[int, int]
Literals = tuple[Literal, ...]


@dataclass
class Edge:
    """What the values of one variable ask of another; rows may be added, never taken away."""

    source: int
    target: int
    fact: int
    rows: list[tuple[int, int]]


class _Clause:
    """A learned or given clause; its first two literals are watched."""

    __slots__ = ("facts", "literals")

    def __init__(self, literals: list[Literal], facts: int) -> None:
        self.literals = literals
        self.facts = facts


_Conflict = tuple[Literals, int]


class Search:
    """Variables, constraints and what has been learned of them.

    Attributes:
        full: every variable's mask of all values.
        domains: what each variable can still be; outside of `solve`, what holds without any decision.
        conflicts: how many clauses were learned.
    """

    def __init__(self) -> None:
        self.full: list[int] = []
        self.domains: list[int] = []
        self.conflicts = 0
        self._out: list[list[Edge]] = []
        self._into: list[list[Edge]] = []
        self._mirrors: list[list[tuple[int, bool]]] = []  # (the other, whether the other is the extra)
        self._watches: list[list[_Clause]] = []
        # Variable, its domain before, and why with the facts; of a decision None and the mask it was narrowed to.
        self._trail: list[tuple[int, int, Literals | None, int]] = []
        self._starts: list[int] = []
        self._before: list[list[int]] = []  # domains at the start of each level
        self._queue: list[int] = []
        self._queued: set[int] = set()
        self._impossible: int | None = None  # facts that contradict each other without any assumption

    def variable(self, values: int) -> int:
        """A new variable with this many values besides "absent"."""
        full = (1 << (values + 1)) - 1
        self.full.append(full)
        self.domains.append(full)
        self._out.append([])
        self._into.append([])
        self._mirrors.append([])
        self._watches.append([])
        return len(self.full) - 1

    def unit(self, variable: int, mask: int, facts: int) -> None:
        """Say that the variable's value is in the mask. Only outside of `solve`, as with all constraints."""
        self._learn_unit((variable, mask & self.full[variable]), facts)

    def edge(self, source: int, target: int, fact: int) -> Edge:
        """A new edge without rows."""
        edge = Edge(source, target, fact, [])
        self._out[source].append(edge)
        self._into[target].append(edge)
        return edge

    def edges_from(self, variable: int) -> Sequence[Edge]:
        """What a variable asks of others."""
        return self._out[variable]

    def edges_into(self, variable: int) -> Sequence[Edge]:
        """What others ask of a variable."""
        return self._into[variable]

    def row(self, edge: Edge, values: int, allowed: int) -> None:
        """Say that where the edge's source is in `values`, its target is in `allowed`."""
        for position, (given, same) in enumerate(edge.rows):
            if same == allowed:
                edge.rows[position] = (given | values, same)
                break
        else:
            edge.rows.append((values, allowed))
        self._enqueue(edge.source)
        self._enqueue(edge.target)

    def mirror(self, base: int, extra: int) -> None:
        """Say that the extra's variable is absent or equal to the base's."""
        self._mirrors[base].append((extra, True))
        self._mirrors[extra].append((base, False))
        self._enqueue(base)
        self._enqueue(extra)

    def clause(self, literals: Sequence[Literal], facts: int) -> None:
        """Say that one of these literals holds."""
        merged = list(_merged(literals).items())
        if len(merged) == 1:
            self._learn_unit(merged[0], facts)
            return
        self._attach(_Clause(merged, facts))
        for variable, _ in merged:
            self._enqueue(variable)

    def settle(self) -> int | None:
        """Propagate without decisions: None, or the facts that contradict each other."""
        self._backtrack(0)
        if self._impossible is None:
            conflict = self._propagate()
            if conflict is not None:
                self._impossible = self._final(*conflict)
        return self._impossible

    def solve(
        self, assumptions: Sequence[Literal], decide: Callable[[Sequence[int]], Literal | None]
    ) -> tuple[list[int] | None, int]:
        """The domains of a solution under the assumptions, or None with the facts that rule it out.

        Args:
            assumptions: literals that hold for this question.
            decide: given the domains, what to try next, as a literal that narrows one variable; None where all is
                decided: every variable then has one value or may be absent.

        Returns:
            Domains and 0, or None and a mask of facts that contradict the assumptions.
        """
        if self.settle() is not None:
            return None, self._impossible or 0
        while True:
            conflict = self._propagate()
            if conflict is not None:
                if not self._resolve_conflict(conflict):
                    return None, self._impossible or 0
                continue
            level = len(self._starts)
            if level < len(assumptions):
                variable, mask = assumptions[level]
                if not self.domains[variable] & mask:
                    facts = self._final(((variable, mask),), 0)
                    self._backtrack(0)
                    return None, facts
                self._decide(variable, mask)
                continue
            decision = decide(self.domains)
            if decision is None:
                solution = self.domains[:]
                self._backtrack(0)
                return solution, 0
            self._decide(*decision)

    def facts_against(self, variable: int, mask: int) -> int:
        """The facts on which it stands that a variable can have none of these values; outside of `solve`."""
        return self._final(((variable, mask),), 0)

    def consequences(self, assumptions: Sequence[Literal]) -> list[int] | None:
        """The domains after propagating these assumptions; None where that fails. Asks for no decisions."""
        if self.settle() is not None:
            return None
        try:
            for variable, mask in assumptions:
                if not self.domains[variable] & mask:
                    return None
                self._decide(variable, mask)
                if self._propagate() is not None:
                    return None
            return self.domains[:]
        finally:
            self._backtrack(0)

    def give_up(self) -> None:
        """Leave a search that `decide` has left with an exception."""
        self._backtrack(0)

    def _decide(self, variable: int, mask: int) -> None:
        self._starts.append(len(self._trail))
        self._before.append(self.domains[:])
        before = self.domains[variable]
        if before & ~mask:
            self._trail.append((variable, before, None, mask))
            self.domains[variable] = before & mask
            self._enqueue(variable)

    def _backtrack(self, level: int) -> None:
        if len(self._starts) > level:
            del self._trail[self._starts[level] :]
            self.domains[:] = self._before[level]
            del self._starts[level:], self._before[level:]
            self._queue.clear()
            self._queued.clear()

    def _enqueue(self, variable: int) -> None:
        if variable not in self._queued:
            self._queued.add(variable)
            self._queue.append(variable)

    def _narrow(self, variable: int, mask: int, why: Literals, facts: int) -> _Conflict | None:
        before = self.domains[variable]
        after = before & mask
        if after == before:
            return None
        if not after:
            return why, facts
        self._trail.append((variable, before, why, facts))
        self.domains[variable] = after
        self._enqueue(variable)
        return None

    def _propagate(self) -> _Conflict | None:
        while self._queue:
            variable = self._queue.pop()
            self._queued.discard(variable)
            conflict = self._propagate_variable(variable)
            if conflict is not None:
                if self._starts:
                    self._queue.clear()
                    self._queued.clear()
                return conflict
        return None

    def _propagate_variable(self, variable: int) -> _Conflict | None:
        domain = self.domains[variable]
        for edge in self._out[variable]:
            conflict = self._forward(edge, domain)
            if conflict is not None:
                return conflict
        for edge in self._into[variable]:
            conflict = self._backward(edge, domain)
            if conflict is not None:
                return conflict
        for other, is_extra in self._mirrors[variable]:
            if domain & ABSENT and not is_extra:
                continue
            allowed = domain | ABSENT if is_extra else domain
            why = ((variable, self.full[variable] & ~domain), (other, allowed))
            conflict = self._narrow(other, allowed, why, 0)
            if conflict is not None:
                return conflict
        return self._visit_watches(variable)

    def _forward(self, edge: Edge, domain: int) -> _Conflict | None:
        """What all remaining values of an edge's source agree on holds for its target."""
        union = 0
        left = domain
        for values, allowed in edge.rows:
            if values & domain:
                union |= allowed
                left &= ~values
        if left or not self.domains[edge.target] & ~union:
            return None
        as_strict = 0
        for values, allowed in edge.rows:
            if not allowed & ~union:
                as_strict |= values
        why = ((edge.source, self.full[edge.source] & ~as_strict), (edge.target, union))
        return self._narrow(edge.target, union, why, edge.fact)

    def _backward(self, edge: Edge, domain: int) -> _Conflict | None:
        """Values of an edge's source that ask the impossible of its target are ruled out."""
        possible = self.domains[edge.source]
        union = 0
        dead = 0
        for values, allowed in edge.rows:
            if not allowed & domain:
                dead |= values
                union |= allowed
        if not dead & possible:
            return None
        kept = self.full[edge.source] & ~dead
        return self._narrow(edge.source, kept, ((edge.source, kept), (edge.target, union)), edge.fact)

    def _visit_watches(self, variable: int) -> _Conflict | None:
        domains = self.domains
        watching = self._watches[variable]
        kept: list[_Clause] = []
        for position, clause in enumerate(watching):
            literals = clause.literals
            if literals[0][0] == variable:
                literals[0], literals[1] = literals[1], literals[0]
            if literals[1][0] != variable:
                continue  # watched elsewhere since
            if domains[variable] & literals[1][1]:
                kept.append(clause)
                continue
            for other in range(2, len(literals)):
                if domains[literals[other][0]] & literals[other][1]:
                    literals[1], literals[other] = literals[other], literals[1]
                    self._watches[literals[1][0]].append(clause)
                    break
            else:
                kept.append(clause)
                conflict = self._narrow(*literals[0], tuple(literals), clause.facts)
                if conflict is not None:
                    kept.extend(watching[position + 1 :])
                    self._watches[variable] = kept
                    return conflict
        self._watches[variable] = kept
        return None

    def _attach(self, clause: _Clause) -> None:
        for variable, _ in clause.literals[:2]:
            self._watches[variable].append(clause)

    def _resolve_conflict(self, conflict: _Conflict) -> bool:
        """Learn from a conflict and go back to where what was learned narrows something; False: impossible."""
        literals, facts = conflict
        current = _merged(literals)
        while self._starts and not self._open(current):
            self._backtrack(len(self._starts) - 1)
        if not self._starts:
            self._impossible = self._final(literals, facts)
            return False
        self.conflicts += 1
        position = len(self._trail)
        while len(open_ones := self._open(current)) > 1:
            position -= 1
            variable, before, why, reason = self._trail[position]
            if before & current.get(variable, 0):
                assert why is not None, "a level begins with one decision"
                _resolve(current, variable, why)
                facts |= reason
        asserted = open_ones[0]
        others = [(variable, mask) for variable, mask in current.items() if variable != asserted]
        if not others:
            self._backtrack(0)
            self._learn_unit((asserted, current[asserted]), facts)
            return self._impossible is None
        levels = [self._false_since(literal) for literal in others]
        latest = max(range(len(others)), key=levels.__getitem__)
        others[0], others[latest] = others[latest], others[0]
        clause = _Clause([(asserted, current[asserted]), *others], facts)
        self._backtrack(max(levels))
        self._attach(clause)
        failed = self._narrow(asserted, current[asserted], tuple(clause.literals), facts)
        assert failed is None, "a clause is learned where its last literal is still possible"
        return True

    def _learn_unit(self, literal: Literal, facts: int) -> None:
        assert not self._starts, "units hold at the root"
        conflict = self._narrow(*literal, (literal,), facts)
        if conflict is not None and self._impossible is None:
            self._impossible = self._final(*conflict)

    def _open(self, current: dict[int, int]) -> list[int]:
        """Variables whose literals became false at the current level."""
        before = self._before[-1]
        return [variable for variable, mask in current.items() if before[variable] & mask]

    def _false_since(self, literal: Literal) -> int:
        """The level at whose end a literal was false."""
        variable, mask = literal
        for level, domains in enumerate(self._before):
            if not domains[variable] & mask:
                return level
        return len(self._before)

    def _final(self, literals: Literals, facts: int) -> int:
        """The facts on which it stands that these literals are all false, back to the assumptions."""
        current = _merged(literals)
        for variable, before, why, reason in reversed(self._trail):
            if not before & current.get(variable, 0):
                continue
            if why is None:
                _resolve(current, variable, ((variable, reason),))  # what an assumption says needs no facts
            else:
                _resolve(current, variable, why)
                facts |= reason
        return facts


def _merged(literals: Iterable[Literal]) -> dict[int, int]:
    current: dict[int, int] = {}
    for variable, mask in literals:
        current[variable] = current.get(variable, 0) | mask
    return current


def _resolve(current: dict[int, int], variable: int, why: Literals) -> None:
    """Resolve a clause with the reason that made its literal on `variable` false."""
    for other, mask in why:
        if other == variable:
            current[variable] &= mask
        else:
            current[other] = current.get(other, 0) | mask
    if not current[variable]:
        del current[variable]
