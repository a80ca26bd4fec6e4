"""A branch that is ahead of the commit that was taken from it."""

import re
from collections.abc import Iterable, Iterator
from functools import partial

from pins.drift.model import Check, Finding, Json, Observations, Outcome, Subject, finding, found, ok, unknown
from pins.drift.readings.history import Ahead, History
from pins.drift.readings.repository import slug
from pins.drift.rules.git_pins import GitPin, git_pins
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity
from pins.suggest.holds import Hold

ID = "branch-ahead"
LEVELS = ((1, 0), (10, 14), (50, 45), (250, 120), (1000, 365))
"""(commits, days): a branch is reported again when it is so many commits, or days of work, ahead."""
_ISSUE = re.compile(
    r"(?:https?://[^/\s]+/)?(?P<slug>[A-Za-z0-9][\w.-]*/[\w.-]+)?(?:#|/(?:issues|pull|merge_requests)/)(?P<number>\d+)\b"
)


def _lists(subject: Subject) -> Iterable[Check]:
    for pin in git_pins(subject):
        if pin.is_commit:
            holds = tuple(
                hold for hold in subject.holds if hold.pin == pin.pin.name and hold.file in ("", pin.about.place)
            )
            yield Check(pin.about, partial(_check, pin, holds))


async def _check(
    pin: GitPin,
    holds: tuple[Hold, ...],
    observations: Observations,
    previous: Json,  # noqa: ARG001 - a history tells how far it has come
) -> Outcome:
    ahead = await observations.get(History(pin.address, pin.revision, pin.pin.name, pin.pin.comment))
    if ahead.missing:
        return unknown(ahead.missing)
    if ahead.tip is None:
        return unknown(f"no branch of {ahead.where} holds {pin.revision}, so that none is ahead of it")
    if not ahead.count:
        return ok()
    texts = [pin.pin.comment, *(text for hold in holds for text in (hold.reason, hold.until))]
    return found(_how_far(pin, ahead), *_mentions(pin, ahead, linked(texts, slug(pin.pin.repo))))


def _how_far(pin: GitPin, ahead: Ahead) -> Finding:
    assert ahead.tip is not None, "there is a branch"
    days = max((ahead.tip.date - ahead.commit.date).days, 0)
    level = max(i for i, (count, age) in enumerate(LEVELS) if ahead.count >= count or (age and days >= age))
    commits, age = LEVELS[level]
    beside = f"; {ahead.beside} of what is pinned are not on it" if ahead.beside else ""
    return finding(
        ID,
        pin.about,
        f"{commits} commits or {age} days" if age else f"{commits} commit",
        f"{ahead.branch} of {_shown(pin, ahead)} is {_commits(ahead.count)}, {days} days of work, ahead of"
        f" {pin.revision}{beside}",
        evidence=[
            f"pinned: {ahead.commit.shown}",
            *(f"newer:  {one.shown}" for one in ahead.newer[:3]),
            *([f"and {ahead.count - 4} more"] if ahead.count > 4 else []),
            *([f"newer:  {ahead.newer[-1].shown}"] if ahead.count > 3 and len(ahead.newer) == ahead.count else []),
        ],
        suggestion=f"try the newest: `bisector probe`, or pin {ahead.tip.id[: max(len(pin.revision), 7)]}",
        severity=Severity.NOTE,
    )


def _mentions(pin: GitPin, ahead: Ahead, issues: frozenset[tuple[str, str]]) -> Iterator[Finding]:
    """Commits after the pin that revert something it holds, or mention an issue that it is linked to."""
    repository = slug(pin.pin.repo)
    for reverted, one in ahead.reverted.items():
        yield finding(
            ID,
            pin.about,
            f"reverts {reverted[:10]}",
            f"a commit after {pin.revision} on {ahead.branch} of {_shown(pin, ahead)} reverts {reverted[:10]}, which is"
            " in what is pinned: it may have the fault",
            evidence=[one.shown],
            suggestion=f"read why it was reverted, and whether {pin.pin.name} is to move behind it",
            series=f"reverts {reverted[:10]}",
        )
    for one in ahead.newer:
        text = f"{one.subject}\n{one.body}"
        for owner, number in sorted(linked([text], repository) & issues):
            yield finding(
                ID,
                pin.about,
                f"mentions {owner}#{number}",
                f"a commit after {pin.revision} on {ahead.branch} of {_shown(pin, ahead)} mentions {owner}#{number},"
                f" which {pin.pin.name} is linked to",
                evidence=[one.shown],
                suggestion=f"see whether it settles {owner}#{number}",
                series=f"mentions {owner}#{number}",
            )


def linked(texts: Iterable[str], repository: str) -> frozenset[tuple[str, str]]:
    """Issues and pull requests that texts name: (owner/name in lower case, number).

    Args:
        texts: comments, messages.
        repository: what a bare "#12" is about.
    """
    return frozenset(
        ((match["slug"] or repository).lower().removesuffix(".git"), match["number"])
        for text in texts
        for match in _ISSUE.finditer(text)
    )


def _shown(pin: GitPin, ahead: Ahead) -> str:
    return slug(pin.pin.repo) or ahead.where


def _commits(count: int) -> str:
    return f"{count} commit{'s' * (count != 1)}"


BRANCH_AHEAD = ListedRule(
    ID, Severity.NOTE, "A branch is ahead of the commit that was taken from it: how far, and what it says.", _lists
)
