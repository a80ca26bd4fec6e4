"""From windows to what is to be pinned: what the file gives now lies outside, or the next release would."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pins.model import Form, Pin, PinKind
from pins.report.windows_model import EnvironmentWindows
from pins.resolve.bounds import Bound, PackageWindow, Side
from pins.resolve.problem import OriginKind
from pins.suggest.choose import ascending, options_for
from pins.suggest.cost import not_shipping, rebuilt
from pins.suggest.from_bisection import Setting, change_in_words, current_of, now_of
from pins.suggest.model import (
    Certainty,
    Kept,
    Option,
    Reason,
    Rejected,
    State,
    Suggestion,
    SuggestionKind,
    VersionState,
)


def suggestions_of_windows(
    environments: Sequence[EnvironmentWindows], setting: Setting, already: set[str]
) -> tuple[list[Suggestion], list[Kept]]:
    """What must change for everything to fit, and the pins that fit as they are.

    Args:
        environments: what was solved.
        setting: what the suggestion is made in.
        already: names for which something is suggested already.
    """
    suggestions: list[Suggestion] = []
    kept: list[Kept] = []
    windows = {w.name: w for w in _solved(environments)}
    for pin in setting.pin_set.pins:
        window = windows.get(pin.name)
        if pin.kind is not PinKind.PACKAGE or pin.name in already or pin.file != setting.pin_set.file or window is None:
            continue
        made = _change(pin, window, setting)
        if made is not None:
            suggestions.append(made)
            already.add(pin.name)
        else:
            kept.append(_kept(pin, window, setting))
    return suggestions, kept


def within_window(suggestion: Suggestion, environments: Sequence[EnvironmentWindows]) -> Suggestion:
    """What a run has found, with what else bounds that pin: its window is the part that fits as well."""
    window = _window_of(suggestion.pin, environments)
    first_bad = next((v.version for v in suggestion.versions if v.state is State.EXCLUDED), "")
    if window is None or suggestion.certainty is not Certainty.BISECTED or suggestion.pin.kind is not PinKind.PACKAGE:
        return suggestion
    order = ascending([*window.versions, first_bad] if first_bad else window.versions)
    inside = order[: order.index(first_bad)] if first_bad else order
    if not inside:
        return suggestion
    text = f"{window.text}, and {suggestion.window}"
    if set(inside) == set(window.versions):
        text = window.specifier or window.text
    elif window.specifier is not None:
        text = ",".join(filter(None, [window.specifier, f"<{first_bad}"]))
    lower = next((bound for bound in window.bounds if bound.side is Side.LOWER), None)
    reasons = tuple(_sentences(lower)) if lower else ()
    return replace(
        suggestion,
        window=text,
        because=(*suggestion.because, *reasons),
    )


def _window_of(pin: Pin, environments: Sequence[EnvironmentWindows]) -> PackageWindow | None:
    """The window of a pin in the stage that it is written in, else in the last one that has it."""
    found = [
        (window, pin.stage in environment.name.split())
        for environment in environments
        if not environment.name.startswith("isolated")
        for window in environment.packages
        if window.name == pin.name and window.versions
    ]
    windows = [window for window, is_own in found if is_own] or [window for window, _ in found]
    return windows[-1] if windows else None


def _solved(environments: Sequence[EnvironmentWindows]) -> Iterator[PackageWindow]:
    return (w for e in environments if not e.name.startswith("isolated") for w in e.packages)


def _kept(pin: Pin, window: PackageWindow, setting: Setting) -> Kept:
    current = current_of(pin, window.versions)
    if not window.versions:
        why = "its window is not known"
    elif earlier := _installed_before(pin, window, setting):
        why = f"{earlier} is installed before, which is inside its window and stays"
    else:
        why = "what it gives now is inside its window"
    return Kept(pin.name, pin.line, now_of(pin, current), why, window.text, _drawn(window, setting, current, ""))


def _kept_inside(pin: Pin, bound: Bound, window: PackageWindow, setting: Setting) -> bool:
    """Whether the installer keeps an open requirement inside its window by itself.

    It does where it enforces what bounds it: what installed releases require of each other. It does not where it is
    asked for the newest (-U), or knows nothing of the bound: what code shows, what people have found out, and what a
    build without isolation requires.
    """
    if _upgraded(pin, setting):
        return False
    if _installed_before(pin, window, setting):
        return True
    premises = [premise for sentence in bound.because for premise in sentence.premises]
    told = " ".join((*(s.text for s in bound.because), *(p.origin for p in premises)))
    enforced = {None, OriginKind.DECLARED, OriginKind.GIVEN}
    return all(premise.kind in enforced for premise in premises) and "[build-requires]" not in told


def _upgraded(pin: Pin, setting: Setting) -> bool:
    return any(start <= place.start <= end for place in pin.places for start, end in setting.upgraded)


def _installed_before(pin: Pin, window: PackageWindow, setting: Setting) -> str:
    """An exact version inside the window that the stage has installed before the pin's line, "" for none."""
    stage = next((s for s in setting.pin_set.stages if s.name == pin.stage), None)
    if stage is None or _upgraded(pin, setting):
        return ""
    found = ""
    for entry in stage.installs:
        if entry.name != pin.name:
            continue
        if not entry.source and entry.line == pin.line:
            break
        version = entry.requirement.partition("==")[2].strip()
        found = version if version in window.versions else ""
    return found


def _change(pin: Pin, window: PackageWindow, setting: Setting) -> Suggestion | None:
    if not window.versions:
        return None
    releases = setting.releases.get(pin.name) or window.versions
    current = current_of(pin, list(releases)) or window.newest
    upper = next((bound for bound in reversed(window.bounds) if bound.side is Side.UPPER), None)
    if not current or current in window.versions or not pin.places:
        return None
    unknown = {version for entry in window.unknown for version in entry.versions}
    if current in unknown:
        return None
    good = window.newest_inside
    if pin.form in {Form.EXACT, Form.VALUE}:
        options: tuple[Option, ...] = (
            Option(good, SuggestionKind.EXACT, "the newest version with which everything fits"),
        )
    elif upper is not None and not _kept_inside(pin, upper, window, setting):
        options = options_for(pin, good, upper.version, setting.policy, lowest=window.versions[0], ends=False)
    else:
        return None
    chosen = options[0]
    reasons = _because(upper, pin, current)
    return Suggestion(
        pin,
        now_of(pin, current),
        chosen.value,
        window.text,
        chosen.kind,
        _certainty(upper),
        f"{change_in_words(pin, chosen, upper.version if upper else '')} in {pin.file}:{pin.line}: {reasons[0].text}",
        reasons,
        options,
        tuple(Rejected(option.value, option.trade) for option in options[1:]),
        "",
        None,
        rebuilt(setting.pin_set, pin),
        not_shipping(setting.pin_set, [p for p in setting.pin_set.pins if p.name == pin.name], pin),
        _drawn(window, setting, current, good),
    )


def _because(bound: Bound | None, pin: Pin, current: str) -> tuple[Reason, ...]:
    chain = list(_sentences(bound))
    chain.append(Reason(f"line {pin.line} gives {current} now", f"{pin.file}:{pin.line}"))
    return tuple(chain)


def _sentences(bound: Bound | None) -> Iterator[Reason]:
    for sentence in bound.because if bound else ():
        origins = dict.fromkeys(
            p.origin for p in sentence.premises if p.origin and f"({p.origin})" not in sentence.text
        )
        yield Reason(sentence.text, "; ".join(origins))


def _certainty(bound: Bound | None) -> Certainty:
    kinds = {premise.kind for sentence in (bound.because if bound else ()) for premise in sentence.premises}
    return Certainty.INFERRED if OriginKind.INFERRED in kinds else Certainty.DECLARED


def _drawn(window: PackageWindow, setting: Setting, current: str, suggested: str) -> tuple[VersionState, ...]:
    inside = set(window.versions)
    unknown = {version: entry.reason for entry in window.unknown for version in entry.versions}
    reasons = {bound.version: bound.because[0].text for bound in window.bounds if bound.because}
    versions = list(setting.releases.get(window.name) or window.versions)
    return tuple(
        VersionState(
            version,
            State.ALLOWED if version in inside else State.UNKNOWN if version in unknown else State.EXCLUDED,
            unknown.get(version, "") or reasons.get(version, "" if version in inside else "outside the window"),
            current=version == current,
            suggested=version == suggested,
        )
        for version in versions
    )
