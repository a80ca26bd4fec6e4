"""Where the culprit may be, given all that was seen."""

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import accumulate, islice, pairwise

from bisector.search.rates import Fit, RateModel
from bisector.search.settings import SearchSettings


class Prior:
    """Probability of each hypothesis before anything is seen.

    Hypothesis c, 0 <= c <= steps + 1, says that exactly the candidates c and after are bad: 0 is "all are bad",
    steps + 1 is "none is", and any other c names the step from c - 1 to c.
    """

    def __init__(self, steps: int, settings: SearchSettings, given: Sequence[float] | None) -> None:
        """Spread the belief evenly over the steps, or follow `given` (one weight for each step) for the most part."""
        within = 1.0 - settings.prior_none - settings.prior_all_bad
        weights = array("d", [within / steps]) * steps if given is not None else array("d")
        if given is not None:
            if len(given) != steps:
                raise ValueError(f"{len(given)} weights were given for {steps} steps")
            if any(not (weight >= 0.0 and math.isfinite(weight)) for weight in given):
                raise ValueError("the weight of a step must be finite and not negative")
            total = math.fsum(given)
            if total > 0.0:
                share = settings.informed_share
                weights = array("d", (within * (share * weight / total + (1.0 - share) / steps) for weight in given))
        self.steps = steps
        self.even = given is None
        """Whether all steps that are not excluded are equally likely."""
        self._within = within
        self._identical: list[tuple[int, int]] = []
        self._below: array[float] | None = None
        if given is None:
            self._given, self._below = _even(steps, settings.prior_all_bad, settings.prior_none)
        else:
            self._given = array("d", [settings.prior_all_bad]) + weights + array("d", [settings.prior_none])

    def exclude(self, first: int, last: int) -> None:
        """No step between these two candidates can be the culprit: they are one build."""
        self._identical.append((first, last))
        self._below = None

    @property
    def below(self) -> "array[float]":
        """`below[c]` is the probability of all hypotheses before c; what excluded steps held goes to the others."""
        if self._below is None:
            weights = self._given
            if self._identical:
                weights = array("d", weights)
                reached = 0
                for first, last in sorted(self._identical):
                    for step in range(max(first, reached) + 1, last + 1):
                        weights[step] = 0.0
                    reached = max(reached, last)
                left = math.fsum(weights[1:-1])
                if left > 0.0:
                    scale = self._within / left
                    weights[1:-1] = array("d", (weight * scale for weight in weights[1:-1]))
            self._below = array("d", accumulate(weights, initial=0.0))
        return self._below


@lru_cache(maxsize=8)
def _even(steps: int, all_bad: float, none: float) -> "tuple[array[float], array[float]]":
    """The even prior, and its sums from the left; shared by all searches over so many steps, and never written to."""
    weights = array("d", [all_bad]) + array("d", [(1.0 - all_bad - none) / steps]) * steps + array("d", [none])
    return weights, array("d", accumulate(weights, initial=0.0))


class Belief:
    """The posterior over the hypotheses of `Prior`, with the script's rates integrated out.

    All hypotheses between two neighbouring tested candidates explain the outcomes equally well. So the chain falls into
    as many groups as there are tested candidates, plus one, whatever its length; group j holds the hypotheses
    `marks[j] < c <= marks[j + 1]`, spread within the group as the prior has it.
    """

    def __init__(self, prior: Prior, model: RateModel, counts: Sequence[tuple[int, int, int]]) -> None:
        """Weigh every group; `counts` is (candidate, fails, passes), ascending."""
        self.steps = prior.steps
        self.even = prior.even
        self.below = prior.below
        self.marks = [-1, *(candidate for candidate, _, _ in counts), prior.steps + 1]
        self.prior = [self.below[high + 1] - self.below[low + 1] for low, high in pairwise(self.marks)]
        self.fits: list[Fit] = []
        self.consistent: list[bool] = []
        """Whether a script that never errs can have given these outcomes, for each group."""
        good_fails = good_passes = 0
        bad_fails = sum(fails for _, fails, _ in counts)
        bad_passes = sum(passes for _, _, passes in counts)
        for _, fails, passes in ((-1, 0, 0), *counts):
            good_fails, good_passes = good_fails + fails, good_passes + passes
            bad_fails, bad_passes = bad_fails - fails, bad_passes - passes
            self.fits.append(model.fit(good_fails, good_passes, bad_fails, bad_passes))
            self.consistent.append(model.deterministic > 0.0 and good_fails == 0 and bad_passes == 0)
        self.weights = self._normalised([fit.log_likelihood for fit in self.fits])

    def _normalised(self, logs: list[float]) -> list[float]:
        highest = max((log for log, prior in zip(logs, self.prior, strict=True) if prior > 0.0), default=-math.inf)
        if highest == -math.inf:
            total = math.fsum(self.prior)
            return [prior / total for prior in self.prior]
        raw = [
            prior * math.exp(log - highest) if prior > 0.0 else 0.0 for log, prior in zip(logs, self.prior, strict=True)
        ]
        total = math.fsum(raw)
        return [weight / total for weight in raw]

    @property
    def weights_if_flaky(self) -> list[float]:
        """The groups' probabilities if the script is flaky."""
        return self._normalised([fit.log_flaky for fit in self.fits])

    def group_of(self, hypothesis: int) -> int:
        """The group that holds a hypothesis."""
        return max(0, bisect_left(self.marks, hypothesis) - 1)

    def share(self, group: int, candidate: int) -> float:
        """The share of a group's probability that lies on hypotheses up to this candidate."""
        if self.prior[group] <= 0.0:
            return 0.0
        low, high = self.marks[group], self.marks[group + 1]
        inside = min(max(candidate, low), high)
        return (self.below[inside + 1] - self.below[low + 1]) / self.prior[group]

    def mass(self, lower: int, upper: int, weights: Sequence[float] | None = None) -> float:
        """Probability that the culprit is a step within lower..upper; -1 and steps + 1 take in the other hypotheses."""
        found = self.weights if weights is None else weights
        return math.fsum(
            found[group] * (self.share(group, upper) - self.share(group, lower))
            for group in range(self.group_of(lower + 1), self.group_of(upper) + 1)
        )

    def bad_probability(self, candidate: int) -> float:
        """Probability that a candidate is bad."""
        return self.mass(-1, candidate)

    def step_probability(self, upper: int) -> float:
        """Probability that the step to this candidate is the culprit."""
        return self.mass(upper - 1, upper)

    @property
    def none_probability(self) -> float:
        """Probability that even the bad end is good."""
        return self.mass(self.steps, self.steps + 1)

    @property
    def all_bad_probability(self) -> float:
        """Probability that even the good end is bad."""
        return self.mass(-1, 0)

    def rates(self) -> tuple[float, float]:
        """Expected P(FAIL | good) and P(FAIL | bad)."""
        pairs = list(zip(self.weights, self.fits, strict=True))
        if_good = math.fsum(weight * fit.fail_if_good for weight, fit in pairs)
        return if_good, math.fsum(weight * fit.fail_if_bad for weight, fit in pairs)

    def quantile(self, share: float) -> int:
        """The lowest hypothesis at which the probability summed from the left reaches this share."""
        total = 0.0
        for group, weight in enumerate(self.weights):
            if weight > 0.0 and total + weight >= share - 1e-12:
                return self.at_share(group, (share - total) / weight)
            total += weight
        return self.steps + 1

    def at_share(self, group: int, share: float) -> int:
        """The lowest hypothesis of a group up to which this share of the group's probability lies."""
        low, high = self.marks[group], self.marks[group + 1]
        target = self.below[low + 1] + share * self.prior[group]
        slack = 1e-9 * self.prior[group] / max(1, high - low)
        return min(max(bisect_left(self.below, target - slack, low + 2, high + 2) - 1, low + 1), high)

    def entropy(self) -> float:
        """Bits that are missing to know the hypothesis, taking each group as evenly spread."""
        bits = 0.0
        for group, weight in enumerate(self.weights):
            if weight > 0.0:
                bits += weight * (math.log2(max(1, self.marks[group + 1] - self.marks[group])) - math.log2(weight))
        return max(0.0, bits)

    def likeliest_groups(self) -> Iterator[int]:
        """The groups, the highest probability for each hypothesis first; equal ones by position."""
        width = [high - low for low, high in pairwise(self.marks)]
        return iter(sorted(range(len(width)), key=lambda group: (-self.weights[group] / width[group], group)))

    def likeliest_steps(self, group: int, most: int) -> list[tuple[int, float]]:
        """(upper candidate, probability) of the likeliest steps of a group, the likeliest first, then by position."""
        if self.prior[group] <= 0.0:
            return []
        scale = self.weights[group] / self.prior[group]
        steps = range(max(self.marks[group], 0) + 1, min(self.marks[group + 1], self.steps) + 1)
        held = ((step, self.below[step + 1] - self.below[step]) for step in steps)
        if self.even:
            chosen = list(islice(((step, weight) for step, weight in held if weight > 0.0), most))
        else:
            chosen = nsmallest(most, held, key=lambda pair: (-pair[1], pair[0]))
        return [(step, weight * scale) for step, weight in chosen if weight > 0.0]

    def interval(self, mass: float) -> tuple[int, int]:
        """A short interval lower..upper of candidates whose steps hold this probability, cut evenly from both tails."""
        tail = (1.0 - mass) / 2.0
        lowest, highest = self.quantile(tail), self.quantile(1.0 - tail)
        return max(0, lowest - 1), min(self.steps, max(highest, 1))
