"""A script that errs: the promise is kept, the search ends, and what it says can be replayed."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisector.search import ChainSearch, ConclusionKind, Costs, Observation, Probe, SearchSettings
from tests.chain_oracle import drive, flaky, sound

RATES = [
    (0.05, 0.0),
    (0.0, 0.05),
    (0.1, 0.1),
    (0.2, 0.0),
    (0.0, 0.2),
    (0.3, 0.05),
    (0.05, 0.3),
    (0.5, 0.0),
    (0.05, 0.5),
]


def shares(
    steps: int,
    a: float,
    b: float,
    trials: int,
    given_: SearchSettings,
    costs: Costs = Costs(0.0, 1.0),  # noqa: B008
) -> tuple[float, float]:
    """(share of wrong answers, share of undetermined ones)."""
    rng = random.Random(f"{steps} {a} {b}")
    wrong = undetermined = 0
    for trial in range(trials):
        culprit = rng.randrange(1, steps + 1)
        found = drive(ChainSearch(steps, given_), flaky(culprit, a, b, (steps, a, b, trial)), costs=costs).conclusion
        if found.kind is ConclusionKind.UNDETERMINED:
            undetermined += 1
        else:
            wrong += not (found.kind is ConclusionKind.CULPRIT and found.upper == culprit)
    return wrong / trials, undetermined / trials


def allowed(error: float, trials: int) -> float:
    return error + 3.0 * math.sqrt(error * (1.0 - error) / trials)


@pytest.mark.parametrize(("a", "b"), RATES[:7])
def test_wrong_answers_are_as_rare_as_promised_in_a_short_trial(a: float, b: float) -> None:
    wrong, undetermined = shares(60, a, b, 40, SearchSettings())
    assert wrong <= allowed(0.01, 40)
    assert undetermined <= allowed(0.05, 40)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [16, 300])
@pytest.mark.parametrize(("a", "b"), RATES)
def test_wrong_answers_are_as_rare_as_promised(steps: int, a: float, b: float) -> None:
    wrong, undetermined = shares(steps, a, b, 600, SearchSettings())
    assert wrong <= allowed(0.01, 600)
    if a + b <= 0.35:
        assert undetermined <= allowed(0.05, 600)


@pytest.mark.slow
def test_the_confidence_is_the_share_that_is_right() -> None:
    model = ChainSearch(2).known.rate_model
    pairs = [((a, b), model.weights[x][y]) for x, a in enumerate(model.if_good) for y, b in enumerate(model.if_bad)]
    rng = random.Random(12)
    claimed = right = 0.0
    trials = 1500
    for trial in range(trials):
        ((a, b),) = rng.choices([pair for pair, _ in pairs], [weight for _, weight in pairs])
        culprit = rng.randrange(1, 201)
        found = drive(ChainSearch(200), flaky(culprit, a, b, ("calibration", trial)), costs=Costs(0.0, 1.0)).conclusion
        if found.kind is ConclusionKind.UNDETERMINED:
            trials -= 1
            continue
        claimed += found.confidence_if_flaky
        right += found.kind is ConclusionKind.CULPRIT and found.upper == culprit
    assert right / trials >= claimed / trials - allowed(0.01, trials)


def test_one_confirming_run_would_not_keep_the_promise() -> None:
    # Guards the tests above: if this passed, they could not fail.
    wrong, _ = shares(300, 0.3, 0.0, 60, SearchSettings(trust=True))
    assert wrong > 0.2


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.2, 0.0)])
def test_rates_that_are_known_save_runs(a: float, b: float) -> None:
    runs = {True: 0, False: 0}
    known = SearchSettings(fail_if_good=a, fail_if_bad=1.0 - b)
    for trial in range(20):
        for given_ in (known, SearchSettings()):
            driven = drive(ChainSearch(500, given_), flaky(trial * 25 + 1, a, b, trial), costs=Costs(0.0, 1.0))
            runs[given_.rates_known] += driven.runs
    assert runs[True] < 0.8 * runs[False]


def test_builds_that_cost_a_hundred_runs_are_hardly_more_than_without_noise() -> None:
    builds, trials = 0, 40
    for trial in range(trials):
        driven = drive(ChainSearch(256), flaky(trial * 6 + 1, 0.1, 0.1, trial), costs=Costs(100.0, 1.0))
        builds += driven.builds
    assert builds / trials <= 10.0 * 1.05 + 0.2


@pytest.mark.parametrize(("a", "most"), [(0.0, 11), (0.1, 40), (0.2, 80)])
def test_no_culprit_is_noticed_in_few_runs(a: float, most: int) -> None:
    runs = 0
    for seed in range(12):
        driven = drive(ChainSearch(300), flaky(999, a, 0.0, seed))
        assert driven.conclusion.kind in (ConclusionKind.NONE, ConclusionKind.UNDETERMINED)
        runs += driven.runs
    assert runs / 12 <= most


def test_a_smaller_gap_between_the_rates_makes_a_missing_culprit_hard_to_notice() -> None:
    # Guards `least_gap`: scripts that hardly tell good from bad explain whatever is seen.
    runs = {0.42: 0, 0.25: 0}
    for seed in range(4):
        for gap in runs:
            given_ = SearchSettings(least_gap=gap, max_runs=400)
            runs[gap] += drive(ChainSearch(300, given_), flaky(999, 0.3, 0.0, seed)).runs
    assert runs[0.25] > 2.0 * runs[0.42]


def test_a_limit_is_kept_even_while_the_ends_are_in_doubt() -> None:
    driven = drive(ChainSearch(50, SearchSettings(max_runs=6)), lambda v: sound(20)(50 - v))
    assert driven.runs <= 6
    assert driven.conclusion.kind is ConclusionKind.UNDETERMINED


def test_a_sound_script_that_is_given_one_false_outcome_recovers() -> None:
    for culprit in (3, 40, 77):
        for false_at in range(2, 12):
            count = 0

            def outcome(candidate: int) -> Observation:
                nonlocal count
                count += 1
                truth = sound(culprit)(candidate)  # noqa: B023
                if count == false_at + 1:  # noqa: B023
                    return Observation.PASS if truth is Observation.FAIL else Observation.FAIL
                return truth

            driven = drive(ChainSearch(80), outcome)
            assert (driven.conclusion.kind, driven.conclusion.upper) == (ConclusionKind.CULPRIT, culprit)


@pytest.mark.parametrize("steps", [1, 2, 20, 1000])
@pytest.mark.parametrize(
    "name", ["always fail", "always pass", "alternating", "coin", "fixed in between", "bad passes mostly", "swapped"]
)
def test_every_script_comes_to_an_end(steps: int, name: str) -> None:
    rng = random.Random(f"{steps} {name}")
    calls = 0

    def outcome(candidate: int) -> Observation:
        nonlocal calls
        calls += 1
        third = steps / 3.0
        fails = {
            "always fail": True,
            "always pass": False,
            "alternating": calls % 2 == 0,
            "coin": rng.random() < 0.5,
            "fixed in between": candidate >= 2 * third or third / 2.0 <= candidate <= third,
            "bad passes mostly": candidate >= third and rng.random() < 0.2,
            "swapped": candidate < third,
        }[name]
        return Observation.FAIL if fails else Observation.PASS

    search = ChainSearch(steps)
    driven = drive(search, outcome)
    assert driven.runs <= search.settings.run_limit(steps)
    found = driven.conclusion
    assert found.reason
    assert 0 <= found.lower < found.upper <= steps
    assert 0.0 <= found.confidence <= 1.0 + 1e-9
    if found.kind is ConclusionKind.UNDETERMINED:
        assert found.expected_further_runs is None or found.expected_further_runs > 0.0
    if found.kind is ConclusionKind.CULPRIT:
        assert search.evidence.passes(found.lower) >= 1
        assert search.evidence.fails(found.upper) >= 1


def test_bad_then_fixed_then_bad_again_names_a_true_transition() -> None:
    rng = random.Random(9)
    for _ in range(25):
        first, second, third = sorted(rng.sample(range(1, 200), 3))

        def outcome(candidate: int) -> Observation:
            return Observation.FAIL if first <= candidate < second or candidate >= third else Observation.PASS  # noqa: B023

        found = drive(ChainSearch(200), outcome).conclusion
        assert found.kind is ConclusionKind.CULPRIT
        assert found.upper in (first, third)


def test_a_limit_of_runs_is_kept_and_what_is_left_is_said() -> None:
    search = ChainSearch(1000, SearchSettings(max_runs=15))
    driven = drive(search, flaky(123, 0.2, 0.2, 1))
    assert driven.runs <= 15
    assert driven.conclusion.kind is ConclusionKind.UNDETERMINED
    assert "15 runs" in driven.conclusion.reason
    assert driven.conclusion.expected_further_runs is not None


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.integers(0, 10**6), st.sampled_from(RATES), st.data())
def test_a_replayed_record_gives_the_same_next_probe_and_belief(
    steps: int, seed: int, rates: tuple[float, float], data: st.DataObject
) -> None:
    culprit = data.draw(st.integers(1, steps))
    broken = data.draw(st.sets(st.integers(1, max(1, steps - 1)), max_size=20)) - {steps}
    outcome = flaky(culprit, *rates, seed)
    record: list[tuple[int, Observation | None]] = []
    search = ChainSearch(steps)
    for _ in range(data.draw(st.integers(0, 40))):
        decision = search.next((), Costs(3.0, 1.0))
        if not isinstance(decision, Probe):
            break
        seen = None if decision.candidate in broken else outcome(decision.candidate)
        record.append((decision.candidate, seen))
        if seen is None:
            search.mark_untestable(decision.candidate, buildable=False)
        else:
            search.record(decision.candidate, seen)
    again = ChainSearch(steps)
    for candidate, seen in reversed(record):
        if seen is None:
            again.mark_untestable(candidate, buildable=False)
        else:
            again.record(candidate, seen)
    assert again.next((), Costs(3.0, 1.0)) == search.next((), Costs(3.0, 1.0))
    assert again.belief.weights == search.belief.weights
    assert again.suspects_left() == search.suspects_left()


def test_suspects_are_the_likeliest_steps() -> None:
    search = ChainSearch(100)
    for candidate, letter in ((0, "P"), (100, "F"), (50, "P"), (75, "F"), (62, "P"), (68, "F")):
        search.record(candidate, Observation.PASS if letter == "P" else Observation.FAIL)
    suspects = search.suspects()
    assert [step for step, _ in suspects] == [63, 64, 65, 66, 67]
    assert all(probability == pytest.approx(1.0 / 6.0, abs=0.02) for _, probability in suspects)
    assert search.suspects_left(0.9) == 6
    hinted = ChainSearch(3, prior=[1.0, 5.0, 1.0])
    assert hinted.suspects(1)[0][0] == 2


def test_a_hundred_thousand_steps_fit_in_memory_and_are_searched() -> None:
    search = ChainSearch(100_000)
    driven = drive(search, flaky(31_415, 0.05, 0.05, 7), costs=Costs(10.0, 1.0))
    assert (driven.conclusion.kind, driven.conclusion.upper) == (ConclusionKind.CULPRIT, 31_415)
