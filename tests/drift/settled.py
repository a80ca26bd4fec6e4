"""Runs of invented checks, for tests of what is remembered between them."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from pins.drift.acks import Ack
from pins.drift.checking import Checked
from pins.drift.model import About, Finding, Outcome, Unknown, finding, found, ok, unknown
from pins.drift.report import DriftReport
from pins.drift.state.document import Remembered, read, written
from pins.drift.state.settling import Run, announced, settle

START = datetime(2026, 11, 1, 6, tzinfo=UTC)
TRITON = About("triton", "docker/Dockerfile", "docker/Dockerfile", 7)
PYBIND11 = About("pybind11", "docker/Dockerfile", "docker/Dockerfile", 9)


def ahead(commits: int, about: About = TRITON) -> Finding:
    """A branch that is so many commits ahead: one finding for each of three thresholds."""
    bucket = max(threshold for threshold in (1, 10, 50) if commits >= threshold)
    return finding("branch-ahead", about, f"{bucket} commits", f"main is {commits} commits ahead")


def checked(*findings: Finding, about: About = TRITON, rule: str = "branch-ahead", why_not: str = "") -> Checked:
    """A check with its outcome: findings, why they could not be told, or nothing."""
    outcome = unknown(why_not) if why_not and not findings else found(*findings, unknown=why_not) if findings else ok()
    return Checked(rule, about, outcome)


def outcome(given: Outcome, about: About = TRITON, rule: str = "branch-ahead") -> Checked:
    """A check with any outcome."""
    return Checked(rule, about, given)


class Days:
    """One run a day, each of which finds what the one before has remembered, written and read again.

    Attributes:
        remembered: after the last run.
        now: of the next run.
    """

    def __init__(self) -> None:
        self.remembered = Remembered()
        self.now = START

    def run(
        self,
        *these: Checked,
        acks: Iterable[Ack] = (),
        unread: Iterable[Unknown] = (),
        rules: Iterable[str] = ("branch-ahead",),
        targets: tuple[str, ...] = ("docker",),
        covers: Callable[[str], bool] = lambda _: True,
        told: bool = True,
    ) -> DriftReport:
        """One day."""
        run = Run(self.now, these, tuple(unread), frozenset(rules), targets, covers)
        after, report = settle(self.remembered, run, tuple(acks))
        self.remembered = read(written(announced(after) if told else after))
        self.now += timedelta(days=1)
        return report

    def forget_nothing_of(self, before: Remembered) -> None:
        """Fail where an open finding, or something that a check remembers, is gone."""
        for name, entry in before.findings.items():
            assert self.remembered.findings[name].standing is entry.standing, name
        assert set(before.memory) <= set(self.remembered.memory)


def states(report: DriftReport) -> dict[str, str]:
    """What each finding is, by its bucket."""
    return {reported.finding.bucket: reported.state.value for reported in report.findings}
