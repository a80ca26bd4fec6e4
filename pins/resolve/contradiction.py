"""Whether a problem cannot be solved whatever is already there: for whoever would leave something out because of it."""

from collections import Counter
from collections.abc import Sequence

from pins.resolve.core import minimal_core
from pins.resolve.facts import Asks, Stated, Unusable
from pins.resolve.problem import Problem, RequirementSource
from pins.resolve.sentences import sentences
from pins.resolve.solver import Solver
from pins.resolve.universe import Universe


def contradiction(problem: Problem, source: RequirementSource) -> str:
    """Why nothing satisfies a problem, in sentences; "" where something does, or may.

    What is not known allows everything. An image that a build starts from may
    hold distributions of versions that no index has, so that a contradiction counts only where it stands on what the
    problem names itself, and on versions that exist.

    Raises:
        UsageError: a requirement cannot be parsed.
        SourceError: something could not be read.
    """
    universe = Universe(problem, source)
    solver = Solver(universe)
    if solver.solve() is not None or solver.solve(certain=False) is not None:
        return ""
    core = minimal_core(universe, solver.failed_on, ())
    if not _stands_on_what_is_named(universe, core):
        return ""
    told = [sentence.text for sentence in sentences(universe, core, ())]
    # What is asked for is before whoever reads this; it is said where nothing else is.
    return "; ".join([text for text in told if " is asked for" not in text] or told)


def _stands_on_what_is_named(universe: Universe, core: Sequence[int]) -> bool:
    facts = [universe.facts[number] for number in core]
    left: dict[str, int] = {}
    limits: Counter[str] = Counter()
    for fact in facts:
        if isinstance(fact, Stated):
            left[fact.name] = left.get(fact.name, fact.mask) & fact.mask
        if isinstance(fact, Stated | Unusable):
            limits[fact.name] += 1
            if not fact.mask:
                return False  # a version that no index has may be there all the same
        elif not isinstance(fact, Asks):
            return False
    for fact in facts:
        if isinstance(fact, Asks):
            source, target = universe.nodes[fact.edge.source], universe.nodes[fact.edge.target]
            if source is None or target is None or source.name not in left:
                return False
            if any(values & left[source.name] and not allowed for values, allowed in fact.edge.rows):
                return False
            limits[target.name] += 1
    targets = [universe.nodes[fact.edge.target] for fact in facts if isinstance(fact, Asks)]
    return all(limits[node.name] > 1 for node in targets if node is not None)
