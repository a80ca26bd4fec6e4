"""From what is known of releases to a cap, where compiled modules must agree and the file leaves them open."""

from pins.hazards.check import check
from pins.hazards.model import Hazard
from pins.hazards.subject import Subject
from pins.hazards.table import chosen
from pins.model import Pin
from pins.suggest.choose import drawn_versions, options_for
from pins.suggest.cost import not_shipping, rebuilt
from pins.suggest.from_bisection import REVIEW_AFTER, Setting, change_in_words, current_of, now_of
from pins.suggest.known import KnownBreak, shared_breaks
from pins.suggest.model import Certainty, Reason, Rejected, Suggestion


def suggestions_of_skew(subject: Subject, setting: Setting, already: set[str]) -> list[Suggestion]:
    """A cap for each distribution that compiled modules share and the file leaves open.

    Args:
        subject: the file as the hazard check sees it.
        setting: what the suggestion is made in.
        already: names for which something better is known.
    """
    found: list[Suggestion] = []
    for hazard in check([subject], chosen(["compiled-skew"], ())):
        pin = next((p for p in setting.pin_set.pins if p.name == hazard.pin and p.places and _at(p, hazard)), None)
        if pin is None or pin.name in already:
            continue
        found.extend(_suggestion(pin, known, hazard, setting) for known in shared_breaks(pin.name)[-1:])
    return found


def _at(pin: Pin, hazard: Hazard) -> bool:
    return hazard.line in {pin.line, *(place.line for place in pin.places)}


def _suggestion(pin: Pin, known: KnownBreak, hazard: Hazard, setting: Setting) -> Suggestion:
    releases = list(setting.releases.get(pin.name, ()))
    current = current_of(pin, releases)
    options = options_for(pin, _below(releases, known.first), known.first, setting.policy, ends=True)
    chosen_option = options[0]
    gives = f", and gets {current} now" if current else ", and gets the newest release on the day of the build"
    return Suggestion(
        pin,
        now_of(pin, current),
        chosen_option.value,
        f"below {known.first}",
        chosen_option.kind,
        Certainty.INFERRED,
        f"{change_in_words(pin, chosen_option, known.first)} in {pin.file}:{pin.line}: {known.reason.split(':')[0]},"
        " and wheels of this file are built apart from what ships",
        (
            Reason(known.reason, known.origin, known.link),
            Reason(hazard.summary),
            Reason(f"line {pin.line} asks for {pin.name} without an upper bound{gives}", f"{pin.file}:{pin.line}"),
        ),
        options,
        (
            *(Rejected(option.value, option.trade) for option in options[1:]),
            Rejected("leaving it open", "an image built today mixes both internals; nothing fails until types meet"),
        ),
        known.until,
        setting.today + REVIEW_AFTER,
        rebuilt(setting.pin_set, pin),
        not_shipping(setting.pin_set, [p for p in setting.pin_set.pins if p.name == pin.name], pin),
        drawn_versions(releases, known.first, current, _below(releases, known.first), known.reason),
        in_short=known.in_short,
        until_in_short=known.until_in_short,
    )


def _below(releases: list[str], first: str) -> str:
    return releases[releases.index(first) - 1] if first in releases and releases.index(first) else ""
