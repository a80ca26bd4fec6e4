"""Asking servers of packages over HTTP: retries, limits, and messages that a person can act on.

What is plain is asked directly (`pins.sources.direct_http`), everything else through httpx; whoever asks does not
notice which it was.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import urlsplit, urlunsplit

from pins.errors import SourceError
from pins.sources.certificates import trusting
from pins.sources.direct_http import DirectHttp, no_connection, sent_nothing
from pins.sources.http_question import Answer, Patience, Question, TryAgainError
from pins.sources.index_configuration import IndexConfiguration

if TYPE_CHECKING:
    import httpx

__all__ = ["Answer", "HttpReader", "Patience", "Question", "TryAgainError"]

_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9.:-]+/[^@?#\s]*")
"""One without a query and credentials, and nearly all there are."""
_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
_HEADERS = {"User-Agent": "bisector"}
Result = TypeVar("Result")


class _Received(Protocol):
    """An answer whose body is still to be read; names of headers are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]

    def parts(self) -> Iterator[bytes]: ...


class _OfHttpx:
    def __init__(self, answer: "httpx.Response") -> None:
        self.status = answer.status_code
        self.reason = answer.reason_phrase
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in answer.headers.items()}
        self.parts = answer.iter_bytes


class HttpReader:
    """Asks questions over connections that are kept; safe for several threads.

    Args:
        configuration: for certificates and masking.
        patience: how long to wait.
        transport: takes the place of the network.
        sleep, now: for tests.

    Attributes:
        quickest: seconds that the quickest answer took to begin, of those that were asked for directly.
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
        self.quickest = float("inf")
        self._transport = transport
        self._sleep = sleep
        self._made_client: httpx.Client | None = None
        self._direct = (
            None
            if transport is not None
            else DirectHttp(self.patience, lambda: trusting(configuration), configuration.insecure_hosts, _HEADERS)
        )

    def close(self) -> None:
        """Close the connections."""
        if self._direct is not None:
            self._direct.close()
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
        asked = self.now()
        if self._direct is not None:
            begun = time.perf_counter()
            with self._direct.asked(question) as received:
                if received is not None:
                    self.quickest = min(self.quickest, time.perf_counter() - begun)
                    return self._answer(question, asked, question.url, received)
        return self._through_httpx(question, asked)

    def _through_httpx(self, question: Question, asked: datetime) -> Answer:
        import httpx

        url = question.url
        try:
            with self.client().stream(
                question.method, url, headers=dict(question.headers), auth=question.authentication
            ) as response:
                return self._answer(question, asked, str(response.url), _OfHttpx(response))
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

    def _answer(self, question: Question, asked: datetime, url: str, received: _Received) -> Answer:
        absent = received.status in question.absences
        if not absent and received.status not in (200, *question.answers):
            self._refuse(received, question)
        body = b"" if absent else self._body(received, question)
        public = url
        if not _PLAIN_URL.fullmatch(url):
            final = urlsplit(url)
            public = urlunsplit((final.scheme, final.netloc.rpartition("@")[2], final.path, "", ""))
        return Answer(url=public, status=received.status, headers=received.headers, body=body, asked=asked)

    def _refuse(self, answer: _Received, question: Question) -> None:
        status, url = answer.status, question.url
        said = f"it answered {status} {answer.reason}".rstrip()
        if status in _TRANSIENT:
            raise TryAgainError(said, wait=_retry_after(answer.headers.get("retry-after", ""), self.now()))
        if status in (401, 403, 407):
            given = "The credentials that were given" if question.authentication else "No credentials were given, they"
            raise SourceError(
                f"{self.public(url)} could not be read: {said}. {given} come from the index URL, from netrc, from the "
                "keyring, or from uv's variables for a named index."
            )
        raise SourceError(f"{self.public(url)} could not be read: {said}. Is it {question.what}?")

    def _body(self, answer: _Received, question: Question) -> bytes:
        until = time.monotonic() + self.patience.page
        largest = question.largest or self.patience.largest
        received = bytearray()
        for part in answer.parts():
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
        """What asks through httpx, with our settings; made when it is first needed."""
        if self._made_client is None:
            import httpx

            timeout = httpx.Timeout(self.patience.read, connect=self.patience.connect)
            self._made_client = httpx.Client(
                timeout=timeout,
                follow_redirects=True,
                max_redirects=10,
                verify=trusting(self.configuration),
                transport=self._transport,
                mounts={
                    f"all://{host}": httpx.HTTPTransport(verify=False)  # as the user has said of this host
                    for host in self.configuration.insecure_hosts
                }
                if self._transport is None
                else None,
                headers={**_HEADERS, "Accept-Encoding": "gzip, deflate"},
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


def _retry_after(text: str, now: datetime) -> float:
    """Seconds to wait as a Retry-After header says, at most 30."""
    from email.utils import parsedate_to_datetime

    try:
        seconds = float(text) if text.strip().isdigit() else (parsedate_to_datetime(text) - now).total_seconds()
    except (TypeError, ValueError):
        return 0
    return min(max(seconds, 0), 30)


def _what_timed_out(error: "httpx.TimeoutException", patience: Patience) -> str:
    import httpx

    return no_connection(patience) if isinstance(error, httpx.ConnectTimeout) else sent_nothing(patience)
