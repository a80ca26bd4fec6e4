"""A hold whose reason is gone: what it was to last until has come."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import partial

from packaging.utils import canonicalize_name

from pins.drift.model import About, Check, Json, Observations, Outcome, Subject, finding, found, ok, unknown
from pins.drift.readings.contained import ContainedIn
from pins.drift.readings.releases import ProjectPage, best
from pins.drift.readings.repository import slug
from pins.drift.rules.git_pins import GitPin, git_pins
from pins.drift.rules.hold_review import held, reasons
from pins.drift.rules.rule import ListedRule
from pins.drift.until import Condition, Contained, Day, Released, conditions
from pins.errors import PinsError, UndeterminedError
from pins.hazards.model import Severity
from pins.suggest.holds import Hold

ID = "hold-reason-gone"


def _lists(subject: Subject) -> Iterable[Check]:
    for hold, about in held(subject):
        named = conditions(hold.until, hold.pin)
        if named:
            yield Check(about, partial(_check, subject, hold, about, named))


async def _check(
    subject: Subject,
    hold: Hold,
    about: About,
    named: tuple[Condition, ...],
    observations: Observations,
    previous: Json,  # noqa: ARG001 - sources tell what has come
) -> Outcome:
    met: list[str] = []
    open_questions: list[str] = []
    waiting = 0
    for condition in named:
        try:
            come = await _come(subject, hold, condition, observations)
        except PinsError as error:
            open_questions.append(error.message)
            continue
        met += [come] if come else []
        waiting += not come
    enough = bool(met) if re.search(r"\bor\b", hold.until) else len(met) == len(named)
    if not enough:
        return unknown(open_questions[0]) if open_questions and not waiting else ok()
    return found(
        finding(
            ID,
            about,
            "until",
            f"the reason of the hold {hold.requirement or f'{hold.pin} at {hold.value}'} is gone: {'; '.join(met)}",
            evidence=list(reasons(hold)),
            suggestion="lift the hold, and try what it kept out",
        )
    )


async def _come(subject: Subject, hold: Hold, condition: Condition, observations: Observations) -> str:
    """How a condition has come about, as a sentence; "" where it has not."""
    match condition:
        case Released():
            return await _released(condition, observations)
        case Contained():
            return await _contained(subject, hold, condition, observations)
        case Day():
            return f"{condition.day} has come" if _day(subject.now) >= condition.day.isoformat() else ""


async def _released(condition: Released, observations: Observations) -> str:
    project = await observations.get(ProjectPage(condition.name))
    if not project.listing:
        raise UndeterminedError(f"no index has a project {condition.name}: asked {project.asked}")
    release = best(project.releases(), condition.specifier)
    if release is None or (release.version.is_prerelease and not condition.specifier.prereleases):
        return ""
    when = f" on {release.upload_time:%Y-%m-%d}" if release.upload_time is not None else ""
    return f"{condition.name} {release.version} was released{when}"


async def _contained(subject: Subject, hold: Hold, condition: Contained, observations: Observations) -> str:
    pin = _pin_of(subject, hold, condition)
    change = (
        f"{condition.repository or slug(pin.pin.repo)}#{condition.number}" if condition.number else condition.commit
    )
    commit = await observations.get(
        ContainedIn(pin.address, pin.revision, pin.pin.name, condition.number, condition.commit)
    )
    if commit is None:
        return ""
    return f"{change} is in {pin.pin.name} at {pin.revision}, which is pinned ({commit.id[:10]} {commit.subject[:80]})"


def _pin_of(subject: Subject, hold: Hold, condition: Contained) -> GitPin:
    """The pin in whose pinned commit a change is looked for.

    Raises:
        UndeterminedError: nothing that is watched pins that repository.
    """
    pins = list(git_pins(subject))
    if condition.repository:
        wanted = [pin for pin in pins if slug(pin.pin.repo) == condition.repository]
    else:
        wanted = [pin for pin in pins if canonicalize_name(pin.pin.name) == canonicalize_name(hold.pin)]
    first = [pin for pin in wanted if pin.about.place == hold.file] or wanted
    if not first:
        missing = condition.repository or hold.pin
        raise UndeterminedError(f"nothing that is watched pins the repository {missing}, in which the change is to be")
    return first[0]


def _day(now: datetime) -> str:
    return now.date().isoformat()


HOLD_REASON_GONE = ListedRule(
    ID, Severity.WARNING, "What a hold was to last until has come: a release, or a change in what is pinned.", _lists
)
