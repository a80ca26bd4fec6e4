"""Reading the pages of package indexes: over HTTP with validation, from the cache, or from this machine."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

from packaging.utils import canonicalize_name

from pins.errors import SourceError
from pins.sources.http_reader import HttpReader, Patience, Question
from pins.sources.index_configuration import IndexConfiguration
from pins.sources.index_location import IndexLocation
from pins.sources.index_page import ACCEPT, HTML_TYPES, NotAPageError, parse_page
from pins.sources.listing import Listing
from pins.sources.local_location import read_local
from pins.sources.page_cache import CachedPage, PageCache

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Page:
    """What a location lists for a project.

    Attributes:
        location: who says so.
        listing: its files, installable ones only.
        fetched: when it was read (aware); what was uploaded later may be missing.
    """

    location: IndexLocation
    listing: Listing
    fetched: datetime

    @property
    def has_upload_times(self) -> bool:
        """Whether the location tells when files were uploaded."""
        return self.listing.has_upload_times


class NotKeptError(SourceError):
    """It is not in the cache, and may not be asked for."""


class PageReader:
    """Reads pages; one connection pool for all, safe for several threads.

    Args:
        configuration: for credentials, certificates and masking.
        cache: where pages are kept; None keeps none.
        patience: how long to wait.
        offline: whether only kept pages may be used.
        transport: takes the place of the network.
        sleep, now: for tests.
    """

    def __init__(
        self,
        configuration: IndexConfiguration,
        *,
        cache: PageCache | None = None,
        patience: Patience | None = None,
        offline: bool = False,
        transport: "httpx.BaseTransport | None" = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.offline = offline
        self.http = HttpReader(configuration, patience=patience, transport=transport, sleep=sleep, now=now)
        self._cache = cache
        self._patience = self.http.patience
        self._now = now

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def read(self, location: IndexLocation, project: str, *, as_of: datetime | None = None) -> Page | None:
        """The page of a project, None where the location does not have it.

        Args:
            location: an index or a flat list of files.
            project: in any spelling.
            as_of: what was uploaded before this time must be in it; a kept page that is older is not used.

        Raises:
            SourceError: it could not be read; a `NotKeptError` where it may not be asked for.
        """
        if location.is_file:
            fetched = self._now()
            listing = read_local(location, project, largest=self._patience.largest)
            return None if listing is None else Page(location, listing, fetched)
        url = location.url if location.flat else location.url + quote(canonicalize_name(project)) + "/"
        cache = None if location.has_credentials else self._cache
        key = f"flat {url}" if location.flat else url  # of an index, a page is that of one project
        kept = cache.get(key) if cache else None
        if kept is not None and self._still_good(kept, as_of):
            read = self._read(kept, location, project)
            if cache and read is not kept:
                cache.put(key, read)
            return _page(read, location, project)
        if self.offline:
            raise NotKeptError(f"{self.http.public(url)} is not in the cache, and --offline forbids asking for it")
        return self._ask(url, location, project, kept, cache, key)

    def speaks_json(self, location: IndexLocation) -> bool:
        """Whether an index answers in JSON, the only form that can tell upload times; asks for no page."""
        try:
            answer = self.http.client().request(
                "HEAD", location.url, headers={"Accept": ACCEPT}, auth=location.authentication
            )
        except Exception:  # it will be asked for real soon enough, and can say then what is wrong
            return True
        return not answer.headers.get("content-type", "").lower().startswith(HTML_TYPES)

    def _still_good(self, kept: CachedPage, as_of: datetime | None) -> bool:
        if self.offline:
            return True
        now = self._now()
        if kept.fetched > now:  # the clock was set back: nothing tells how old it is
            return False
        limit = self._patience.unvalidated
        good_for = min(kept.fresh_for, limit) if kept.has_validator else limit
        if not good_for or now - kept.fetched > timedelta(seconds=good_for):
            return False
        return is_recent(kept.fetched, as_of, now)

    def _ask(
        self,
        url: str,
        location: IndexLocation,
        project: str,
        kept: CachedPage | None,
        cache: PageCache | None,
        key: str,
    ) -> Page | None:
        def attempt() -> Page | None:
            answer = self._ask_once(url, location, kept)
            if answer is None:
                return None
            is_kept = kept is not None and answer.body is kept.body and answer.listing is kept.listing
            read = self._read(answer, location, project)
            if cache and is_kept and read is answer and not answer.fresh_for:
                cache.use(key)
            elif cache:
                cache.put(key, read)
            return _page(read, location, project)

        return self.http.retried(
            url, attempt, again=(NotAPageError,), advice="Try again later, or name another index with --index-url."
        )

    def _read(self, page: CachedPage, location: IndexLocation, project: str) -> CachedPage:
        """The page with its listing; the same where it has that, or where it is a flat page, which has many."""
        if page.listing is not None or location.flat:
            return page
        return replace(page, listing=_parse(page, project))

    def _ask_once(self, url: str, location: IndexLocation, kept: CachedPage | None) -> CachedPage | None:
        headers = {"Accept": ACCEPT}
        if kept is not None and kept.etag:
            headers["If-None-Match"] = kept.etag
        if kept is not None and kept.last_modified:
            headers["If-Modified-Since"] = kept.last_modified
        unchanged = (304,) if kept is not None else ()
        answer = self.http.once(
            Question(url, headers, location.authentication, absences=(404, 410, *unchanged), answers=unchanged)
        )
        if answer.status == 304 and kept is not None:
            return replace(kept, fetched=answer.asked)
        if answer.status in (404, 410):
            return None
        return CachedPage(
            url=answer.url,
            content_type=answer.headers.get("content-type", ""),
            etag=answer.headers.get("etag", ""),
            last_modified=answer.headers.get("last-modified", ""),
            fetched=answer.asked,
            body=answer.body,
            fresh_for=_seconds_fresh(answer.headers.get("cache-control", "")),
        )


def _seconds_fresh(text: str) -> int:
    """How long an answer holds, as its Cache-Control header says (RFC 9111); 0 where it does not."""
    said = {part.strip().partition("=")[0].lower(): part.partition("=")[2].strip(' "') for part in text.split(",")}
    if "no-cache" in said or "no-store" in said:
        return 0
    age = said.get("max-age", "")
    return int(age) if age.isdecimal() else 0


def is_recent(fetched: datetime, as_of: datetime | None, now: datetime) -> bool:
    """Whether a page read at `fetched` tells all that was uploaded before `as_of`.

    A time that has not come yet cannot be waited for: then a page of the last minute will do.
    """
    return as_of is None or fetched >= min(as_of, now - timedelta(minutes=1))


def _page(read: CachedPage, location: IndexLocation, project: str) -> Page:
    return Page(location, read.listing if read.listing is not None else _parse(read, project), read.fetched)


def _parse(page: CachedPage, project: str) -> Listing:
    assert page.body is not None, "it is left unread only where there is a listing"
    return parse_page(page.body, page.content_type, page.url, project)
