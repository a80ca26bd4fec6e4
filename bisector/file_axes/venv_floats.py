"""Requirements of a virtual environment at two dates: what the resolver chose at each are the ends.

Direct and transitive requirements alike: a distribution that has another version at the bad date is an axis over the
releases in between. What is there at one date alone is no axis; the resolver adds it where it is needed.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from bisector.environments.base import Environment, InfeasibleError
from bisector.environments.fixed_pins import FixedPins
from bisector.model import Axis, AxisValue, Candidate
from bisector.request import RunRequest
from pins.errors import NoSolutionError, UsageError
from pins.model import PinKind
from pins.sources.releases import releases_between

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


def venv_environment(request: RunRequest, index: "IndexConfiguration") -> Environment:
    """A virtual environment for what a request's requirements came to at two dates.

    Raises:
        UsageError: nothing that was asked for moved between the dates, or there are no requirements.
        NoSolutionError: there is no set of versions at one of the dates.
    """
    files = request.files
    if files is None or files.good_date is None or files.bad_date is None or files.good or files.good_file:
        raise UsageError(
            "--env venv takes ends from dates, --good-date and --bad-date with --requirements FILE or --with REQ; ends"
            " from two files or two revisions need a Dockerfile"
        )
    wanted = request.requirements
    if not (wanted.requirements or wanted.requirement_files):
        raise UsageError(
            "--good-date and --bad-date: of what? Name --requirements FILE, --with REQ, or --dockerfile FILE"
        )
    ends = [_resolved(request, index, date) for date in (files.good_date, files.bad_date)]
    held = {str(canonicalize_name(name)) for name, _ in request.fixed}
    moved = [name for name in ends[1] if name in ends[0] and ends[0][name] != ends[1][name] and name not in held]
    chosen = [name for name in moved if _wanted(name, files.only, files.exclude)]
    if not chosen:
        raise UsageError(
            f"between {files.good_date:%Y-%m-%d} and {files.bad_date:%Y-%m-%d} nothing moved among what is installed"
            + (f" but {', '.join(moved)}, which --only and --exclude leave out" if moved else "")
        )
    environment = _venv(request, index, files.bad_date, chosen)
    axes = _axes(environment, chosen, ends, files.bad_date)
    made: Environment = FixedPins(environment, request.fixed) if request.fixed else environment
    return FloatingVenv(made, axes, _notes(ends, chosen, moved))


def _resolved(request: RunRequest, index: "IndexConfiguration", date: datetime) -> Mapping[str, str]:
    """Every distribution that the requirements came to at a date, with its version."""
    environment = _venv(request, index, date, ())
    try:
        return dict(environment.resolve(Candidate(request.fixed)).resolved)
    except InfeasibleError as error:
        raise NoSolutionError(f"as of {date:%Y-%m-%d} nothing satisfies the requirements: {error}") from error


def _venv(request: RunRequest, index: "IndexConfiguration", date: datetime, pins: Sequence[str]) -> "VenvEnvironment":
    from bisector.environments.venv.environment import VenvEnvironment
    from pins.sources.page_cache import cache_directory

    return VenvEnvironment(
        request.requirements,
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
    with _index_of(environment) as source:
        return [_axis(source, name, ends[0][name], ends[1][name], date) for name in names]


def _axis(source: "PackageIndex", name: str, good: str, bad: str, date: datetime) -> Axis:
    known = source.releases(name, before=date)
    low, high = sorted((good, bad), key=Version)
    values = [
        AxisValue(str(found.version), found.upload_time) for found in releases_between(known, low, high, name=name)
    ]
    return Axis(name, PinKind.FLOAT, tuple(values if low == good else reversed(values)))


def _index_of(environment: "VenvEnvironment") -> "PackageIndex":
    from pins.sources.package_index import PackageIndex
    from pins.sources.page_cache import PageCache, cache_directory
    from pins.sources.target import target_of

    return PackageIndex(
        environment.index, target_of(environment.interpreter), cache=PageCache(cache_directory(os.environ))
    )


def _wanted(name: str, only: Sequence[str], exclude: Sequence[str]) -> bool:
    chosen, left_out = ({str(canonicalize_name(each)) for each in given} for given in (only, exclude))
    return (not chosen or name in chosen) and name not in left_out


def _notes(ends: Sequence[Mapping[str, str]], chosen: Sequence[str], moved: Sequence[str]) -> list[str]:
    notes = []
    for here, there, end in ((ends[0], ends[1], "good"), (ends[1], ends[0], "bad")):
        if alone := sorted(name for name in here if name not in there):
            notes.append(f"installed at the {end} date alone, and no axis: {', '.join(alone)}")
    if left := [name for name in moved if name not in chosen]:
        notes.append(f"moved, and not searched: {', '.join(left)}; they are as the resolver chooses at the bad date")
    return notes
