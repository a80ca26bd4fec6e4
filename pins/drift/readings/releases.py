"""The releases and files of a project, as the configured indexes list them."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import ClassVar

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from pins.drift.model import Tools
from pins.release import Release
from pins.sources.index_file import IndexFile
from pins.sources.listing import Listing


@dataclass(frozen=True)
class Project:
    """What the indexes have of a project.

    Attributes:
        listing: wheels and source distributions, of all releases.
        before: the time as of which they were read, None for now.
        asked: which indexes were asked, for messages.
    """

    listing: Listing
    before: datetime | None
    asked: str
    _kept: dict[tuple[datetime | None, str], tuple[Release, ...]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def releases(self, before: datetime | None = None, python: str = "") -> tuple[Release, ...]:
        """Its releases as of a time, ascending; those uploaded later are left out, and so are those of no use.

        Args:
            before: a time, None for that of the run.
            python: the version of Python that files must take, "" for any.
        """
        limits = [moment for moment in (before, self.before) if moment is not None]
        key = (min(limits, default=None), python)
        if key not in self._kept:
            takes = partial(_takes, python=python) if python else None
            found = self.listing.releases(None, key[0], takes)
            self._kept[key] = tuple(one for one in found if one.is_usable)
        return self._kept[key]

    @property
    def tells_times(self) -> bool:
        """Whether it is known when files were uploaded."""
        return self.listing.has_upload_times

    def files_of(self, version: Version) -> tuple[IndexFile, ...]:
        """The files of a version, and of its builds (`2.13.0+cpu`), as `==` without a local version takes them."""
        versions = self.listing.versions
        found: list[IndexFile] = []
        place = bisect_left(versions, version)
        while place < len(versions) and (versions[place] == version or _is_build(versions[place], version)):
            found.extend(self.listing.release_files(place))
            place += 1
        return tuple(found)


@dataclass(frozen=True)
class ProjectPage:
    """Reads all of a project from the configured indexes; without files where no index has it.

    Attributes:
        name: canonical.
    """

    name: str

    at_once: ClassVar[int] = 48

    @property
    def host(self) -> str:
        """All indexes are asked as one."""
        return "package index"

    def read(self, tools: Tools) -> Project:
        """Read it; raises SourceError where an index could not be read."""
        return Project(tools.index.find_listing(self.name, before=tools.as_of), tools.as_of, tools.index.asked)


def _is_build(one: Version, version: Version) -> bool:
    """Whether one is a local version of the other; such come right behind it."""
    return version.local is None and one.local is not None and Version(one.public) == version


def best(releases: Sequence[Release], specifier: SpecifierSet | None = None) -> Release | None:
    """What an installer takes of releases: the newest that fits and is not yanked; a pre-release only if need be."""
    fitting = [
        one
        for one in releases
        if not one.yanked and (specifier is None or specifier.contains(one.version, prereleases=True))
    ]
    stable = [one for one in fitting if not one.version.is_prerelease]
    return max(stable or fitting, default=None)


def _takes(requires_python: str, python: str) -> bool:
    if not requires_python or not python:
        return True
    try:
        wanted = SpecifierSet(requires_python)
    except InvalidSpecifier:
        return True
    # "3.12" stands for all of its patches: the newest is what an image gets.
    version = Version(python if python.count(".") > 1 else f"{python}.99")
    return wanted.contains(version, prereleases=True)
