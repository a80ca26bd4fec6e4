"""The values of an axis between its two ends: releases of a package, or what the file held in its history."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from bisector.file_axes.slots import OPEN, Slot, value_of
from bisector.file_axes.versions import History
from bisector.model import AxisValue
from pins.errors import PinsError
from pins.model import Form, Pin
from pins.release import Release
from pins.sources.releases import releases_between

Releases = Callable[[str, datetime | None], Sequence[Release]]
"""The releases of a package, as the index offered them at a time (None: as of the run)."""


@dataclass(frozen=True)
class Values:
    """The values of one axis.

    Attributes:
        values: good end first.
        note: what the user should know of them, "" for nothing.
    """

    values: tuple[AxisValue, ...]
    note: str = ""


def package_values(slot: Slot, good: Pin, bad: Pin, history: History, releases: Releases) -> Values:
    """The releases between the ends of a requirement; where the index cannot tell, the values of the file's history.

    An end that is no exact version stands for the newest release that fits it.
    """
    try:
        known = releases(slot.names[0], None)
    except PinsError as error:
        found = values_in_history(slot, good, bad, history)
        return Values(found, f"{slot.name}: only the values that the file has held, for {error}")
    first, last = (_version(pin, known) for pin in (good, bad))
    if first is None or last is None or first == last:
        return Values(values_in_history(slot, good, bad, history))
    low, high = sorted((first, last))
    try:
        between = releases_between(known, str(low), str(high), name=slot.names[0])
    except PinsError as error:
        found = values_in_history(slot, good, bad, history)
        return Values(found, f"{slot.name}: only the values that the file has held, for {error}")
    values = [AxisValue(str(release.version), release.upload_time) for release in between]
    if first > last:
        values.reverse()
    said = [
        f"{end} end: {_asked(pin)}, which is {value.text} now"
        for end, pin, value in (("good", good, values[0]), ("bad", bad, values[-1]))
        if not exact(pin)
    ]
    for position, pin in ((0, good), (-1, bad)):
        if exact(pin):
            values[position] = AxisValue(exact(pin), values[position].date)
    return Values(tuple(values), f"{slot.name}: {'; '.join(said)}" if said else "")


def values_in_history(slot: Slot, good: Pin, bad: Pin, history: History) -> tuple[AxisValue, ...]:
    """The values that the file has held, one after the other; a value that comes back cuts out what lay between."""
    found: list[AxisValue] = [AxisValue(value_of(good), history.good.date)]
    for version in history.versions[1:-1]:
        pin = None if version.unreadable else slot.find(version.pins)
        if pin is not None:
            _append(found, AxisValue(value_of(pin), version.date))
    _append(found, AxisValue(value_of(bad), history.bad.date))
    return tuple(found)


def _append(found: list[AxisValue], value: AxisValue) -> None:
    at = next((place for place, earlier in enumerate(found) if earlier.text == value.text), None)
    if at is None:
        found.append(value)
    else:
        del found[at + 1 :]


def exact(pin: Pin) -> str:
    """The version that a requirement names, "" where it names none."""
    text = pin.value or ""
    if pin.form is Form.SPECIFIER:
        try:
            clauses = list(SpecifierSet(text))
        except InvalidSpecifier:
            return ""
        text = clauses[0].version if len(clauses) == 1 and clauses[0].operator in {"==", "==="} else ""
    text = text.removeprefix("==").removeprefix("=").strip()
    try:
        Version(text)
    except InvalidVersion:
        return ""
    return text


def newest(pin: Pin, releases: Sequence[Release]) -> Release | None:
    """The release that an installer takes for a requirement: the newest that fits; pre-releases only where named."""
    try:
        allowed = SpecifierSet(pin.value or "" if pin.form is not Form.OPEN else "")
    except InvalidSpecifier:
        return None
    fitting = [
        release
        for release in releases
        if release.is_usable
        and not release.yanked
        and allowed.contains(release.version, prereleases=bool(allowed.prereleases))
    ]
    return fitting[-1] if fitting else None


def _version(pin: Pin, releases: Sequence[Release]) -> Version | None:
    if text := exact(pin):
        return Version(text)
    found = newest(pin, releases)
    return found.version if found else None


def _asked(pin: Pin) -> str:
    return f"{value_of(pin)!r}" if value_of(pin) != OPEN else "no bound"
