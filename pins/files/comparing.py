"""What moved: between two files, two revisions, or with and without build arguments."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pins.errors import UsageError
from pins.files.compare import Change, Distance, Measure, changes
from pins.files.locate import commits_between, has_commit, locate
from pins.files.reading import ReadRequest, read_all
from pins.model import Pin, PinSet

Groups = list[tuple[str, str, Sequence[Change]]]


def compare_files(old: Path, new: Path, request: ReadRequest) -> tuple[Groups, list[PinSet]]:
    """What moved between two files.

    Raises:
        UsageError: one does not exist.
    """
    before, after = (_single(path, request) for path in (old, new))
    return [(str(old), str(new), changes(before, after, _measure(request)))], [before, after]


def _single(path: Path, request: ReadRequest) -> PinSet:
    if path.is_dir():
        raise UsageError(f"{path} is a directory; two files are compared, or one directory with --rev OLD..NEW")
    return read_all(replace(request, paths=(path,)))[0]


def compare_revisions(path: Path, old: str, new: str, request: ReadRequest) -> tuple[Groups, list[PinSet]]:
    """What moved in a file or directory between two revisions (`new` "": the files on disk).

    Raises:
        UsageError: it exists at neither, or a revision does not exist.
    """
    before = {s.file: s for s in _at(path, old, request)}
    after = {s.file: s for s in _at(path, new, request)}
    if not before and not after:
        raise UsageError(f"{path} exists neither at {old} nor at {new or 'present'}")
    measure = _measure(request)
    groups: Groups = []
    for file in dict.fromkeys((*before, *after)):
        found = changes(before.get(file, PinSet(file, ())), after.get(file, PinSet(file, ())), measure)
        if found or len(before) + len(after) <= 2:
            groups.append((f"{file} ({old})", f"{file} ({new or 'on disk'})", found))
    return groups, [*before.values(), *after.values()]


def _at(path: Path, revision: str, request: ReadRequest) -> list[PinSet]:
    try:
        return read_all(replace(request, paths=(path,), revision=revision))
    except UsageError:
        locate(path if revision or path.exists() else path.parent, revision)  # a wrong revision is still refused
        return []


def _measure(request: ReadRequest) -> Measure:
    def measure(old: Pin, new: Pin) -> tuple[Distance | None, str]:
        names = {name.lower() for pin in (old, new) for name in (pin.name, *pin.aliases)}
        clone = next((request.clones[name] for name in sorted(names) if name in request.clones), None)
        if clone is None:
            return None, ""
        ends = [pin.effective or pin.value or "" for pin in (old, new)]
        found = commits_between(clone, ends[0], ends[1]) if all(ends) else None
        if found:
            return Distance(*found), ""
        lacking = [end or "the repository's default branch" for end in ends if not end or not has_commit(clone, end)]
        return None, f"{clone} has not {' nor '.join(lacking)}" if lacking else f"{clone} does not tell"

    return measure


def changed_by_arguments(request: ReadRequest, given: Sequence[PinSet]) -> list[tuple[Pin, Pin]]:
    """The pins that build arguments change, each as it is without them and as it is with them.

    Args:
        request: with the build arguments.
        given: what it reads.
    """
    if not request.build_args:
        return []
    without = {s.file: s for s in read_all(replace(request, build_args={}))}
    found: list[tuple[Pin, Pin]] = []
    for pin_set in given:
        before = {_identity(pin): pin for pin in without.get(pin_set.file, PinSet(pin_set.file, ())).pins}
        for pin in pin_set.pins:
            plain = before.get(_identity(pin))
            if plain is not None and _outcome(plain) != _outcome(pin):
                found.append((plain, pin))
    return found


def _identity(pin: Pin) -> tuple[object, ...]:
    """What stays of a pin whatever its ARG holds: the commands that take it, or where it is written."""
    uses = tuple((use.stage, use.line) for use in pin.uses)
    return pin.kind, uses or (pin.stage, pin.line), pin.variable, pin.name if not pin.variable else ""


def _outcome(pin: Pin) -> tuple[object, ...]:
    return pin.value, pin.unknown, pin.effective, tuple((use.effective, use.runs) for use in pin.uses)
