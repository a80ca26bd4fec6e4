"""What is going on in a run, gathered from its events."""

from dataclasses import dataclass

from bisector.events import (
    BuildEnded,
    BuildStarted,
    Event,
    Note,
    ProbeCancelled,
    RunEnded,
    RunStarted,
    SearchMoved,
    SmokeEnded,
    SmokeStarted,
)
from bisector.model import Axis, Candidate, Outcome
from bisector.report.labels import label_between, pins_phrase


@dataclass(frozen=True)
class Activity:
    """Something that runs now.

    Attributes:
        doing: "building" or "running".
        candidate: for which candidate.
        why: why that one.
        since: when it began, in seconds of the clock that the state is told.
    """

    doing: str
    candidate: Candidate
    why: str
    since: float


class RunState:
    """The sum of the events so far.

    Attributes:
        axes, steps: of the search, empty and 0 before it began.
        began: when, None before.
        activities: what runs now, by probe, the oldest first.
        outcomes: what each run (or failed build) showed, in order.
        builds, runs: how many have ended.
        moved, moved_at: what the search believes, and since when; None at first.
        note: the latest note.
        ended: the end, None before.
    """

    def __init__(self) -> None:
        self.axes: tuple[Axis, ...] = ()
        self.steps = 0
        self.began: float | None = None
        self.activities: dict[str, Activity] = {}
        self.outcomes: list[tuple[Candidate, Outcome]] = []
        self.builds = 0
        self.runs = 0
        self.moved: SearchMoved | None = None
        self.moved_at = 0.0
        self.note: Note | None = None
        self.ended: RunEnded | None = None

    def take(self, event: Event, now: float) -> None:
        """Add one event, which happened now."""
        if self.began is None:
            self.began = now
        match event:
            case RunStarted(axes=axes, steps=steps):
                self.axes, self.steps = axes, steps
            case BuildStarted(probe, candidate, why):
                self.activities[probe] = Activity("building", candidate, why, now)
            case BuildEnded(probe, candidate, failure=failure):
                self.activities.pop(probe, None)
                self.builds += 1
                if failure:
                    self.outcomes.append((candidate, Outcome.UNBUILDABLE))
            case SmokeStarted(probe, candidate, why):
                self.activities[probe] = Activity("running", candidate, why, now)
            case SmokeEnded(probe, candidate, outcome):
                self.activities.pop(probe, None)
                self.runs += 1
                self.outcomes.append((candidate, outcome))
            case ProbeCancelled(probe):
                self.activities.pop(probe, None)
            case SearchMoved():
                self.moved, self.moved_at = event, now
            case Note():
                self.note = event
            case RunEnded():
                self.ended = event
                self.activities.clear()

    def label(self, candidate: Candidate) -> str:
        """A candidate in short: all of its pins where they are few, else its difference from an end."""
        if not self.axes:
            return pins_phrase(candidate)
        good = Candidate(tuple((axis.pin, axis.good) for axis in self.axes))
        bad = Candidate(tuple((axis.pin, axis.bad) for axis in self.axes))
        return label_between(candidate, good, bad)

    def strip(self) -> list[tuple[Outcome | None, int]]:
        """Outcomes so far: (outcome, 1), or (None, n) for n candidates that were not tried.

        With one axis they stand at the places of its values, from good to bad; else in the order of trying.
        """
        if len(self.axes) != 1:
            return [(outcome, 1) for _, outcome in self.outcomes]
        axis = self.axes[0]
        latest = {candidate.get(axis.pin): outcome for candidate, outcome in self.outcomes}
        strip: list[tuple[Outcome | None, int]] = []
        for value in axis.values:
            outcome = latest.get(value.text)
            if outcome is None and strip and strip[-1][0] is None:
                strip[-1] = (None, strip[-1][1] + 1)
            else:
                strip.append((outcome, 1))
        return strip
