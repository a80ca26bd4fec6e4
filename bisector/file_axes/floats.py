"""What a file leaves open, and what an index offered for it at two dates.

An installer takes the newest release that fits. So a requirement that names no version has a value all the same: what
was the newest when the layer was built. Each such requirement is an axis over the releases of that time, put at the
very line that installs it: one stage of a file may hold a version that another leaves open. What comes in beside it,
without being named, moves with the time as of which the index is read: that is one more axis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bisector.file_axes.slots import OPEN, Slot, settable, value_of
from bisector.file_axes.values import Releases, exact, newest
from bisector.model import AxisValue
from pins.errors import PinsError
from pins.model import Form, Pin, PinKind, PinSet
from pins.release import Release

DAY = timedelta(days=1)
MOST_DAYS = 400
"""Days between two dates from which the index's axis has longer steps."""


@dataclass(frozen=True)
class Float:
    """A requirement that a file leaves open.

    Attributes:
        slot: where it stands.
        pin: as the file has it.
        values: what it came to at the good date, then release by release up to what it came to at the bad one.
    """

    slot: Slot
    pin: Pin
    values: tuple[AxisValue, ...]


def floating(pins: PinSet) -> list[Pin]:
    """The requirements of a file that name no version, in stages that are built."""
    unused = {stage.name for stage in pins.stages if stage.role == "unused"}
    return [
        pin
        for pin in pins.pins
        if pin.kind is PinKind.PACKAGE
        and pin.form in (Form.OPEN, Form.SPECIFIER)
        and not pin.unknown
        and not exact(pin)
        and not (pin.uses and all(use.stage in unused for use in pin.uses))
    ]


def floats_between(
    pins: PinSet,
    taken: Sequence[Slot],
    releases: Releases,
    good: datetime,
    bad: datetime,
    inventories: tuple[Mapping[str, str], Mapping[str, str]] | None = None,
) -> tuple[list[Float], list[str]]:
    """The floating requirements that came to another version at each date, and what the user should know.

    Args:
        pins: of the file.
        taken: slots that are axes already, or held still.
        releases: of packages, as of a date.
        good: the date of the good end.
        bad: that of the bad end.
        inventories: what two built images hold, where they are the ends: that is what the requirements of the stages
            that ship came to.
    """
    found: list[Float] = []
    notes: list[str] = []
    places = {(slot.names[0], slot.stages[0], slot.place) for slot in taken if slot.kind is PinKind.PACKAGE}
    names = {slot.name for slot in taken}
    open_pins = [pin for pin in floating(pins) if settable(pin, pins)]
    for pin in open_pins:
        number = _number(pin, pins)
        if (pin.name, pin.stage, number) in places:
            continue
        try:
            old, new = (newest(pin, releases(pin.name, date)) for date in (good, bad))
            known = releases(pin.name, None if inventories else bad)
            if inventories is not None and pin.ships:
                old, new = (_held(known, inventory.get(pin.name)) for inventory in inventories)
        except PinsError as error:
            notes.append(f"{pin.name} (line {pin.line}): what it came to is not known, for {error}")
            continue
        if old is None or new is None or old.version == new.version:
            if (old is None) != (new is None):
                notes.append(
                    f"{pin.name} (line {pin.line}): nothing fitted it at the {'good' if old is None else 'bad'} date"
                )
            continue
        shared = sum(other.name == pin.name for other in open_pins) > 1 or pin.name in names
        name = f"{pin.name}@{pin.stage or pin.line}" if shared else pin.name
        slot = Slot(name, PinKind.PACKAGE, (pin.name,), (pin.stage,), (pin.variable,), number)
        found.append(Float(slot, pin, _between(pin, known, old, new)))
    return _apart(found), notes


def _held(known: Sequence[Release], version: str | None) -> Release | None:
    """The release that an image holds."""
    return next((release for release in known if version is not None and str(release.version) == version), None)


def _apart(found: Sequence[Float]) -> list[Float]:
    """Floats whose names differ: two on lines of one stage get a number."""
    from dataclasses import replace

    seen: dict[str, int] = {}
    result = []
    for each in found:
        seen[each.slot.name] = number = seen.get(each.slot.name, 0) + 1
        slot = each.slot if number == 1 else replace(each.slot, name=f"{each.slot.name}-{number}")
        result.append(replace(each, slot=slot))
    return result


def _number(pin: Pin, pins: PinSet) -> int:
    alike = [
        other
        for other in pins.pins
        if other.kind is pin.kind and (other.name, other.stage, other.variable) == (pin.name, pin.stage, pin.variable)
        if settable(other, pins)
    ]
    return next((number for number, other in enumerate(alike) if other.places == pin.places), 0)


def _between(pin: Pin, known: Sequence[Release], old: Release, new: Release) -> tuple[AxisValue, ...]:
    """The releases from the one to the other that an installer might have taken on the way."""
    low, high = sorted((old.version, new.version))
    way = [
        release
        for release in known
        if low <= release.version <= high and (release.version in (low, high) or newest(pin, [release]) is not None)
    ]
    values = [AxisValue(str(release.version), release.upload_time) for release in way]
    return tuple(values if old.version < new.version else reversed(values))


def index_values(good: datetime, bad: datetime) -> tuple[AxisValue, ...]:
    """The times from one date to another as of which the index may be read: day by day, or in longer steps."""
    days = max(1, -(-(bad - good) // DAY))
    step = DAY * max(1, -(-days // MOST_DAYS))
    times = [good]
    while times[-1] + step < bad:
        times.append(times[-1] + step)
    times.append(bad)
    return tuple(AxisValue(written(time), time) for time in times)


def written(time: datetime) -> str:
    """A time as an index axis holds it."""
    text = time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return text.removesuffix("T00:00:00Z")


def read_time(text: str) -> datetime:
    """The reverse of `written`."""
    return datetime.fromisoformat(text if "T" in text else f"{text}T00:00:00Z")


def described(pins: Sequence[Pin]) -> str:
    """Floating requirements as a list for a person: "pybind11 (line 48, base)"."""
    return ", ".join(
        f"{pin.name}{'' if value_of(pin) == OPEN else value_of(pin)}"
        f" (line {pin.line}{f', {pin.stage}' if pin.stage else ''})"
        for pin in pins
    )
