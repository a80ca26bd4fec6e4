"""From a file to what must fit: one problem for each environment that it installs or builds something in."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from pins.errors import UsageError
from pins.metadata.base_image import told_by
from pins.metadata.environments.model import FileEnvironments, Project, StageContents
from pins.metadata.git_requirements import GitProject, GitRequirements
from pins.metadata.inferred.rules import RULES
from pins.metadata.known_facts import KnownFacts, read_known_facts
from pins.metadata.problems import Assembly
from pins.resolve.problem import Gathered, RequirementSource
from pins.sources.git.address import parse_address
from pins.sources.git.clone import Clone, open_clone
from pins.sources.metadata_cache import MetadataCache
from pins.sources.target import Target

if TYPE_CHECKING:
    from pins.files.dockerfile.close_reading import CloseReading


@dataclass(frozen=True)
class GatherRequest:
    """What is to be gathered.

    Attributes:
        file: whose environments are asked about.
        revision: of the repository around it, "" for the file on disk.
        build_args: what `--build-arg` would give.
        target: the stage that is built, "" for the last.
        clones: repositories by the name of a pin or of a repository.
        context: the build context, None for the repository around the file.
        without_rules: inferred constraints that are switched off.
    """

    file: Path
    revision: str = ""
    build_args: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    clones: Mapping[str, Path] = field(default_factory=dict)
    context: Path | None = None
    without_rules: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ReadFile:
    """A file that was read, before it is known what its target is.

    Attributes:
        environments: what it installs and builds.
        facts: of the `pins.toml` beside it.
    """

    environments: FileEnvironments
    facts: KnownFacts


def read_file(request: GatherRequest) -> ReadFile:
    """Read what a file installs and builds.

    Raises:
        UsageError: it does not exist, or is no kind of file that says so.
    """
    from pins.files.context import Directory
    from pins.files.locate import locate

    unknown = request.without_rules - set(RULES)
    if unknown:
        raise UsageError(f"there is no rule {min(unknown)!r}; there are {', '.join(RULES)}")
    tree, relative = locate(request.file, request.revision)
    content = tree.read(relative)
    if content is None:
        if request.file.is_dir():
            raise UsageError(f"{request.file} is a directory: name a Dockerfile or a requirements file in it")
        raise UsageError(f"{request.file} does not exist" + (f" at {request.revision}" if request.revision else ""))
    here = relative.rpartition("/")[0]
    context = Directory(request.context).read if request.context else tree.read

    def read(path: str) -> bytes | None:
        found = context(path)
        return found if found is not None or not here else context(f"{here}/{path}")

    facts = KnownFacts()
    for name in ("pins.toml", "pyproject.toml"):
        configuration = tree.read(name)
        if configuration is not None and (name == "pins.toml" or b"tool.pins" in configuration):
            found = read_known_facts(configuration, name)
            facts = KnownFacts((*facts.bounds, *found.bounds), facts.off | found.off)
    return ReadFile(file_environments(request, content, relative, read), facts)


def file_environments(
    request: GatherRequest,
    content: bytes,
    relative: str,
    read: Callable[[str], bytes | None],
    reading: "CloseReading | None" = None,
) -> FileEnvironments:
    """What a file installs and builds.

    Args:
        request: how it is read; its `file` is how it is shown.
        content: of the file.
        relative: its path from the top of its repository.
        read: gives a file of the build context, None when there is none.
        reading: of a Dockerfile, where it was read already.

    Raises:
        UsageError: it is no kind of file that says so.
    """
    from pins.files.read import kind_of

    kind = kind_of(relative)
    if kind == "dockerfile" or (not kind and re.search(rb"^[ \t]*FROM[ \t]+\S", content, re.MULTILINE | re.IGNORECASE)):
        return _of_dockerfile(request, content, str(request.file), read, reading)
    if kind == "requirements":
        return _of_requirements(content, relative, str(request.file), read)
    if kind == "pyproject":
        return _of_pyproject(content, str(request.file))
    raise UsageError(f"{request.file}: windows are asked of a Dockerfile, a requirements file or a pyproject.toml")


def _of_dockerfile(
    request: GatherRequest,
    content: bytes,
    file: str,
    read: Callable[[str], bytes | None],
    reading: "CloseReading | None",
) -> FileEnvironments:
    from pins.files.dockerfile.read import ReadOptions, read_closely
    from pins.metadata.environments.dockerfile import stage_contents

    class _Context:
        def read(self, path: str) -> bytes | None:
            return read(path)

    if reading is None:
        reading = read_closely(content, file, ReadOptions(request.build_args, request.target, _Context()))
    if not reading.pin_set.stages:
        problem = next(iter(reading.pin_set.problems), None)
        raise UsageError(f"{file} is no Dockerfile that can be read: {problem.message if problem else 'no stage'}")
    stages = stage_contents(reading, file, read)
    images = " ".join(stage.base for stage in reading.pin_set.stages if not stage.parent)
    glibc, python = told_by(images)
    named = next((pin for pin in reading.pin_set.pins if pin.name == "python" and pin.value), None)
    if named is not None and re.fullmatch(r"3\.\d+(\.\d+)?", named.value or ""):
        python = named.value or ""
    notes = [
        f"{problem.file}:{problem.line}: reading stopped: {problem.message}"
        for problem in reading.pin_set.problems
        if problem.fatal
    ]
    return FileEnvironments(file, tuple(stages), python, glibc, notes=tuple(notes), is_image=True)


def _of_requirements(content: bytes, path: str, file: str, read: Callable[[str], bytes | None]) -> FileEnvironments:
    from pins.files.requirement import RequirementKind
    from pins.files.requirements import read_requirements
    from pins.metadata.environments.model import Requested
    from pins.resolve.problem import Constraint, Origin

    parsed = read_requirements(content, path, read)
    contents = StageContents("", does_something=True)
    for entry in parsed.lines:
        line = replace(entry, file=file) if entry.file == path else entry
        if line.requirement.kind is not RequirementKind.SPECIFIER:
            contents.leave_out(f"{line.file}:{line.line}: what {line.text[:80]} requires is not counted")
        elif line.role == "constraint":
            contents.bounds.append(Constraint(line.text.strip(), Origin(file=line.file, line=line.line)))
        else:
            contents.requested.append(Requested(line.text.strip(), line.file, line.line))
    contents.notes += [f"{name}:{number}: {message}" for name, number, message in parsed.problems]
    return FileEnvironments(file, (contents,))


def _of_pyproject(content: bytes, file: str) -> FileEnvironments:
    from pins.metadata.declarations import Subject
    from pins.metadata.environments.model import Requested
    from pins.metadata.pyproject import read_pyproject

    says = read_pyproject(content, file)
    stages = []
    for name, subject in (("", Subject.RUNTIME), ("isolated build", Subject.BUILD)):
        if subject in says.says or subject in says.unknown:
            contents = StageContents(name, does_something=True)
            contents.requested = [
                Requested(one.text, one.file, one.line)
                for one in says.says.get(subject, ())
                if "extra ==" not in one.text
            ]
            if subject in says.unknown:
                contents.leave_out(says.unknown[subject])
            stages.append(contents)
    return FileEnvironments(file, tuple(stages))


def gather(
    request: GatherRequest,
    read: ReadFile,
    source: RequirementSource,
    target: Target,
    cache_directory: Path,
    cache: MetadataCache | None = None,
) -> Gathered:
    """The problems of a file that was read, and what answers for them.

    Args:
        request: as for `read_file`.
        read: what it gave.
        source: answers for packages of indexes.
        target: what everything must fit.
        cache_directory: the user's cache directory of this project, for clones.
        cache: where what is read of trees is kept.

    Raises:
        UsageError: a repository that is named does not exist.
    """
    rules = tuple(rule for rule in RULES if rule not in request.without_rules | read.facts.off)
    clones: dict[Path, Clone] = {}
    projects: dict[Project, GitProject] = {}
    for contents in read.environments.stages:
        for project in (*contents.built, *(one.project for one in contents.installed)):
            if _identity(project) not in projects:
                clone = _clone_of(project, request.clones, clones, cache_directory)
                projects[_identity(project)] = GitProject(
                    project, clone, dict(target.markers), target.python, rules, cache
                )
    by_name = _by_name(projects.values())
    assembly = Assembly(read.environments, read.facts, projects, target, rules, _identity, by_name)
    problems = tuple(assembly.problems())
    notes = [
        *read.environments.notes,
        *assembly.notes,
        *(note for project in by_name.values() for note in project.notes),
    ]
    if not problems:
        notes.append(f"{read.environments.file} installs and builds nothing whose versions could be asked about")
    return Gathered(problems, GitRequirements(by_name, source), tuple(dict.fromkeys(notes)))


def _by_name(projects: Iterable[GitProject]) -> dict[str, GitProject]:
    found: dict[str, GitProject] = {}
    for project in projects:
        found.setdefault(project.name, project)
    return found


def _identity(project: Project) -> Project:
    """What tells projects apart: the pin and how it is built, wherever in the file that is."""
    return replace(project, stage="", line=0)


def _clone_of(
    project: Project, named: Mapping[str, Path], opened: dict[Path, Clone], cache_directory: Path
) -> Clone | None:
    """The repository of a project among those that are named, by the pin or by the repository; None without one."""
    repository = project.address.rstrip("/").removesuffix(".git").rpartition("/")[2].lower()
    by_name = {canonicalize_name(name): path for name, path in named.items()}
    path = by_name.get(canonicalize_name(project.pin)) or by_name.get(canonicalize_name(repository))
    if path is None:
        return None
    if path not in opened:
        opened[path] = open_clone(parse_address(str(path), Path.cwd()), cache_directory)
    return opened[path]
