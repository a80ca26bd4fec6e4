"""What a journal holds, one class for each sort of entry."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bisector.model import Build, Candidate, Ended
from bisector.smoke import Observation


class BuildStatus(StrEnum):
    """Where a build stands."""

    STARTED = "started"
    BUILT = "built"
    FAILED = "failed"
    INFEASIBLE = "infeasible"
    ABANDONED = "abandoned"
    """Ended by something that says nothing about the candidate: cancelled, or our side failed."""


@dataclass(frozen=True)
class ProbeEntry:
    """One candidate that was chosen."""

    id: str
    candidate: Candidate
    why: str
    first_seen: datetime


@dataclass(frozen=True)
class BuildEntry:
    """One attempt to build. `log` is relative to the run's directory."""

    number: int
    probe: str
    started: datetime
    status: BuildStatus
    seconds: float
    log: str
    build: Build | None
    reason: str
    ended: Ended | None


@dataclass(frozen=True)
class RunEntry:
    """One run of the smoke script; `ended` and `observation` are None until it has ended.

    `log` and `output` are relative to the run's directory.
    """

    number: int
    probe: str
    why: str
    started: datetime
    log: str
    output: str
    host: str
    ended: Ended | None
    observation: Observation | None


@dataclass(frozen=True)
class Decision:
    """Something that was decided or found: a conclusion, a certificate, a note."""

    number: int
    time: datetime
    kind: str
    body: str
