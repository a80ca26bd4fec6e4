"""Requirements of a virtual environment at two dates, in two files or at two revisions: what they came to are the ends.

Direct and transitive requirements alike: a distribution that has another version at the bad date is an axis over the
releases in between. What is there at one date alone is no axis; the resolver adds it where it is needed.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from bisector.environments.base import Environment, InfeasibleError
from bisector.environments.fixed_pins import FixedPins
from bisector.file_axes.errors import NothingDiffersError
from bisector.file_axes.index import package_index
from bisector.file_axes.opened import as_of, opened, without_versions
from bisector.file_axes.request import FilesRequest
from bisector.model import Axis, AxisValue, Candidate, short_text
from bisector.request import RequirementsRequest, RunRequest
from pins.errors import NoSolutionError, UsageError
from pins.files.reading import ReadRequest, read_all
from pins.model import PinKind
from pins.sources.page_cache import cache_directory
from pins.sources.releases import releases_between
from pins.sources.usable_files import is_too_new

if TYPE_CHECKING:
    from bisector.environments.venv.environment import VenvEnvironment
    from pins.sources.index_configuration import IndexConfiguration
    from pins.sources.package_index import PackageIndex


class FloatingVenv:
    """A virtual environment for candidates whose pins are floats; see `bisector.environments.base.Environment`.

    Args:
        environment: the one that does the work.
        floats: the axes.
        notes: what the user should know of the ends.
    """

    def __init__(self, environment: Environment, floats: Sequence[Axis], notes: Sequence[str]) -> None:
        self._environment = environment
        self.floats = tuple(floats)
        self._notes = tuple(notes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know."""
        return (*self._notes, *getattr(self._environment, "notes", ()))


@dataclass(frozen=True)
class _End:
    """One end: what is asked for, and the time as of which that is resolved."""

    requirements: RequirementsRequest
    date: datetime
    name: str


def venv_environment(request: RunRequest, index: "IndexConfiguration", now: datetime) -> Environment:
    """A virtual environment for what a request's requirements came to at both ends: two dates, files or revisions.

    Args:
        request: what was asked for.
        index: where packages come from.
        now: the time as of which the index is read where no dates are given.

    Raises:
        UsageError: nothing that was asked for moved between the ends, or there are no requirements.
        NoSolutionError: there is no set of versions at one of the ends.
    """
    files = request.files
    assert files is not None
    cache = cache_directory(os.environ)
    ends = _ends(request, files, now, cache)
    ends, found = zip(*(_resolved(request, index, end) for end in ends), strict=True)
    held = {str(canonicalize_name(name)) for name, _ in request.fixed}
    moved = [name for name in found[1] if name in found[0] and found[0][name] != found[1][name] and name not in held]
    chosen = [name for name in moved if _wanted(name, files.only, files.exclude)]
    if not chosen:
        raise NothingDiffersError(
            f"between {ends[0].name} and {ends[1].name} nothing moved among what is installed"
            + (f" but {', '.join(moved)}, which --only and --exclude leave out" if moved else "")
            + _undated(files, index)
        )
    bad = ends[1].requirements
    if not files.dates or files.good_file is not None or files.good:
        own, *others = bad.requirement_files
        origin = files.bad_file or files.file or own
        bad = replace(bad, requirement_files=(opened(own, origin, set(chosen), cache), *others))
    environment = _venv(request, bad, index, ends[1].date, chosen)
    named = _named(ends[1].requirements)
    axes = [
        replace(axis, kind=_kind(files, axis.pin, named)) for axis in _axes(environment, chosen, found, ends[1].date)
    ]
    made: Environment = FixedPins(environment, request.fixed) if request.fixed else environment
    return FloatingVenv(made, axes, _notes(found, chosen, moved))


def _undated(files: FilesRequest, index: "IndexConfiguration") -> str:
    """Why dates may show nothing: what has no upload time counts at every date, and comes first if it is newer."""
    places = sorted({*(location.public for location in index.flat), *map(index.redact, index.without_upload_times)})
    if not (files.dates and places):
        return ""
    return (
        f"; but what {', '.join(places)} (from {index.origin}) offers has no upload time, and counts at every date:"
        " leave it out of the configuration, or name the two versions of what you suspect, --pin NAME=GOOD..BAD"
    )


def _ends(request: RunRequest, files: FilesRequest, now: datetime, cache: Path) -> tuple[_End, _End]:
    wanted = request.requirements
    dates = files.span or (now, now)
    if files.good_file is not None and files.bad_file is not None:
        paths = [files.good_file, files.bad_file]
        names = [str(path) for path in paths]
        both = [replace(wanted, requirement_files=(path, *wanted.requirement_files)) for path in paths]
    elif files.good:
        path, *others = wanted.requirement_files
        names = [f"{path} at {short_text(revision)}" for revision in (files.good, files.bad)]
        both = [
            replace(wanted, requirement_files=(as_of(path, revision, cache), *others))
            for revision in (files.good, files.bad)
        ]
    elif wanted.requirements or wanted.requirement_files:
        names = [f"{date:%Y-%m-%d}" for date in dates]
        both = [wanted, wanted]
    else:
        raise UsageError(
            "--good-date and --bad-date: of what? Name --requirements FILE, --with REQ, or --dockerfile FILE"
        )
    return _End(both[0], dates[0], names[0]), _End(both[1], dates[1], names[1])


def _named(requirements: RequirementsRequest) -> set[str]:
    """The distributions that requirement files name with a version."""
    return {
        str(canonicalize_name(pin.name))
        for path in requirements.requirement_files
        for pins in read_all(ReadRequest((path,)))
        for pin in pins.pins
        if pin.kind is PinKind.PACKAGE and not pin.floating
    }


def _kind(files: FilesRequest, name: str, named: set[str]) -> PinKind:
    """What is written down at an end is a pin; everything else floats."""
    written = files.good_file is not None or bool(files.good)
    return PinKind.PACKAGE if written and name in named else PinKind.FLOAT


def _resolved(request: RunRequest, index: "IndexConfiguration", end: _End) -> tuple[_End, Mapping[str, str]]:
    """Every distribution that the requirements of an end came to, with its version.

    A place without upload times (a directory of wheels, a mirror) may hold what was not there at the date. uv counts
    it; where another place dates that version later, it is ruled out, which the end that comes back says.

    Raises:
        NoSolutionError: nothing satisfies the requirements at this end.
    """
    left_out: dict[str, list[str]] = {}
    known = None
    while True:
        environment = _venv(request, end.requirements, index, end.date, ())
        try:
            found = dict(environment.resolve(Candidate(request.fixed)).resolved)
        except InfeasibleError as error:
            if known is not None:  # what the requirements ask for is had from such a place alone
                return known
            raise NoSolutionError(f"{end.name}: nothing satisfies the requirements: {error}") from error
        known = (end, found)
        late = _late(environment, found, end.date)
        if not late:
            return known
        left_out.update(late)
        file = without_versions(left_out, Path("later-releases.txt"), cache_directory(os.environ))
        others = [path for path in end.requirements.constraint_files if path.name != file.name]
        end = replace(end, requirements=replace(end.requirements, constraint_files=(*others, file)))


def _late(environment: "VenvEnvironment", found: Mapping[str, str], date: datetime) -> dict[str, list[str]]:
    """Of each distribution that came to a version which is dated later, all such versions."""
    index = environment.index
    if not (index.flat or index.without_upload_times or any(location.is_file for location in index.indexes)):
        return {}
    late = {}
    with package_index(index, environment.interpreter) as source:
        for name, version in found.items():
            listed = source.find_listing(name, before=date).releases(source.target, date)
            versions = [release.version.public for release in listed if is_too_new(release)]
            if Version(version).public in versions:
                late[name] = versions
    return late


def _venv(
    request: RunRequest,
    requirements: RequirementsRequest,
    index: "IndexConfiguration",
    date: datetime,
    pins: Sequence[str],
) -> "VenvEnvironment":
    from bisector.environments.venv.environment import VenvEnvironment

    return VenvEnvironment(
        requirements,
        index,
        date,
        cache_directory=cache_directory(os.environ),
        build_timeout=request.build_timeout,
        pins=pins,
        held=dict(request.fixed),
    )


def _axes(
    environment: "VenvEnvironment", names: Sequence[str], ends: Sequence[Mapping[str, str]], date: datetime
) -> list[Axis]:
    with package_index(environment.index, environment.interpreter) as source:
        return [_axis(source, name, ends[0][name], ends[1][name], date) for name in names]


def _axis(source: "PackageIndex", name: str, good: str, bad: str, date: datetime) -> Axis:
    known = source.releases(name, before=date)
    low, high = sorted((good, bad), key=Version)
    values = [
        AxisValue(str(found.version), found.upload_time) for found in releases_between(known, low, high, name=name)
    ]
    return Axis(name, PinKind.FLOAT, tuple(values if low == good else reversed(values)))


def _wanted(name: str, only: Sequence[str], exclude: Sequence[str]) -> bool:
    chosen, left_out = ({str(canonicalize_name(each)) for each in given} for given in (only, exclude))
    return (not chosen or name in chosen) and name not in left_out


def _notes(ends: Sequence[Mapping[str, str]], chosen: Sequence[str], moved: Sequence[str]) -> list[str]:
    notes = []
    for here, there, end in ((ends[0], ends[1], "good"), (ends[1], ends[0], "bad")):
        if alone := sorted(name for name in here if name not in there):
            notes.append(f"installed at the {end} end alone, and no axis: {', '.join(alone)}")
    if left := [name for name in moved if name not in chosen]:
        notes.append(f"moved, and not searched: {', '.join(left)}; they are as the resolver chooses at the bad end")
    return notes
