"""How much the next run of a candidate is expected to tell, in bits about the culprit.

With q the probability that the run fails, and q(h) the same under hypothesis h, a run tells

    I = H(q) - sum over h of W(h) H(q(h))

bits (H: the entropy of one outcome). While other runs are in flight, the same is averaged over what they may say:
I = H(outcome | the outcomes in flight) - sum over h of W(h) H(q(h)), by enumeration of their outcomes. That is
speculation on all outcomes at once, and it never asks for the same knowledge twice.

Within one group of hypotheses (see `Belief`) both q and the sum are linear in the share of the group's probability that
lies below the candidate, so I is concave there and its best place is found without looking at every candidate.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from bisector.search.belief import Belief
from bisector.search.rates import entropy

NEGLIGIBLE = 1e-7
MOST_PATTERNS = 128
"""Outcomes in flight that are told apart: the likeliest of them; those of a sound script are few."""
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class _Pattern:
    """One combination of outcomes in flight: the joint weight of each group with it, summed from both ends."""

    def __init__(self, weights: list[float], outlook: "Outlook") -> None:
        self.weights = weights
        self.total = math.fsum(weights)
        self.fails_below = _sums(weights, outlook.if_bad)
        reverse = _sums(weights[::-1], outlook.if_good[::-1])
        self.fails_above = reverse[::-1]

    def fail(self, group: int, share: float, if_good: float, if_bad: float) -> float:
        """Joint probability with FAIL of a candidate above this share of a group."""
        inside = self.weights[group] * (share * if_bad + (1.0 - share) * if_good)
        return self.fails_below[group] + inside + self.fails_above[group + 1]


def _sums(weights: Sequence[float], values: Sequence[float]) -> list[float]:
    total, found = 0.0, [0.0]
    for weight, value in zip(weights, values, strict=True):
        total += weight * value
        found.append(total)
    return found


class Outlook:
    """What runs would tell under one belief, given which candidates are being run already."""

    def __init__(self, belief: Belief, in_flight: Sequence[int] = ()) -> None:
        """Enumerate the outcomes of `in_flight` (a candidate that is being run twice stands there twice)."""
        self.belief = belief
        self.in_flight = bool(in_flight)
        self.marks = sorted({*belief.marks, *in_flight}) if in_flight else belief.marks
        if in_flight:
            groups = [belief.group_of(high) for high in self.marks[1:]]
            shares = [
                belief.share(group, high) - belief.share(group, low)
                for group, (low, high) in zip(groups, pairwise(self.marks), strict=True)
            ]
            self.weights = [belief.weights[group] * share for group, share in zip(groups, shares, strict=True)]
            self.consistent = [belief.consistent[group] for group in groups]
            fits = [belief.fits[group] for group in groups]
        else:
            self.weights, self.consistent, fits = belief.weights, belief.consistent, belief.fits
        self.if_good = [fit.fail_if_good for fit in fits]
        self.if_bad = [fit.fail_if_bad for fit in fits]
        entropy_if_good = [fit.entropy_if_good for fit in fits]
        entropy_if_bad = [fit.entropy_if_bad for fit in fits]
        self._noise_below = _sums(self.weights, entropy_if_bad)
        self._noise_above = _sums(self.weights[::-1], entropy_if_good[::-1])[::-1]
        self._entropy_if_good, self._entropy_if_bad = entropy_if_good, entropy_if_bad
        self._patterns = [_Pattern(self.weights, self)]
        for candidate in sorted(in_flight):
            self._patterns = self._split(candidate)

    def _split(self, candidate: int) -> list[_Pattern]:
        chances = [
            if_bad if high <= candidate else if_good
            for high, if_good, if_bad in zip(self.marks[1:], self.if_good, self.if_bad, strict=True)
        ]
        split = []
        for pattern in self._patterns:
            failed = [weight * chance for weight, chance in zip(pattern.weights, chances, strict=True)]
            passed = [weight - fail for weight, fail in zip(pattern.weights, failed, strict=True)]
            split += [_Pattern(failed, self), _Pattern(passed, self)]
        kept = sorted((pattern for pattern in split if pattern.total > NEGLIGIBLE), key=lambda pattern: -pattern.total)
        return kept[:MOST_PATTERNS]

    def group_of(self, candidate: int) -> int:
        """The group (a part of one of the belief's groups) that ends at this candidate or goes across it."""
        return max(0, bisect_left(self.marks, candidate) - 1)

    def information(self, candidate: int) -> float:
        """Bits that the next run of this candidate is expected to tell about the culprit."""
        group = self.group_of(candidate)
        low, high = self.marks[group], self.marks[group + 1]
        if candidate >= high:
            share = 1.0
        else:
            below = self.belief.below
            mass = below[high + 1] - below[low + 1]
            share = (below[candidate + 1] - below[low + 1]) / mass if mass > 0.0 else 0.0
        return self.at_share(group, share)

    def at_marks(self) -> list[float]:
        """The same for every candidate that was tested, in the order of the belief's marks: all in one sweep."""
        if len(self._patterns) > 1 or self.marks is not self.belief.marks:
            return [self.information(mark) for mark in self.belief.marks[1:-1]]
        (pattern,) = self._patterns
        total, log2 = pattern.total, math.log2
        found = []
        for below, above, noise_below, noise_above in zip(
            pattern.fails_below[1:-1],
            pattern.fails_above[1:-1],
            self._noise_below[1:-1],
            self._noise_above[1:-1],
            strict=True,
        ):
            fail = (below + above) / total
            rest = 1.0 - fail
            bits = -(fail * log2(fail) + rest * log2(rest)) if 0.0 < fail < 1.0 else 0.0
            found.append(max(0.0, total * bits - noise_below - noise_above))
        return found

    def at_share(self, group: int, share: float) -> float:
        """The same for a candidate above this share of a group's probability."""
        if_good, if_bad = self.if_good[group], self.if_bad[group]
        bits = 0.0
        for pattern in self._patterns:
            fails = pattern.fail(group, share, if_good, if_bad)
            bits += pattern.total * entropy(fails / pattern.total)
        noise = share * self._entropy_if_bad[group] + (1.0 - share) * self._entropy_if_good[group]
        bits -= self._noise_below[group] + self.weights[group] * noise + self._noise_above[group + 1]
        return max(0.0, bits)

    def best_share(self, group: int) -> float:
        """The share of a group's probability below the candidate that would tell the most.

        A group that a script without errors can be in is halved exactly: then such a script costs no more builds than
        plain bisection, while the other groups' small probabilities would move the optimum a little off the middle.
        """
        if self.consistent[group] and len(self._patterns) == 1:
            return 0.5
        if len(self._patterns) > 1:
            return self._golden_section(group)
        weight = self.weights[group]
        slope = weight * (self.if_bad[group] - self.if_good[group])
        if slope <= 0.0:
            return 0.5
        noise = weight * (self._entropy_if_bad[group] - self._entropy_if_good[group])
        best_fail = 1.0 / (1.0 + math.exp2(min(1000.0, max(-1000.0, noise / slope))))
        at_zero = self._patterns[0].fail(group, 0.0, self.if_good[group], self.if_bad[group])
        return min(1.0, max(0.0, (best_fail - at_zero) / slope))

    def _golden_section(self, group: int) -> float:
        low, high = 0.0, 1.0
        first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_first, at_second = self.at_share(group, first), self.at_share(group, second)
        for _ in range(14):
            if at_first >= at_second:
                high, second, at_second = second, first, at_first
                first = high - GOLDEN * (high - low)
                at_first = self.at_share(group, first)
            else:
                low, first, at_first = first, second, at_second
                second = low + GOLDEN * (high - low)
                at_second = self.at_share(group, second)
        return (low + high) / 2.0


def capacity(fail_if_good: float, fail_if_bad: float) -> float:
    """Bits that one run can tell at most, for known rates: the capacity of the binary asymmetric channel."""
    a, b = fail_if_good, 1.0 - fail_if_bad
    gap = 1.0 - a - b
    if gap <= 1e-9:
        return 0.0
    noise_a, noise_b = entropy(a), entropy(b)
    return (a * noise_b - (1.0 - b) * noise_a) / gap + math.log2(1.0 + math.exp2((noise_a - noise_b) / gap))
