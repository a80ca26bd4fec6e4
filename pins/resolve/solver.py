"""Solutions of a problem: the search, and reading what it asks for on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pins.resolve.foundation import founded, reached
from pins.resolve.nodes import Node
from pins.resolve.search import ABSENT, Literal
from pins.resolve.universe import GUESS, NeedsReading, Universe

_MOST_READ_AHEAD = 4000
"""Choices whose requirements are read ahead at most; the search reads what it still misses."""


@dataclass(frozen=True)
class Model:
    """One solution.

    Attributes:
        chosen: name -> label of every name that is part of it.
        extras: (name, extra) of those that are asked for.
        is_guess: whether it stands on something that is not known.
        values: variable -> number of the choice, for the solver itself.
    """

    chosen: Mapping[str, str]
    extras: frozenset[tuple[str, str]]
    is_guess: bool
    values: Mapping[int, int]


class Solver:
    """Answers whether a problem has a solution under assumptions.

    Attributes:
        universe: what is known so far.
        failed_on: after `solve` found nothing: the mask of facts on which that stands.
        questions: how often `solve` was asked.
    """

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self.failed_on = 0
        self.questions = 0
        self._preferred: dict[int, int] = {}
        self._ready: dict[int, int] = {}  # variable -> a domain of it whose best choice was read
        self._waiting: list[Node] = []  # what was undecided when all names were looked at last, the most choices first

    def read_ahead(self, targets: Sequence[Node]) -> None:
        """Read the requirements of all choices of these names, and on from there what a newest-first choice needs.

        All of it will be asked for one by one; in waves, a source can fetch it at once.
        """
        search = self.universe.search
        search.settle()
        wanted = {(node.variable, choice) for node in targets for choice in choices_in(search.domains[node.variable])}
        wanted |= {
            (node.variable, self._best(node, search.domains[node.variable]))
            for node in self.universe.names()
            if search.domains[node.variable] & ~ABSENT
        }
        self._read_on(wanted)

    def _read_on(self, wanted: set[tuple[int, int]]) -> None:
        """Read what these (variable, choice) require, and on from there."""
        search = self.universe.search
        seen = set(wanted)
        while wanted and len(seen) < _MOST_READ_AHEAD:
            asked_for = self.universe.read(sorted(wanted))
            if search.settle() is not None:
                return
            wanted = set()
            for node, _, allowed in asked_for:
                domain = search.domains[node.variable] & allowed & ~ABSENT
                if domain:
                    base = self.universe.base(node)
                    choice = self._best(base, domain)
                    pair = (base.variable, choice)
                    if pair not in seen and not self.universe.is_read(base, choice):
                        seen.add(pair)
                        wanted.add(pair)

    def solve(self, assumptions: Sequence[Literal] = (), *, certain: bool = True) -> Model | None:
        """A solution under the assumptions, or None: there is none.

        Args:
            assumptions: what holds for this question.
            certain: whether it may not stand on anything unknown.
        """
        search = self.universe.search
        self.questions += 1
        while True:
            world = self.universe.admissions.closed_world()
            self._waiting.clear()
            given = [(self.universe.guess, ABSENT)] if certain and self.universe.guess_is_possible else []
            asked_about = frozenset(variable for variable, mask in assumptions if not mask & ABSENT)
            about = [(self.universe.admissions.question(asked_about), 2)] if self.universe.admissions.decides else []
            try:
                domains, self.failed_on = search.solve([*world, *about, *given, *assumptions], self._decide)
            except NeedsReading as needs:
                search.give_up()
                self._read_on(set(needs.wanted))
                continue
            if domains is None:
                return None
            model = self._model(domains)
            if self._is_founded(model, asked_about):
                return model

    def _is_founded(self, model: Model, asked_about: frozenset[int]) -> bool:
        """Whether pip would get to this solution; one that it would not is ruled out, for this question."""
        asked, accepted = self._gets_to(model, asked_about)
        if asked <= accepted:
            return True
        admissions, search = self.universe.admissions, self.universe.search
        if admissions.limit_early(model.values, asked, accepted):
            return False
        facts = 0
        for _, _, fact, _ in admissions.supports():
            facts |= fact
        literals = [(v, search.full[v] & ~(2 << model.values[v])) for v in sorted(asked)]
        search.clause([(self.universe.admissions.question(asked_about), ABSENT), *literals], facts)
        return False

    def is_founded_for(self, model: Model, variable: int) -> bool:
        """Whether the installer gets to what a solution has for a name when that is asked for, whatever else was."""
        asked, accepted = self._gets_to(model, frozenset((variable,)))
        return asked <= accepted

    def _gets_to(self, model: Model, asked_about: frozenset[int]) -> tuple[set[int], set[int]]:
        """The variables that are asked for in a solution, and those of them whose values pip gets to."""
        admissions, search = self.universe.admissions, self.universe.search
        if not admissions.decides:
            return set(), set()
        roots = self.universe.required | asked_about
        named = [
            (one.variable, mask, by)
            for node, mask, _, by in admissions.supports()
            for one in (node, *self.universe.extras(node))  # which pip gets to with their distribution only
        ]
        accepted = founded(search, model.values, roots, named, admissions.is_admitted)
        return reached(search, model.values, roots), accepted

    def prefer(self, model: Model) -> None:
        """Try what this solution chose first."""
        self._preferred = dict(model.values)
        self._ready.clear()

    def _decide(self, domains: Sequence[int]) -> Literal | None:
        """The name with the fewest choices left gets the best of them; raises `NeedsReading` for what must be read."""
        universe, ready, waiting = self.universe, self._ready, self._waiting
        while waiting:  # to look at all names for each decision would take longer than the search
            node = waiting.pop()
            domain = domains[node.variable]
            if not domain & ABSENT and domain & (domain - 1):
                choice = self._best(node, domain)
                if universe.is_read(node, choice):
                    return node.variable, 2 << choice
        wanted: list[tuple[int, int]] = []
        undecided: list[tuple[int, int, Node]] = []
        for position, node in enumerate(universe.names()):
            domain = domains[node.variable]
            if domain & ABSENT:
                continue
            if ready.get(node.variable) != domain:
                choice = self._best(node, domain)
                if universe.is_read(node, choice):
                    ready[node.variable] = domain
                else:
                    wanted.append((node.variable, choice))
            if domain & (domain - 1):
                undecided.append((-domain.bit_count(), -position, node))
        if wanted:
            raise NeedsReading(wanted)
        if not undecided:
            return None
        undecided.sort(key=lambda one: one[:2])
        waiting.extend(node for _, _, node in undecided)
        node = waiting.pop()
        return node.variable, 2 << self._best(node, domains[node.variable])

    def _best(self, node: Node, domain: int) -> int:
        preferred = self._preferred.get(node.variable)
        if preferred is not None and domain & 2 << preferred:
            return preferred
        domain &= ~ABSENT
        return ((domain & ~node.avoid) or domain).bit_length() - 2

    def _model(self, domains: Sequence[int]) -> Model:
        chosen: dict[str, str] = {}
        extras: set[tuple[str, str]] = set()
        values: dict[int, int] = {}
        for node in self.universe.nodes:
            if node is None or domains[node.variable] & ABSENT:
                continue
            choice = domains[node.variable].bit_length() - 2
            values[node.variable] = choice
            if node.extra:
                extras.add((node.name, node.extra))
            else:
                chosen[node.name] = node.choices[choice].label
        return Model(chosen, frozenset(extras), domains[self.universe.guess] == GUESS, values)


def choices_in(domain: int) -> list[int]:
    """The numbers of the choices in a mask, ascending."""
    return [i for i in range(domain.bit_length() - 1) if domain & 2 << i]
