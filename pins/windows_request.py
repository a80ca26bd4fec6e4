"""What `pins windows` and `pins why` are asked, and what is gathered for it: problems and a source."""

import os
import platform
import re
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pins.errors import UsageError
from pins.resolve.problem import Constraint, Gathered, Origin, OriginKind, Problem
from pins.resolve.requirement_line import read_line
from pins.sources.target import Installer, Target, described_target, target_of


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
        platform: as `sysconfig.get_platform` has it, "" for this machine's.
        installer: "uv" or "pip".
        index_url, extra_index_url: in place of, and besides, what is configured.
        exclude_newer: the index is read as of then, "" for now.
        prereleases: names whose pre-releases count; ":all:" for all.
        offline: whether only what is kept may be used.
        ignore_known_bad: whether known-bad versions and holds are left out.
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
    target = target_for(request)
    configuration = read_index_configuration(
        request.index_url, request.extra_index_url, environment=os.environ, directory=Path.cwd()
    )
    cache = cache_directory(os.environ)
    before = moment(request.exclude_newer) if request.exclude_newer else None
    metadata = MetadataCache(cache / "metadata.sqlite")
    with PackageIndex(configuration, target, cache=PageCache(cache / "pages"), offline=request.offline) as index:
        source = IndexRequirements(index, before=before, cache=metadata)
        try:
            problem = stated_problem(request, target)
            yield Question(Gathered((problem,), source), target)
        finally:
            metadata.close()


def target_for(request: WindowsRequest) -> Target:
    """What everything must fit: an interpreter that is named, a version of Python, or the one that runs this."""
    installer = _installer(request.installer)
    if "/" in request.python:
        return target_of(Path(request.python), installer)
    here = sysconfig.get_platform()
    system = request.platform or here
    glibc = platform.libc_ver()[1] if system == here else ""
    return described_target(
        request.python or platform.python_version(), platform=system, glibc=glibc or "2.28", installer=installer
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
    return with_options(problem, request)


def with_options(problem: Problem, request: WindowsRequest) -> Problem:
    """A problem with what is assumed, which windows are asked for, and without what is to be ignored."""
    given = tuple(_given(text) for text in request.given)
    bounds = problem.bounds
    if request.ignore_known_bad:
        bounds = tuple(b for b in bounds if b.origin.kind not in (OriginKind.KNOWN_BAD, OriginKind.HOLD))
    return replace(
        problem,
        requirements=(*problem.requirements, *given),
        bounds=bounds,
        targets=tuple(read_line(name).name or name for name in request.packages) or problem.targets,
    )


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


def moment(text: str) -> datetime:
    """A time as `--exclude-newer` takes it: RFC 3339, or a date, of which the end counts (as for uv).

    Raises:
        UsageError: it is neither.
    """
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return datetime.fromisoformat(f"{text}T23:59:59.999999+00:00")
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--exclude-newer {text!r} is neither a date such as 2026-08-18 nor a time") from None
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


def checked_packages(names: Sequence[str], known: Sequence[str]) -> None:
    """Raises UsageError where a window is asked for of something that nothing mentions."""
    for name in names:
        if name not in known:
            raise UsageError(f"--package {name}: nothing that was read requires it")
