"""Windows against a SAT solver on random universes: cycles, extras, pre-releases, yanks, holes, unknowns."""

import pytest

pytest.importorskip("pysat", reason="python-sat is the oracle")

from pins.resolve.windows import windows_of
from tests.resolve.random_universes import oracle, random_universe

SLICES = 20
UNIVERSES = 2000


def _compare(seed: int) -> int:
    """Compare one universe; the number of clauses that the search learned."""
    universe = random_universe(seed)
    expected = oracle(universe)
    found = windows_of(universe.problem, universe.source)
    assert found.possible == expected.possible, f"universe {seed}"
    for window in found.windows:
        asked = set(window.labels(window.asked))
        inside = set(window.labels(window.inside))
        unknown = set(window.labels(window.unknown))
        assert inside == expected.inside.get(window.name, set()) & asked, f"universe {seed}, {window.name}"
        assert unknown == expected.unknown.get(window.name, set()) & asked, f"universe {seed}, {window.name}"
        assert set(window.labels(sum(2 << i for i in window.witnesses))) == inside
    return found.solver.universe.search.conflicts


def test_windows_of_random_universes_are_those_of_a_sat_solver() -> None:
    learned = sum(_compare(seed) for seed in range(80))
    assert learned > 50, "the universes no longer need any search: they test nothing"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
def test_windows_of_many_random_universes_are_those_of_a_sat_solver(part: int) -> None:
    for seed in range(part, UNIVERSES, SLICES):
        _compare(seed)
