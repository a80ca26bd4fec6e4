"""How a minimal set of facts comes to a contradiction, step by step, in an order that a person can follow."""

from collections.abc import Sequence
from dataclasses import dataclass

from pins.resolve.core import literals_of
from pins.resolve.facts import Asks, Stated
from pins.resolve.problem import OriginKind
from pins.resolve.search import Edge, Literal
from pins.resolve.universe import Universe


@dataclass(frozen=True)
class Step:
    """One use of an edge.

    Attributes:
        fact: the number of the fact.
        edge: whose rows are used.
        forward: whether its target was narrowed by what all that is left of its source asks; else values of its source
            were ruled out, since they ask for what its target cannot be.
        source: what the source could be before.
        target: what the target could be before.
        left: what the narrowed one can be afterwards; 0: this is the contradiction.
    """

    fact: int
    edge: Edge
    forward: bool
    source: int
    target: int
    left: int


@dataclass(frozen=True)
class Derivation:
    """Steps to a contradiction.

    Attributes:
        steps: in order; each needs the ones before.
        complete: whether they reach it; else cases must be told apart, and every edge stands there once.
    """

    steps: tuple[Step, ...]
    complete: bool


def derive(universe: Universe, core: Sequence[int], assumptions: Sequence[Literal]) -> Derivation:
    """Propagate the facts of a core, nearest to what was asked first, and keep the steps that matter."""
    domains = list(universe.search.full)
    heat: dict[int, int] = {}
    for variable, mask in assumptions:
        domains[variable] &= mask
        heat[variable] = 0
    edges = []
    for number in core:
        fact = universe.facts[number]
        if isinstance(fact, Asks):
            edges.append((number, fact.edge))
        else:
            for variable, mask in literals_of(universe, fact):
                domains[variable] &= mask
                if isinstance(fact, Stated) and fact.constraint.origin.kind is OriginKind.GIVEN:
                    heat[variable] = 0
    mirrors = [(base.variable, extra.variable) for base in universe.names() for extra in universe.extras(base)]
    steps: list[Step] = []
    clock = 1
    while True:
        _mirror(domains, mirrors)
        possible = [
            step
            for number, edge in edges
            for step in (_forward(number, edge, domains), _backward(number, edge, domains))
            if step
        ]
        if not possible:
            generic = [Step(n, e, True, domains[e.source], domains[e.target], domains[e.target]) for n, e in edges]
            return Derivation(tuple(generic), complete=not edges)
        far = len(domains) + clock

        def nearness(step: Step) -> tuple[bool, int]:
            """Contradictions first; then what was narrowed first: the story runs on from what was asked."""
            used = step.edge.source if step.forward else step.edge.target
            return bool(step.left), heat.get(used, far)  # noqa: B023 - called at once

        step = min(possible, key=nearness)
        steps.append(step)
        narrowed = step.edge.target if step.forward else step.edge.source
        domains[narrowed] = step.left
        heat.setdefault(narrowed, clock)
        clock += 1
        if not step.left:
            return Derivation(_relevant(steps, dict(mirrors)), complete=True)


def _mirror(domains: list[int], mirrors: Sequence[tuple[int, int]]) -> None:
    for base, extra in mirrors:
        domains[extra] &= domains[base] | 1
        if not domains[extra] & 1:
            domains[base] &= domains[extra]


def _forward(number: int, edge: Edge, domains: Sequence[int]) -> Step | None:
    union = 0
    rest = domains[edge.source]
    for values, allowed in edge.rows:
        if values & domains[edge.source]:
            union |= allowed
            rest &= ~values
    if rest or not domains[edge.target] & ~union:
        return None
    return Step(number, edge, True, domains[edge.source], domains[edge.target], domains[edge.target] & union)


def _backward(number: int, edge: Edge, domains: Sequence[int]) -> Step | None:
    dead = 0
    for values, allowed in edge.rows:
        if not allowed & domains[edge.target]:
            dead |= values
    if not dead & domains[edge.source]:
        return None
    return Step(number, edge, False, domains[edge.source], domains[edge.target], domains[edge.source] & ~dead)


def _relevant(steps: Sequence[Step], mirrors: dict[int, int]) -> tuple[Step, ...]:
    """The steps that the last one rests on."""
    twin = {**mirrors, **{extra: base for base, extra in mirrors.items()}}
    kept: list[Step] = []
    needed: set[int] = set()
    for step in reversed(steps):
        narrowed = step.edge.target if step.forward else step.edge.source
        if not kept or narrowed in needed or twin.get(narrowed) in needed:
            kept.append(step)
            needed |= {step.edge.source, step.edge.target}
    return tuple(reversed(kept))
