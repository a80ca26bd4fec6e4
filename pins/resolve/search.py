"""A complete search over finite domains, which learns from its conflicts. It knows nothing of packages.

What the values and constraints are, and what follows from them, says `pins.resolve.propagation`. Besides there are
*units*: literals that always hold. Whatever is derived keeps the facts that it stands on. So a failure comes with a
set of facts that is impossible by itself, which anyone can check.

The search is conflict-driven: decide, propagate, and at a conflict derive the clause that would have prevented it by
resolving backwards to the first single cause (Marques-Silva and Sakallah 1996), over masks instead of booleans as in
PubGrub (Weizenbaum 2018): from `x in M or P` and `x in N or Q` follows `x in M and N, or P, or Q`. Learned clauses
follow from the constraints alone, not from assumptions, so they are kept for all later questions. It ends, since each
learned clause rules out a part of the space that no earlier one does, and it answers "impossible" only where the empty
clause was derived.
"""

from collections.abc import Callable, Iterable, Sequence

from pins.resolve.propagation import ABSENT, Clause, Conflict, Edge, Literal, Literals, Propagation

__all__ = ["ABSENT", "Edge", "Literal", "Literals", "Search"]


class Search(Propagation):
    """Variables, constraints and what has been learned of them.

    Attributes:
        full: every variable's mask of all values.
        domains: what each variable can still be; outside of `solve`, what holds without any decision.
        conflicts: how many clauses were learned.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conflicts = 0
        self._impossible: int | None = None  # facts that contradict each other without any assumption

    def unit(self, variable: int, mask: int, facts: int) -> None:
        """Say that the variable's value is in the mask. Only outside of `solve`, as with all constraints."""
        self._learn_unit((variable, mask & self.full[variable]), facts)

    def clause(self, literals: Sequence[Literal], facts: int) -> None:
        """Say that one of these literals holds."""
        merged = list(_merged(literals).items())
        if len(merged) == 1:
            self._learn_unit(merged[0], facts)
            return
        self._attach(Clause(merged, facts))
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

    def _resolve_conflict(self, conflict: Conflict) -> bool:
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
        clause = Clause([(asserted, current[asserted]), *others], facts)
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
