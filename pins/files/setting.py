"""`pins set`: find the pins that are meant, edit their bytes, and make sure that reading gives what was asked for."""

import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pins.errors import EnvironmentFailureError, UsageError
from pins.files.dated_comment import date_edit
from pins.files.edit import Edit, apply, edits_for, unified_diff
from pins.files.reading import ReadRequest, read_all
from pins.files.select import place, read_assignment, select
from pins.model import Form, Pin, PinSet


@dataclass(frozen=True)
class SetRequest:
    """What is to be set.

    Attributes:
        file: the file.
        assignments: `NAME=VALUE` each.
        all_places: change every pin of that name.
        line: change the pin on this line.
        stage: change the pin of this stage.
        day: put this date for the one in the comment beside each pin.
    """

    file: Path
    assignments: tuple[str, ...]
    all_places: bool = False
    line: int | None = None
    stage: str | None = None
    day: date | None = None


@dataclass(frozen=True)
class SetResult:
    """What setting comes to.

    Attributes:
        file: the file.
        before: its bytes.
        after: what they would become.
        patch: the change, "" when there is none.
        remarks: what the person should know.
    """

    file: Path
    before: bytes
    after: bytes
    patch: str
    remarks: tuple[str, ...] = ()

    def write(self) -> None:
        """Put `after` in the file's place, as a whole; permissions stay.

        Raises:
            UsageError: the file was changed meanwhile, or cannot be written.
        """
        target = self.file.resolve()
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            if target.read_bytes() != self.before:
                raise UsageError(f"{self.file} was changed while it was being edited; nothing is written")
            beside.write_bytes(self.after)
            beside.chmod(target.stat().st_mode & 0o7777)
            beside.replace(target)
        except OSError as error:
            raise EnvironmentFailureError(f"{self.file} cannot be written: {error.strerror}") from error
        finally:
            beside.unlink(missing_ok=True)


def set_pins(request: SetRequest) -> SetResult:
    """Work out the edit; nothing is written.

    Raises:
        UsageError: a pin does not exist, is written in several places and none was chosen, or cannot hold the value.
    """
    if not request.file.is_file():
        raise UsageError(f"{request.file} is not a file")
    before = request.file.read_bytes()
    data = before
    remarks: list[str] = []
    for assignment in request.assignments:
        name, value = read_assignment(assignment)
        pins = _read(request.file) if data is before else _read_data(request.file, data)
        chosen = _chosen(pins, name, request)
        edits: dict[tuple[int, int], Edit] = {}
        for pin in chosen:
            for edit in edits_for(data, pin, _adapted(pin, value)):
                edits[edit.start, edit.end] = edit
            if request.day is not None:
                dated = date_edit(data, pin, request.day)
                if dated is None:
                    remarks.append(f"{pin.file}:{pin.line}: no date in a comment beside {pin.name}")
                else:
                    edits[dated.start, dated.end] = dated
        changed = apply(data, list(edits.values()))
        _verify(request.file, changed, chosen, value, list(edits.values()))
        remarks.extend(_also_changed(pins, chosen))
        remarks.extend(f"{pin.name}: {pin.note}" for pin in chosen if pin.note)
        data = changed
    return SetResult(
        request.file,
        before,
        data,
        unified_diff(before, data, str(request.file).lstrip("/")),
        tuple(dict.fromkeys(remarks)),
    )


def _read(file: Path) -> PinSet:
    return read_all(ReadRequest((file,)))[0]


def _read_data(file: Path, data: bytes) -> PinSet:
    from pins.files.locate import locate
    from pins.files.read import read_pins

    tree, _ = locate(file)
    return read_pins(data, str(file), None, tree.patterns())


def _chosen(pins: PinSet, name: str, request: SetRequest) -> list[Pin]:
    found = select(pins, name, line=request.line, stage=request.stage)
    here = [pin for pin in found if pin.file == pins.file]
    if not here:
        files = ", ".join(sorted({pin.file for pin in found}))
        raise UsageError(f"{name} is written in {files}: set it there")
    if len(here) > 1 and not request.all_places:
        listed = "\n".join(f"  {place(pin)}" for pin in here)
        raise UsageError(f"{name} is written in several places; give --all, or --line N for one of them:\n{listed}")
    settable = [pin for pin in here if pin.places]
    return settable or here


def _adapted(pin: Pin, value: str | None) -> str | None:
    """``NAME==1.2`` reads as a specifier; where the place holds a version alone, the version is meant."""
    if value is None:
        return value
    version = value.lstrip("=").strip() if value.startswith("=") else value
    if pin.form in {Form.VALUE, Form.EXACT} or pin.kind.value != "package":
        return version if value.startswith("=") else value
    return value if not value.startswith("=") or value.startswith("==") else f"={value}"


def _verify(file: Path, changed: bytes, chosen: list[Pin], value: str | None, edits: list[Edit]) -> None:
    """Read the edited file, and refuse the edit where the pin does not hold the value."""
    after = _read_data(file, changed)
    for pin in chosen:
        moved = sum(len(e.text) - (e.end - e.start) for e in edits if e.start < pin.places[0].start)
        wanted = _adapted(pin, value)
        start = pin.places[0].start + moved
        candidates = [p for p in after.pins if p.places and p.kind is pin.kind and abs(p.places[0].start - start) <= 4]
        if not any(_holds(p, wanted) for p in candidates):
            raise UsageError(
                f"{pin.name} ({pin.file}:{pin.line}): {value!r} would not be read back from there; edit it by hand"
            )


def _holds(pin: Pin, wanted: str | None) -> bool:
    if wanted is None:
        return pin.value is None
    if pin.value is None:
        return False
    return pin.value == wanted or pin.value == wanted.lstrip("= ")


def _also_changed(pins: PinSet, chosen: list[Pin]) -> list[str]:
    """Other pins that stand in the very bytes that are changed."""
    spans = {(q.start, q.end) for pin in chosen for q in pin.places}
    names = {pin.name for pin in chosen}
    shared = [p for p in pins.pins if p.name not in names and any((q.start, q.end) in spans for q in p.places)]
    return [f"{pin.name} takes the same value ({place(pin)})" for pin in shared]
