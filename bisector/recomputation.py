"""`--replay`: what the record of a run says, perhaps judged otherwise, without building or running anything."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bisector.bracket import Bracket, Ending
from bisector.build_costs import turns_of
from bisector.endings import ending_of
from bisector.journal import Journal
from bisector.recorded_run import RecordedRun
from bisector.replay import Replay, costs_of, settings_of, step_name
from bisector.report.model import Result, Verdict
from bisector.results import result_from
from bisector.runs import JOURNAL, find_run
from bisector.search import Conclusion, Probe
from bisector.search_order import weights_of, with_changed_files
from pins.errors import UsageError

MOST_SUSPECTS = 3
"""Likeliest steps that are named where the record does not lead to a verdict."""


def recompute(run: str, changes: Mapping[str, object]) -> Result:
    """The result that a run's record leads to, with some of its options changed.

    Args:
        run: a run's directory, its name or the beginning of it, or its journal.
        changes: fields of `RunRequest` that concern how runs are judged and how sure to be.

    Raises:
        UsageError: no such run.
        EnvironmentFailureError: its journal cannot be read.
    """
    path = Path(run)
    run_directory = path.parent if path.name == JOURNAL and path.is_file() else find_run(run)
    journal = Journal(run_directory / JOURNAL, writable=False)
    try:
        recorded = RecordedRun(journal, run_directory, changes)
        if recorded.chain.steps < 1:
            raise UsageError(f"{run} tried one candidate, and searched nothing")
        before = recorded.ending
        recorded.ending = _ending(recorded)
        recorded.finished = True
        if before is None or (before.lower, before.upper) != (recorded.ending.lower, recorded.ending.upper):
            recorded.certificate = None
            recorded.rounds = [replace(recorded.rounds[0], certificate=None)]
        recorded.rounds[0] = replace(recorded.rounds[0], ending=recorded.ending)
        return result_from(recorded)
    finally:
        journal.close()


def _ending(recorded: RecordedRun) -> Ending:
    request, chain = recorded.request, recorded.chain
    tried = tuple(recorded.tried.values())
    good, bad = (recorded.tried.get(chain.candidates[end]) for end in (0, -1))
    bracket = Bracket(request, recorded.judge, good, bad, enough=settings_of(request, tried).hits)
    cannot_tell = bracket.cannot_tell()
    if cannot_tell is not None:
        return cannot_tell
    axes = with_changed_files(recorded.axes, request.suspects)
    weights = weights_of(chain, axes, request.suspects, first_good=request.first_good)
    search = Replay(request, chain, recorded.judge, tried, weights).search
    decision = search.next((), costs_of(tried, chain, turns_of(chain.candidates)))
    if isinstance(decision, Conclusion):
        return ending_of(
            request, chain, search, decision, bracket, lambda index: recorded.tried.get(chain.candidates[index])
        )  # fmt: skip
    assert isinstance(decision, Probe)
    likely = ", ".join(
        f"{step_name(chain, upper, first_good=request.first_good)} ({chance:.0%})"
        for upper, chance in search.suspects(MOST_SUSPECTS)
    )
    fail_if_good, fail_if_bad = search.rates()
    return Ending(
        Verdict.UNDETERMINED,
        fail_if_good=fail_if_good,
        fail_if_bad=fail_if_bad,
        reason=f"the record does not lead to a verdict: {search.suspects_left()} steps are suspected, the likeliest"
        f" {likely}; next would be {chain.candidates[decision.candidate]} ({decision.why})",
    )
