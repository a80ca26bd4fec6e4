"""A dated comment that contradicts what is pinned, or is older than it."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from pins.drift.dated import day_of
from pins.drift.model import Check, Json, Observations, Outcome, Subject, finding, found, ok, unknown
from pins.drift.readings.history import Ahead, History, Told
from pins.drift.readings.releases import ProjectPage
from pins.drift.rules.git_pins import GitPin, git_pins
from pins.drift.rules.package_pins import PackagePin, package_pins
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity

ID = "comment-lags"
_SLACK = timedelta(days=1)
"""Between the day that somebody writes down and the time that git or an index gives."""


def _lists(subject: Subject) -> Iterable[Check]:
    today = subject.now.date()
    for pin in git_pins(subject):
        if pin.is_commit and day_of(pin.pin.comment, today) is not None:
            yield Check(pin.about, partial(_commit, pin, subject.now))
    for package in package_pins(subject):
        if package.exact is not None and day_of(package.pin.comment, today) is not None:
            yield Check(package.about, partial(_release, package, subject.now))


async def _commit(pin: GitPin, now: datetime, observations: Observations, previous: Json) -> Outcome:  # noqa: ARG001
    ahead = await observations.get(History(pin.address, pin.revision, pin.pin.name, pin.pin.comment))
    if ahead.missing:
        return unknown(ahead.missing)
    day = day_of(pin.pin.comment, (pin.file.changed or now).date())
    assert day is not None, "listed only where there is one"
    end = datetime.combine(day, time.max, UTC)
    said = pin.pin.comment.strip()[:80]
    if ahead.commit.date > end + _SLACK:
        return found(
            finding(
                ID,
                pin.about,
                "older than the pin",
                f"the comment of {pin.pin.name} says {said!r}, but {pin.revision} was made on"
                f" {ahead.commit.date:%Y-%m-%d}, later",
                evidence=[ahead.commit.shown],
                suggestion="correct the date, or the commit, whichever was left behind",
            )
        )
    if ahead.named and ahead.beside:
        return found(
            finding(
                ID,
                pin.about,
                "not on the branch",
                f"the comment of {pin.pin.name} says {said!r}, but {pin.revision} is not on {ahead.branch}",
                evidence=[ahead.commit.shown, f"{ahead.beside} of its commits are not on {ahead.branch}"],
                suggestion="name the branch that holds it",
            )
        )
    newer = _there_by(ahead, day)
    if not ahead.named or not newer:
        return ok()
    return found(
        finding(
            ID,
            pin.about,
            "behind the day it names",
            f"the comment of {pin.pin.name} says {said!r}, but {ahead.branch} had {len(newer)} newer"
            f" commit{'s' * (len(newer) != 1)} by then than {pin.revision}",
            evidence=[ahead.commit.shown, *(one.shown for one in newer[:3])],
            suggestion="correct the date, or the commit, whichever was left behind",
            severity=Severity.NOTE,
        )
    )


def _there_by(ahead: Ahead, day: date) -> list[Told]:
    """Commits after the pin that its branch had when the day began, newest first."""
    begin = datetime.combine(day, time.min, UTC) - _SLACK
    return [one for one in ahead.newer if one.date < begin]


async def _release(package: PackagePin, now: datetime, observations: Observations, previous: Json) -> Outcome:  # noqa: ARG001
    project = await observations.get(ProjectPage(package.pin.name))
    release = next((one for one in project.releases() if one.version == package.exact), None)
    if release is None or release.upload_time is None:
        return unknown(f"when {package.pin.name} {package.exact} was uploaded is not known: asked {project.asked}")
    day = day_of(package.pin.comment, (package.file.changed or now).date())
    assert day is not None, "listed only where there is one"
    if release.upload_time <= datetime.combine(day, time.max, UTC) + _SLACK:
        return ok()
    return found(
        finding(
            ID,
            package.about,
            "older than the pin",
            f"the comment of {package.pin.name} says {package.pin.comment.strip()[:80]!r}, but {release.version} was"
            f" uploaded on {release.upload_time:%Y-%m-%d}, later",
            suggestion="correct the date, or the version, whichever was left behind",
        )
    )


COMMENT_LAGS = ListedRule(
    ID, Severity.WARNING, "A dated comment contradicts what is pinned, or lags behind it.", _lists
)
