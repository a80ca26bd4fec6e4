"""Candidates that do not build, are skipped or fail otherwise: no evidence, and a hint where not to look."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisector.search import ChainSearch, ConclusionKind, Costs, Observation, SearchSettings
from bisector.search.testability import Prospects
from tests.chain_oracle import broken_ranges, drive, irreducible, plain_bisection_builds, sound


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_range_of_a_short_chain_is_exact_and_everything_in_it_was_tried(data: st.DataObject) -> None:
    steps = data.draw(st.integers(2, 12))
    culprit = data.draw(st.integers(1, steps))
    broken = data.draw(st.sets(st.integers(1, steps - 1)))
    driven = drive(ChainSearch(steps), sound(culprit), unbuildable=broken)
    lower, upper = irreducible(culprit, broken)
    found = driven.conclusion
    if upper - lower - 1 <= SearchSettings().exhaustive_range:
        assert (found.lower, found.upper) == (lower, upper)
        assert set(range(lower + 1, upper)) <= set(driven.failed_builds)
    assert found.lower <= lower < upper <= found.upper
    assert found.kind is (ConclusionKind.CULPRIT if found.upper - found.lower == 1 else ConclusionKind.RANGE)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_the_culprit_is_inside_what_is_reported_and_the_witnesses_stand_beside_it(data: st.DataObject) -> None:
    steps = data.draw(st.integers(13, 300))
    culprit = data.draw(st.integers(1, steps))
    share, length = data.draw(st.sampled_from([(0.05, 10.0), (0.3, 3.0), (0.3, 40.0), (0.5, 1.2)]))
    broken = broken_ranges(random.Random(data.draw(st.integers(0, 10**6))), steps, share, length)
    search = ChainSearch(steps)
    found = drive(search, sound(culprit), unbuildable=broken, costs=Costs(5.0, 1.0)).conclusion
    assert found.kind in (ConclusionKind.CULPRIT, ConclusionKind.RANGE)
    assert found.lower < culprit <= found.upper
    assert search.evidence.passes(found.lower) >= 4
    assert search.evidence.fails(found.upper) >= 4
    untried = [v for v in range(found.lower + 1, found.upper) if not search.evidence.untestable(v)]
    assert (f"{len(untried)} were not tried" in found.reason) == bool(untried)


def test_two_releases_before_the_first_bad_one_do_not_build() -> None:
    # 5.3, 5.3.1, 5.4, 5.4.1, 6.0, 6.0.1: the two 5.4 do not build, 6.0 is bad.
    driven = drive(ChainSearch(5), sound(4), unbuildable={2, 3})
    assert driven.conclusion.kind is ConclusionKind.RANGE
    assert (driven.conclusion.lower, driven.conclusion.upper) == (1, 4)
    assert set(driven.failed_builds) == {2, 3}
    assert "2 were tried and cannot be tested" in driven.conclusion.reason


def test_nothing_between_the_ends_builds() -> None:
    driven = drive(ChainSearch(7), sound(3), unbuildable=range(1, 7))
    assert driven.conclusion.kind is ConclusionKind.RANGE
    assert (driven.conclusion.lower, driven.conclusion.upper) == (0, 7)
    assert set(driven.failed_builds) == set(range(1, 7))


def test_a_long_chain_without_anything_testable_ends_soon_and_says_what_was_not_tried() -> None:
    driven = drive(ChainSearch(1000), sound(3), unbuildable=range(1, 1000))
    assert driven.conclusion.kind is ConclusionKind.RANGE
    assert (driven.conclusion.lower, driven.conclusion.upper) == (0, 1000)
    assert driven.builds <= 60
    assert "were not tried" in driven.conclusion.reason


@pytest.mark.parametrize(("end", "name"), [(0, "good end"), (50, "bad end")])
def test_an_end_that_cannot_be_tested_ends_the_search(end: int, name: str) -> None:
    driven = drive(ChainSearch(50), sound(20), unbuildable={end})
    assert driven.conclusion.kind is ConclusionKind.UNDETERMINED
    assert driven.conclusion.reason.startswith(f"the {name} cannot be tested")


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.3])
def test_one_broken_range_costs_few_builds(share: float) -> None:
    rng = random.Random(7)
    extra, trials = 0, 25
    for _ in range(trials):
        first = rng.randrange(1, 500 - int(500 * share))
        broken = set(range(first, first + int(500 * share)))
        culprit = rng.randrange(1, 501)
        driven = drive(ChainSearch(500), sound(culprit), unbuildable=broken, costs=Costs(10.0, 1.0))
        assert (driven.conclusion.lower, driven.conclusion.upper) == irreducible(culprit, broken)
        extra += driven.builds - plain_bisection_builds(500)
    assert extra / trials <= 5.0


def test_every_other_candidate_broken_leaves_two_suspects() -> None:
    rng = random.Random(8)
    builds, trials = 0, 25
    for _ in range(trials):
        parity, culprit = rng.randrange(2), rng.randrange(1, 500)
        broken = {v for v in range(1, 500) if v % 2 == parity}
        driven = drive(ChainSearch(500), sound(culprit), unbuildable=broken, costs=Costs(10.0, 1.0))
        assert driven.conclusion.upper - driven.conclusion.lower <= 2
        assert driven.conclusion.lower < culprit <= driven.conclusion.upper
        builds += driven.builds
    assert builds / trials <= 20.0


def test_skipped_candidates_are_built_but_not_run_again() -> None:
    skipped = set(range(20, 26))
    search = ChainSearch(40)

    def outcome(candidate: int) -> Observation:
        return Observation.UNTESTABLE if candidate in skipped else sound(23)(candidate)

    driven = drive(search, outcome)
    assert (driven.conclusion.kind, driven.conclusion.lower, driven.conclusion.upper) == (ConclusionKind.RANGE, 19, 26)
    assert all(driven.trail.count((v, "search")) <= 1 for v in skipped)


def test_a_candidate_that_can_no_longer_be_tested_keeps_what_it_told() -> None:
    search = ChainSearch(10)
    calls: list[int] = []

    def outcome(candidate: int) -> Observation:
        calls.append(candidate)
        if candidate == 5 and calls.count(5) > 1:
            return Observation.UNTESTABLE
        return sound(5)(candidate)

    driven = drive(search, outcome)
    assert (driven.conclusion.kind, driven.conclusion.lower, driven.conclusion.upper) == (ConclusionKind.CULPRIT, 4, 5)
    assert calls.count(5) == 2


def test_untestable_candidates_move_no_belief() -> None:
    search = ChainSearch(30)
    search.record(0, Observation.PASS)
    search.record(30, Observation.FAIL)
    before = [search.belief.step_probability(step) for step in range(1, 31)]
    for candidate in range(5, 20):
        search.mark_untestable(candidate, buildable=candidate % 2 == 0)
    assert [search.belief.step_probability(step) for step in range(1, 31)] == before


def test_neighbours_of_a_broken_candidate_are_suspect_and_distant_ones_are_not() -> None:
    chance = Prospects(1000, [(0, True), (500, False), (1000, True)])
    assert chance(501) < chance(520) < chance(700)
    assert chance(500) == 0.0
    assert chance(1000) == 1.0


def test_between_two_broken_candidates_hardly_anything_can_be_tested() -> None:
    chance = Prospects(1000, [(0, True), (490, False), (494, False), (500, False), (1000, True)])
    assert chance(497) < 0.15


def test_candidates_that_alternate_are_recognised() -> None:
    known = [(candidate, candidate % 2 == 0) for candidate in range(100, 107)]
    chance = Prospects(1000, [(0, True), *known, (1000, True)])
    assert chance(107) < 0.2
    assert chance(108) > 0.8


def test_without_a_broken_candidate_all_can_be_tested() -> None:
    assert Prospects(10, [(0, True), (10, True)])(5) == 1.0
    assert Prospects(10, [])(5) == 1.0


def test_the_bridge_agrees_with_enumeration() -> None:
    # All 2^5 fillings of five unknown candidates between two known ones, weighed by the mixture.
    statuses = [(0, True), (6, False)]
    chance = Prospects(100, statuses)
    from bisector.search import testability as module

    total, sound_at = 0.0, [0.0] * 7
    for member in module._members(100):
        start = 1.0 - member.broken
        for filling in range(32):
            chain = [True, *((filling >> bit) & 1 == 1 for bit in range(5)), False]
            weight = start
            for before, after in pairwise(chain):
                weight *= member.stays_or_turns(not before, not after, 1)
            total += weight
            for position in range(1, 6):
                sound_at[position] += weight * chain[position]
    for position in range(1, 6):
        assert chance(position) == pytest.approx(sound_at[position] / total, rel=5e-3)
