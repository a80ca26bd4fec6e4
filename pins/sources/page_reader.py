"""Reading the pages of package indexes: over HTTP with retries, limits and validation, or from this machine."""

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

from packaging.utils import canonicalize_name

from pins.errors import SourceError
from pins.sources.index_configuration import IndexConfiguration
from pins.sources.index_location import IndexLocation
from pins.sources.index_page import ACCEPT, HTML_TYPES, IndexFile, NotAPageError, parse_page
from pins.sources.local_location import read_local
from pins.sources.page_cache import CachedPage, PageCache

if TYPE_CHECKING:
    import httpx

_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Patience:
    """How long an index is waited for; seconds and bytes.

    Attributes:
        tries: how often one page is asked for before giving up.
        connect, read: how long one connection, and one wait for bytes, may take.
        page: how long one answer may take in all.
        total: no further try is begun after this long.
        largest: how big a page may be.
        unvalidated: how old a kept page may be that the index gave no validator for.
    """

    tries: int = 5
    connect: float = 10
    read: float = 30
    page: float = 120
    total: float = 120
    largest: int = 64 * 2**20
    unvalidated: float = 600


@dataclass(frozen=True)
class Page:
    """What a location lists for a project.

    Attributes:
        location: who says so.
        files: of the project, installable ones only.
        fetched: when it was read (aware); what was uploaded later may be missing.
    """

    location: IndexLocation
    files: tuple[IndexFile, ...]
    fetched: datetime

    @property
    def has_upload_times(self) -> bool:
        """Whether the location tells when files were uploaded."""
        return any(file.upload_time is not None for file in self.files)


class _TryAgainError(Exception):
    """One try failed in a way that may pass; the message says how."""

    def __init__(self, message: str, wait: float = 0) -> None:
        super().__init__(message)
        self.wait = wait


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
        self._configuration = configuration
        self._cache = cache
        self._patience = patience or Patience()
        self._offline = offline
        self._transport = transport
        self._sleep = sleep
        self._now = now
        self._made_client: httpx.Client | None = None

    def close(self) -> None:
        """Close the connections."""
        if self._made_client is not None:
            self._made_client.close()
            self._made_client = None

    def read(self, location: IndexLocation, project: str, *, as_of: datetime | None = None) -> Page | None:
        """The page of a project, None where the location does not have it.

        Args:
            location: an index or a flat list of files.
            project: in any spelling.
            as_of: what was uploaded before this time must be in it; a kept page that is older is not used.

        Raises:
            SourceError: it could not be read.
        """
        if location.is_file:
            fetched = self._now()
            files = read_local(location, project, largest=self._patience.largest)
            return None if files is None else Page(location, files, fetched)
        url = location.url if location.flat else location.url + quote(canonicalize_name(project)) + "/"
        cache = None if location.has_credentials else self._cache
        kept = cache.get(url) if cache else None
        if kept is not None and self._still_good(kept, as_of):
            return Page(location, _parse(kept, project), kept.fetched)
        if self._offline:
            raise SourceError(f"{self._public(url)} is not in the cache, and --offline forbids asking for it")
        return self._ask(url, location, project, kept, cache)

    def speaks_json(self, location: IndexLocation) -> bool:
        """Whether an index answers in JSON, the only form that can tell upload times; asks for no page."""
        try:
            answer = self._client().request(
                "HEAD", location.url, headers={"Accept": ACCEPT}, auth=_authentication(location)
            )
        except Exception:  # it will be asked for real soon enough, and can say then what is wrong
            return True
        return not answer.headers.get("content-type", "").lower().startswith(HTML_TYPES)

    def _still_good(self, kept: CachedPage, as_of: datetime | None) -> bool:
        if self._offline:
            return True
        now = self._now()
        if kept.has_validator or now - kept.fetched > timedelta(seconds=self._patience.unvalidated):
            return False
        return is_recent(kept.fetched, as_of, now)

    def _ask(
        self, url: str, location: IndexLocation, project: str, kept: CachedPage | None, cache: PageCache | None
    ) -> Page | None:
        begun = time.monotonic()
        for count in range(1, self._patience.tries + 1):
            try:
                answer = self._ask_once(url, location, kept)
                if answer is None:
                    return None
                page = Page(location, _parse(answer, project), answer.fetched)
            except (_TryAgainError, NotAPageError) as error:
                if count == self._patience.tries or time.monotonic() - begun > self._patience.total:
                    tries = "once" if count == 1 else f"{count} times"
                    raise SourceError(
                        f"{self._public(url)} could not be read: {self._redact(str(error))} (tried {tries}). "
                        "Try again later, or name another index with --index-url."
                    ) from error
                wait = error.wait if isinstance(error, _TryAgainError) else 0
                self._sleep(max(wait, 0.5 * 2 ** (count - 1)))
            else:
                if cache:
                    cache.put(url, answer)
                return page
        raise AssertionError("at least one try")

    def _ask_once(self, url: str, location: IndexLocation, kept: CachedPage | None) -> CachedPage | None:
        import httpx

        headers = {"Accept": ACCEPT}
        if kept is not None and kept.etag:
            headers["If-None-Match"] = kept.etag
        if kept is not None and kept.last_modified:
            headers["If-Modified-Since"] = kept.last_modified
        asked = self._now()
        try:
            with self._client().stream("GET", url, headers=headers, auth=_authentication(location)) as answer:
                if answer.status_code == 304 and kept is not None:
                    return replace(kept, fetched=asked)
                if answer.status_code in (404, 410):
                    return None
                self._check_status(answer, url, location)
                body = self._body(answer, url)
                final = urlsplit(str(answer.url))
                return CachedPage(
                    url=urlunsplit((final.scheme, final.netloc.rpartition("@")[2], final.path, "", "")),
                    content_type=answer.headers.get("content-type", ""),
                    etag=answer.headers.get("etag", ""),
                    last_modified=answer.headers.get("last-modified", ""),
                    fetched=asked,
                    body=body,
                )
        except httpx.TooManyRedirects as error:
            raise SourceError(
                f"{self._public(url)} redirects in a loop. Name another index with --index-url."
            ) from error
        except httpx.TimeoutException as error:
            raise _TryAgainError(_what_timed_out(error, self._patience)) from error
        except httpx.DecodingError as error:
            raise _TryAgainError(f"its answer is broken: {error}") from error
        except httpx.TransportError as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise SourceError(
                    f"{self._public(url)} could not be read: its certificate is not trusted here. "
                    "Name the file of certificate authorities that is with SSL_CERT_FILE."
                ) from error
            raise _TryAgainError(str(error) or type(error).__name__) from error
        except (httpx.InvalidURL, httpx.HTTPError, ValueError) as error:
            raise SourceError(f"{self._public(url)} could not be read: {self._redact(str(error))}") from error

    def _check_status(self, answer: "httpx.Response", url: str, location: IndexLocation) -> None:
        status = answer.status_code
        if status == 200:
            return
        said = f"it answered {status} {answer.reason_phrase}".rstrip()
        if status in _TRANSIENT:
            raise _TryAgainError(said, wait=_retry_after(answer.headers.get("retry-after", ""), self._now()))
        if status in (401, 403, 407):
            given = "The credentials that were given" if location.has_credentials else "No credentials were given, they"
            raise SourceError(
                f"{self._public(url)} could not be read: {said}. {given} come from the index URL, from netrc, or from "
                "uv's variables for a named index."
            )
        raise SourceError(f"{self._public(url)} could not be read: {said}. Is it a package index?")

    def _body(self, answer: "httpx.Response", url: str) -> bytes:
        until = time.monotonic() + self._patience.page
        received = bytearray()
        for part in answer.iter_bytes():
            received += part
            if len(received) > self._patience.largest:
                raise SourceError(
                    f"{self._public(url)} is larger than {self._patience.largest // 2**20} MiB: no page of a package "
                    "index is. Name another index with --index-url."
                )
            if time.monotonic() > until:
                raise _TryAgainError(f"its answer was not complete after {self._patience.page:g} s")
        return bytes(received)

    def _client(self) -> "httpx.Client":
        if self._made_client is None:
            import httpx

            timeout = httpx.Timeout(self._patience.read, connect=self._patience.connect)
            self._made_client = httpx.Client(
                timeout=timeout,
                follow_redirects=True,
                max_redirects=10,
                verify=_certificates(self._configuration),
                transport=self._transport,
                mounts={
                    f"all://{host}": httpx.HTTPTransport(verify=False)  # as the user has said of this host
                    for host in self._configuration.insecure_hosts
                }
                if self._transport is None
                else None,
                headers={"User-Agent": "bisector", "Accept-Encoding": "gzip, deflate"},
            )
        return self._made_client

    def _redact(self, text: str) -> str:
        return self._configuration.redact(text)

    def _public(self, url: str) -> str:
        parts = urlsplit(url)
        return self._redact(urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")))


def is_recent(fetched: datetime, as_of: datetime | None, now: datetime) -> bool:
    """Whether a page read at `fetched` tells all that was uploaded before `as_of`.

    A time that has not come yet cannot be waited for: then a page of the last minute will do.
    """
    return as_of is None or fetched >= min(as_of, now - timedelta(minutes=1))


def _certificates(configuration: IndexConfiguration) -> ssl.SSLContext | bool:
    if not configuration.certificates:
        return True
    path = Path(configuration.certificates)
    try:
        if path.is_dir():
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path)
    except OSError as error:
        raise SourceError(f"{path} holds no certificates that can be read: {error}") from error


def _parse(page: CachedPage, project: str) -> tuple[IndexFile, ...]:
    return parse_page(page.body, page.content_type, page.url, project)


def _authentication(location: IndexLocation) -> tuple[str, str] | None:
    return (location.username, location.password) if location.has_credentials else None


def _retry_after(text: str, now: datetime) -> float:
    """Seconds to wait as a Retry-After header says, at most 30."""
    try:
        seconds = float(text) if text.strip().isdigit() else (parsedate_to_datetime(text) - now).total_seconds()
    except (TypeError, ValueError):
        return 0
    return min(max(seconds, 0), 30)


def _what_timed_out(error: "httpx.TimeoutException", patience: Patience) -> str:
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {patience.connect:g} s"
    return f"it sent nothing for {patience.read:g} s"
