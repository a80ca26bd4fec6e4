"""What a search along the run's own chain does besides its own choices: measure the ends, and look for drift. Pure.

Each function answers with a probe that is due before anything else, or None.
"""

from collections.abc import Callable, Mapping, Sequence

from bisector.bracket import CONTROL, Ending
from bisector.drift import MOST_RUNS, Told, find_change
from bisector.metric import END_RUNS
from bisector.record import Tried
from bisector.report.model import Verdict
from bisector.request import RunRequest
from bisector.search import Conclusion, Costs, Probe, Wait
from bisector.space import Chain

CHEAP_RUN = 0.05
"""Share of a build up to which a run is cheap: then an end is run again after every so many runs."""
RUNS_BETWEEN_CONTROLS = 12

Runs = Mapping[int, Sequence[Told]]
"""Every run on the chain that passed or failed, in order, by candidate."""


def to_measure(
    request: RunRequest, chain: Chain, known: Callable[[int], Tried | None], flying: Sequence[int]
) -> Probe | Wait | None:
    """The ends come first, several times, where the limit of a metric is taken from them."""
    if request.metric is None or request.metric.regress is None:
        return None
    waiting = False
    for end, name in ((0, "good end"), (chain.steps, "bad end")):
        tried = known(end)
        done = len(tried.shown) if tried is not None else 0
        if done + flying.count(end) < END_RUNS:
            return Probe(end, name if tried is None else f"{name} again: its noise")
        waiting = waiting or done < END_RUNS
    return Wait() if waiting else None


def to_watch(chain: Chain, told: Runs, costs: Costs) -> Probe | None:
    """An end once more, now and then, where a run costs next to nothing beside a build: does it still hold?"""
    if costs.run > CHEAP_RUN * costs.build:
        return None
    last = {end: told[end][-1].number for end in (0, chain.steps) if told.get(end)}
    latest = max((runs[-1].number for runs in told.values() if runs), default=0)
    if len(last) < 2 or latest - max(last.values()) < RUNS_BETWEEN_CONTROLS:
        return None
    end = min(last, key=lambda each: last[each])
    return Probe(end, f"{'good' if end == 0 else 'bad'} end once more: is it as it was?")


def to_look_into_a_change(request: RunRequest, told: Runs) -> Probe | None:
    """One more run of a candidate whose outcomes fall apart by time or host, to tell that from a flaky script."""
    found = find_change(told, 1.0 - request.confidence)
    if found is None or found[2] or len(told[found[0]]) >= MOST_RUNS:
        return None
    return Probe(found[0], "again: did something outside the pins change?")


def changed(request: RunRequest, chain: Chain, told: Runs) -> Ending | None:
    """The ending where identical inputs gave different outcomes for a reason outside the pins."""
    found = find_change(told, 1.0 - request.confidence)
    if found is None or not found[2]:
        return None
    index, change, _ = found
    what = "hosts differ" if change.hosts[0] else "something outside the pins changed during the run"
    return Ending(
        Verdict.ENVIRONMENT,
        reason=f"identical inputs, different outcomes: {chain.candidates[index]} was {change}; {what}",
    )


def to_control(request: RunRequest, chain: Chain, conclusion: Conclusion, told: Runs) -> Probe | None:
    """The bad end once more before anything is blamed (an A/A control), where its last run is not the latest."""
    if conclusion.kind not in ("culprit", "range") or request.repeat == 1:
        return None
    last = max((run.number for run in told.get(chain.steps, ())), default=0)
    searched = [runs[0].number for index, runs in told.items() if index != chain.steps and runs]
    if not last or last > max(searched, default=0):
        return None
    return Probe(chain.steps, CONTROL)
