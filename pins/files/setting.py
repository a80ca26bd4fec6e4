"""`pins set`: find the pins that are meant, edit their bytes, and make sure that reading gives what was asked for."""

import contextlib
import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from packaging.utils import canonicalize_name

from pins.choices import not_there
from pins.errors import EnvironmentFailureError, UsageError
from pins.files.dated_comment import date_edit
from pins.files.edit import Edit, apply, edits_for
from pins.files.image_reference import with_value
from pins.files.left_behind import left_behind
from pins.files.locate import locate
from pins.files.patch import unified_diff
from pins.files.read import kind_of, read_pins
from pins.files.reading import ReadRequest, read_all
from pins.files.select import place, read_assignment, select
from pins.model import Form, Pin, PinKind, PinSet


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
        patch: the change, empty when there is none.
        changes: the pins that are set, as they were, each with its new value; None opens a requirement.
        remarks: what the person should know.
    """

    file: Path
    before: bytes
    after: bytes
    patch: bytes
    changes: tuple[tuple[Pin, str | None], ...] = ()
    remarks: tuple[str, ...] = ()

    def ensure_writable(self) -> None:
        """Refuse, before anything is changed, what `write` would refuse.

        Raises:
            UsageError: the file was changed meanwhile, or may not be written.
            EnvironmentFailureError: it cannot be read.
        """
        try:
            self._writable(self.file.resolve())
        except PermissionError as error:
            raise UsageError(f"{self.file} may not be written: {error.strerror}; nothing is changed") from error
        except FileNotFoundError as error:
            raise UsageError(f"{self.file} was changed while it was being edited; nothing is written") from error
        except OSError as error:
            raise EnvironmentFailureError(f"{self.file} cannot be written: {error.strerror}") from error

    def _writable(self, target: Path) -> os.stat_result:
        known = target.stat()
        if not known.st_mode & 0o222:  # it could be replaced, and the superuser may write it, but somebody said no
            raise UsageError(f"{self.file} may not be written: it is read-only; nothing is changed")
        with target.open("r+b") as stream:
            if stream.read() != self.before:
                raise UsageError(f"{self.file} was changed while it was being edited; nothing is written")
        return known

    def write(self) -> None:
        """Put `after` in the file's place, as a whole; owner and permissions stay, and so does a link to it.

        Raises:
            UsageError: the file was changed meanwhile, or may not be written.
            EnvironmentFailureError: it cannot be written.
        """
        target = self.file.resolve()
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            known = self._writable(target)
            beside.write_bytes(self.after)
            if (known.st_uid, known.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.chown(beside, known.st_uid, known.st_gid)
            beside.chmod(known.st_mode & 0o7777)
            beside.replace(target)
        except PermissionError as error:
            raise UsageError(f"{self.file} may not be written: {error.strerror}; nothing is changed") from error
        except OSError as error:
            raise EnvironmentFailureError(f"{self.file} cannot be written: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)


def set_pins(request: SetRequest) -> SetResult:
    """Work out the edit; nothing is written.

    Raises:
        UsageError: a pin does not exist, is written in several places and none was chosen, or cannot hold the value.
    """
    if not request.file.is_file():
        raise UsageError(not_there(request.file) if not request.file.exists() else f"{request.file} is not a file")
    if kind_of(request.file.name) == "lock":
        raise UsageError(
            f"{request.file} is written by the tool that resolved it; change what it was made from, and lock again"
        )
    before = request.file.read_bytes()
    data = before
    remarks: list[str] = []
    set_to: list[tuple[Pin, str | None]] = []
    for name, value in _assignments(request.assignments):
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
        remarks.extend(left_behind(changed, chosen))
        remarks.extend(f"{pin.name}: {pin.note}" for pin in chosen if pin.note)
        set_to.extend((pin, _adapted(pin, value)) for pin in chosen)
        data = changed
    patch = unified_diff(before, data, _patch_path(request.file))
    return SetResult(request.file, before, data, patch, tuple(set_to), tuple(dict.fromkeys(remarks)))


def _assignments(texts: tuple[str, ...]) -> list[tuple[str, str | None]]:
    read = [read_assignment(text) for text in texts]
    names = [canonicalize_name(name) for name, _ in read]
    for name, _ in read:
        if names.count(canonicalize_name(name)) > 1:
            raise UsageError(f"{name} is given more than one value; give it once")
    return read


def _patch_path(file: Path) -> str:
    """The path that a patch names: from here, or from the top of the repository where the file is elsewhere."""
    relative = os.path.relpath(file)
    if not relative.startswith(".."):
        return relative
    tree, inside = locate(file)
    return inside if tree.repository else file.name


def _read(file: Path) -> PinSet:
    return read_all(ReadRequest((file,)))[0]


def _read_data(file: Path, data: bytes) -> PinSet:
    tree, relative = locate(file)
    return read_pins(data, str(file), None, tree.patterns(), within=relative)


def _chosen(pins: PinSet, name: str, request: SetRequest) -> list[Pin]:
    try:
        found = select(pins, name, line=request.line, stage=request.stage)
    except UsageError as error:
        stopped = "".join(f"\n{p.file}:{p.line}: reading stopped: {p.message}" for p in pins.problems if p.fatal)
        raise UsageError(f"{error}{stopped}") from None
    here = [pin for pin in found if pin.file == pins.file]
    if not here:
        files = ", ".join(sorted({pin.file for pin in found}))
        raise UsageError(f"{name} is written in {files}: set it there")
    if len(here) > 1 and not request.all_places:
        listed = "\n".join(f"  {place(pin)}" for pin in here)
        alone = "give --all, or --line N for one of them"
        if len({(pin.line, pin.stage) for pin in here}) == 1:
            alone = "all on one line: give --all, or edit one of them by hand"
        raise UsageError(f"{name} is written in several places; {alone}:\n{listed}")
    settable = [pin for pin in here if pin.places]
    return settable or here


def _adapted(pin: Pin, value: str | None) -> str | None:
    """The value as the place takes it.

    ``NAME==1.2`` reads as a specifier; where the place holds a version alone, the version is meant. Of an image, a
    tag or a digest keeps the rest of the reference.
    """
    if value is None:
        return value
    if pin.kind is PinKind.IMAGE:
        return with_value(pin, value.lstrip("="))
    version = value.lstrip("=").strip() if value.startswith("=") else value
    if pin.form in {Form.VALUE, Form.EXACT} or pin.kind.value != "package":
        return version if value.startswith("=") else value
    return value if not value.startswith("=") or value.startswith("==") else f"={value}"


def _verify(file: Path, changed: bytes, chosen: list[Pin], value: str | None, edits: list[Edit]) -> None:
    """Read the edited file, and refuse the edit where the pin does not hold the value."""
    after = _read_data(file, changed)
    for pin in chosen:
        first = pin.places[0].start
        own = next((e.start for e in edits if e.start <= first <= e.end), first)  # an operator is replaced with it
        start = own + sum(len(e.text) - (e.end - e.start) for e in edits if e.start < own)
        wanted = _adapted(pin, value)
        # its kind may have changed: a word in an address is no version, a number is
        candidates = [p for p in after.pins if p.places and abs(p.places[0].start - start) <= 4]
        if pin.kind is PinKind.IMAGE and wanted and ":" in wanted:  # of a whole reference, the tag alone may be the pin
            tag = start + len(wanted.rpartition(":")[0].encode()) + 1
            if any(p.places and p.places[0].start == tag and p.value == wanted.rpartition(":")[2] for p in after.pins):
                continue
        if not any(_holds(p, wanted) for p in candidates):
            raise UsageError(
                f"{pin.name} ({pin.file}:{pin.line}): {value!r} would not be read back from there; edit it by hand"
            )


def _holds(pin: Pin, wanted: str | None) -> bool:
    if wanted is None:
        return pin.value is None
    if pin.value is None:
        return False
    # where a variable holds the operator too, it belongs to the value
    return pin.value == wanted or pin.value.lstrip("= ") == wanted.lstrip("= ")


def _also_changed(pins: PinSet, chosen: list[Pin]) -> list[str]:
    """Other pins that stand in the very bytes that are changed."""
    spans = {(q.start, q.end) for pin in chosen for q in pin.places}
    names = {pin.name for pin in chosen}
    shared = [p for p in pins.pins if p.name not in names and any((q.start, q.end) in spans for q in p.places)]
    return [f"{pin.name} takes the same value ({place(pin)})" for pin in shared]
