"""From paths to what rules look at: files with their pins, and what `pins.toml` says beside them."""

import posixpath
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path

from pins.drift.acks import Ack, read_acks
from pins.drift.last_changes import LastChanges
from pins.drift.model import About, Subject, Unknown, WatchedFile, WatchedPin
from pins.drift.readings.line_dates import LineDates
from pins.errors import PinsError, UsageError
from pins.files.dockerfile.read import ReadOptions
from pins.files.locate import Tree, locate
from pins.files.patterns import Pattern, pattern_pins
from pins.files.read import pin_files, read_pins
from pins.files.surroundings import Shown
from pins.hazards.gather import gather
from pins.hazards.subject import Subject as FileReading
from pins.metadata.environments.model import FileEnvironments
from pins.metadata.known_facts import KnownFacts, read_known_facts
from pins.model import Pin
from pins.suggest.holds import Hold, read_holds

READ = "read"
"""What stands for a rule where a file could not be read."""


@dataclass(frozen=True)
class WatchRequest:
    """What is to be watched.

    Attributes:
        paths: files and directories.
        now: the time of the run, or of the replay (aware).
        revision: "" for the files on disk.
        clones: local clones by the name of a pin or repository, in lower case.
        build_args: what `--build-arg` would give.
        target: the stage that is built.
        context: the build context, None for the repository around each file.
        built: when images were last built, None where only the files tell.
    """

    paths: tuple[Path, ...]
    now: datetime
    revision: str = ""
    clones: Mapping[str, Path] = field(default_factory=dict)
    build_args: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    context: Path | None = None
    built: datetime | None = None


@dataclass(frozen=True)
class Watched:
    """What was found.

    Attributes:
        subject: for the rules.
        unknown: files, or the rest of files, that could not be read.
        directories: what was searched, from the top of its repository; "" for all of one.
        targets: the paths that were named, from the top of their repository.
        acks: acknowledgements of `pins.toml`.
        root: top of the first path's repository, or the directory itself.
    """

    subject: Subject
    unknown: tuple[Unknown, ...]
    directories: tuple[str, ...]
    targets: tuple[str, ...] = ()
    acks: tuple[Ack, ...] = ()
    root: Path = Path()

    def covers(self, place: str) -> bool:
        """Whether a file was looked at, as a whole, or would have been if it still were there."""
        if place == self.subject.holds_place:
            return True
        if any(one.place == place for one in self.unknown):
            return False
        seen = any(place in (file.place, *(pin.about.place for pin in file.pins)) for file in self.subject.files)
        return seen or any(not under or place.startswith(f"{under}/") for under in self.directories)


def watch(request: WatchRequest) -> Watched:
    """Read everything that is to be watched.

    Raises:
        UsageError: a path or a revision does not exist, or a `pins.toml` is wrong.
    """
    located = [locate(path, request.revision) for path in request.paths]
    roots = dict.fromkeys(tree.root for tree, _ in located)
    prefix = {root: f"{root.name}/" if len(roots) > 1 else "" for root in roots}
    changes = {tree.root: LastChanges(tree.root, request.revision) for tree, _ in located if tree.repository}
    files: dict[str, WatchedFile] = {}
    unread: list[Unknown] = []
    directories: list[str] = []
    for path, (tree, relative) in zip(request.paths, located, strict=True):
        patterns = tree.patterns()
        readings = gather(
            [path],
            revision=request.revision,
            clones=request.clones,
            build_args=request.build_args,
            target=request.target,
            context=request.context,
        )
        for reading in readings:
            place = prefix[tree.root] + (reading.identity or reading.file)
            if reading.kind != "document" or reading.identity == relative:
                files.setdefault(
                    place, _file(place, _with_all_pins(reading, tree, patterns), tree, request, changes.get(tree.root))
                )
        if not any(reading.identity == relative for reading in readings):
            directories.append((prefix[tree.root] + relative).rstrip("/"))
            unread.extend(_unread(tree, relative, path, {r.identity for r in readings}, prefix[tree.root]))
    for file in files.values():
        unread.extend(
            Unknown("", READ, f"reading stopped at line {problem.line}: {problem.message}", file.place, problem.file)
            for problem in file.reading.pin_set.problems
            if problem.fatal
        )
    facts, holds, acks, shown = _known(roots, {tree.root: tree for tree, _ in located})
    subject = Subject(
        tuple(_with_nested(list(files.values()))),
        request.now,
        holds,
        holds_file=shown,
        facts=facts,
        clones=request.clones,
        built=request.built,
    )
    targets = tuple(prefix[tree.root] + relative or "." for tree, relative in located)
    return Watched(subject, tuple(unread), tuple(directories), targets, acks, located[0][0].root)


def _with_all_pins(reading: FileReading, tree: Tree, patterns: tuple[Pattern, ...]) -> FileReading:
    """The file with the pins of those that it includes, and those that the user describes."""
    found = reading.pin_set
    if reading.kind == "document":  # it was named, so content decides where the name says nothing
        found = read_pins(reading.data, reading.file)
    elif reading.kind == "requirements" and reading.identity:
        options = ReadOptions(context=Shown(tree.context(), reading.identity, reading.file))
        found = read_pins(reading.data, reading.file, options, within=reading.identity)
    fitting = tuple(pattern for pattern in patterns if pattern.fits(reading.identity or reading.file))
    described = pattern_pins(reading.data, reading.file, fitting) if fitting else ()
    pins = tuple(sorted((*found.pins, *described), key=lambda pin: pin.line)) if described else found.pins
    return replace(reading, pin_set=replace(found, pins=pins))


def _file(
    place: str, reading: FileReading, tree: Tree, request: WatchRequest, changes: LastChanges | None
) -> WatchedFile:
    if changes and reading.identity:
        changes.paths.add(reading.identity)
    return WatchedFile(
        place,
        reading,
        tuple(watched_pins([pin for pin in reading.pin_set.pins if pin.file == reading.file], place)),
        (lambda: changes.of(reading.identity)) if changes and reading.identity else lambda: None,
        _environments(reading, request),
        LineDates(tree.root, tree.revision, reading.identity) if tree.repository and reading.identity else None,
    )


def watched_pins(pins: Sequence[Pin], place: str) -> list[WatchedPin]:
    """The pins of one file, told apart: of several of a name, by the stage behind it, then by their order."""
    names = Counter(pin.name for pin in pins)
    staged = Counter((pin.name, pin.stage) for pin in pins)
    seen: Counter[str] = Counter()
    found = []
    for pin in pins:
        name = pin.name
        if names[name] > 1 and pin.stage:
            name = f"{name}@{pin.stage}"
        if names[pin.name] > 1 and (not pin.stage or staged[pin.name, pin.stage] > 1):
            seen[name] += 1
            if seen[name] > 1:
                name = f"{name}@{seen[name]}"
        found.append(WatchedPin(pin, About(name, place, pin.file, pin.line)))
    return found


def _with_nested(files: list[WatchedFile]) -> list[WatchedFile]:
    """Pins of files that these install from, where those are not watched themselves, with the first that does."""
    taken = {file.place for file in files}
    result = []
    for file in files:
        nested: dict[str, list[Pin]] = {}
        for pin in file.reading.pin_set.pins:
            place = _place_of(pin, file)
            if place not in taken:
                nested.setdefault(place, []).append(pin)
        taken |= set(nested)
        more = [watched for place, pins in nested.items() for watched in watched_pins(pins, place)]
        result.append(replace(file, pins=(*file.pins, *more)) if more else file)
    return result


def _place_of(pin: Pin, file: WatchedFile) -> str:
    """The path of a pin's file from the top of the repository that its including file is in."""
    shown = file.reading.file
    if pin.file == shown:
        return file.place
    if file.reading.kind != "requirements":  # of a Dockerfile: the path in its build context
        return file.place.removesuffix(file.reading.identity) + pin.file
    inside = posixpath.relpath(pin.file, posixpath.dirname(shown) or ".")
    return posixpath.normpath(posixpath.join(posixpath.dirname(file.place), inside))


def _environments(reading: FileReading, request: WatchRequest) -> Callable[[], FileEnvironments | None]:
    @cache
    def read() -> FileEnvironments | None:
        from pins.metadata.gather import GatherRequest, file_environments

        asked = GatherRequest(
            Path(reading.file), request.revision, request.build_args, request.target, request.clones, request.context
        )
        place = reading.identity or reading.file
        try:
            return file_environments(asked, reading.data, place, reading.read_file, reading.reading)
        except UsageError:  # a kind of file that installs nothing
            return None

    return read


def _unread(tree: Tree, relative: str, path: Path, read: set[str], prefix: str) -> list[Unknown]:
    found = []
    for file in pin_files(tree.files(relative), tree.patterns()):
        if file not in read and (reason := tree.why_not(file)):
            shown = str(path / Path(file).relative_to(relative or "."))
            found.append(Unknown("", READ, f"{shown} could not be read: {reason}", prefix + file, shown))
    return found


def _known(
    roots: Mapping[Path, None], trees: Mapping[Path, Tree]
) -> tuple[KnownFacts, tuple[Hold, ...], tuple[Ack, ...], str]:
    bounds, off, shown = KnownFacts().bounds, KnownFacts().off, "pins.toml"
    holds: list[Hold] = []
    acks: list[Ack] = []
    for root in roots:
        for name in ("pyproject.toml", "pins.toml"):
            data = trees[root].read(name)
            if data is None or (name != "pins.toml" and b"tool.pins" not in data):
                continue
            origin = name if len(roots) == 1 else str(root / name)
            try:
                facts = read_known_facts(data, origin)
                holds.extend(read_holds(data, origin))
                acks.extend(read_acks(data, origin))
            except PinsError as error:
                raise UsageError(f"{error.message} (in {root})") from error
            bounds, off = (*bounds, *facts.bounds), off | facts.off
            shown = origin
    return KnownFacts(bounds, off), tuple(holds), tuple(acks), shown
