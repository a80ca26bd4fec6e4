"""What one run of `pins drift` comes to: plain facts, for renderers and for whoever is told."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pins.drift.acks import Ack
from pins.drift.model import Finding, Unknown


class State(StrEnum):
    """What a finding is to the reader."""

    NEW = "new"
    OPEN = "open"  # reported before
    ACKED = "acked"
    RESOLVED = "resolved"


@dataclass(frozen=True)
class Reported:
    """A finding as it stands after a run.

    Attributes:
        finding: as it was found last.
        state: what it is to the reader.
        first_seen: when it was found first.
        changed: whether it says something else than the last time.
        before: what it said then, where that is so; or the lower bucket whose place it took.
        ack: the acknowledgement that holds.
        note: why it stands although it was not found just now; "" where it was.
    """

    finding: Finding
    state: State
    first_seen: datetime
    changed: bool = False
    before: str = ""
    ack: Ack | None = None
    note: str = ""


@dataclass(frozen=True)
class DriftReport:
    """A run.

    Attributes:
        now: its time.
        findings: new ones first, then open, acknowledged, and those that this run resolved; the worst first in each.
        unknown: what could not be told.
        last_complete: when everything could last be told; the run itself where that is so, None where it never was.
        files, pins, checks: how many were looked at.
        notes: for the person: a state document that was kept aside, acknowledgements that nothing needs.
    """

    now: datetime
    findings: tuple[Reported, ...]
    unknown: tuple[Unknown, ...]
    last_complete: datetime | None
    files: int
    pins: int
    checks: int
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for could be told."""
        return not self.unknown

    def of(self, state: State) -> tuple[Reported, ...]:
        """The findings in a state."""
        return tuple(reported for reported in self.findings if reported.state is state)

    @property
    def exit_code(self) -> int:
        """1 where something is new, 3 where nothing is that could be told, else 0."""
        if self.of(State.NEW):
            return 1
        return 0 if self.complete else 3
