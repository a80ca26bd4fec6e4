"""Which version of a distribution a stage ends with, if it were built now: its commands in order, as pip obeys them.

A later install replaces an earlier version where that does not fit it, or where it asks for the newest (-U). What
installed releases require of each other is left out: it can lower a version further.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from pins.drift.readings.releases import best
from pins.metadata.environments.model import StageContents
from pins.release import Release
from pins.resolve.requirement_line import Markers, read_line


@dataclass(frozen=True)
class Request:
    """One requirement that a stage's command asks for.

    Attributes:
        specifier: what version it takes.
        where: line, with its file where that is another than the stage's, for a person.
        order: place in the stage's sequence.
        upgrade: whether the newest is asked for, whatever is installed.
    """

    specifier: SpecifierSet
    where: str
    order: int
    upgrade: bool = False

    @property
    def text(self) -> str:
        """The specifier for a person."""
        return str(self.specifier) or "any version"


@dataclass(frozen=True)
class Ends:
    """What a stage ends with.

    Attributes:
        version: of the distribution.
        because: the request that decided it.
    """

    version: Version
    because: Request


def requests_for(name: str, contents: StageContents, markers: Markers, file: str) -> Iterable[Request]:
    """What the commands of a stage of a file, and those of the stages that it descends from, ask of a distribution."""
    for one in contents.requested:
        line = read_line(one.text)
        if line.name == name and not line.problem and not line.url and markers.hold(line.marker, ""):
            where = f"line {one.line}" if one.file == file else f"{one.file}:{one.line}"
            yield Request(line.specifiers, where, one.line, one.upgrade)


def bounds_on(name: str, contents: StageContents) -> SpecifierSet:
    """What constraints files allow of a distribution."""
    found = SpecifierSet()
    for bound in contents.bounds:
        line = read_line(bound.requirement)
        if line.name == canonicalize_name(name):
            found &= line.specifiers
    return found


def ends_with(requests: Sequence[Request], releases: Sequence[Release], bounds: SpecifierSet) -> Ends | None:
    """The version that requests, obeyed in order, come to; None where there are none, or nothing fits the last."""
    current: Ends | None = None
    for request in sorted(requests, key=lambda one: one.order):
        fits = current is not None and request.specifier.contains(current.version, prereleases=True)
        if fits and not request.upgrade:
            continue
        chosen = best(releases, request.specifier & bounds)
        if chosen is not None:
            current = Ends(chosen.version, request)
        else:
            exact = _exact(request.specifier)
            current = Ends(exact, request) if exact is not None else None
    return current


def _exact(specifier: SpecifierSet) -> Version | None:
    found = [clause for clause in specifier if clause.operator == "==" and not clause.version.endswith(".*")]
    return Version(found[0].version) if found else None
