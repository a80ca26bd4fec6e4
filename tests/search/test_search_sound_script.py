"""A script that never errs: plain bisection, and a few more runs of builds that exist."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisector.search import ChainSearch, ConclusionKind, Costs, Observation, SearchSettings
from tests.chain_oracle import drive, plain_bisection_builds, sound

TRUSTING = (SearchSettings(confirmations=1), SearchSettings(trust=True))


@pytest.mark.parametrize("steps", [*range(1, 34), 63, 64, 65, 100, 127, 128, 129, 130])
def test_builds_no_more_than_plain_bisection_and_reruns_only_what_is_built(steps: int) -> None:
    for culprit in range(1, steps + 1):
        driven = drive(ChainSearch(steps), sound(culprit))
        assert driven.conclusion.kind is ConclusionKind.CULPRIT
        assert (driven.conclusion.lower, driven.conclusion.upper) == (culprit - 1, culprit)
        assert driven.conclusion.confidence >= 0.99
        assert driven.builds <= plain_bisection_builds(steps)
        assert driven.runs - driven.builds <= 8


@pytest.mark.slow
@pytest.mark.parametrize("steps", range(34, 131))
def test_the_same_for_every_chain_of_up_to_130_steps(steps: int) -> None:
    test_builds_no_more_than_plain_bisection_and_reruns_only_what_is_built(steps)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_same_for_long_chains_near_powers_of_two(data: st.DataObject) -> None:
    power = data.draw(st.integers(7, 17))
    steps = 2**power + data.draw(st.sampled_from([-1, 0, 1, 2, 2 ** (power - 2)]))
    culprit = data.draw(st.integers(1, steps))
    driven = drive(ChainSearch(steps), sound(culprit))
    assert (driven.conclusion.kind, driven.conclusion.upper) == (ConclusionKind.CULPRIT, culprit)
    assert driven.builds <= plain_bisection_builds(steps)
    assert driven.runs - driven.builds <= 8


@pytest.mark.parametrize("cost", [Costs(0.0, 1.0), Costs(1.0, 1.0), Costs(10.0, 1.0), Costs(20.0, 1.0)])
def test_no_more_builds_whatever_they_cost(cost: Costs) -> None:
    for culprit in range(1, 129):
        driven = drive(ChainSearch(128), sound(culprit), costs=cost)
        assert (driven.conclusion.kind, driven.conclusion.upper) == (ConclusionKind.CULPRIT, culprit)
        assert driven.builds <= plain_bisection_builds(128)
        assert driven.runs - driven.builds <= 8


@pytest.mark.parametrize("trusting", TRUSTING)
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 64, 100, 129])
def test_a_trusted_script_is_bisected_without_a_second_run(steps: int, trusting: SearchSettings) -> None:
    for culprit in range(1, steps + 1):
        driven = drive(ChainSearch(steps, trusting), sound(culprit))
        assert (driven.conclusion.kind, driven.conclusion.upper) == (ConclusionKind.CULPRIT, culprit)
        assert driven.runs == driven.builds <= plain_bisection_builds(steps)


def test_a_trusted_script_with_a_high_confidence_is_still_bisected_plainly() -> None:
    driven = drive(ChainSearch(500, SearchSettings(trust=True, confidence=0.9999)), sound(77))
    assert driven.runs == driven.builds <= plain_bisection_builds(500)


@pytest.mark.parametrize(("confidence", "hits"), [(0.9, 3), (0.95, 3), (0.99, 4), (0.995, 5), (0.999, 6)])
def test_both_witnesses_hit_as_often_as_the_confidence_asks(confidence: float, hits: int) -> None:
    search = ChainSearch(40, SearchSettings(confidence=confidence))
    drive(search, sound(23))
    assert search.evidence.passes(22) >= hits
    assert search.evidence.fails(23) >= hits


@pytest.mark.parametrize("costs", [Costs(0.0, 1.0), Costs(10.0, 1.0)])
def test_the_answer_is_sure_even_if_the_script_is_flaky_or_eight_runs_were_repeated(costs: Costs) -> None:
    for culprit in range(1, 1000, 41):
        driven = drive(ChainSearch(1000), sound(culprit), costs=costs)
        repeated = driven.runs - driven.builds
        assert repeated <= 8
        assert driven.conclusion.confidence_if_flaky >= 0.99 or repeated == 8


def test_the_ends_come_first_and_say_why() -> None:
    driven = drive(ChainSearch(50), sound(20))
    assert driven.trail[:2] == [(0, "good end"), (50, "bad end")]
    assert [why for _, why in driven.trail[2:7]] == ["search"] * 5
    assert {why for _, why in driven.trail[-6:]} <= {"culprit again", "predecessor again", "search again"}


def test_a_bad_end_that_passes_is_run_again_before_the_search_says_none() -> None:
    driven = drive(ChainSearch(50), sound(99))
    assert driven.conclusion.kind is ConclusionKind.NONE
    assert driven.built == [0, 50]
    assert driven.trail.count((50, "bad end again")) >= 4
    assert f"passed in {driven.runs - 1} of {driven.runs - 1} runs" in driven.conclusion.reason


def test_a_good_end_that_fails_is_run_again_before_the_search_says_all_are_bad() -> None:
    driven = drive(ChainSearch(50), sound(0))
    assert driven.conclusion.kind is ConclusionKind.ALL_BAD
    assert driven.built == [0, 50]
    assert driven.trail.count((0, "good end again")) >= 4


def test_a_good_end_that_fails_and_a_bad_end_that_passes_are_swapped() -> None:
    driven = drive(ChainSearch(50), lambda candidate: Observation.PASS if candidate >= 20 else Observation.FAIL)
    assert driven.conclusion.kind is ConclusionKind.SWAPPED
    assert driven.built == [0, 50]
    assert driven.runs <= 20


@pytest.mark.parametrize("trusting", TRUSTING)
def test_a_trusted_script_needs_one_run_to_contradict_an_end(trusting: SearchSettings) -> None:
    assert drive(ChainSearch(9, trusting), sound(99)).runs == 2
    assert drive(ChainSearch(9, trusting), sound(0)).runs == 2


def test_one_false_pass_of_the_bad_end_does_not_end_the_search() -> None:
    seen: list[int] = []

    def outcome(candidate: int) -> Observation:
        seen.append(candidate)
        return Observation.PASS if seen.count(50) == 1 and candidate == 50 else sound(31)(candidate)

    driven = drive(ChainSearch(50), outcome)
    assert (driven.conclusion.kind, driven.conclusion.upper) == (ConclusionKind.CULPRIT, 31)


def test_a_chain_of_one_step_has_only_its_ends_to_run() -> None:
    driven = drive(ChainSearch(1), sound(1))
    assert (driven.conclusion.kind, driven.conclusion.lower, driven.conclusion.upper) == (ConclusionKind.CULPRIT, 0, 1)
    assert driven.built == [0, 1]
    assert driven.runs == 8


def test_a_hint_that_is_right_saves_builds_and_one_that_is_wrong_costs_few() -> None:
    rng = random.Random(4)
    builds = {"none": 0, "right": 0, "wrong": 0}
    for _ in range(60):
        steps = 100
        hinted = rng.sample(range(steps), 10)
        hint = [9.0 if step in hinted else 0.11 for step in range(steps)]
        right = rng.choice(hinted) + 1
        wrong = rng.choice([step for step in range(steps) if step not in hinted]) + 1
        for name, prior, culprit in (("none", None, right), ("right", hint, right), ("wrong", hint, wrong)):
            driven = drive(ChainSearch(steps, prior=prior), sound(culprit))
            assert driven.conclusion.upper == culprit
            builds[name] += driven.builds
    assert builds["right"] < builds["none"] - 60
    assert builds["wrong"] < builds["none"] + 120


def test_builds_that_exist_are_used_before_new_ones() -> None:
    total = {True: 0, False: 0}
    for culprit in range(1, 1000, 37):
        for prebuilt in (False, True):
            search = ChainSearch(1000)
            ready = set(range(20, 1000, 20)) if prebuilt else set()
            for candidate in ready:
                search.mark_built(candidate)
            driven = drive(search, sound(culprit), costs=Costs(10.0, 1.0))
            assert driven.conclusion.upper == culprit
            total[prebuilt] += len(set(driven.built) - ready)
    assert total[True] <= 0.65 * total[False]


def test_expected_builds_left_falls_to_none() -> None:
    search = ChainSearch(128)
    expected: list[float] = []
    driven = drive(search, sound(50), before_each=lambda search: expected.append(search.expected_builds_left()))
    assert expected[0] == pytest.approx(9.0, abs=0.7)
    assert expected[2] == pytest.approx(7.0, abs=0.5)
    assert expected[-1] == pytest.approx(0.0, abs=0.1)
    assert driven.builds <= 9


@pytest.mark.parametrize(
    "settings_given",
    [
        {"confidence": 1.0},
        {"confidence": 0.0},
        {"confirmations": 0},
        {"max_runs": 1},
        {"deterministic_prior": 1.0},
        {"fail_if_good": 0.1},
        {"fail_if_good": 0.6, "fail_if_bad": 0.5},
    ],
)
def test_settings_that_no_search_can_honour_are_refused(settings_given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        SearchSettings(**settings_given)  # type: ignore[arg-type]


def test_a_candidate_off_the_chain_is_refused() -> None:
    search = ChainSearch(5)
    for call in (
        lambda: search.record(6, Observation.PASS),
        lambda: search.mark_built(-1),
        lambda: search.mark_untestable(6, buildable=False),
        lambda: search.mark_same_build(0, 6),
        lambda: search.next([7]),
        lambda: ChainSearch(0),
        lambda: ChainSearch(3, prior=[1.0, 1.0]),
        lambda: ChainSearch(2, prior=[1.0, float("nan")]),
    ):
        with pytest.raises(ValueError, match=r"\S"):
            call()
