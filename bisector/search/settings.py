"""What a search is told: how sure to be, what the script is thought to be like, what builds and runs cost."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

WORST_EXPECTED_RATE = 0.3
"""A false outcome less frequent than this is ruled out by the confirming runs alone."""

HIGH_RATE = 0.24
"""From an error rate like this one on, as far as runs have shown it, the belief is trusted less."""

HIGH_SUM = 0.36
"""From two rates on that add up to this, it is trusted less again: a run tells little, and the prior on rates much."""


class Observation(StrEnum):
    """What one run says about its candidate."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    UNTESTABLE = "UNTESTABLE"
    """Unbuildable, infeasible, skipped or another failure: no evidence about the culprit."""


@dataclass(frozen=True)
class Costs:
    """Expected seconds of one build and of one run; only their ratio matters.

    Attributes:
        build: of any candidate.
        run: of one run of the script.
        building: of one candidate's build, where that is known better; None for `build`.
        turns: candidates at which the cost of a build may change along the chain, ascending: another pin moves from
            there on.
    """

    build: float = 1.0
    run: float = 1.0
    building: Callable[[int], float] | None = None
    turns: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse costs that cannot be compared."""
        if not (self.build >= 0.0 and self.run >= 0.0 and math.isfinite(self.build) and math.isfinite(self.run)):
            raise ValueError(f"costs must be finite and not negative: build {self.build}, run {self.run}")

    def of_building(self, candidate: int) -> float:
        """Expected seconds of building one candidate."""
        return self.build if self.building is None else self.building(candidate)


@dataclass(frozen=True)
class SearchSettings:
    """How sure to be, and what to expect.

    Attributes:
        confidence: probability that the named step must reach, 0 < confidence < 1.
        confirmations: hits demanded at the culprit and at its predecessor, the first run included; None follows the
            confidence (4 at 0.99). 1 trusts the script.
        max_runs: runs after which the search gives up; None for 15 log2(steps) + 60.
        trust: believe every run: plain bisection.
        deterministic_prior: probability, before anything is seen, that the script never errs.
        least_gap: a bad candidate is taken to fail more often than a good one by at least this share of its runs. The
            smaller, the more runs it takes to tell a flaky script without a culprit from a bug that shows seldom.
        fail_if_good, fail_if_bad: the script's rates where they are known (both or none); the belief then trusts them
            and asks for no further confirmation.
        prior_none: probability, before anything is seen, that the bad end is not bad.
        prior_all_bad: the same that the good end is bad.
        informed_share: weight of a given prior over steps; the rest is spread evenly: a wrong hint costs little.
        least_gain: bits; an unpromising candidate that would tell less than this is not tried, and a running probe that
            would tell less is useless.
        exhaustive_range: in a range of no more untestable candidates than this, every one is tried.
    """

    confidence: float = 0.99
    confirmations: int | None = None
    max_runs: int | None = None
    trust: bool = False
    deterministic_prior: float = 0.95
    least_gap: float = 0.42
    fail_if_good: float | None = None
    fail_if_bad: float | None = None
    prior_none: float = 0.05
    prior_all_bad: float = 0.02
    informed_share: float = 0.8
    least_gain: float = 0.02
    exhaustive_range: int = 8

    def __post_init__(self) -> None:
        """Refuse what no search can honour."""
        if not 0.0 < self.confidence < 1.0:
            raise ValueError(f"confidence must lie between 0 and 1: {self.confidence}")
        if self.confirmations is not None and self.confirmations < 1:
            raise ValueError(f"confirmations must be at least 1: {self.confirmations}")
        if self.max_runs is not None and self.max_runs < 2:
            raise ValueError(f"max_runs must be at least 2, one for each end: {self.max_runs}")
        if not 0.0 <= self.deterministic_prior < 1.0:
            raise ValueError(f"deterministic_prior must be at least 0 and below 1: {self.deterministic_prior}")
        if not 0.0 < self.least_gap <= 0.9:
            raise ValueError(f"least_gap must lie between 0 and 0.9: {self.least_gap}")
        if (self.fail_if_good is None) != (self.fail_if_bad is None):
            raise ValueError("give both rates, fail_if_good and fail_if_bad, or none of them")
        known = self.fail_if_good is not None and self.fail_if_bad is not None
        if known and not 0.0 <= (self.fail_if_good or 0.0) < (self.fail_if_bad or 0.0) <= 1.0:
            raise ValueError("a bad candidate must fail more often than a good one")

    @property
    def trusting(self) -> bool:
        """Whether one run of a candidate is believed."""
        return self.trust or self.confirmations == 1

    @property
    def rates_known(self) -> bool:
        """Whether the script's rates were given."""
        return self.fail_if_good is not None

    @property
    def hits(self) -> int:
        """Hits demanded at each witness: r in docs/search.md."""
        if self.confirmations is not None:
            return self.confirmations
        if self.trust or self.rates_known:
            return 1
        return max(3, math.ceil(math.log(1.0 - self.confidence) / math.log(WORST_EXPECTED_RATE)))

    @property
    def end_hits(self) -> int:
        """Runs that must contradict an end before the search says that the ends do not bracket.

        More than at a culprit, as nothing else speaks for it: a bad end that fails only every other time would pass as
        often by chance.
        """
        if self.confirmations is not None or self.trust:
            return self.hits
        return max(self.hits, math.ceil(math.log((1.0 - self.confidence) / 10.0) / math.log(0.5)))

    def threshold(
        self, *, contradicted: bool, rates: tuple[float, float] = (0.0, 0.0), of_an_end: bool = False
    ) -> float:
        """Probability at which a step is taken for the culprit, or an end for what it should not be (`of_an_end`).

        Stricter than asked for. A script that looks sound may be flaky all the same; and where the two error rates
        (`rates`, of a good and of a bad candidate) come out high, the prior, which expects smaller ones, makes the
        belief optimistic. That an end is not what it should be is told by few candidates' runs, and a bug that shows
        seldom looks the same for a while.
        """
        if self.rates_known:
            return self.confidence
        share = 2.0
        if contradicted and of_an_end:
            share = 10.0
        elif contradicted:
            share = 3.0 if sum(rates) >= HIGH_SUM else 2.0 if max(rates) >= HIGH_RATE else 1.5
        return 1.0 - (1.0 - self.confidence) / share

    @property
    def threshold_if_flaky(self) -> float:
        """What the probability must reach if the script is flaky, as long as nothing shows that it is; 0 for nothing.

        Hits are counted at two candidates; this looks at all outcomes that led there. A pass that sent the search to
        the right, and nothing but fails since, is what a flaky script leaves behind.
        """
        asked = self.confirmations is not None or self.trusting or self.rates_known
        return 0.0 if asked else self.confidence

    def run_limit(self, steps: int) -> int:
        """Runs after which a search over so many steps gives up."""
        return self.max_runs if self.max_runs is not None else math.ceil(15.0 * math.log2(max(2, steps))) + 60
