"""Asking servers of packages over HTTP: one connection pool, retries, limits, and messages that a person can act on."""

import ssl
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit, urlunsplit

from pins.errors import SourceError
from pins.sources.index_configuration import IndexConfiguration

if TYPE_CHECKING:
    import httpx

_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
Result = TypeVar("Result")


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
class Question:
    """One request.

    Attributes:
        url: what is asked for, without credentials.
        headers: to send besides those of every request.
        authentication: user name and password for HTTP basic authentication, None for none.
        method: of the request.
        answers: statuses whose body is wanted, besides 200.
        absences: statuses that say that there is no such thing; with them the body is left unread.
        largest: how many bytes the body may have; 0 for as many as a page may have.
        what: of what kind the thing is, for messages: "a page of a package index".
        enough: is given each part of the body as it comes, and says whether the rest is not needed.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    authentication: tuple[str, str] | None = None
    method: str = "GET"
    answers: Collection[int] = ()
    absences: Collection[int] = (404, 410)
    largest: int = 0
    what: str = "a page of a package index"
    enough: Callable[[bytes], bool] | None = None


@dataclass(frozen=True)
class Answer:
    """What a server said.

    Attributes:
        url: where it came from, after redirects, without credentials and query.
        status: of HTTP.
        headers: with names in lower case.
        body: decompressed; "" where it was not read.
        asked: when the question was sent (aware).
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    asked: datetime


class TryAgainError(Exception):
    """One try failed in a way that may pass; the message says how.

    Attributes:
        wait: seconds that the server asks to wait.
    """

    def __init__(self, message: str, wait: float = 0) -> None:
        super().__init__(message)
        self.wait = wait


class HttpReader:
    """Asks questions; one connection pool for all, safe for several threads.

    Args:
        configuration: for certificates and masking.
        patience: how long to wait.
        transport: takes the place of the network.
        sleep, now: for tests.
    """

    def __init__(
        self,
        configuration: IndexConfiguration,
        *,
        patience: Patience | None = None,
        transport: "httpx.BaseTransport | None" = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.configuration = configuration
        self.patience = patience or Patience()
        self.now = now
        self._transport = transport
        self._sleep = sleep
        self._made_client: httpx.Client | None = None

    def close(self) -> None:
        """Close the connections."""
        if self._made_client is not None:
            self._made_client.close()
            self._made_client = None

    def retried(
        self, url: str, attempt: Callable[[], Result], *, again: tuple[type[Exception], ...] = (), advice: str
    ) -> Result:
        """What an attempt gives; further ones are made while it fails in ways that may pass.

        Args:
            url: what is asked for, for the message.
            attempt: asks once, and makes something of the answer.
            again: errors, besides `TryAgainError`, that are worth another try.
            advice: what to do when none succeeds, as a sentence.

        Raises:
            SourceError: none did.
        """
        begun = time.monotonic()
        passing: tuple[type[Exception], ...] = (TryAgainError, *again)
        for count in range(1, self.patience.tries + 1):
            try:
                return attempt()
            except passing as error:
                if count == self.patience.tries or time.monotonic() - begun > self.patience.total:
                    tries = "once" if count == 1 else f"{count} times"
                    raise SourceError(
                        f"{self.public(url)} could not be read: {self.redact(str(error))} (tried {tries}). {advice}"
                    ) from error
                wait = error.wait if isinstance(error, TryAgainError) else 0
                self._sleep(max(wait, 0.5 * 2 ** (count - 1)))
        raise AssertionError("at least one try")

    def once(self, question: Question) -> Answer:
        """Ask once.

        Raises:
            TryAgainError: it failed in a way that may pass.
            SourceError: it failed for good.
        """
        import httpx

        url = question.url
        asked = self.now()
        try:
            with self.client().stream(
                question.method, url, headers=dict(question.headers), auth=question.authentication
            ) as answer:
                absent = answer.status_code in question.absences
                if not absent and answer.status_code not in (200, *question.answers):
                    self._refuse(answer, question)
                body = b"" if absent else self._body(answer, question)
                final = urlsplit(str(answer.url))
                return Answer(
                    url=urlunsplit((final.scheme, final.netloc.rpartition("@")[2], final.path, "", "")),
                    status=answer.status_code,
                    headers={name.lower(): value for name, value in answer.headers.items()},
                    body=body,
                    asked=asked,
                )
        except httpx.TooManyRedirects as error:
            raise SourceError(
                f"{self.public(url)} redirects in a loop. Name another index with --index-url."
            ) from error
        except httpx.TimeoutException as error:
            raise TryAgainError(_what_timed_out(error, self.patience)) from error
        except httpx.DecodingError as error:
            raise TryAgainError(f"its answer is broken: {error}") from error
        except httpx.TransportError as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise SourceError(
                    f"{self.public(url)} could not be read: its certificate is not trusted here. "
                    "Name the file of certificate authorities that is with SSL_CERT_FILE."
                ) from error
            raise TryAgainError(str(error) or type(error).__name__) from error
        except (httpx.InvalidURL, httpx.HTTPError, ValueError) as error:
            raise SourceError(f"{self.public(url)} could not be read: {self.redact(str(error))}") from error

    def _refuse(self, answer: "httpx.Response", question: Question) -> None:
        status, url = answer.status_code, question.url
        said = f"it answered {status} {answer.reason_phrase}".rstrip()
        if status in _TRANSIENT:
            raise TryAgainError(said, wait=_retry_after(answer.headers.get("retry-after", ""), self.now()))
        if status in (401, 403, 407):
            given = "The credentials that were given" if question.authentication else "No credentials were given, they"
            raise SourceError(
                f"{self.public(url)} could not be read: {said}. {given} come from the index URL, from netrc, from the "
                "keyring, or from uv's variables for a named index."
            )
        raise SourceError(f"{self.public(url)} could not be read: {said}. Is it {question.what}?")

    def _body(self, answer: "httpx.Response", question: Question) -> bytes:
        until = time.monotonic() + self.patience.page
        largest = question.largest or self.patience.largest
        received = bytearray()
        for part in answer.iter_bytes():
            received += part
            if question.enough is not None and question.enough(part):
                break
            if len(received) > largest:
                raise SourceError(
                    f"{self.public(question.url)} is larger than {_size(largest)}: {question.what} is not. "
                    "Name another index with --index-url."
                )
            if time.monotonic() > until:
                raise TryAgainError(f"its answer was not complete after {self.patience.page:g} s")
        return bytes(received)

    def client(self) -> "httpx.Client":
        """The connection pool; made when it is first needed."""
        if self._made_client is None:
            import httpx

            timeout = httpx.Timeout(self.patience.read, connect=self.patience.connect)
            self._made_client = httpx.Client(
                timeout=timeout,
                follow_redirects=True,
                max_redirects=10,
                verify=_certificates(self.configuration),
                transport=self._transport,
                mounts={
                    f"all://{host}": httpx.HTTPTransport(verify=False)  # as the user has said of this host
                    for host in self.configuration.insecure_hosts
                }
                if self._transport is None
                else None,
                headers={"User-Agent": "bisector", "Accept-Encoding": "gzip, deflate"},
            )
        return self._made_client

    def redact(self, text: str) -> str:
        """The text without credentials."""
        return self.configuration.redact(text)

    def public(self, url: str) -> str:
        """The URL as it may be printed."""
        parts = urlsplit(url)
        return self.redact(urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")))


def _size(count: int) -> str:
    return f"{count // 2**20} MiB" if count >= 2**20 else f"{count} bytes"


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
