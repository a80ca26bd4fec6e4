"""Which pin of a file an axis moves, in whatever revision of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bisector.file_axes.versions import Version
from pins.files.compare import Change, changes
from pins.model import Pin, PinKind, PinSet, Place

OPEN = "*"
"""The value of a requirement without a bound."""


@dataclass(frozen=True)
class Slot:
    """One pin of a file.

    Attributes:
        name: of its axis: the pin's name, with its stage or a number where several pins share it.
        kind: what sort of pin.
        names: what it is called, in the bad end and, where it was renamed, in the good one.
        stages: where it is written, likewise.
        variables: the ARG, ENV or shell variable that holds it, likewise.
        place: its number among the pins of this name and kind at the bad end.
    """

    name: str
    kind: PinKind
    names: tuple[str, ...]
    stages: tuple[str, ...]
    variables: tuple[str, ...]
    place: int = 0

    def find(self, pins: PinSet) -> Pin | None:
        """This pin as a revision of the file holds it, None where it holds none, or none that could be set."""
        for name in self.names:
            found = [pin for pin in pins.pins if pin.kind is self.kind and pin.name == name and settable(pin, pins)]
            if len(found) > 1:
                found = (
                    [pin for pin in found if (pin.stage, pin.variable) in zip(self.stages, self.variables, strict=True)]
                    or [pin for pin in found if pin.stage in self.stages]
                    or [pin for pin in found if pin.variable and pin.variable in self.variables]
                    or found
                )
            if found:
                return found[min(self.place, len(found) - 1)]
        return None


@dataclass(frozen=True)
class Difference:
    """What differs between the two ends.

    Attributes:
        moving: pins that both ends hold, with another value: (slot, good pin, bad pin).
        with_text: pins that differ and cannot be an axis of their own, with the reason: they move with the text.
        notes: what else the user should know.
    """

    moving: tuple[tuple[Slot, Pin, Pin], ...]
    with_text: tuple[tuple[Change, str], ...] = ()
    notes: tuple[str, ...] = ()


def settable(pin: Pin, pins: PinSet) -> bool:
    """Whether the pin stands in the file itself, with a value that can be replaced."""
    return bool(pin.places) and not pin.unknown and pin.file == pins.file


def value_of(pin: Pin) -> str:
    """The value as an axis holds it."""
    return OPEN if pin.value is None else pin.value


def difference(good: Version, bad: Version) -> Difference:
    """The pins that differ between two versions of a file."""
    old, new = _at(good.pins, "FILE"), _at(bad.pins, "FILE")
    found = changes(old, new)
    pairs = [(change.old, change.new) for change in found if change.old and change.new]
    gone = [change.old for change in found if change.old and not change.new]
    come = [change.new for change in found if change.new and not change.old]
    notes: list[str] = []
    for was in list(gone):
        now = _renamed(was, come)
        if now is not None:
            gone.remove(was)
            come.remove(now)
            notes.append(
                f"{_called(was)} at the good end is taken to be {_called(now)} at the bad end:"
                f" both hold a version of {now.repo or subject_of(now)}"
            )
            if value_of(was) != value_of(now):
                pairs.append((was, now))
    moving: list[tuple[Slot, Pin, Pin]] = []
    left: list[tuple[Change, str]] = []
    taken: dict[str, int] = {}
    pairs = _once_each(pairs, notes)
    names = [now.name for _, now in pairs]
    for was, now in pairs:
        if reason := _cannot(was, old, "good") or _cannot(now, new, "bad"):
            left.append((Change(was, now), reason))
            continue
        name = now.name if names.count(now.name) == 1 else f"{now.name}@{now.stage or now.variable or now.line}"
        taken[name] = taken.get(name, 0) + 1
        moving.append((_slot(name if taken[name] == 1 else f"{name}-{taken[name]}", was, now, new), was, now))
        if was.repo != now.repo and now.kind is PinKind.GIT:
            notes.append(
                f"{now.name}: its repository is {was.repo or '?'} at the good end, {now.repo or '?'} at the bad"
            )
    left += [(Change(was, None), "at the good end alone") for was in gone]
    left += [(Change(None, now), "at the bad end alone") for now in come]
    return Difference(tuple(moving), tuple(left), tuple(notes))


def _once_each(pairs: Sequence[tuple[Pin, Pin]], notes: list[str]) -> list[tuple[Pin, Pin]]:
    """The pins without those that are the very text of another one, at both ends: an ARG that is used as two things."""
    found: dict[tuple[Place, ...], Pin] = {}
    kept = []
    for was, now in pairs:
        places = (*was.places, *now.places)
        if places and places in found:
            if found[places].name != now.name:
                notes.append(f"{_called(now)} is what {found[places].name} is as well: one axis, {found[places].name}")
            continue
        found[places] = now
        kept.append((was, now))
    return kept


def slot_named(name: str, pins: PinSet) -> list[Slot]:
    """The pins of a file that a person may mean by a name, as slots."""
    from pins.errors import UsageError
    from pins.files.select import select

    try:
        found = select(pins, name)
    except UsageError:
        return []
    return [_slot(name, pin, pin, pins) for pin in found if settable(pin, pins)]


def slot_of(pin: Pin, pins: PinSet) -> Slot:
    """The slot of one pin of a file, under its own name."""
    return _slot(pin.name, pin, pin, pins)


def _slot(name: str, was: Pin, now: Pin, pins: PinSet) -> Slot:
    alike = [pin for pin in pins.pins if pin.kind is now.kind and pin.name == now.name and settable(pin, pins)]
    alike = [pin for pin in alike if (pin.stage, pin.variable) == (now.stage, now.variable)]
    place = next((number for number, pin in enumerate(alike) if pin.places == now.places), 0)
    return Slot(
        name,
        now.kind,
        tuple(dict.fromkeys((now.name, was.name))),
        (now.stage, was.stage),
        (now.variable, was.variable),
        place,
    )


def _at(pins: PinSet, path: str) -> PinSet:
    """The pins as of one path: two files are compared as two versions of one."""
    from dataclasses import replace

    return replace(pins, file=path, pins=tuple(replace(p, file=path) if p.file == pins.file else p for p in pins.pins))


def _cannot(pin: Pin, pins: PinSet, end: str) -> str:
    if pin.file != pins.file:
        return f"written in {pin.file}, which is taken from the build context"
    if pin.unknown:
        return f"its value at the {end} end not known ({pin.unknown})"
    if not pin.places:
        return f"its value at the {end} end put together from several places"
    return ""


def _renamed(was: Pin, come: Sequence[Pin]) -> Pin | None:
    """The one new pin that pins the same thing under another name."""
    subject = subject_of(was)
    if not subject or was.kind not in {PinKind.GIT, PinKind.IMAGE, PinKind.URL} or not was.places:
        return None
    alike = [now for now in come if now.kind is was.kind and subject_of(now) == subject and now.places]
    same_place = [now for now in alike if bool(now.variable) == bool(was.variable)]
    return same_place[0] if len(same_place) == 1 else None


def subject_of(pin: Pin) -> str:
    """What a pin chooses a version of: a repository's path without its host, an image without its tag."""
    if pin.kind is PinKind.IMAGE:
        return re.sub(r"(?:@.*|:[^:/]*)\Z", "", pin.effective or pin.value or "")
    return re.sub(r"\.git/?\Z|/\Z", "", pin.repo).lower()


def _called(pin: Pin) -> str:
    return f"{pin.variable or pin.name} (line {pin.line})"
