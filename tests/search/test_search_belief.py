"""The posterior against its definition, and what it must not depend on."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisector.search import ChainSearch, Costs, Observation, Replication, ReplicationVerdict, SearchSettings
from bisector.search.belief import Belief
from bisector.search.outlook import Outlook, capacity
from bisector.search.rates import RateModel, entropy, rate_model

OUTCOMES = st.sampled_from([Observation.PASS, Observation.FAIL])


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[tuple[int, Observation]]]:
    steps = draw(st.integers(1, 30))
    return steps, draw(st.lists(st.tuples(st.integers(0, steps), OUTCOMES), max_size=40))


def told(steps: int, history: list[tuple[int, Observation]], **given_: float) -> ChainSearch:
    search = ChainSearch(steps, SearchSettings(**given_))  # type: ignore[arg-type]
    for candidate, observation in history:
        search.record(candidate, observation)
    return search


def by_definition(search: ChainSearch, history: list[tuple[int, Observation]]) -> list[float]:
    """Posterior of hypotheses 0..steps + 1 by a direct product over runs, hypotheses and pairs of rates."""
    model, prior = search.known.rate_model, search.settings
    steps = search.steps
    weights = []
    for hypothesis in range(steps + 2):
        start = (1.0 - prior.prior_none - prior.prior_all_bad) / steps
        start = prior.prior_all_bad if hypothesis == 0 else prior.prior_none if hypothesis > steps else start
        likelihood = 0.0
        pairs = [(0.0, 0.0, model.deterministic)] + [
            (a, b, (1.0 - model.deterministic) * model.weights[x][y])
            for x, a in enumerate(model.if_good)
            for y, b in enumerate(model.if_bad)
        ]
        for a, b, weight in pairs:
            for candidate, observation in history:
                fails = 1.0 - b if candidate >= hypothesis else a
                weight *= fails if observation is Observation.FAIL else 1.0 - fails  # noqa: PLW2901
            likelihood += weight
        weights.append(start * likelihood)
    total = math.fsum(weights)
    return [weight / total for weight in weights]


@settings(max_examples=120, deadline=None)
@given(histories())
def test_the_posterior_is_the_product_of_prior_and_likelihood(
    given_: tuple[int, list[tuple[int, Observation]]],
) -> None:
    steps, history = given_
    search = told(steps, history)
    expected = by_definition(search, history)
    belief = search.belief
    assert belief.all_bad_probability == pytest.approx(expected[0], abs=1e-9)
    assert belief.none_probability == pytest.approx(expected[-1], abs=1e-9)
    for step in range(1, steps + 1):
        assert belief.step_probability(step) == pytest.approx(expected[step], abs=1e-9)
        assert belief.bad_probability(step) == pytest.approx(math.fsum(expected[: step + 1]), abs=1e-9)
    assert math.fsum(belief.weights) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_leaves_no_trace(
    given_: tuple[int, list[tuple[int, Observation]]], rng: random.Random
) -> None:
    steps, history = given_
    shuffled = list(history)
    rng.shuffle(shuffled)
    one, other = told(steps, history), told(steps, shuffled)
    assert one.belief.weights == other.belief.weights
    assert one.next() == other.next()
    assert one.suspects() == other.suspects()


@settings(max_examples=100, deadline=None)
@given(histories())
def test_what_a_run_tells_agrees_with_enumeration(given_: tuple[int, list[tuple[int, Observation]]]) -> None:
    steps, history = given_
    search = told(steps, history)
    belief, outlook = search.belief, Outlook(search.belief)
    for candidate in range(steps + 1):
        fails = noise = 0.0
        for hypothesis in range(steps + 2):
            group = belief.group_of(hypothesis)
            weight = belief.mass(hypothesis - 1, hypothesis)
            fit = belief.fits[group]
            chance = fit.fail_if_bad if candidate >= hypothesis else fit.fail_if_good
            fails += weight * chance
            noise += weight * entropy(chance)
        assert outlook.information(candidate) == pytest.approx(max(0.0, entropy(fails) - noise), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(histories(), st.data())
def test_what_is_in_flight_only_lowers_what_a_run_tells(
    given_: tuple[int, list[tuple[int, Observation]]], data: st.DataObject
) -> None:
    steps, history = given_
    belief = told(steps, history).belief
    in_flight = data.draw(st.lists(st.integers(0, steps), min_size=1, max_size=3))
    alone, beside = Outlook(belief), Outlook(belief, in_flight)
    for candidate in range(steps + 1):
        assert beside.information(candidate) <= alone.information(candidate) + 1e-6


@settings(max_examples=60, deadline=None)
@given(histories(), st.data())
def test_what_is_in_flight_agrees_with_enumeration(
    given_: tuple[int, list[tuple[int, Observation]]], data: st.DataObject
) -> None:
    steps, history = given_
    belief = told(steps, history).belief
    first, second = data.draw(st.integers(0, steps)), data.draw(st.integers(0, steps))
    conditional = 0.0
    for seen in (True, False):
        joint = joint_fail = 0.0
        for hypothesis in range(steps + 2):
            fit = belief.fits[belief.group_of(hypothesis)]
            weight = belief.mass(hypothesis - 1, hypothesis)
            of_first = fit.fail_if_bad if first >= hypothesis else fit.fail_if_good
            of_second = fit.fail_if_bad if second >= hypothesis else fit.fail_if_good
            weight *= of_first if seen else 1.0 - of_first
            joint += weight
            joint_fail += weight * of_second
        if joint > 0.0:
            conditional += joint * entropy(joint_fail / joint)
    noise = 0.0
    for hypothesis in range(steps + 2):
        fit = belief.fits[belief.group_of(hypothesis)]
        chance = fit.fail_if_bad if second >= hypothesis else fit.fail_if_good
        noise += belief.mass(hypothesis - 1, hypothesis) * entropy(chance)
    assert Outlook(belief, [first]).information(second) == pytest.approx(max(0.0, conditional - noise), abs=1e-6)


@settings(max_examples=80, deadline=None)
@given(histories())
def test_the_best_place_in_a_group_is_the_best(given_: tuple[int, list[tuple[int, Observation]]]) -> None:
    steps, history = given_
    outlook = Outlook(told(steps, history, deterministic_prior=0.0).belief)
    for group in range(len(outlook.weights)):
        best = outlook.at_share(group, outlook.best_share(group))
        assert all(outlook.at_share(group, share / 50.0) <= best + 1e-9 for share in range(51))


def test_ten_thousand_runs_leave_numbers() -> None:
    search = ChainSearch(100)
    rng = random.Random(3)
    for _ in range(10_000):
        candidate = rng.randrange(101)
        search.record(
            candidate, Observation.FAIL if rng.random() < (0.7 if candidate >= 40 else 0.2) else Observation.PASS
        )
    assert search.belief.step_probability(40) > 0.99
    fail_if_good, fail_if_bad = search.rates()
    assert fail_if_good == pytest.approx(0.2, abs=0.05)
    assert fail_if_bad == pytest.approx(0.7, abs=0.05)
    assert all(math.isfinite(fit.log_likelihood) for fit in search.belief.fits)


def test_one_pass_never_clears_a_suspect_for_good() -> None:
    search = told(100, [(0, Observation.PASS), (100, Observation.FAIL), (50, Observation.PASS)])
    assert search.belief.bad_probability(50) > 1e-4
    for _ in range(6):
        search.record(50, Observation.FAIL)
    assert search.belief.bad_probability(50) > 0.9


def test_a_prior_is_mixed_with_an_even_one() -> None:
    search = ChainSearch(4, SearchSettings(informed_share=0.8), prior=[0.0, 0.0, 1.0, 0.0])
    within = 0.93
    assert search.belief.step_probability(3) == pytest.approx(within * (0.8 + 0.05))
    assert search.belief.step_probability(1) == pytest.approx(within * 0.05)


def test_one_build_shares_its_verdict_and_no_step_within_it_is_suspect() -> None:
    search = told(10, [(0, Observation.PASS), (10, Observation.FAIL)])
    search.mark_same_build(3, 7)
    assert search.belief.mass(3, 7) == 0.0
    search.record(7, Observation.PASS)
    assert search.evidence.passes(3) == 1
    assert search.belief.bad_probability(3) == search.belief.bad_probability(7) < 0.05
    assert search.evidence.built(3)


def test_identical_builds_cost_one_build() -> None:
    # Ten steps of which only the one from 4 to 5 changes what is built.
    search = ChainSearch(10)
    for candidate in (*range(1, 5), *range(6, 11)):
        search.mark_same_build(candidate - 1, candidate)
    search.record(0, Observation.PASS)
    assert search.belief.step_probability(5) > 0.9
    search.record(10, Observation.FAIL)
    while not hasattr(decision := search.next(), "kind"):
        assert search.evidence.built(decision.candidate)  # type: ignore[union-attr]
        outcome = Observation.FAIL if decision.candidate >= 5 else Observation.PASS  # type: ignore[union-attr]
        search.record(decision.candidate, outcome)  # type: ignore[union-attr]
    assert (decision.lower, decision.upper) == (4, 5)  # type: ignore[union-attr]


def test_capacity_is_the_most_that_one_run_can_tell() -> None:
    for a, b, known in ((0.0, 0.0, 1.0), (0.1, 0.1, 0.531), (0.2, 0.0, 0.618), (0.3, 0.05, 0.373), (0.05, 0.0, 0.857)):
        assert capacity(a, 1.0 - b) == pytest.approx(known, abs=1e-3)
        best = max(
            entropy(m * (1.0 - b) + (1.0 - m) * a) - m * entropy(b) - (1.0 - m) * entropy(a)
            for m in (share / 5000.0 for share in range(5001))
        )
        assert capacity(a, 1.0 - b) == pytest.approx(best, abs=1e-6)


def test_the_best_place_for_known_rates_is_the_formula_of_the_channel() -> None:
    a, b = 0.2, 0.05
    search = ChainSearch(10_000, SearchSettings(fail_if_good=a, fail_if_bad=1.0 - b, prior_none=0.0, prior_all_bad=0.0))
    outlook = Outlook(search.belief)
    s = (entropy(b) - entropy(a)) / (1.0 - a - b)
    best = (1.0 / (1.0 + 2.0**s) - a) / (1.0 - a - b)
    assert outlook.best_share(0) == pytest.approx(best, abs=1e-3)


def test_counts_that_no_script_can_give_leave_the_prior() -> None:
    model = RateModel(0.5, (0.0,), (0.0,), ((1.0,),))
    search = ChainSearch(3)
    belief = Belief(search._prior, model, [(0, 1, 1), (3, 1, 1)])
    assert math.fsum(belief.weights) == pytest.approx(1.0)


def test_models_are_shared_between_searches() -> None:
    assert rate_model(SearchSettings()) is rate_model(SearchSettings(confidence=0.9))


class TestReplication:
    """A candidate off the chain, judged with the rates that the search has learned."""

    @staticmethod
    def clean() -> ChainSearch:
        runs = "PFFPFPP"
        search = ChainSearch(20)
        for candidate, letter in zip((0, 20, 10, 5, 7, 6, 6), runs, strict=True):
            search.record(candidate, Observation.PASS if letter == "P" else Observation.FAIL)
        for _ in range(3):
            search.record(6, Observation.PASS)
            search.record(7, Observation.FAIL)
        return search

    @pytest.mark.parametrize(("observation", "verdict"), [(Observation.PASS, "pass"), (Observation.FAIL, "fail")])
    def test_two_runs_that_agree_are_enough_after_a_clean_search(self, observation: Observation, verdict: str) -> None:
        replication = Replication(self.clean())
        assert replication.next()
        replication.record(observation)
        assert replication.next()
        replication.record(observation)
        assert replication.conclusion == verdict
        assert not replication.next()

    def test_a_contradiction_asks_for_more_runs(self) -> None:
        replication = Replication(self.clean())
        replication.record(Observation.FAIL)
        replication.record(Observation.PASS)
        replication.record(Observation.PASS)
        assert replication.next()
        runs = 3
        while replication.next():
            replication.record(Observation.PASS)
            runs += 1
        assert replication.conclusion is ReplicationVerdict.PASS
        assert 4 <= runs <= 12

    def test_a_flaky_search_asks_for_more_runs(self) -> None:
        search = ChainSearch(20)
        rng = random.Random(5)
        for _ in range(120):
            candidate = rng.randrange(21)
            chance = 0.7 if candidate >= 9 else 0.3
            search.record(candidate, Observation.FAIL if rng.random() < chance else Observation.PASS)
        replication = Replication(search)
        for _ in range(3):
            replication.record(Observation.FAIL)
        assert replication.next()

    def test_the_truth_is_found_as_often_as_promised(self) -> None:
        search = ChainSearch(20)
        rng = random.Random(6)
        for _ in range(150):
            candidate = rng.randrange(21)
            chance = 0.85 if candidate >= 9 else 0.2
            search.record(candidate, Observation.FAIL if rng.random() < chance else Observation.PASS)
        wrong = 0
        for trial in range(300):
            bad = trial % 2 == 0
            replication = Replication(search)
            while replication.next():
                fails = rng.random() < (0.85 if bad else 0.2)
                replication.record(Observation.FAIL if fails else Observation.PASS)
            wrong += replication.conclusion != ("fail" if bad else "pass")
        assert wrong <= 6

    def test_endless_contradiction_is_undetermined(self) -> None:
        replication = Replication(self.clean())
        runs = 0
        while replication.next():
            replication.record(Observation.FAIL if runs % 2 else Observation.PASS)
            runs += 1
        assert replication.conclusion is ReplicationVerdict.UNDETERMINED
        assert runs <= 60

    def test_a_run_that_tells_nothing_leaves_it_undetermined(self) -> None:
        replication = Replication(self.clean())
        replication.record(Observation.UNTESTABLE)
        assert replication.conclusion is ReplicationVerdict.UNDETERMINED

    def test_a_trusted_script_needs_one_run(self) -> None:
        search = ChainSearch(4, SearchSettings(trust=True))
        search.record(0, Observation.PASS)
        search.record(4, Observation.FAIL)
        replication = Replication(search)
        replication.record(Observation.FAIL)
        assert replication.conclusion is ReplicationVerdict.FAIL


def test_only_the_proportions_of_a_prior_count() -> None:
    weights = [1.0, 2.0, 5.0, 0.0]
    one, other = (ChainSearch(4, prior=[scale * weight for weight in weights]) for scale in (1.0, 0.01))
    for step in range(1, 5):
        assert one.belief.step_probability(step) == pytest.approx(other.belief.step_probability(step))
    assert one.belief.step_probability(3) > 2.0 * one.belief.step_probability(2)


def test_a_prior_that_favours_no_step_is_the_even_one() -> None:
    nothing, even = (ChainSearch(6, prior=prior) for prior in ([0.0] * 6, [1.0] * 6))
    for step in range(1, 7):
        assert nothing.belief.step_probability(step) == pytest.approx(even.belief.step_probability(step))
        assert even.belief.step_probability(step) == pytest.approx(ChainSearch(6).belief.step_probability(step))


def test_a_run_in_the_middle_halves_what_is_missing() -> None:
    """In bits: those of the number of steps at first, one less after each run that halves them."""
    search = ChainSearch(64, SearchSettings(prior_none=1e-9, prior_all_bad=1e-9, deterministic_prior=1.0 - 1e-9))
    assert search.belief.entropy() == pytest.approx(6.0, abs=0.1)
    search.record(32, Observation.PASS)
    assert search.belief.entropy() == pytest.approx(5.0, abs=0.1)
    search.record(48, Observation.FAIL)
    assert search.belief.entropy() == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize("costs", [(-1.0, 1.0), (1.0, -1.0), (math.inf, 1.0), (1.0, math.nan), (math.nan, math.nan)])
def test_costs_that_cannot_be_compared_are_refused(costs: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="finite and not negative"):
        Costs(*costs)
