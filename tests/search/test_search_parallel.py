"""Several probes in flight: chosen together, planned again whenever one ends, given up when they no longer matter."""

import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisector.search import ChainSearch, Conclusion, ConclusionKind, Costs, Observation, Probe, Wait
from tests.chain_oracle import broken_ranges, drive, flaky, plain_bisection_builds, sound

COSTS = Costs(5.0, 1.0)


def fill(search: ChainSearch, workers: int) -> list[int]:
    """The probes that this many workers start together."""
    in_flight: list[int] = []
    while len(in_flight) < workers:
        decision = search.next(in_flight, COSTS)
        if not isinstance(decision, Probe):
            break
        in_flight.append(decision.candidate)
    return in_flight


def drive_in_rounds(
    search: ChainSearch,
    outcome: Callable[[int], Observation],
    workers: int,
    order: Callable[[list[int]], list[int]] = sorted,
) -> tuple[Conclusion, list[list[int]]]:
    """All workers start together and end together, their results arriving in some order."""
    rounds: list[list[int]] = []
    for _ in range(500):
        in_flight = fill(search, workers)
        if not in_flight:
            decision = search.next((), COSTS)
            assert isinstance(decision, Conclusion)
            return decision, rounds
        rounds.append(in_flight)
        for candidate in order(in_flight):
            search.record(candidate, outcome(candidate))
    raise AssertionError("no end")


def drive_one_by_one(
    search: ChainSearch, outcome: Callable[[int], Observation], workers: int, rng: random.Random
) -> tuple[Conclusion, int]:
    """Workers end in random order; whenever one ends, useless probes are ended and all are planned anew."""
    in_flight: list[int] = []
    started = 0
    for _ in range(3000):
        while len(in_flight) < workers:
            decision = search.next(in_flight, COSTS)
            if isinstance(decision, Conclusion):
                return decision, started
            if isinstance(decision, Wait):
                assert in_flight, "nothing is in flight, so there is nothing to wait for"
                break
            assert isinstance(decision, Probe)
            in_flight.append(decision.candidate)
            started += 1
        ended = in_flight.pop(rng.randrange(len(in_flight)))
        search.record(ended, outcome(ended))
        for candidate in search.useless(in_flight):
            in_flight.remove(candidate)
    raise AssertionError("no end")


def test_one_worker_is_the_sequential_search() -> None:
    for culprit in (1, 13, 77, 200):
        sequential = drive(ChainSearch(200), flaky(culprit, 0.1, 0.1, culprit), costs=COSTS)
        conclusion, rounds = drive_in_rounds(ChainSearch(200), flaky(culprit, 0.1, 0.1, culprit), 1)
        assert conclusion == sequential.conclusion
        assert [probes[0] for probes in rounds] == [candidate for candidate, _ in sequential.trail]


def test_both_ends_start_together_and_nothing_else_does() -> None:
    assert fill(ChainSearch(100), 4) == [0, 100]
    search = ChainSearch(100)
    assert search.next([0, 100]) == Wait()
    search.record(0, Observation.PASS)
    assert search.next([100]) == Wait()


def test_three_workers_quarter_the_chain() -> None:
    search = ChainSearch(1000)
    search.record(0, Observation.PASS)
    search.record(1000, Observation.FAIL)
    assert sorted(fill(search, 3)) == pytest.approx([250, 500, 750], abs=40)


def test_three_workers_need_five_rounds_for_a_thousand_steps() -> None:
    rng = random.Random(1)
    for culprit in [1, 2, 500, 1000, *(rng.randrange(1, 1001) for _ in range(12))]:
        conclusion, rounds = drive_in_rounds(ChainSearch(1000), sound(culprit), 3)
        assert (conclusion.kind, conclusion.upper) == (ConclusionKind.CULPRIT, culprit)
        builds: set[int] = set()
        searching = 0
        for probes in rounds[1:]:
            searching += bool(set(probes) - builds - {0, 1000})
            builds |= set(probes)
        assert searching <= 6
        assert len(rounds) <= 10


def test_workers_are_not_given_the_same_candidate_to_build() -> None:
    for workers in (2, 4, 7):
        search = ChainSearch(500)
        search.record(0, Observation.PASS)
        search.record(500, Observation.FAIL)
        chosen = [candidate for candidate in fill(search, workers) if not search.evidence.built(candidate)]
        assert len(chosen) == len(set(chosen))
        assert len(chosen) >= min(workers, 3)


@settings(max_examples=25, deadline=None)
@given(st.integers(20, 400), st.data())
def test_the_order_in_which_results_arrive_does_not_matter(steps: int, data: st.DataObject) -> None:
    culprit = data.draw(st.integers(1, steps))
    workers = data.draw(st.integers(2, 5))
    rng = random.Random(data.draw(st.integers(0, 10**6)))
    noise = {}

    def outcome(candidate: int, count: int) -> Observation:
        if (candidate, count) not in noise:
            noise[candidate, count] = rng.random() < (0.9 if candidate >= culprit else 0.1)
        return Observation.FAIL if noise[candidate, count] else Observation.PASS

    def counted() -> Callable[[int], Observation]:
        counts: dict[int, int] = {}

        def once(candidate: int) -> Observation:
            counts[candidate] = counts.get(candidate, 0) + 1
            return outcome(candidate, counts[candidate])

        return once

    orders: list[Callable[[list[int]], list[int]]] = [sorted, lambda probes: sorted(probes, reverse=True)]
    results = [drive_in_rounds(ChainSearch(steps), counted(), workers, order) for order in orders]
    assert results[0] == results[1]


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_workers_that_end_at_random_find_the_culprit_of_a_sound_script(workers: int) -> None:
    rng = random.Random(workers)
    for _ in range(15):
        culprit = rng.randrange(1, 301)
        search = ChainSearch(300)
        conclusion, started = drive_one_by_one(search, sound(culprit), workers, rng)
        assert (conclusion.kind, conclusion.upper) == (ConclusionKind.CULPRIT, culprit)
        assert started <= 8 * (plain_bisection_builds(300) + 8)


def test_workers_that_end_at_random_find_the_culprit_of_a_flaky_script() -> None:
    rng = random.Random(2)
    right = 0
    for trial in range(25):
        culprit = rng.randrange(1, 201)
        conclusion, _ = drive_one_by_one(ChainSearch(200), flaky(culprit, 0.1, 0.1, trial), 3, rng)
        right += conclusion.kind is ConclusionKind.CULPRIT and conclusion.upper == culprit
    assert right >= 24


def test_a_probe_beyond_a_failure_is_useless() -> None:
    search = ChainSearch(1000)
    search.record(0, Observation.PASS)
    search.record(1000, Observation.FAIL)
    assert search.useless([250, 500, 750]) == []
    search.record(250, Observation.FAIL)
    assert search.useless([500, 750]) == [500, 750]
    assert search.useless([125]) == []


def test_the_ends_are_never_useless_before_they_are_known() -> None:
    search = ChainSearch(10)
    assert search.useless([0, 10]) == []
    search.record(0, Observation.PASS)
    assert search.useless([10]) == []


def test_confirming_runs_start_together() -> None:
    search = ChainSearch(64)
    drive(search, sound(20), before_each=lambda search: None)
    fresh = ChainSearch(64)
    for candidate, letter in ((0, "P"), (64, "F"), (32, "F"), (16, "P"), (24, "F"), (20, "F"), (18, "P"), (19, "P")):
        fresh.record(candidate, Observation.PASS if letter == "P" else Observation.FAIL)
    together = fill(fresh, 8)
    assert set(together) <= {19, 20, 0, 64}
    assert len(together) >= 4


def test_what_never_ended_leaves_no_trace() -> None:
    search, other = ChainSearch(100), ChainSearch(100)
    for each in (search, other):
        each.record(0, Observation.PASS)
        each.record(100, Observation.FAIL)
    search.next([50, 75])
    search.useless([50, 75])
    assert search.next() == other.next()


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 150), st.integers(1, 6), st.integers(0, 10**6), st.data())
def test_workers_among_untestable_candidates_come_to_an_end_around_the_culprit(
    steps: int, workers: int, seed: int, data: st.DataObject
) -> None:
    rng = random.Random(seed)
    culprit = data.draw(st.integers(1, steps))
    broken = broken_ranges(rng, steps, *data.draw(st.sampled_from([(0.3, 3.0), (0.3, 30.0), (0.5, 1.2)])))
    search, in_flight, tried = ChainSearch(steps), list[int](), set[int]()
    for _ in range(1000):
        decision = search.next(in_flight, COSTS)
        if isinstance(decision, Conclusion):
            break
        if isinstance(decision, Probe) and len(in_flight) < workers:
            assert decision.candidate not in tried, "a candidate that cannot be tested was asked for twice"
            in_flight.append(decision.candidate)
            continue
        ended = in_flight.pop(rng.randrange(len(in_flight)))
        if ended in broken:
            tried.add(ended)
            search.mark_untestable(ended, buildable=rng.random() < 0.5)
        else:
            search.record(ended, sound(culprit)(ended))
        for candidate in search.useless(in_flight):
            in_flight.remove(candidate)
    assert isinstance(decision, Conclusion)
    assert decision.kind in (ConclusionKind.CULPRIT, ConclusionKind.RANGE)
    assert decision.lower < culprit <= decision.upper


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 80), st.data())
def test_candidates_that_share_a_build_are_one(steps: int, data: st.DataObject) -> None:
    # Neighbours with equal letters are one build; the culprit lies where the letter changes.
    letters = data.draw(st.lists(st.integers(0, 1), min_size=steps + 1, max_size=steps + 1))
    builds = [0]
    for before, after in pairwise(letters):
        builds.append(builds[-1] + (before != after))
    if builds[-1] == 0:
        return
    changed = [v for v in range(1, steps + 1) if builds[v] != builds[v - 1]]
    culprit = data.draw(st.sampled_from(changed))
    search = ChainSearch(steps)
    for candidate in range(1, steps + 1):
        if builds[candidate] == builds[candidate - 1]:
            search.mark_same_build(candidate - 1, candidate)
    driven = drive(search, sound(culprit), costs=COSTS)
    assert (driven.conclusion.kind, driven.conclusion.upper) == (ConclusionKind.CULPRIT, culprit)
    assert driven.conclusion.lower == culprit - 1
    assert len({builds[v] for v in driven.built}) <= plain_bisection_builds(len(changed))
