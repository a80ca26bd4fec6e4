"""What follows from constraints over finite domains: the part of the search that only narrows.

Every variable has one value out of a few, written as a mask: bit 0 is "absent", the others are its choices, ascending.
A *literal* `(variable, mask)` is true where the variable's value is in the mask; a *clause* is a set of literals of
which one must be true. Two more kinds of constraint are known:

- an *edge* from one variable to another: rows `(A, B)`, "where the first is in A, the second is in B". Propagation
  keeps edges arc-consistent: what all remaining rows agree on holds, and a row whose B is impossible rules out its A;
- a *mirror*: an extra's variable is absent or has the value of its distribution's variable.

Each constraint belongs to a *fact* (a bit), and each step is written down with the facts that it stands on.
"""

from collections.abc import Sequence
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


class Clause:
    """A learned or given clause; its first two literals are watched."""

    __slots__ = ("facts", "literals")

    def __init__(self, literals: list[Literal], facts: int) -> None:
        self.literals = literals
        self.facts = facts


Conflict = tuple[Literals, int]
"""A clause of which no literal can be true any more, and its facts."""


class Propagation:
    """Variables, what they can still be, and how they came to that.

    Attributes:
        full: every variable's mask of all values.
        domains: what each variable can still be.
    """

    def __init__(self) -> None:
        self.full: list[int] = []
        self.domains: list[int] = []
        self._out: list[list[Edge]] = []
        self._into: list[list[Edge]] = []
        self._mirrors: list[list[tuple[int, bool]]] = []  # (the other, whether the other is the extra)
        self._watches: list[list[Clause]] = []
        # Variable, its domain before, and why with the facts; of a decision None and the mask it was narrowed to.
        self._trail: list[tuple[int, int, Literals | None, int]] = []
        self._starts: list[int] = []
        self._before: list[list[int]] = []  # domains at the start of each level
        self._queue: list[int] = []
        self._queued: set[int] = set()

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

    def _narrow(self, variable: int, mask: int, why: Literals, facts: int) -> Conflict | None:
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

    def _propagate(self) -> Conflict | None:
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

    def _propagate_variable(self, variable: int) -> Conflict | None:
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

    def _forward(self, edge: Edge, domain: int) -> Conflict | None:
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

    def _backward(self, edge: Edge, domain: int) -> Conflict | None:
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

    def _visit_watches(self, variable: int) -> Conflict | None:
        domains = self.domains
        watching = self._watches[variable]
        kept: list[Clause] = []
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

    def _attach(self, clause: Clause) -> None:
        for variable, _ in clause.literals[:2]:
            self._watches[variable].append(clause)
