"""Whether one candidate off the chain is bad, decided by the belief that the search has come to."""

import math
from enum import StrEnum

from bisector.search.chain import ChainSearch
from bisector.search.settings import Observation

LEAST_HITS = 2
"""Runs that agree with the verdict, at least: no verdict rests on one run, unless the script is trusted."""
MOST_RUNS = 60


class ReplicationVerdict(StrEnum):
    """How one candidate stands."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    UNDETERMINED = "undetermined"


class Replication:
    """Runs of one candidate, weighed with the error rates that a search has learned.

    The candidate is good or bad with equal odds before its first run. With f fails and p passes of it, the odds are
    those of the search's own outcomes together with f and p counted among the bad candidates', against the same with f
    and p counted among the good ones', summed over all that the search holds possible. After a search without
    contradiction two runs that agree are enough; a flaky script asks for more.
    """

    def __init__(self, search: ChainSearch) -> None:
        """Take the rates from this search as it stands now; what it learns later does not enter."""
        self._belief = search.belief
        self._model = search.known.rate_model
        self._settings = search.settings
        self._error_rates = search.known.error_rates
        self._contradicted = search.known.open_group is None
        self._counts = search.evidence.counts()
        self._fails = self._passes = 0
        self._untestable = False

    def record(self, observation: Observation) -> None:
        """Take the result of one run."""
        if observation is Observation.FAIL:
            self._fails += 1
        elif observation is Observation.PASS:
            self._passes += 1
        else:
            self._untestable = True

    @property
    def bad_probability(self) -> float:
        """Probability that the candidate is bad, at even odds before its first run."""
        logs_bad, logs_good = [], []
        good_fails = good_passes = 0
        bad_fails = sum(fails for _, fails, _ in self._counts)
        bad_passes = sum(passes for _, _, passes in self._counts)
        for prior, (_, fails, passes) in zip(self._belief.prior, ((-1, 0, 0), *self._counts), strict=True):
            good_fails, good_passes = good_fails + fails, good_passes + passes
            bad_fails, bad_passes = bad_fails - fails, bad_passes - passes
            if prior > 0.0:
                as_bad = (good_fails, good_passes, bad_fails + self._fails, bad_passes + self._passes)
                as_good = (good_fails + self._fails, good_passes + self._passes, bad_fails, bad_passes)
                logs_bad.append(math.log(prior) + self._model.fit(*as_bad).log_likelihood)
                logs_good.append(math.log(prior) + self._model.fit(*as_good).log_likelihood)
        highest = max(*logs_bad, *logs_good)
        if highest == -math.inf:
            return 0.5
        bad = math.fsum(math.exp(log - highest) for log in logs_bad)
        good = math.fsum(math.exp(log - highest) for log in logs_good)
        return bad / (bad + good)

    @property
    def conclusion(self) -> ReplicationVerdict | None:
        """The verdict, or None while another run is needed."""
        if self._untestable:
            return ReplicationVerdict.UNDETERMINED
        hits = 1 if self._settings.trusting else LEAST_HITS
        contradicted = self._contradicted or (self._fails > 0 and self._passes > 0)
        threshold = self._settings.threshold(contradicted=contradicted, rates=self._error_rates)
        bad = self.bad_probability
        if bad >= threshold and self._fails >= hits:
            return ReplicationVerdict.FAIL
        if 1.0 - bad >= threshold and self._passes >= hits:
            return ReplicationVerdict.PASS
        return ReplicationVerdict.UNDETERMINED if self._fails + self._passes >= MOST_RUNS else None

    def next(self) -> bool:
        """Whether another run is needed."""
        return self.conclusion is None
