"""What the commands read: files and directories, on disk or at a revision, alone or as a chain."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pins.errors import UsageError
from pins.files.context import Context, Directory
from pins.files.locate import Tree, locate
from pins.files.patterns import Pattern
from pins.files.read import LARGEST, kind_of, pin_files, read_pins
from pins.files.surroundings import Below, Both, Shown
from pins.model import FileProblem, Override, Pin, PinSet, StageSummary

_PREDEFINED = re.compile(
    r"(?:(?:https?|ftp|no|all)_proxy|BUILDKIT_\w+|SOURCE_DATE_EPOCH|(?:TARGET|BUILD)(?:PLATFORM|OS|ARCH|VARIANT))\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ReadRequest:
    """What is to be read.

    Attributes:
        paths: files and directories.
        revision: "" for the files on disk.
        build_args: what `--build-arg` would give.
        target: the stage that is built.
        chain: `FILE:TARGET=ARG` of files that build base images, in build order.
        clones: local clones by pin name.
        context: the build context, where it is not the repository around the file.
    """

    paths: tuple[Path, ...]
    revision: str = ""
    build_args: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    chain: tuple[str, ...] = ()
    clones: Mapping[str, Path] = field(default_factory=dict)
    context: Path | None = None


def read_all(request: ReadRequest) -> list[PinSet]:
    """Read everything that was asked for; in a directory, files without pins and without problems are left out.

    Raises:
        UsageError: a path or revision does not exist.
    """
    result: list[PinSet] = []
    inherited, chained = _chain(request)
    result.extend(chained)
    for path in request.paths:
        tree, relative = locate(path, request.revision)
        patterns = tree.patterns()
        data = _named(path, tree, relative, request.revision)
        if data is not None:
            result.append(_one(tree, relative, str(path), data, request, patterns, inherited))
            continue
        found = _directory(tree, relative, path, request, patterns, inherited)
        if not found:
            raise UsageError(_nothing(path, tree, request.revision))
        result.extend(found)
    _check_target(request.target, result[len(chained) :])
    return result


def _named(path: Path, tree: Tree, relative: str, revision: str) -> bytes | None:
    """The file that the user names, wherever a link leads; None for a directory.

    Raises:
        UsageError: it cannot be read.
    """
    if revision:
        return tree.read(relative) if relative else None
    if path.is_dir():
        return None
    if not path.is_file():
        raise UsageError(f"{path} is neither a file nor a directory")
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST + 1)  # a byte too many is enough to say that it is too large
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _nothing(path: Path, tree: Tree, revision: str) -> str:
    """What to say of a path where nothing was found."""
    if revision:
        return f"{path} at {revision} does not exist, or holds no file with pins"
    if tree.bare:
        return f"{path} is a bare repository, which has no files of its own; give --rev REV"
    return f"{path} holds no file with pins"


def _check_target(target: str, found: list[PinSet]) -> None:
    stages = [summary for pin_set in found for summary in pin_set.stages]
    names = sorted({summary.name for summary in stages})
    if target and target.lower() not in names and not (target.isdigit() and int(target) < len(stages)):
        raise UsageError(f"--target: there is no stage {target!r}; there is {', '.join(names) or 'none'}")


def _directory(
    tree: Tree,
    relative: str,
    path: Path,
    request: ReadRequest,
    patterns: tuple[Pattern, ...],
    inherited: Mapping[str, object],
) -> list[PinSet]:
    found: list[PinSet] = []
    files = pin_files(tree.files(relative), patterns)
    tree.prepare(files)
    for file in files:
        shown = str(path / Path(file).relative_to(relative or "."))
        data = tree.read(file)
        if data is None:
            if reason := tree.why_not(file):
                found.append(PinSet(shown, (), problems=(FileProblem(shown, 1, reason),)))
            continue
        pin_set = _one(tree, file, shown, data, request, patterns, inherited, asked=False)
        if pin_set.pins or not pin_set.complete:
            found.append(pin_set)
    return _given_elsewhere(found)


def _one(
    tree: Tree,
    relative: str,
    shown: str,
    data: bytes,
    request: ReadRequest,
    patterns: tuple[Pattern, ...],
    inherited: Mapping[str, object],
    *,
    asked: bool = True,
) -> PinSet:
    from pins.files.dockerfile.read import ReadOptions
    from pins.files.dockerfile.stage_state import Inherited

    directory = relative.rpartition("/")[0]
    top = tree.context()
    below = Below(top, directory)
    kind = kind_of(relative)
    if request.context is not None and not request.context.is_dir():
        raise UsageError(f"--context {request.context}: there is no such directory")
    context: Context = Directory(request.context) if request.context else Both(top, below)
    if kind in {"requirements", ""}:  # what such a file names is beside it
        context = Shown(top, relative, shown)
    base = {name: brought for name, brought in inherited.items() if isinstance(brought, Inherited)}
    options = ReadOptions(request.build_args, request.target, context, request.clones, base)
    return read_pins(data, shown, options, patterns, asked=asked, within=relative)


def _chain(request: ReadRequest) -> tuple[dict[str, object], list[PinSet]]:
    from pins.files.dockerfile.read import ReadOptions, read_base
    from pins.files.dockerfile.stage_state import Inherited

    inherited: dict[str, object] = {}
    sets: list[PinSet] = []
    for link in request.chain:
        place, equals, argument = link.rpartition("=")
        file, colon, target = place.rpartition(":")
        if not equals or not colon or not file or not argument:
            raise UsageError(
                f"--chain {link!r} must be FILE:TARGET=ARG, such as docker/Dockerfile.base:final=BASE_IMAGE"
            )
        tree, relative = locate(Path(file), request.revision)
        data = tree.read(relative)
        if data is None:
            raise UsageError(f"--chain {file}: there is no such file")
        base = {name: brought for name, brought in inherited.items() if isinstance(brought, Inherited)}
        context = Both(tree.context(), Below(tree.context(), relative.rpartition("/")[0]))
        options = ReadOptions(request.build_args, target, context, request.clones, base)
        pin_set, inherited[argument] = read_base(data, file, target, options)
        sets.append(pin_set)
    return inherited, sets


def _given_elsewhere(sets: list[PinSet]) -> list[PinSet]:
    """Tell each Dockerfile's pins which other files of the directory give their ARG another value."""
    given: dict[str, list[Pin]] = {}
    for pin_set in sets:
        if kind_of(pin_set.file) in {"bake", "workflow"}:
            for pin in pin_set.pins:
                given.setdefault(pin.variable, []).append(pin)
    if not given:
        return sets
    return [replace(s, pins=tuple(_told(pin, given) for pin in s.pins)) if s.stages else s for s in sets]


def _told(pin: Pin, given: Mapping[str, list[Pin]]) -> Pin:
    found = given.get(pin.variable, []) if pin.variable and pin.override.how else []
    lines: dict[tuple[str, str], list[str]] = {}
    for one in found:
        lines.setdefault((one.file, one.value if one.value is not None else "a value"), []).append(str(one.line))
    how = tuple(f"{file}:{','.join(numbers)} gives {value}" for (file, value), numbers in lines.items())
    return (
        replace(pin, override=Override((*pin.override.how, *how), pin.override.reaches, pin.override.misses))
        if how
        else pin
    )


def unknown_arguments(build_args: Mapping[str, str], found: Sequence[PinSet]) -> list[str]:
    """Of the build arguments that were given, those that no file declares and no builder knows."""
    declared = {name for pin_set in found for name in pin_set.arguments}
    return [name for name in build_args if name not in declared and not _PREDEFINED.match(name)]


def stage_name(pin_set: PinSet, stage: str) -> str:
    """The name of the stage that a person means by its name, in any case, or by its number; "" where there is none."""
    names = [summary.name for summary in pin_set.stages]
    if stage.lower() in names:
        return stage.lower()
    return names[int(stage)] if stage.isdigit() and int(stage) < len(names) else ""


def only_stage(pin_set: PinSet, stage: str) -> PinSet:
    """The pins that a stage or one that it descends from uses."""
    by_name = {summary.name: summary for summary in pin_set.stages}
    wanted: list[StageSummary] = []
    current = by_name.get(stage_name(pin_set, stage))
    while current is not None and current not in wanted:
        wanted.append(current)
        current = by_name.get(current.parent)
    names = {summary.name for summary in wanted}
    pins = tuple(pin for pin in pin_set.pins if names & {use.stage for use in pin.uses} or pin.stage in names)
    return replace(pin_set, pins=pins, stages=tuple(wanted))
