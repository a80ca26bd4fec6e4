"""What `pins windows` and `pins why` are asked, and what is gathered for it: problems and a source."""

import os
import platform
import re
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pins.errors import UsageError
from pins.resolve.problem import Constraint, Gathered, Origin, OriginKind, Problem, RequirementSource
from pins.resolve.requirement_line import read_line
from pins.sources.target import Installer, Target, described_target, target_of

if TYPE_CHECKING:
    from pins.metadata.environments.model import FileEnvironments
    from pins.metadata.gather import GatherRequest, ReadFile
    from pins.sources.metadata_cache import MetadataCache


@dataclass(frozen=True)
class WindowsRequest:
    """The options, as they were typed.

    Attributes:
        file: whose pins are asked about; None where only `require` says what must fit.
        require: requirements.
        constraint: files of bounds.
        given: NAME=VERSION that are assumed.
        packages: whose windows are asked for; () for those of the file and of `require`.
        python: version or interpreter, "" for the Python that runs this.
        platform: as `sysconfig.get_platform` has it, or as wheels have it ("manylinux_2_39_x86_64", which says what
            C library there is); "" for this machine's.
        installer: "uv" or "pip".
        index_url, extra_index_url: in place of, and besides, what is configured.
        exclude_newer: the index is read as of then, "" for now.
        prereleases: names whose pre-releases count; ":all:" for all.
        offline: whether only what is kept may be used.
        ignore_known_bad: whether known-bad versions and holds are left out.
        revision, build_args, target, context: how `file` is read, as for `pins show`.
        clones: repositories of git pins, by name.
        without_rules: inferred constraints that are switched off.
    """

    file: Path | None = None
    require: tuple[str, ...] = ()
    constraint: tuple[Path, ...] = ()
    given: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    python: str = ""
    platform: str = ""
    installer: str = "uv"
    index_url: str = ""
    extra_index_url: tuple[str, ...] = ()
    exclude_newer: str = ""
    prereleases: tuple[str, ...] = ()
    offline: bool = False
    ignore_known_bad: bool = False
    revision: str = ""
    build_args: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    context: Path | None = None
    clones: Mapping[str, Path] = field(default_factory=dict)
    without_rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """What is to be solved.

    Attributes:
        gathered: problems and their source.
        target: what everything must fit.
    """

    gathered: Gathered
    target: Target


@contextmanager
def gathered_for(request: WindowsRequest) -> Iterator[Question]:
    """Gather what a request asks about; connections are open inside of `with`.

    Raises:
        UsageError: an option makes no sense, or a file does not exist.
        SourceError: an index could not be read.
    """
    from pins.metadata.index_requirements import IndexRequirements
    from pins.sources.index_configuration import read_index_configuration
    from pins.sources.metadata_cache import MetadataCache
    from pins.sources.package_index import PackageIndex
    from pins.sources.page_cache import PageCache, cache_directory

    if request.file is None and not request.require:
        raise UsageError("nothing is asked for: give a FILE, or --require 'NAME>=VERSION'")
    read = _read_file(request)
    target = target_for(request) if read is None else target_for(request, read.environments)
    configuration = read_index_configuration(
        request.index_url, request.extra_index_url, environment=os.environ, directory=Path.cwd()
    )
    cache = cache_directory(os.environ)
    before = moment(request.exclude_newer) if request.exclude_newer else None
    metadata = MetadataCache(cache / "metadata.sqlite")
    with PackageIndex(configuration, target, cache=PageCache(cache / "pages"), offline=request.offline) as index:
        source = IndexRequirements(index, before=before, cache=metadata)
        try:
            _check_that_they_exist(request, source)
            if read is None:
                gathered = Gathered((stated_problem(request, target),), source)
            else:
                gathered = _gathered(request, read, source, target, metadata)
            yield Question(gathered, target)
        finally:
            metadata.close()


def _check_that_they_exist(request: WindowsRequest, source: RequirementSource) -> None:
    """Raises UsageError where the command line names a package that no index has."""
    named = {read_line(text).name: "--require" for text in request.require}
    named |= {read_line(text.partition("=")[0]).name: "--given" for text in request.given}
    if request.file is None:
        named |= {read_line(text).name: "--package" for text in request.packages}
    named.pop("", None)
    for name, found in source.choices(list(named)).items():
        if not found.choices and not found.unknown:
            raise UsageError(f"{named[name]} {name}: {found.missing or 'it has no release'}")


def _read_file(request: WindowsRequest) -> "ReadFile | None":
    if request.file is None:
        return None
    from pins.metadata.gather import read_file

    return read_file(_gather_request(request, request.file))


def _gather_request(request: WindowsRequest, file: Path) -> "GatherRequest":
    from pins.metadata.gather import GatherRequest

    return GatherRequest(
        file,
        request.revision,
        request.build_args,
        request.target,
        request.clones,
        request.context,
        frozenset(request.without_rules),
    )


def _gathered(
    request: WindowsRequest, read: "ReadFile", source: RequirementSource, target: Target, cache: "MetadataCache"
) -> Gathered:
    """The problems of a file, each with what the command line adds."""
    from pins.metadata.gather import gather
    from pins.sources.page_cache import cache_directory

    assert request.file is not None
    found = gather(_gather_request(request, request.file), read, source, target, cache_directory(os.environ), cache)
    added = stated_problem(replace(request, packages=()), target)
    problems = []
    for problem in found.problems:
        joined = replace(
            problem,
            requirements=(*problem.requirements, *added.requirements),
            bounds=(*problem.bounds, *added.bounds),
            prereleases=problem.prereleases | added.prereleases,
            targets=(*problem.targets, *(name for name in added.targets if name not in problem.targets)),
        )
        problems.append(joined)
    names = {read_line(name).name for name in request.packages}
    problems = [problem for problem in problems if names & set(problem.targets)] or problems
    taken = _taken_for_granted(request, read.environments, target)
    return replace(
        found,
        problems=tuple(without_ignored(problem, request) for problem in problems),
        notes=(*taken, *found.notes),
    )


def _taken_for_granted(request: WindowsRequest, environments: "FileEnvironments", target: Target) -> tuple[str, ...]:
    """What a Dockerfile does not tell, and this machine had to."""
    if not environments.is_image or "/" in request.python:
        return ()
    missing = [] if request.python or environments.python else [("Python", "--python 3.12")]
    if not (environments.glibc or request.platform):
        missing.append(("C library", "--platform manylinux_2_39_x86_64"))
    if not missing:
        return ()
    what, how = " and ".join(name for name, _ in missing), " or ".join(option for _, option in missing)
    return (
        f"{environments.file} does not tell which {what} it has, and what it installs depends on it: "
        f"{target.description} is taken from this machine; say otherwise with {how}",
    )


def target_for(request: WindowsRequest, environments: "FileEnvironments | None" = None) -> Target:
    """What everything must fit: an interpreter that is named, a version of Python, or the one that runs this.

    What a file says of its Python and its C library counts before this machine's.
    """
    installer = _installer(request.installer)
    if "/" in request.python:
        return target_of(Path(request.python), installer)
    here = sysconfig.get_platform()
    system = request.platform or here
    glibc = platform.libc_ver()[1] if system == here else ""
    python = request.python
    if environments is not None:
        glibc = environments.glibc or glibc
    named = re.fullmatch(r"manylinux_(\d+_\d+)_(\w+)", system)
    if named:
        system, glibc = f"linux-{named[2]}", named[1].replace("_", ".")
    if environments is not None:
        python = python or environments.python
    return described_target(
        python or platform.python_version(), platform=system, glibc=glibc or "2.28", installer=installer
    )


def stated_problem(request: WindowsRequest, target: Target) -> Problem:
    """The problem that the command line states.

    Raises:
        UsageError: a requirement, or `--given`, is malformed, or a file of constraints cannot be read.
    """
    requirements = tuple(_stated(text, "--require") for text in request.require)
    problem = Problem(
        requirements,
        bounds=tuple(bound for path in request.constraint for bound in constraints_of(path)),
        markers=dict(target.markers),
        installer=target.installer,
        prereleases=frozenset("*" if name == ":all:" else name for name in request.prereleases),
        targets=tuple(dict.fromkeys(read_line(one.requirement).name for one in requirements)),
    )
    given = tuple(_given(text) for text in request.given)
    packages = tuple(read_line(name).name or name for name in request.packages)
    return replace(problem, bounds=(*problem.bounds, *given), targets=packages or problem.targets)


def without_ignored(problem: Problem, request: WindowsRequest) -> Problem:
    """A problem without known-bad versions and holds, where they are to be ignored; with only the windows asked for."""
    bounds = problem.bounds
    if request.ignore_known_bad:
        bounds = tuple(b for b in bounds if b.origin.kind not in (OriginKind.KNOWN_BAD, OriginKind.HOLD))
    names = {read_line(name).name for name in request.packages}
    targets = (tuple(name for name in problem.targets if name in names) or tuple(sorted(names))) or problem.targets
    return replace(problem, bounds=bounds, targets=targets)


def constraints_of(path: Path) -> Iterator[Constraint]:
    """The bounds of a constraints file, nested ones included.

    Raises:
        UsageError: it cannot be read.
    """
    from pins.files.requirements import read_requirements

    def read(name: str) -> bytes | None:
        file = Path(name)
        return file.read_bytes() if file.is_file() else None

    data = read(str(path))
    if data is None:
        raise UsageError(f"--constraint {path}: there is no such file")
    found = read_requirements(data, str(path), read, role="constraint")
    if found.problems:
        file, line, message = found.problems[0]
        raise UsageError(f"--constraint {file}:{line}: {message}")
    for line_found in found.lines:
        yield Constraint(line_found.text, Origin(file=line_found.file, line=line_found.line))


def moment(text: str, option: str = "--exclude-newer") -> datetime:
    """A time as `--exclude-newer` takes it: RFC 3339, or a date, of which the end counts (as for uv).

    Raises:
        UsageError: it is neither.
    """
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return datetime.fromisoformat(f"{text}T23:59:59.999999+00:00")
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is neither a date such as 2026-08-18 nor a time") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _installer(name: str) -> Installer:
    try:
        return Installer(name)
    except ValueError:
        raise UsageError(f"--installer {name!r} is neither uv nor pip") from None


def _stated(text: str, option: str) -> Constraint:
    line = read_line(text)
    if line.problem or not line.name:
        raise UsageError(f"{option} {text!r} is not a requirement such as 'torch>=2.4': {line.problem}")
    return Constraint(text, Origin(file=option))


def _given(text: str) -> Constraint:
    name, equals, version = text.partition("=")
    version = version.removeprefix("=")
    if not equals or not name or not version:
        raise UsageError(f"--given {text!r} must be NAME=VERSION")
    found = _stated(f"{name}=={version}", "--given")
    return replace(found, origin=Origin(OriginKind.GIVEN, file="--given"))
