"""Reading both ends of a candidate's files, and which axes lie between them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from packaging.utils import canonicalize_name

from bisector.file_axes.errors import NothingDiffersError
from bisector.file_axes.floats import floats_between, index_values
from bisector.file_axes.rendering import rest
from bisector.file_axes.request import INDEX, FilesRequest, Inventory
from bisector.file_axes.slots import Slot, difference, settable, slot_named
from bisector.file_axes.space import TEXT, FilePart, FileSpace
from bisector.file_axes.values import Releases
from bisector.file_axes.versions import History, Reading, Version, of_files, of_revisions
from bisector.model import AxisValue
from pins.errors import UsageError


def read_space(
    request: FilesRequest,
    reading: Reading,
    context: Path | None,
    fixed: Sequence[str],
    releases: Releases | None = None,
) -> FileSpace:
    """Read both ends, and what lies between.

    Args:
        request: which files and revisions.
        reading: how pins are read.
        context: the build context, None for the directory of the file.
        fixed: names of pins that are held still.
        releases: of packages, where dates are given.

    Raises:
        UsageError: a file, revision or pin does not exist, or an end cannot be read.
        NothingDiffersError: the ends do not differ.
        EnvironmentFailureError: git cannot be used.
    """
    found = _parts(request, reading, context, fixed)
    notes: list[str] = []
    index: tuple[AxisValue, ...] = ()
    if request.good_inventory is not None and request.bad_inventory is not None:
        found = [_with_recorded(part, request.good_inventory, request.bad_inventory) for part in found]
    if request.span is not None and releases is not None:
        good, bad = request.span
        inventories = _inventories(request)
        found = [_with_floats(part, releases, good, bad, inventories, notes) for part in found]
        notes += _unnamed(found, inventories)
        index = index_values(good, bad) if good < bad else ()
    parts = _named_apart(found)
    if index and not _wanted({INDEX}, request):
        index = ()
    parts = [_chosen(part, request, parts) for part in parts]
    space = FileSpace(tuple(parts), (*_notes(parts), *notes), index)
    if not space.pins:
        raise NothingDiffersError(_nothing(parts, request))
    return space


def _with_floats(
    part: FilePart,
    releases: Releases,
    good: datetime,
    bad: datetime,
    inventories: tuple[Mapping[str, str], Mapping[str, str]] | None,
    notes: list[str],
) -> FilePart:
    found, said = floats_between(part.history.bad.pins, part.slots, releases, good, bad, inventories)
    notes += said
    return replace(part, floats=tuple(found))


def _inventories(request: FilesRequest) -> tuple[Mapping[str, str], Mapping[str, str]] | None:
    if request.good_inventory is None or request.bad_inventory is None:
        return None
    return dict(request.good_inventory.installed), dict(request.bad_inventory.installed)


def _with_recorded(part: FilePart, good: Inventory, bad: Inventory) -> FilePart:
    """The part with those pins as axes whose values both images have written down, where they differ."""
    before, after = dict(good.recorded), dict(bad.recorded)
    moving = list(part.moving)
    taken = {slot.variables[0] for slot in part.slots}
    for pin in part.history.bad.pins.pins:
        name = pin.variable
        if (
            not name
            or name in taken
            or name not in before
            or name not in after
            or not settable(pin, part.history.bad.pins)
        ):
            continue
        taken.add(name)
        if before[name] != after[name]:
            [slot] = slot_named(name, part.history.bad.pins)[:1]
            moving.append(
                (replace(slot, name=pin.name), replace(pin, value=before[name]), replace(pin, value=after[name]))
            )
    return replace(part, moving=tuple(moving))


def _unnamed(parts: Sequence[FilePart], inventories: tuple[Mapping[str, str], Mapping[str, str]] | None) -> list[str]:
    """What two images hold in other versions without that a requirement names it: it moves with the index."""
    if inventories is None:
        return []
    good, bad = inventories
    named = {name for part in parts for slot in part.slots for name in slot.names}
    named |= {pin.name for part in parts for pin in part.history.bad.pins.pins}
    moved = [f"{name} {good[name]} -> {bad[name]}" for name in good if name in bad and good[name] != bad[name]]
    moved = [text for text in moved if text.split(" ")[0] not in named]
    return (
        [f"moved between the images without being named, and goes with the index: {', '.join(moved)}"] if moved else []
    )


def _parts(request: FilesRequest, reading: Reading, context: Path | None, fixed: Sequence[str]) -> list[FilePart]:
    """Every file of a candidate, those first that the others are built on."""
    found = []
    given: list[str] = []
    for number, link in enumerate(request.chain):
        place, _, argument = link.rpartition("=")
        file, _, target = place.rpartition(":")
        own = replace(reading, target=target, chain=request.chain[:number])
        part = _part(_history(Path(file), request, own, context), fixed, given)
        found.append(replace(part, target=target, argument=argument))
        given.append(argument)
    whole = replace(reading, chain=request.chain)
    if request.good_file is not None and request.bad_file is not None:
        history = of_files(request.good_file, request.bad_file, whole)
    else:
        assert request.file is not None
        history = _history(request.file, request, whole, context)
    found.append(_part(history, fixed, given))
    if unknown := [name for name in fixed if not any(slot.name == name for part in found for slot in part.fixed)]:
        files = " and ".join(str(part.history.bad.path) for part in found)
        raise UsageError(f"--fix {unknown[0]}: {files} has no such pin that could be set; `pins show` lists them")
    return found


def _history(file: Path, request: FilesRequest, reading: Reading, context: Path | None) -> History:
    if request.good and request.bad:
        return of_revisions(file, request.good, request.bad, reading, context)
    return of_files(file, file, reading)


def _part(history: History, fixed: Sequence[str], given: Sequence[str]) -> FilePart:
    """One file; `given` are ARGs that name images built before it, so that their own values are nowhere used."""
    for end, version in (("good", history.good), ("bad", history.bad)):
        if version.unreadable:
            raise UsageError(f"the {end} end: {version.unreadable}")
    found = difference(history.good, history.bad)
    held = [slot for name in fixed for slot in slot_named(name, history.bad.pins)]
    kept = {(slot.kind, slot.names[0], slot.stages[0], slot.place) for slot in held}
    moving = tuple(
        (slot, good, bad)
        for slot, good, bad in found.moving
        if (slot.kind, slot.names[0], slot.stages[0], slot.place) not in kept and bad.variable not in given
    )
    every = [*(slot for slot, _, _ in found.moving), *held]
    return FilePart(history, found, moving, tuple(held), texts=_texts(history, every))


def _texts(history: History, slots: Sequence[Slot]) -> tuple[Version, ...]:
    """Of versions one after the other that say the same, pins apart, the first one."""
    said = None
    texts: list[Version] = []
    known: dict[bytes, tuple[str, ...]] = {}
    for version in history.versions:
        if version.data not in known:
            known[version.data] = rest(version, slots)
        now = (known[version.data], version.context)
        if now != said:
            texts.append(version)
        said = now
    return tuple(texts)


def _named_apart(parts: list[FilePart]) -> list[FilePart]:
    """Parts whose axes have names of their own: those that two files share get the file's name behind them."""
    if len(parts) == 1:
        [part] = parts
        taken = {slot.name for slot in part.slots}
        return [replace(part, text=TEXT if TEXT not in taken else "text-of-file")]
    names = [slot.name for part in parts for slot in part.slots]
    result = []
    for part in parts:
        file = part.history.bad.path.name
        moving = tuple(
            (replace(slot, name=f"{slot.name}@{file}") if names.count(slot.name) > 1 else slot, good, bad)
            for slot, good, bad in part.moving
        )
        floats = tuple(
            replace(each, slot=replace(each.slot, name=f"{each.slot.name}@{file}"))
            if names.count(each.slot.name) > 1
            else each
            for each in part.floats
        )
        result.append(replace(part, moving=moving, floats=floats, text=f"{TEXT}@{file}"))
    return result


def _chosen(part: FilePart, request: FilesRequest, parts: Sequence[FilePart]) -> FilePart:
    """The part with the axes that `--only` and `--exclude` leave."""
    known = {name for each in parts for slot in each.slots for name in _answers_to(slot)}
    known |= {INDEX} if request.dates else set()
    known |= {canonicalize_name(name) for each in parts if each.has_text_axis for name in (each.text, TEXT)}
    for option, names in (("--only", request.only), ("--exclude", request.exclude)):
        if unknown := [name for name in names if canonicalize_name(name) not in known]:
            there = ", ".join((*FileSpace(tuple(parts)).pins, *([INDEX] if request.dates else [])))
            raise UsageError(
                f"{option} {unknown[0]}: no such pin differs between the ends; these do: {there or 'none'}"
            )
    return replace(
        part,
        moving=tuple(entry for entry in part.moving if _wanted(_answers_to(entry[0]), request)),
        floats=tuple(each for each in part.floats if _wanted(_answers_to(each.slot), request)),
        texts=part.texts if _wanted({str(canonicalize_name(part.text)), TEXT}, request) else (),
    )


def _wanted(names: set[str], request: FilesRequest) -> bool:
    """Whether `--only` and `--exclude` leave an axis that answers to these names."""
    only, exclude = ({str(canonicalize_name(name)) for name in given} for given in (request.only, request.exclude))
    return (not only or bool(names & only)) and not names & exclude


def _answers_to(slot: Slot) -> set[str]:
    return {str(canonicalize_name(name)) for name in (slot.name, *slot.names, *filter(None, slot.variables))}


def _notes(parts: Sequence[FilePart]) -> tuple[str, ...]:
    notes = []
    for part in parts:
        notes += [said for said in (part.history.divergent, part.history.around) if said]
        notes += part.difference.notes
        for reason in dict.fromkeys(reason for _, reason in part.difference.with_text):
            pins = [change.pin for change, why in part.difference.with_text if why == reason]
            names = ", ".join(f"{pin.name} ({pin.kind.value})" for pin in pins)
            notes.append(f"no axis of its own, {reason}, {_place(part)}: {names}")
    return tuple(notes)


def _place(part: FilePart) -> str:
    return "moves with the text" if part.has_text_axis else "stays as at the bad end"


def _nothing(parts: Sequence[FilePart], request: FilesRequest) -> str:
    file = parts[-1].history.bad.path
    if request.only or request.exclude:
        return f"{file}: --only and --exclude leave nothing that differs between the ends"
    return (
        f"{file} says the same at both ends, so that there is no pin to search; what is not pinned may have moved:"
        " --good-date and --bad-date make axes of that"
    )
