"""The newest pin set inside the windows: what a file would hold if everything that may move had moved.

Exact pins of packages are opened, so that their windows are those of the rest, and one solution is taken that prefers
the newest of each; windows are projections, and the newest of each might not fit together. Git pins move where somebody
says to what. What is not pinned moves by itself with the index, but for what `pins.toml` holds back: an installer knows
nothing of it, so that it is written as a bound into the file that stands for today as well.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pins.errors import UsageError
from pins.files.edit import apply, edits_for
from pins.files.locate import Tree, locate
from pins.files.read import read_pins
from pins.model import Form, Pin, PinKind, PinSet
from pins.resolve.problem import Constraint, Gathered, OriginKind, Problem
from pins.resolve.windows import Windows, windows_of

_Key = tuple[str, str]
_HELD = (OriginKind.KNOWN_BAD, OriginKind.HOLD)


@dataclass(frozen=True)
class Moved:
    """A pin that moves: what it holds today, and the newest that fits."""

    pin: Pin
    today: str
    newest: str


@dataclass(frozen=True)
class NewestFile:
    """A file as it is, and as it would be.

    Attributes:
        tree: where it lies. relative: its path from the top of it.
        today: its bytes, with the bounds that `pins.toml` adds.
        newest: the same with everything moved.
        moved: what differs between the two.
        bounded: requirements with what `pins.toml` adds to each.
        notes: what could not be moved, and why, as sentences.
    """

    tree: Tree
    relative: str
    today: bytes
    newest: bytes
    moved: tuple[Moved, ...] = ()
    bounded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def newest_file(
    file: Path,
    gathered: Gathered,
    *,
    tips: Mapping[str, str],
    only: Collection[str] = (),
    keep: Collection[str] = (),
) -> NewestFile:
    """The newest pin set of a file.

    Args:
        file: the file.
        gathered: what its environments must fit, with what each release requires.
        tips: what git pins move to: a commit by the name of the pin.
        only: names of the exact pins that move, all of them where none is named.
        keep: names of those that stay.

    Raises:
        UsageError: the file or a pin that is named does not exist, or a pin cannot be set.
        SourceError: an index could not be read.
    """
    tree, relative = locate(file)
    data = file.read_bytes()
    pins = _read(data, file, tree)
    notes: list[str] = []
    every = {str(canonicalize_name(name)) for pin in pins.pins for name in (pin.name, *pin.aliases)}
    named, kept = ({str(canonicalize_name(name)) for name in given} for given in (only, keep))
    if unknown := (named | kept) - every:
        raise UsageError(f"{file} has no pin {min(unknown)}; `pins show` lists them")
    exact = [pin for pin in pins.pins if _is_exact(pin) and pin.places and _moves(pin, named, kept)]
    newest = _newest_versions(gathered, {_key_of(pin) for pin in exact}, notes)
    moves = [
        (pin, newest[_key_of(pin)])
        for pin in exact
        if _key_of(pin) in newest and Version(newest[_key_of(pin)]) > Version(_version_of(pin))
    ]
    moves += [_tip(pins, name, commit) for name, commit in tips.items()]
    notes += _elsewhere(gathered, pins, exact, named, kept)
    today, bounded = _with_held_back(data, pins, tree, gathered, notes)
    after, moved = today, []
    for pin, value in moves:
        if value == (pin.effective or pin.value):
            continue
        try:
            now = _same(_read(after, file, tree), pin)
            after = apply(after, edits_for(after, now, value))
        except UsageError as error:
            notes.append(f"{pin.name} stays: {error.message}")
            continue
        moved.append(Moved(pin, _version_of(pin), value))
    return NewestFile(tree, relative, today, after, tuple(moved), tuple(bounded), tuple(notes))


def _moves(pin: Pin, only: Collection[str], keep: Collection[str]) -> bool:
    names = {str(canonicalize_name(name)) for name in (pin.name, *pin.aliases)}
    return (not only or bool(names.intersection(only))) and not names.intersection(keep)


def _is_exact(pin: Pin) -> bool:
    if pin.kind is not PinKind.PACKAGE or pin.form not in {Form.EXACT, Form.VALUE, Form.SPECIFIER}:
        return False
    try:
        Version(_version_of(pin))
    except InvalidVersion:
        return False
    return True


def _version_of(pin: Pin) -> str:
    return (pin.effective or pin.value or "").lstrip("= ")


def _newest_versions(gathered: Gathered, exact: set[_Key], notes: list[str]) -> dict[_Key, str]:
    """The newest version of each exact pin that fits together with everything else; what is settled first stays so."""
    settled: dict[_Key, str] = {}
    for problem in gathered.problems:
        here = {key for key in (_key(constraint) for constraint in problem.requirements) if key in exact}
        if not here:
            continue
        found = _solved(problem, gathered, here - set(settled), settled)
        if found is None or found.example is None:
            names = ", ".join(sorted(name for name, _ in here - set(settled)))
            where = f" ({problem.name})" if problem.name else ""
            if names:
                notes.append(f"{names}{where} stay: nothing newer is known to fit together")
            continue
        settled |= {key: found.example.chosen[key[0]] for key in here if key[0] in found.example.chosen}
    return settled


def _elsewhere(
    gathered: Gathered, pins: PinSet, exact: Collection[Pin], only: Collection[str], keep: Collection[str]
) -> list[str]:
    """What is pinned by files that this one installs from: they are changed by nobody here, so their pins stay."""
    here = {_key_of(pin) for pin in (*exact, *(pin for pin in pins.pins if _is_exact(pin)))}
    found: dict[tuple[str, str], list[str]] = {}
    for problem in gathered.problems:
        for constraint in problem.requirements:
            key, origin = _key(constraint), constraint.origin
            if key[1] and key not in here and origin.kind is OriginKind.DECLARED and origin.file not in {"", pins.file}:
                names = found.setdefault((origin.file, problem.name), [])
                if key[0] not in keep and (not only or key[0] in only) and key[0] not in names:
                    names.append(key[0])
    said = {file: names for (file, _), names in found.items() if names}
    return [
        f"{', '.join(names)} {'stays' if len(names) == 1 else 'stay'}: pinned in {file}, which is not changed here"
        for file, names in said.items()
    ]


def _solved(problem: Problem, gathered: Gathered, opened: set[_Key], settled: Mapping[_Key, str]) -> Windows | None:
    requirements = []
    for constraint in problem.requirements:
        key = _key(constraint)
        if key in opened:
            requirements.append(replace(constraint, requirement=_opened(constraint.requirement, ">=")))
        elif key in settled:
            requirements.append(replace(constraint, requirement=_opened(constraint.requirement, "==", settled[key])))
        else:
            requirements.append(constraint)
    names = tuple(sorted({name for name, _ in opened}))
    if not names:
        return None
    found = windows_of(replace(problem, requirements=tuple(requirements), targets=names), gathered.source)
    return found if found.possible else None


def _key(constraint: Constraint) -> _Key:
    """What a requirement asks for, as `_key_of` has it; the version is "" where it is not one alone."""
    try:
        requirement = Requirement(constraint.requirement)
    except InvalidRequirement:
        return "", ""
    pieces = list(requirement.specifier)
    alone = len(pieces) == 1 and pieces[0].operator == "==" and not pieces[0].version.endswith(".*")
    return canonicalize_name(requirement.name), str(Version(pieces[0].version)) if alone else ""


def _key_of(pin: Pin) -> _Key:
    """Name and version: an ARG is written elsewhere than the command that takes it, and two stages may agree."""
    return canonicalize_name(pin.name), str(Version(_version_of(pin)))


def _opened(text: str, operator: str, version: str = "") -> str:
    """A requirement of one version with another operator, or another version, in its place."""
    requirement = Requirement(text)
    version = version or next(iter(requirement.specifier)).version
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}{extras}{operator}{version}{marker}"


def _tip(pins: PinSet, name: str, commit: str) -> tuple[Pin, str]:
    from pins.files.select import select

    found = [pin for pin in select(pins, name) if pin.kind is PinKind.GIT]
    if not found:
        raise UsageError(f"{name} is no git pin of {pins.file}; `pins show` lists them")
    return found[0], commit


def _with_held_back(
    data: bytes, pins: PinSet, tree: Tree, gathered: Gathered, notes: list[str]
) -> tuple[bytes, Sequence[str]]:
    """The file with what `pins.toml` holds back added to the requirements that leave a version open."""
    held: dict[str, list[str]] = {}
    for problem in gathered.problems:
        for bound in problem.bounds:
            if bound.origin.kind in _HELD:
                requirement = Requirement(bound.requirement)
                wanted = held.setdefault(canonicalize_name(requirement.name), [])
                wanted += [text for text in (str(part) for part in requirement.specifier) if text not in wanted]
    bounded: list[str] = []
    for pin in pins.pins:
        adds = held.get(canonicalize_name(pin.name)) if pin.kind is PinKind.PACKAGE else None
        if not adds or _is_exact(pin) or not pin.places or pin.file != pins.file:
            continue
        value = ",".join(dict.fromkeys([*filter(None, [pin.value or ""]), *adds]))
        try:
            now = _same(_read(data, Path(pins.file), tree), pin)
            data = apply(data, edits_for(data, now, value))
        except UsageError as error:
            notes.append(f"what pins.toml says of {pin.name} cannot be written into {pin.file}: {error.message}")
            continue
        bounded.append(f"{pin.name}{value}")
    return data, bounded


def _read(data: bytes, file: Path, tree: Tree) -> PinSet:
    return read_pins(data, str(file), None, tree.patterns())


def _same(pins: PinSet, wanted: Pin) -> Pin:
    """The same pin after other edits: they keep the number of lines."""
    found = [
        pin
        for pin in pins.pins
        if (pin.name, pin.kind, pin.line, pin.stage) == (wanted.name, wanted.kind, wanted.line, wanted.stage)
    ]
    if not found:
        raise UsageError(f"{wanted.file}:{wanted.line}: {wanted.name} is no longer found after another edit")
    return found[0]
