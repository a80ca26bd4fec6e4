"""What happens during a run, as events for a reporter: progress display never enters the algorithm."""

from dataclasses import dataclass
from typing import Protocol

from bisector.model import Axis, Candidate, Outcome


@dataclass(frozen=True)
class RunStarted:
    """The axes are known and the ends are about to be verified."""

    run_id: str
    run_directory: str
    axes: tuple[Axis, ...]
    steps: int
    """Steps of the chain (candidates less one)."""
    resumed_runs: int = 0
    """Finished runs taken from the journal (after `bisector resume`)."""


@dataclass(frozen=True)
class BuildStarted:
    """A candidate is being built."""

    probe: str
    candidate: Candidate
    why: str
    """Why this candidate: "good end", "bad end", "search", "culprit again", "swap test", ..."""


@dataclass(frozen=True)
class BuildEnded:
    """A build ended: built (`failure` empty) or not."""

    probe: str
    candidate: Candidate
    seconds: float
    failure: str = ""
    log: str = ""


@dataclass(frozen=True)
class SmokeStarted:
    """The smoke script is running on a built candidate."""

    probe: str
    candidate: Candidate
    why: str


@dataclass(frozen=True)
class SmokeEnded:
    """One run of the smoke script ended."""

    probe: str
    candidate: Candidate
    outcome: Outcome
    seconds: float
    detail: str = ""
    """The signature, or the reason, in one line."""
    log: str = ""


@dataclass(frozen=True)
class ProbeCancelled:
    """What ran for a candidate was ended, since nobody needs its result any more: no other end will be told."""

    probe: str
    candidate: Candidate


@dataclass(frozen=True)
class SearchMoved:
    """What the search believes now."""

    suspects: tuple[tuple[str, float], ...]
    """The likeliest steps ("pybind11 3.0.4 -> 3.1.0") with their probability, most likely first, at most five."""
    suspects_left: int
    """Steps that hold 99 % of the probability."""
    builds_left: float
    """Expected number of further builds."""
    seconds_left: float | None
    """Expected time to the verdict, None while nothing has been measured."""


@dataclass(frozen=True)
class Note:
    """Something the user should know, in one sentence."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class RunEnded:
    """The run is over; the report follows."""

    verdict: str
    summary: str


Event = (
    RunStarted | BuildStarted | BuildEnded | SmokeStarted | SmokeEnded | ProbeCancelled | SearchMoved | Note | RunEnded
)


class Reporter(Protocol):
    """Told of every event, from the thread that drives the run. Must not raise."""

    def __call__(self, event: Event, /) -> None:
        """Take one event."""


def silent(event: Event) -> None:
    """The reporter that says nothing."""
