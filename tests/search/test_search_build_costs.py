"""What builds take is learned by what changed, and cheap builds come first where that saves time."""

import pytest

from bisector.build_costs import BuildCosts, turns_of
from bisector.model import Candidate
from bisector.search import ChainSearch, Conclusion, ConclusionKind, Costs, Probe
from tests.chain_oracle import drive, sound

LAYERS = ("base", "middle", "last")
SECONDS = {"base": 1000.0, "middle": 100.0, "last": 10.0}


def candidate(*versions: int) -> Candidate:
    return Candidate(tuple(zip(LAYERS, map(str, versions), strict=True)))


def seconds_of(now: Candidate, built: list[Candidate]) -> float:
    """What a build with layers takes: all from the first layer on that no earlier build has."""
    kept = max((next((i for i, pin in enumerate(LAYERS) if now[pin] != one[pin]), 3) for one in built), default=0)
    return SECONDS[LAYERS[kept]] if kept < 3 else 0.0


def chain(versions: int) -> list[Candidate]:
    """Whole pins first, from the base on."""
    last = versions - 1
    found = [candidate(0, 0, 0)]
    found += [candidate(version, 0, 0) for version in range(1, versions)]
    found += [candidate(last, version, 0) for version in range(1, versions)]
    found += [candidate(last, last, version) for version in range(1, versions)]
    return found


def test_a_late_layer_comes_out_cheaper_than_an_early_one() -> None:
    costs = BuildCosts()
    built: list[Candidate] = []
    for now in (candidate(0, 0, 0), candidate(9, 9, 9), candidate(9, 5, 0), candidate(9, 9, 4), candidate(9, 9, 2)):
        costs.tell(now, seconds_of(now, built))
        built.append(now)
    assert costs.seconds == {"base": 1000.0, "middle": 100.0, "last": 10.0}
    assert costs(candidate(9, 9, 7)) == 10.0
    assert costs(candidate(9, 7, 0)) == 100.0
    assert costs(candidate(4, 0, 0)) == 1000.0
    assert costs(candidate(9, 9, 4)) == 0.0


def test_of_builds_that_take_alike_the_median_is_expected() -> None:
    costs = BuildCosts()
    for version, seconds in enumerate((60.0, 10.0, 12.0, 11.0, 9.0)):
        costs.tell(Candidate((("widget", str(version)),)), seconds)
    assert costs(Candidate((("widget", "17"),))) == 11.0


def test_another_pin_moves_from_the_turns_on() -> None:
    candidates = chain(4)
    assert turns_of(candidates) == (3, 6)
    assert turns_of(candidates[:4]) == ()


@pytest.mark.parametrize("learned", [False, True])
def test_the_answer_is_right_whatever_builds_are_thought_to_take(learned: bool) -> None:
    for culprit in range(1, 46):
        assert searched(culprit, learned=learned)[1] == culprit


def test_cheap_builds_come_first_where_that_saves_time() -> None:
    def seconds(index: int) -> float:
        return 1000.0 if index < 60 else 10.0

    total = {True: 0.0, False: 0.0}
    for aware in total:
        costs = Costs(500.0, 1.0, building=seconds, turns=(59,)) if aware else Costs(500.0, 1.0)
        for culprit in range(1, 101):
            driven = drive(ChainSearch(100), sound(culprit), costs=costs)
            assert driven.conclusion.upper == culprit
            total[aware] += sum(seconds(index) for index in driven.built)
    assert total[True] < 0.9 * total[False]


def test_time_left_counts_what_each_build_takes() -> None:
    search = ChainSearch(64)
    costs = Costs(10.0, 1.0, building=lambda index: 100.0 if index < 32 else 10.0, turns=(32,))
    assert search.expected_seconds_left(Costs(10.0, 1.0)) == pytest.approx(11.0 * search.expected_builds_left())
    for number in (0, 64):
        search.record(number, sound(10)(number))
    search.record(32, sound(10)(32))
    early = search.expected_seconds_left(costs)
    late = ChainSearch(64)
    for number in (0, 32, 64):
        late.record(number, sound(40)(number))
    assert late.expected_seconds_left(costs) < 0.3 * early


def searched(culprit: int, *, learned: bool) -> tuple[float, int]:
    """(seconds of all builds, the step that was named)."""
    candidates = chain(16)
    search, costs = ChainSearch(45), BuildCosts()
    built: list[Candidate] = []
    total = 0.0
    while True:
        building = (lambda index: costs(candidates[index])) if learned and built else None
        decision = search.next((), Costs(100.0, 1.0, building=building, turns=turns_of(candidates)))
        if isinstance(decision, Conclusion):
            assert decision.kind is ConclusionKind.CULPRIT
            return total, decision.upper
        assert isinstance(decision, Probe)
        now = candidates[decision.candidate]
        if not search.evidence.built(decision.candidate):
            seconds = seconds_of(now, built)
            total += seconds
            costs.tell(now, seconds)
            built.append(now)
        search.record(decision.candidate, sound(culprit)(decision.candidate))
