"""The newest pin set before anything else: as long as it passes, there is nothing to search."""

from bisector.bracket import Ending
from bisector.judgement import Judge
from bisector.model import Candidate, Outcome
from bisector.prober import Prober
from bisector.report.model import NEWEST_PASSES, Verdict

WHY = "canary: the newest that fits"


def first_look(prober: Prober, newest: Candidate, judge: Judge, runs: int) -> Ending | None:
    """The ending where the newest pin set passes; None where it does anything else, which the search is for.

    Args:
        prober: builds and runs; what is on record of the candidate counts.
        newest: the bad end of the chain.
        judge: says what a run means.
        runs: how often it must pass.

    Raises:
        EnvironmentFailureError: our side failed.
    """
    while True:
        tried = prober.known(newest)
        shown = () if tried is None else (tried.same_as or tried).shown
        outcomes = [judge.outcome(each.observation, each.ended) for each in shown]
        if (tried is not None and tried.unbuildable) or any(outcome is not Outcome.PASS for outcome in outcomes):
            return None
        if len(outcomes) >= runs:
            return Ending(Verdict.NO_BRACKET, reason=NEWEST_PASSES)
        prober.probe(newest, WHY)
