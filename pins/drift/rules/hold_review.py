"""A hold whose day of review has come."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial

from pins.drift.model import About, Check, Json, Observations, Outcome, Subject, finding, found, ok
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity
from pins.suggest.holds import Hold

ID = "hold-review"


def _lists(subject: Subject) -> Iterable[Check]:
    for hold, about in held(subject):
        if hold.review is not None:
            yield Check(about, partial(_check, hold, about, subject.now))


async def _check(
    hold: Hold,
    about: About,
    now: datetime,
    observations: Observations,  # noqa: ARG001 - the date says it all
    previous: Json,  # noqa: ARG001
) -> Outcome:
    assert hold.review is not None, "listed only where there is one"
    if now.date() < hold.review:
        return ok()
    return found(
        finding(
            ID,
            about,
            f"review {hold.review}",
            f"the hold {hold.requirement or f'{hold.pin} at {hold.value}'} was to be looked at again on {hold.review}",
            evidence=list(reasons(hold)),
            suggestion="lift it, or give it a later day of review",
        )
    )


def held(subject: Subject) -> Iterable[tuple[Hold, About]]:
    """Every hold, with what a check on it is about: several holds of a pin are told apart by their files."""
    seen: dict[str, int] = {}
    for hold in subject.holds:
        name = f"{hold.pin}@{hold.file}" if hold.file else hold.pin
        seen[name] = seen.get(name, 0) + 1
        name = name if seen[name] == 1 else f"{name}@{seen[name]}"
        yield hold, About(name, subject.holds_place, subject.holds_file)


def reasons(hold: Hold) -> Iterable[str]:
    """Why it was made, until when, and what it stands on."""
    yield f"reason: {hold.reason}"
    if hold.until:
        yield f"until: {hold.until}"
    if hold.since is not None:
        yield f"since: {hold.since}"
    if hold.evidence:
        yield f"evidence: {hold.evidence}"


HOLD_REVIEW = ListedRule(ID, Severity.WARNING, "A hold whose day of review has come.", _lists)
