"""The releases of a project, from every index that is configured."""

import difflib
import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from packaging.utils import InvalidName, canonicalize_name

from pins.errors import UsageError
from pins.release import Release
from pins.sources.http_reader import Patience
from pins.sources.index_configuration import IndexConfiguration
from pins.sources.index_file import IndexFile
from pins.sources.index_location import IndexLocation
from pins.sources.index_settings import IndexStrategy
from pins.sources.listing import Listing, listing_of
from pins.sources.local_location import local_projects
from pins.sources.page_cache import PageCache
from pins.sources.page_reader import Page, PageReader, is_recent
from pins.sources.target import Target

if TYPE_CHECKING:
    import httpx


class PackageIndex:
    """Every configured index as one; safe for several threads.

    A page is read once for the life of the object, unless a later question needs it newer than it is.

    Args:
        configuration: which indexes, with which strategy and credentials.
        target: what files must fit; None takes every file.
        cache: where pages are kept between calls; None keeps none.
        patience: how long an index is waited for.
        offline: whether only kept pages may be used.
        transport: takes the place of the network.
        reader: takes the place of all of the four before.
    """

    def __init__(
        self,
        configuration: IndexConfiguration,
        target: Target | None = None,
        *,
        cache: PageCache | None = None,
        patience: Patience | None = None,
        offline: bool = False,
        transport: "httpx.BaseTransport | None" = None,
        reader: PageReader | None = None,
    ) -> None:
        self.configuration = configuration
        self.target = target
        self.reader = reader or PageReader(
            configuration, cache=cache, patience=patience, offline=offline, transport=transport
        )
        self._pages: dict[tuple[IndexLocation, str], Page | None] = {}
        self._locks: dict[tuple[IndexLocation, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.reader.close()

    def for_target(self, target: Target | None) -> "PackageIndex":
        """The same indexes for another target; pages that the one has read are not read again by the other."""
        other = PackageIndex(self.configuration, target, reader=self.reader)
        other._pages, other._locks, other._lock = self._pages, self._locks, self._lock
        return other

    def releases(self, name: str, *, before: datetime | None = None) -> tuple[Release, ...]:
        """Every release of a project, ascending by version.

        Releases without a usable file are among them and say why (`Release.unusable`); yanked and pre-releases too.

        Args:
            name: of the project, in any spelling.
            before: the index is read as of this time (aware): files uploaded later do not count.

        Raises:
            UsageError: no index has a project of this name, or it is no name.
            SourceError: an index could not be read.
        """
        found = self.listing(name, before=before).releases(self.target, before)
        if not found:
            raise UsageError(f"{name} has no release that can be installed: asked {self.asked}")
        return found

    def listing(self, name: str, *, before: datetime | None = None) -> Listing:
        """Every file of a project, of indexes and flat lists, as the strategy says; raises as `releases` does.

        Files without an upload time, on an index that gives upload times, are left out where `before` is given, as uv
        leaves them out. On an index that gives none, they count.
        """
        project = _checked_name(name)
        pages = self._pages_of(project, before)
        if not pages:
            raise UsageError(f"unknown package {name}: asked {self.asked}{self._suggestion(project)}")
        return _joined(pages, before)

    def find_listing(self, name: str, *, before: datetime | None = None) -> Listing:
        """As `listing`, but a project that no index has is no error: it has no files."""
        return _joined(self._pages_of(_checked_name(name), before), before)

    def files(self, name: str, *, before: datetime | None = None) -> tuple[IndexFile, ...]:
        """The files of `listing`, one by one."""
        return self.listing(name, before=before).files

    def _pages_of(self, project: str, before: datetime | None) -> list[Page]:
        pages: list[Page] = []
        for location in self.configuration.indexes:
            page = self._page(location, project, before)
            if page is not None:
                pages.append(page)
                if self.configuration.strategy is IndexStrategy.FIRST_INDEX:
                    break
        for location in self.configuration.flat:
            page = self._page(location, project, before)
            if page is not None and page.listing:
                pages.append(page)
        return pages

    def knowing_upload_times(self, names: Collection[str]) -> IndexConfiguration:
        """The configuration, with the indexes marked that do not tell when files were uploaded.

        uv would take such an index for empty when it reads the indexes as of a time.

        Args:
            names: projects by whose pages an index is judged; one that has none of them is judged by whether it
                answers in JSON at all, since HTML knows no upload times.

        Raises:
            SourceError: an index could not be read.
        """
        found = set()
        for location in self.configuration.indexes:
            pages = [self._page(location, _checked_name(name), None) for name in names]
            known = [page for page in pages if page is not None and page.listing]
            if known:
                timeless = not any(page.has_upload_times for page in known)
            else:
                timeless = location.is_file or not self.reader.speaks_json(location)
            if timeless:
                found.add(location.url)
        return replace(self.configuration, without_upload_times=frozenset(found))

    def _page(self, location: IndexLocation, project: str, before: datetime | None) -> Page | None:
        key = (location, project)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            page = self._pages.get(key)
            if page is None or not is_recent(page.fetched, before, datetime.now(UTC)):
                page = self.reader.read(location, project, as_of=before)
                self._pages[key] = page
            return page

    @property
    def asked(self) -> str:
        """Where is looked, for messages; without credentials."""
        return ", ".join(self.configuration.public()) or "no index (none is configured, and no files are linked)"

    def _suggestion(self, project: str) -> str:
        names = {
            name for location in self.configuration.indexes if location.is_file for name in local_projects(location)
        }
        close = difflib.get_close_matches(project, sorted(names), n=3)
        return (
            f". Did you mean {' or '.join(close)}?"
            if close
            else ". Check the spelling, or name its index with --index-url."
        )


def _joined(pages: Sequence[Page], before: datetime | None) -> Listing:
    if len(pages) == 1:
        listing = pages[0].listing
        if before is None or listing.has_all_upload_times or not listing.has_upload_times:
            return listing
    return listing_of(
        one
        for page in pages
        for one in page.listing.listed()
        if before is None or one.uploaded or not page.has_upload_times
    )


def _checked_name(name: str) -> str:
    try:
        return canonicalize_name(name, validate=True)
    except InvalidName as error:
        raise UsageError(
            f"{name!r} is not the name of a package: letters, digits and ., _ or - between them are allowed"
        ) from error
