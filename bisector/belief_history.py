"""How the belief narrowed: where the culprit was thought to be after each thing that became known.

The search is told the record of a run once more, one entry at a time, in the order in which the entries were completed.
Each is judged as it is judged now, with all that the ends have shown, so that the last point is what `--replay`
believes. Nothing is built, run or asked.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from bisector.entries import BuildStatus
from bisector.judgement import overall
from bisector.model import Candidate, Outcome
from bisector.record import Tried
from bisector.recorded_run import RecordedRun
from bisector.replay import Replay
from bisector.report.model import BeliefPoint
from bisector.search import ChainSearch
from bisector.search_order import weights_of

MASS = 0.99
"""What the steps that count as suspected hold together."""
MOST_WORK = 20_000
"""Groups of hypotheses that are weighed in all (about half a second); of a record that would need more, every second
entry gets a point, or every third, ... and the last."""


class _Entry(NamedTuple):
    """One thing that became known of a candidate of the chain; `ran` is None where it was built, or is another's."""

    time: datetime
    number: int
    step: int
    tried: Tried
    ran: Outcome | None = None


def belief_history(run: RecordedRun) -> tuple[BeliefPoint, ...]:
    """One point for each finished run, each failed build and each build that turned out to be another's, in order."""
    if run.chain.steps < 1:
        return ()
    weights = weights_of(run.chain, run.axes, run.request.suspects, first_good=run.request.first_good)
    replay = Replay(run.request, run.chain, run.judge, tuple(run.tried.values()), weights, tell=False)
    places = _places(run)
    outcomes: dict[Candidate, list[Outcome]] = {}
    points: list[BeliefPoint] = []
    entries = sorted(_entries(run, places), key=lambda entry: entry[:2])
    stride = _stride(entries)
    for left, (_, _, step, tried, ran) in zip(range(len(entries) - 1, -1, -1), entries, strict=True):
        if ran is not None:
            told = outcomes.setdefault(tried.candidate, [])
            told.append(ran)
            replay.runs(step, told, len(told) - 1)
        elif tried.same_as is not None:
            replay.same_build(places[tried.same_as.candidate], step)
        else:
            replay.build(step, tried)
        if left % stride == 0:
            points.append(_point(replay.search, tried.entry.id, step, ran or overall(run.outcomes(tried))))
    return tuple(points)


def _stride(entries: Sequence[_Entry]) -> int:
    """Of how many entries one gets a point: a belief costs as much as there are candidates that have run."""
    seen: set[int] = set()
    work = 0
    for entry in entries:
        if entry.ran is not None:
            seen.add(entry.step)
        work += len(seen) + 1
    return -(-work // MOST_WORK) or 1


def _places(run: RecordedRun) -> dict[Candidate, int]:
    """Where on the chain what is known of a candidate is told: its own place, or that of the first of its build."""
    places: dict[Candidate, int] = {}
    for tried in run.tried.values():
        index = run.index.get(tried.candidate)
        if index is not None:
            places.setdefault((tried.same_as or tried).candidate, index)
    return places


def _entries(run: RecordedRun, places: dict[Candidate, int]) -> Iterator[_Entry]:
    by_probe = {tried.entry.id: tried for tried in run.tried.values()}
    failed: set[int] = set()  # a build that fails counts once, however often it was tried
    for tried in run.tried.values():
        index = run.index.get(tried.candidate)
        if tried.same_as is not None and index is not None and places[tried.same_as.candidate] != index:
            yield _Entry(tried.entry.first_seen, 0, index, tried)
    for build in run.builds:
        tried = by_probe[build.probe]
        place = places.get(tried.candidate)
        if place is None or tried.same_as is not None:
            continue
        if tried.unbuildable and build.status in (BuildStatus.FAILED, BuildStatus.INFEASIBLE) and place not in failed:
            failed.add(place)
            yield _Entry(build.started + timedelta(seconds=build.seconds), build.number, place, tried)
    for ran in run.runs:
        tried = by_probe[ran.probe]
        place = places.get(tried.candidate)
        if place is None or ran.ended is None or ran.observation is None or tried.unbuildable:
            continue
        yield _Entry(ran.started + timedelta(seconds=ran.ended.seconds), ran.number, place, tried, run.outcome_of(ran))


def _point(search: ChainSearch, probe: str, index: int, outcome: Outcome) -> BeliefPoint:
    lower, upper = search.belief.interval(MASS)
    likeliest = search.suspects(1)
    step, probability = likeliest[0] if likeliest else (None, 0.0)
    # Before both ends have run, that there is no culprit at all is one more hypothesis.
    steps = min(search.suspects_left(MASS), search.steps)
    return BeliefPoint(probe, index, outcome, lower, upper, steps, step, probability)
