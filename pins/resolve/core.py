"""Minimal sets of facts that exclude each other: from the facts that a failure stood on to those that it needs."""

from collections.abc import Sequence

from pins.resolve.facts import Admission, Asks, Fact, NotKnown, Stated, Unusable
from pins.resolve.search import ABSENT, Literal, Search
from pins.resolve.universe import Universe


def minimal_core(universe: Universe, facts: int, assumptions: Sequence[Literal]) -> tuple[int, ...]:
    """The numbers of facts that exclude each other under the assumptions, none of which can be left out.

    Facts are left out one by one, and a question without one is asked of the other facts alone: what was not read stays
    out of it, so that the answer can be checked from the sentences.

    Args:
        universe: holds the facts.
        facts: a mask of facts that exclude each other.
        assumptions: what is assumed besides.
    """
    needed = 0
    left = facts
    first = _contradiction(universe, facts, assumptions)
    if first is None:  # it took a rule that is no fact (`pins.resolve.foundation`)
        return _numbers(facts)
    left = first
    for number in sorted(_numbers(facts), key=lambda number: _dispensable(universe.facts[number])):
        bit = 1 << number
        if not left & bit:
            continue
        smaller = _contradiction(universe, left & ~bit, assumptions)
        if smaller is None:
            needed |= bit
        else:
            left = smaller | needed
    return _numbers(left)


def _dispensable(fact: Fact) -> int:
    """What is tried to be left out first: the user's own lines last, for those a reader knows."""
    match fact:
        case Admission() | Unusable() | NotKnown():
            return 0
        case Asks():
            return 1
        case Stated():
            return 2


def _contradiction(universe: Universe, facts: int, assumptions: Sequence[Literal]) -> int | None:
    """The facts among these that contradict the assumptions, None where they do not."""
    search = Search()
    for full in universe.search.full:
        search.variable(full.bit_length() - 1)
    for node in universe.names():
        for extra in universe.extras(node):
            search.mirror(node.variable, extra.variable)
    for number in _numbers(facts):
        _state(universe, search, number)
    solution, failed_on = search.solve(assumptions, lambda domains: _first_open(universe, domains))
    return None if solution is not None else failed_on


def _state(universe: Universe, search: Search, number: int) -> None:
    bit = 1 << number
    match universe.facts[number]:
        case Stated() | Unusable() as fact:
            for variable, mask in literals_of(universe, fact):
                search.unit(variable, mask, bit)
        case Admission() as admission:
            [without] = literals_of(universe, admission)
            named = [by for _, _, fact, names in universe.admissions.supports() if fact == bit for by in names]
            if named:
                search.clause([without, *_merged(named)], bit)
            else:
                search.unit(*without, bit)
        case Asks(edge=edge):
            copy = search.edge(edge.source, edge.target, bit)
            for values, allowed in edge.rows:
                search.row(copy, values, allowed)
        case NotKnown():
            pass  # "impossible" never stands on it


def literals_of(universe: Universe, fact: Fact) -> list[Literal]:
    """What a fact that is no edge says, as literals that all hold; what depends on others is left out."""
    match fact:
        case Stated():
            asks = 0 if fact.is_requirement else ABSENT
            return [(universe.variable(fact.name, extra), fact.mask | asks) for extra in ("", *fact.extras)]
        case Unusable(name=name, mask=mask) | Admission(name=name, mask=mask):
            variable = universe.variable(name)
            return [(variable, universe.search.full[variable] & ~mask)]
        case _:
            return []


def _merged(literals: Sequence[Literal]) -> list[Literal]:
    masks: dict[int, int] = {}
    for variable, mask in literals:
        masks[variable] = masks.get(variable, 0) | mask
    return list(masks.items())


def _first_open(universe: Universe, domains: Sequence[int]) -> Literal | None:
    for node in universe.names():
        domain = domains[node.variable]
        if not domain & ABSENT and domain & (domain - 1):
            return node.variable, 1 << (domain.bit_length() - 1)
    return None


def _numbers(facts: int) -> tuple[int, ...]:
    return tuple(number for number in range(facts.bit_length()) if facts >> number & 1)
