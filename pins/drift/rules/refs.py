"""A tag or branch that was moved or removed, and a commit that no branch or tag holds any more."""

from collections.abc import Iterable, Mapping
from functools import partial

from pins.drift.baseline import baseline, kept
from pins.drift.layers import last_built
from pins.drift.model import Check, Json, Observations, Outcome, Subject, finding, found, ok, unknown
from pins.drift.readings.history import History
from pins.drift.readings.refs import Refs
from pins.drift.rules.git_pins import GitPin, git_pins
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity

MOVED = "ref-moved"
VANISHED = "ref-vanished"


def _named(subject: Subject) -> Iterable[tuple[GitPin, Refs]]:
    """Pins that name a ref, each with the one question that is put to its repository for all of them."""
    pins = [pin for pin in git_pins(subject) if not pin.is_commit]
    names: dict[str, set[str]] = {}
    for pin in pins:
        names.setdefault(pin.address, set()).add(pin.revision)
    for pin in pins:
        yield pin, Refs(pin.address, tuple(sorted(names[pin.address])))


def _lists_moved(subject: Subject) -> Iterable[Check]:
    for pin, refs in _named(subject):
        yield Check(pin.about, partial(_moved, pin, refs))


async def _moved(pin: GitPin, refs: Refs, observations: Observations, previous: Json) -> Outcome:
    ref = (await observations.get(refs)).get(pin.revision)
    if ref is None:  # the other rule says so; what it was is kept
        return ok()
    built = await last_built(pin.file, pin.pin, observations)
    # A tag is what it was when it was first seen: that the file was edited since makes its move no less of one.
    since = built if ref.is_branch else None
    before = baseline(previous, f"{ref.ref} {pin.pin.repo}", since)
    remembered = kept(before or ref.commit, f"{ref.ref} {pin.pin.repo}", since)
    if not isinstance(before, str) or before == ref.commit:
        return ok(remember=remembered)
    kind = "branch" if ref.is_branch else "tag"
    name = ref.ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
    return found(
        finding(
            MOVED,
            pin.about,
            kind,
            f"the {kind} {name} of {pin.pin.repo or pin.address} has moved from {before[:10]} to {ref.commit[:10]}"
            + ("" if ref.is_branch else ", which tags are not meant to do"),
            evidence=[f"{ref.ref}: {before} when it was first seen, {ref.commit} now"],
            suggestion=f"pin the commit itself: {before if not ref.is_branch else ref.commit}",
            severity=Severity.NOTE if ref.is_branch else Severity.ERROR,
        ),
        remember=remembered,
    )


def _lists_vanished(subject: Subject) -> Iterable[Check]:
    for pin, refs in _named(subject):
        yield Check(pin.about, partial(_vanished_ref, pin, refs))
    for pin in git_pins(subject):
        if pin.is_commit:
            yield Check(pin.about, partial(_vanished_commit, pin))


async def _vanished_ref(pin: GitPin, refs: Refs, observations: Observations, previous: Json) -> Outcome:
    ref = (await observations.get(refs)).get(pin.revision)
    if ref is not None:
        return ok(remember={"named": pin.revision, "commit": ref.commit})
    was = ""
    if isinstance(previous, Mapping) and previous.get("named") == pin.revision:
        was = str(previous.get("commit", ""))
    if pin.own_clone and not was:
        return unknown(f"the clone {pin.address} has no branch or tag {pin.revision}, and it may not have all of them")
    return found(
        finding(
            VANISHED,
            pin.about,
            "ref",
            f"{pin.pin.repo or pin.address} has no branch or tag {pin.revision}{' any more' * bool(was)}: the next"
            " build fails",
            evidence=[f"it named {was} when it was last seen"] if was else [],
            suggestion=f"pin {was}, if the server still gives it" if was else "correct the name, or pin a commit",
            severity=Severity.ERROR,
        ),
        remember=previous,
    )


async def _vanished_commit(pin: GitPin, observations: Observations, previous: Json) -> Outcome:  # noqa: ARG001
    ahead = await observations.get(History(pin.address, pin.revision, pin.pin.name, pin.pin.comment))
    if ahead.missing and pin.own_clone:
        return unknown(f"the clone {pin.address} does not have {pin.revision}, and it may not have all commits")
    if ahead.missing:
        return found(
            finding(
                VANISHED,
                pin.about,
                "commit",
                f"{pin.revision} is not in {ahead.where}: the next build fails",
                evidence=[ahead.missing],
                suggestion="pin a commit that a branch or tag holds, or the repository that has this one",
                severity=Severity.ERROR,
            )
        )
    if not ahead.held and pin.own_clone:
        return unknown(f"no branch or tag of the clone {pin.address} holds {pin.revision}, and it may not have all")
    if not ahead.held:
        return found(
            finding(
                VANISHED,
                pin.about,
                "unreachable",
                f"no branch or tag of {ahead.where} holds {pin.revision} any more: the server may drop it",
                evidence=[ahead.commit.shown],
                suggestion="pin a commit that a branch or tag holds",
            )
        )
    return ok()


REF_MOVED = ListedRule(
    MOVED, Severity.ERROR, "A tag or branch names another commit than when it was first seen.", _lists_moved
)
REF_VANISHED = ListedRule(
    VANISHED,
    Severity.ERROR,
    "A tag, branch or commit that is pinned is not there, or nothing holds it.",
    _lists_vanished,
)
