"""What the outcomes seen so far say about the script's error rates.

`a` is P(FAIL | good candidate), `b` is P(PASS | bad candidate). Two kinds of script are weighed against each other: one
that never errs (a = b = 0), and one that errs at unknown, constant rates, integrated out on a grid. Under a hypothesis
about the culprit every run falls into one of four counts (fails and passes of good and of bad candidates), and these
counts are all that matters:

    likelihood = p * [no fail of a good one, no pass of a bad one]
               + (1 - p) * sum over the grid of w(a, b) a^FG (1-a)^PG b^PB (1-b)^FB

The grid leaves out pairs with 1 - a - b below a gap: a script that hardly tells good from bad explains anything, and
with such pairs in, a flaky script without a culprit would be run thousands of times before the search gave up.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import mul
from typing import NamedTuple

from bisector.search.settings import SearchSettings

CELLS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.16, 0.24, 0.32, 0.38, 0.46, 0.54, 0.62, 0.7)
"""Edges of the cells of either rate; each cell counts with its prior mass, at its middle."""
LEAST_RATE = 0.0005
"""The rate at which a script that errs on one side only is taken to err on the other: no outcome is impossible."""
ONE_SIDED = 0.2
"""Share of the flaky scripts that never fail a good candidate, and of those that never pass a bad one. A rate that is
known to be next to nothing makes single outcomes count; the rest, which errs on both sides, has to learn two rates."""
TRUSTED_PRIOR = 1.0 - 1e-6
DOUBT = 0.5
LEAST_KNOWN_RATE = 1e-4
"""No script is believed to be perfect: one contradiction would leave no hypothesis standing."""
MEMORY = 100_000
"""Entries after which a memo is emptied."""


def entropy(probability: float) -> float:
    """Bits in one outcome of this probability."""
    if probability <= 0.0 or probability >= 1.0:
        return 0.0
    rest = 1.0 - probability
    return -(probability * math.log2(probability) + rest * math.log2(rest))


class Fit(NamedTuple):
    """How well one hypothesis explains the counts, and what it expects of the next run.

    Attributes:
        log_likelihood: natural logarithm; -inf where the counts are impossible.
        log_flaky: the same for a script that is flaky.
        fail_if_good: P(FAIL) of the next run of a good candidate.
        fail_if_bad: P(FAIL) of the next run of a bad candidate.
        entropy_if_good: bits in the outcome of that run.
        entropy_if_bad: likewise.
    """

    log_likelihood: float
    log_flaky: float
    fail_if_good: float
    fail_if_bad: float
    entropy_if_good: float
    entropy_if_bad: float


class _Powers(NamedTuple):
    """One factor of the likelihood over the grid, scaled by exp(-scale) so that it cannot underflow."""

    scale: float
    values: tuple[float, ...]
    """rate^errors (1-rate)^rights for each rate of the grid."""
    with_rate: tuple[float, ...]
    """The same times the rate."""


class _Weighted(NamedTuple):
    """The factor of the bad candidates, summed over b with the grid's weights, for each a."""

    scale: float
    values: tuple[float, ...]
    with_rate: tuple[float, ...]


class RateModel:
    """The script's possible error rates and their weights; remembers what it has computed."""

    def __init__(
        self,
        deterministic: float,
        if_good: Sequence[float],
        if_bad: Sequence[float],
        weights: Sequence[Sequence[float]],
    ) -> None:
        """Weigh `deterministic` (a = b = 0) against the grid `if_good` x `if_bad` of a and b with `weights[a][b]`."""
        total = math.fsum(math.fsum(row) for row in weights)
        self.deterministic = deterministic
        self.if_good = tuple(if_good)
        self.if_bad = tuple(if_bad)
        self.weights = tuple(tuple(weight / total for weight in row) for row in weights)
        self._log_deterministic = math.log(deterministic) if deterministic > 0.0 else -math.inf
        self._log_flaky = math.log1p(-deterministic)
        self._fits: dict[tuple[int, int, int, int], Fit] = {}
        self._good: dict[tuple[int, int], _Powers] = {}
        self._bad: dict[tuple[int, int], _Weighted] = {}

    def fit(self, good_fails: int, good_passes: int, bad_fails: int, bad_passes: int) -> Fit:
        """How these counts look, where the candidates are good and bad as the counts say."""
        key = (good_fails, good_passes, bad_fails, bad_passes)
        found = self._fits.get(key)
        if found is None:
            if len(self._fits) >= MEMORY:
                self._fits.clear()
                self._good.clear()
                self._bad.clear()
            found = self._fits[key] = self._compute(*key)
        return found

    def _compute(self, good_fails: int, good_passes: int, bad_fails: int, bad_passes: int) -> Fit:
        good = self._good.get((good_fails, good_passes))
        if good is None:
            good = self._good[good_fails, good_passes] = _powers(self.if_good, good_fails, good_passes)
        bad = self._bad.get((bad_fails, bad_passes))
        if bad is None:
            bad = self._bad[bad_fails, bad_passes] = self._weigh(_powers(self.if_bad, bad_passes, bad_fails))
        mass = sum(map(mul, good.values, bad.values))
        if mass > 0.0:
            log_flaky = good.scale + bad.scale + math.log(mass)
            error_if_good = sum(map(mul, good.with_rate, bad.values)) / mass
            error_if_bad = sum(map(mul, good.values, bad.with_rate)) / mass
        else:
            log_flaky, error_if_good, error_if_bad = -math.inf, 0.0, 0.0
        log_likelihood = self._log_flaky + log_flaky
        if good_fails == 0 and bad_passes == 0 and self.deterministic > 0.0:
            # Both kinds of script explain the counts; one that never errs contributes rates of zero.
            share = 1.0 / (1.0 + math.exp(min(700.0, self._log_deterministic - log_likelihood)))
            log_likelihood = _add_logs(self._log_deterministic, log_likelihood)
            error_if_good *= share
            error_if_bad *= share
        return Fit(
            log_likelihood,
            log_flaky,
            error_if_good,
            1.0 - error_if_bad,
            entropy(error_if_good),
            entropy(error_if_bad),
        )

    def _weigh(self, bad: _Powers) -> _Weighted:
        return _Weighted(
            bad.scale,
            tuple(sum(map(mul, row, bad.values)) for row in self.weights),
            tuple(sum(map(mul, row, bad.with_rate)) for row in self.weights),
        )


def _powers(rates: Sequence[float], errors: int, rights: int) -> _Powers:
    if errors == 0 and rights == 0:
        return _Powers(0.0, (1.0,) * len(rates), tuple(rates))
    if 0.0 in rates:
        logs = [_log_power(rate, errors) + _log_power(1.0 - rate, rights) for rate in rates]
    else:
        logs = [errors * math.log(rate) + rights * math.log1p(-rate) for rate in rates]
    scale = max(logs)
    if scale == -math.inf:
        return _Powers(0.0, (0.0,) * len(rates), (0.0,) * len(rates))
    values = tuple(math.exp(log - scale) for log in logs)
    return _Powers(scale, values, tuple(map(mul, values, rates)))


def _log_power(base: float, exponent: int) -> float:
    if exponent == 0:
        return 0.0
    return exponent * math.log(base) if base > 0.0 else -math.inf


def _add_logs(first: float, second: float) -> float:
    high, low = (first, second) if first >= second else (second, first)
    return high + math.log1p(math.exp(low - high)) if low > -math.inf else high


def _beta_masses(integral: Callable[[float], float]) -> list[float]:
    """The prior mass of each cell, from the density's integral."""
    masses = [integral(high) - integral(low) for low, high in pairwise(CELLS)]
    total = math.fsum(masses)
    return [mass / total for mass in masses]


def _flaky_grid(least_gap: float) -> tuple[tuple[float, ...], tuple[float, ...], tuple[tuple[float, ...], ...]]:
    """The rates, twice, and the weight of each pair.

    A script that errs on one side has a rate with the prior Beta(1, 3/2), one that errs on both has two rates with the
    prior Beta(0.7, 2): small rates are likelier, and yet any is possible.
    """
    rates = (LEAST_RATE, *((low + high) / 2.0 for low, high in pairwise(CELLS)))
    one = (0.0, *_beta_masses(lambda rate: -((1.0 - rate) ** 1.5)))
    both = (0.0, *_beta_masses(lambda rate: rate**0.7 / 0.7 - rate**1.7 / 1.7))

    def weight(x: int, y: int) -> float:
        if 1.0 - rates[x] - rates[y] < least_gap:
            return 0.0
        if x == 0 or y == 0:
            return ONE_SIDED * (one[x] + one[y])
        return (1.0 - 2.0 * ONE_SIDED) * both[x] * both[y]

    size = range(len(rates))
    return rates, rates, tuple(tuple(weight(x, y) for y in size) for x in size)


_models: dict[tuple[float, float, float | None, float | None], RateModel] = {}


def rate_model(settings: SearchSettings, *, doubtful: bool = False) -> RateModel:
    """The rates that these settings expect; `doubtful` gives a sound script no more than even odds.

    Models are shared: what one has computed serves every search.
    """
    deterministic = TRUSTED_PRIOR if settings.trusting else settings.deterministic_prior
    if doubtful and not settings.trusting:
        deterministic = min(DOUBT, deterministic)
    key = (deterministic, settings.least_gap, settings.fail_if_good, settings.fail_if_bad)
    if key not in _models:
        if settings.fail_if_good is not None and settings.fail_if_bad is not None:
            good = max(LEAST_KNOWN_RATE, settings.fail_if_good)
            bad = max(LEAST_KNOWN_RATE, 1.0 - settings.fail_if_bad)
            _models[key] = RateModel(0.0, (good,), (bad,), ((1.0,),))
        else:
            _models[key] = RateModel(deterministic, *_flaky_grid(settings.least_gap))
    return _models[key]
