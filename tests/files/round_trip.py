"""Setting a pin to another value of its kind and back, as a check that many tests share."""

from collections.abc import Sequence
from dataclasses import dataclass

from pins.errors import UsageError
from pins.files.edit import Edit, apply, edits_for
from pins.files.image_reference import holds_digest
from pins.files.read import read_pins
from pins.model import Form, Pin, PinKind

VALUES: dict[PinKind, Sequence[str]] = {
    PinKind.GIT: ("f0b55c0", "release/2.12", "v1.4+rocm7", "feat!x/y_z", "a" * 40),
    PinKind.PACKAGE: ("7.7.7", "1!2.0", "2.9.0+rocm7.2.lib", "3.0rc1", "0.11.post2"),
    PinKind.IMAGE: ("acme/os:9.1-devel", "h.example:5000/a/b:1.0_x", "acme/os@sha256:" + "ab" * 32),
    PinKind.URL: ("7.7.7", "2026.8.18"),
    PinKind.APT: ("2:7.7+dfsg-1~deb12u1", "7.7.7-1ubuntu1"),
    PinKind.TEXT: ("7.7.7", "f0b55c0"),
}
SPECIFIERS = ("<3.1.0", ">=2.0,<3", "!=1.5,>=1", "~=4.2")
TAG = "9.1-devel"


@dataclass(frozen=True)
class Failed:
    """A round trip that went wrong.

    Attributes:
        what: the step.
        detail: what was found.
    """

    what: str
    detail: str


def values_for(pin: Pin) -> list[str]:
    """Values that a pin may take, of several sorts."""
    if pin.kind is PinKind.IMAGE and not {"/", ":", "@"} & set(pin.value or ""):
        return [TAG]
    if pin.kind is PinKind.IMAGE and holds_digest(pin):
        return [("@" if (pin.value or "").startswith("@") else "") + "sha256:" + "ab" * 32]
    if pin.kind is PinKind.IMAGE and "@" in (pin.value or "") and "/" not in (pin.value or ""):
        return [TAG]
    found = list(VALUES[pin.kind])
    if pin.kind is PinKind.PACKAGE and pin.form in {Form.SPECIFIER, Form.OPEN}:
        found += SPECIFIERS
    return found


def round_trip(path: str, data: bytes, pin: Pin, value: str) -> Failed | None:
    """Set `pin` to `value`, read it, and set it back; None where all went as it must."""
    try:
        edits = edits_for(data, pin, value)
    except UsageError as error:
        return Failed("refused", error.message)
    after = apply(data, edits)
    if not _same_outside(data, after, edits):
        return Failed("other bytes changed", repr(edits))
    found = _at_its_place(path, after, pin, edits)
    # where a variable holds the operator too, it belongs to the value
    holding = next((p for p in found if p.value in {value, f"=={value}"}), None)
    if holding is None:
        return Failed("not read back", f"{value!r} reads as {[p.value for p in found]}")
    try:
        back = apply(after, edits_for(after, holding, None if pin.form is Form.OPEN else pin.value))
    except UsageError as error:
        return Failed("refused to go back", error.message)
    if back == data:
        return None
    again = [p.value for p in _at_its_place(path, back, pin, [])]
    if len(back) != len(data) and pin.value in again:
        return None  # an escape that was not needed, such as foo\=1, is not put back
    return Failed("not as it was", repr(back[pin.places[0].start - 10 : pin.places[0].end + 10]))


def all_go_together(path: str, data: bytes, wanted: Sequence[tuple[Pin, str]]) -> bool:
    """Whether all these pins, set at once, are read back, and set back at once give the file: one reading for many.

    Where it says no, one of them may still do it alone: a value can decide a condition that another pin stands behind.
    """
    try:
        edits = [edit for pin, value in wanted for edit in edits_for(data, pin, value)]
        after = apply(data, edits)
    except (UsageError, ValueError):
        return False
    if not _same_outside(data, after, edits):
        return False
    found = {(p.places[0].start, p.name, p.kind): p for p in read_pins(after, path).pins if p.places}
    back: list[Edit] = []
    for pin, value in wanted:
        own = edits_for(data, pin, value)[0]
        start = own.start + sum(len(e.text) - (e.end - e.start) for e in edits if e.start < own.start)
        holding = next((h for at in range(start, start + 4) if (h := found.get((at, pin.name, pin.kind)))), None)
        if holding is None or holding.value not in {value, f"=={value}"}:
            return False
        try:
            back += edits_for(after, holding, None if pin.form is Form.OPEN else pin.value)
        except UsageError:
            return False
    try:
        return apply(after, back) == data
    except ValueError:
        return False


def _at_its_place(path: str, data: bytes, pin: Pin, edits: Sequence[Edit]) -> list[Pin]:
    first = pin.places[0].start
    own = next((e.start for e in edits if e.start <= first <= e.end), first)
    start = own + sum(len(e.text) - (e.end - e.start) for e in edits if e.start < own)
    here = [p for p in read_pins(data, path).pins if p.places and start <= p.places[0].start <= start + 3]
    return [p for p in here if p.name == pin.name] or here


def _same_outside(before: bytes, after: bytes, edits: Sequence[Edit]) -> bool:
    position = moved = 0
    for edit in sorted(edits, key=lambda e: e.start):
        if after[position + moved : edit.start + moved] != before[position : edit.start]:
            return False
        moved += len(edit.text) - (edit.end - edit.start)
        position = edit.end
    return after[position + moved :] == before[position:]
