"""From a culprit that a bisect run has found to what is to be pinned."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from packaging.utils import canonicalize_name

from pins.files.select import select
from pins.model import Form, Pin, PinKind, PinSet
from pins.suggest.bisection import Bisected, Tried
from pins.suggest.choose import ascending, drawn_versions, options_for
from pins.suggest.cost import not_shipping, rebuilt
from pins.suggest.known import breaks_behind
from pins.suggest.model import (
    Certainty,
    Option,
    Policy,
    Reason,
    Rejected,
    State,
    Suggestion,
    SuggestionKind,
    VersionState,
)

REVIEW_AFTER = timedelta(days=30)
_WORDS = {"PASS": "passes", "FAIL": "fails", "OTHER": "fails otherwise", "UNBUILDABLE": "does not build"}


@dataclass(frozen=True)
class Setting:
    """What a suggestion is made in.

    Attributes:
        pin_set: the file's pins.
        releases: by name, the versions that an index has, ascending; without a name nothing is known.
        policy: which of several answers comes first.
        today: for the day to look again.
        upgraded: spans of requirements that an install asks the newest version of (-U).
    """

    pin_set: PinSet
    releases: Mapping[str, Sequence[str]]
    policy: Policy
    today: date
    upgraded: tuple[tuple[int, int], ...] = ()


def pins_meant(pin_set: PinSet, name: str) -> tuple[list[Pin], list[Pin]]:
    """The pins of a name to edit, and the others: of those written here, the ones that ship, else all.

    Raises:
        UsageError: the file has no such pin.
    """
    found = select(pin_set, name)
    here = [pin for pin in found if pin.file == pin_set.file and pin.places]
    shipping = [pin for pin in here if pin.ships] or here
    return shipping, [pin for pin in here if pin not in shipping]


def suggestions_from(bisected: Bisected, setting: Setting) -> list[Suggestion]:
    """What to write for the culprit, one suggestion for each place that must change.

    Raises:
        UsageError: the file does not name the culprit.
    """
    pins, others = pins_meant(setting.pin_set, bisected.pin)
    return [_suggestion(bisected, pin, [*pins, *others], setting) for pin in pins]


def _suggestion(bisected: Bisected, pin: Pin, same_name: Sequence[Pin], setting: Setting) -> Suggestion:
    versioned = pin.kind is PinKind.PACKAGE
    releases = setting.releases.get(canonicalize_name(pin.name), ())
    current = current_of(pin, releases)
    if versioned:
        options = options_for(
            pin,
            bisected.old,
            bisected.new,
            setting.policy,
            current=_inside(current, bisected),
            lowest=_lowest_passing(bisected),
            ends=True,
        )
    else:
        options = _revisions(bisected, pin)
    chosen = options[0]
    percent = f", {_percent(bisected.confidence)} sure" if bisected.confidence is not None else ""
    place = f"{pin.file}:{pin.line}"
    until = _until(bisected, versioned)
    return Suggestion(
        pin,
        now_of(pin, current),
        chosen.value,
        f"below {bisected.new}" if versioned else f"up to {_short(bisected.old)}",
        chosen.kind,
        Certainty.BISECTED,
        f"{change_in_words(pin, chosen, bisected.new)} in {place}: {_short(bisected.new)} is the first that fails"
        f" (bisected{percent})",
        tuple(_because(bisected, pin, current)),
        options,
        tuple(_rejected(bisected, options)),
        until,
        setting.today + REVIEW_AFTER,
        rebuilt(setting.pin_set, pin),
        not_shipping(setting.pin_set, same_name, pin),
        _drawn(bisected, releases, current, chosen, versioned=versioned),
        tuple((f"{pin.name} {_short(t.value)}", _tried_word(t)) for t in _in_order(bisected.tried, versioned)),
        bisected.reproduce,
        f"{_short(bisected.new)} fails and {_short(bisected.old)} passes in bisect run {bisected.run}",
        f"a release after {_short(bisected.new)} passes" if versioned else "a later revision passes",
    )


def _percent(probability: float) -> str:
    """Rounded down, so that nothing uncertain is called certain."""
    return f"{math.floor(probability * 1000) / 10:g} %"


def change_in_words(pin: Pin, option: Option, first_bad: str) -> str:
    """What to do, as the beginning of a sentence."""
    if option.kind is SuggestionKind.COMMIT:
        return f"Put {pin.name} back to {_short(option.value)}"
    if option.kind is SuggestionKind.EXACT:
        return f"Pin {pin.name} to {_short(option.value.lstrip('='))}"
    if option.value.endswith(f"<{first_bad}"):
        return f"Cap {pin.name} below {first_bad}"
    return f"Bound {pin.name} as {pin.name}{option.value}"


def _revisions(bisected: Bisected, pin: Pin) -> tuple[Option, ...]:
    kind = SuggestionKind.COMMIT if pin.kind is PinKind.GIT else SuggestionKind.EXACT
    back = Option(bisected.old, kind, "the last revision that passes; what came after it is missed until the hold ends")
    return (back,)


def current_of(pin: Pin, releases: Sequence[str]) -> str:
    """What the file gives now: its value, or the newest release that an open requirement admits."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if pin.kind is not PinKind.PACKAGE or pin.form in {Form.EXACT, Form.VALUE}:
        return (pin.effective or pin.value or "").lstrip("= ")
    try:
        admitted = list(SpecifierSet(pin.value or "").filter(releases))
    except InvalidSpecifier:
        return ""
    return admitted[-1] if admitted else ""


def _lowest_passing(bisected: Bisected) -> str:
    return (ascending([t.value for t in bisected.tried if t.outcome == "PASS"]) or [bisected.old])[0]


def _inside(current: str, bisected: Bisected) -> str:
    order = ascending([current, bisected.new]) if current else []
    return current if order and order[0] == current and current != bisected.new else ""


def now_of(pin: Pin, current: str) -> str:
    """What a pin holds, in words."""
    if pin.value is None:
        return f"open (now {current})" if current else "open"
    return pin.value if current in {"", pin.value} or pin.form is not Form.SPECIFIER else f"{pin.value} (now {current})"


def _because(bisected: Bisected, pin: Pin, current: str) -> list[Reason]:
    runs = {t.value: t for t in bisected.tried}
    said = [f"{_short(value)} {_tried_word(runs[value])}" for value in (bisected.new, bisected.old) if value in runs]
    seen = " and ".join(said) if said else f"{_short(bisected.new)} fails and {_short(bisected.old)} passes"
    chain = [Reason(f"{pin.name}: {seen}", f"bisect run {bisected.run}", bisected.url)]
    if bisected.message:
        chain.append(Reason(f"the failure is: {bisected.message[:200]}"))
    if bisected.subject:
        chain.append(Reason(f"{_short(bisected.new)} is “{bisected.subject[:120]}”", link=bisected.url))
    if bisected.alone_on_good not in {"", "not-run"}:
        word = {"pass": "passes", "fail": "fails"}.get(bisected.alone_on_good, bisected.alone_on_good)
        chain.append(Reason(f"this step alone, on the good set of pins: {word}"))
    failure = f"{bisected.message}\n{bisected.output}"
    chain.extend(
        Reason(known.reason, known.origin, known.link)
        for known in breaks_behind(canonicalize_name(pin.name), bisected.new, failure)
    )
    for name, value in bisected.partners:
        chain.append(Reason(f"it takes {name} {value} as well to make it fail"))
    for name, old, new in bisected.moves:
        chain.append(Reason(f"{name} moves with it, from {old} to {new}: the resolver forces them together"))
    place = f"{pin.file}:{pin.line}"
    if pin.value is None:
        gives = f", and gets {current} now" if current else ", and gets the newest release on the day of the build"
        chain.append(Reason(f"line {pin.line} asks for {pin.name} without a bound{gives}", place))
    else:
        chain.append(Reason(f"line {pin.line} holds {pin.value}", place))
    return chain


def _tried_word(tried: Tried) -> str:
    times = f" in {tried.runs} runs" if tried.runs > 1 else ""
    return f"{_WORDS.get(tried.outcome, tried.outcome.lower())}{times}"


def _in_order(tried: Sequence[Tried], versioned: bool) -> list[Tried]:
    if not versioned:
        return list(tried)
    order = {value: index for index, value in enumerate(ascending([t.value for t in tried]))}
    return sorted(tried, key=lambda t: order.get(t.value, len(order)))


def _rejected(bisected: Bisected, options: Sequence[Option]) -> list[Rejected]:
    found = [Rejected(option.value, option.trade) for option in options[1:]]
    found.append(Rejected("leaving it open", f"the next build gets {_short(bisected.new)} or what comes after it"))
    for name, value in bisected.partners:
        found.append(
            Rejected(
                f"holding {name} instead",
                f"{name} {value} is needed for the failure too: keeping it back would also do, and is the other choice",
            )
        )
    return found


def _until(bisected: Bisected, versioned: bool) -> str:
    what = "a release after" if versioned else "a revision after"
    return f"{what} {_short(bisected.new)} passes the script of run {bisected.run}"


def _drawn(
    bisected: Bisected, releases: Sequence[str], current: str, chosen: Option, *, versioned: bool
) -> tuple[VersionState, ...]:
    reason = f"fails in run {bisected.run}"
    outcomes = {t.value: t.outcome for t in bisected.tried}
    if not versioned:
        return (
            VersionState(_short(bisected.old), State.ALLOWED, "passes", suggested=True),
            VersionState(_short(bisected.new), State.EXCLUDED, reason, current=current == bisected.new),
        )
    versions = ascending([*releases, *outcomes, bisected.old, bisected.new])
    suggested = bisected.old if chosen.kind is SuggestionKind.EXACT else _newest_below(versions, bisected.new)
    drawn = drawn_versions(versions, bisected.new, current, suggested, reason)
    return tuple(
        replace(v, reason=v.reason or (_WORDS.get(outcomes[v.version], "") if v.version in outcomes else ""))
        for v in drawn
    )


def _newest_below(versions: Sequence[str], bad: str) -> str:
    below = versions[: versions.index(bad)]
    return below[-1] if below else ""


def _short(value: str) -> str:
    return value[:12] if len(value) == 40 and all(c in "0123456789abcdef" for c in value) else value
