"""Plain questions, asked directly: what httpx would do, at a fifth of its price.

Windows are known only once a thousand small files have been read from one server, and nearly all of the time that httpx
takes for them is its own (`scripts/bench/metadata.py`). So what is plain is asked with the standard library's
`http.client`, over connections that are kept. Whatever is not plain is left to httpx, as if it had never been asked:
proxies, redirects, hosts whose certificates are not checked, odd URLs, encodings, connections that fail. Once a place
had to be left to httpx, it stays so.
"""

import base64
import http.client
import os
import re
import ssl
import sys
import threading
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from pins.sources.http_question import Patience, Question, TryAgainError

_PLAIN_URL = re.compile(r"(https?)://([A-Za-z0-9.-]+)(?::(\d{1,5}))?(/[A-Za-z0-9._~!$&'()*+,;=:@/%?-]*)?", re.ASCII)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PART = 2**16
_MOST_IDLE = 64

Place = tuple[str, str, int]
"""Scheme, host and port."""


class DirectAnswer:
    """An answer whose body is still to be read.

    Attributes:
        status, reason: of HTTP.
        headers: with names in lower case.
    """

    def __init__(self, response: http.client.HTTPResponse, patience: Patience) -> None:
        self.status = response.status
        self.reason = response.reason
        headers: dict[str, str] = {}
        for name, value in response.getheaders():
            before = headers.get(name.lower())
            headers[name.lower()] = value if before is None else f"{before}, {value}"
        self.headers: Mapping[str, str] = headers
        self._response = response
        self._patience = patience

    def parts(self) -> Iterator[bytes]:
        """The body, decompressed, as it comes.

        Raises:
            TryAgainError: it broke off, came too slowly, or cannot be decompressed.
        """
        return _decompressed(self._raw()) if self.headers.get("content-encoding") == "gzip" else self._raw()

    def _raw(self) -> Iterator[bytes]:
        response = self._response
        try:
            while part := response.read1(_PART):
                yield part
        except TimeoutError as error:
            raise TryAgainError(sent_nothing(self._patience)) from error
        except (http.client.HTTPException, OSError, ValueError) as error:
            raise TryAgainError(f"its answer broke off: {error or type(error).__name__}") from error
        if response.length:  # `read1` does not tell an end from a connection that ended
            raise TryAgainError(f"its answer broke off {response.length} bytes before its end")


class DirectHttp:
    """Connections that are kept; safe for several threads.

    Args:
        patience: how long to wait.
        certificates: makes the context for https, when it is first needed.
        left_out: hosts that are left to httpx, also as host:port.
        headers: to send with every question.
    """

    def __init__(
        self,
        patience: Patience,
        certificates: Callable[[], ssl.SSLContext],
        left_out: Collection[str],
        headers: Mapping[str, str],
    ) -> None:
        self._patience = patience
        self._certificates = certificates
        self._left_out = frozenset(host.lower() for host in left_out)
        self._headers = headers
        self._proxied = _is_proxied(os.environ)
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None
        self._idle: dict[Place, list[http.client.HTTPConnection]] = {}
        self._left: set[Place] = set()

    def close(self) -> None:
        """Close the connections that nobody uses."""
        with self._lock:
            connections = [one for some in self._idle.values() for one in some]
            self._idle.clear()
        for connection in connections:
            connection.close()

    @contextmanager
    def asked(self, question: Question) -> Iterator[DirectAnswer | None]:
        """The answer to a question, None where it is left to httpx.

        Raises:
            TryAgainError: nothing came for too long.
        """
        found = self._plain(question)
        answered = self._answered(*found, question) if found else None
        if found is None or answered is None:
            yield None
            return
        connection, response = answered
        try:
            yield DirectAnswer(response, self._patience)
        except BaseException:
            connection.close()
            raise
        self._keep(found[0], connection, response)

    def _plain(self, question: Question) -> tuple[Place, str] | None:
        """Where a question goes, and what it asks for there; None where it is not plain."""
        if self._proxied or question.method not in ("GET", "HEAD"):
            return None
        match = _PLAIN_URL.fullmatch(question.url)
        if match is None:
            return None
        scheme, host, port, target = match.groups()
        place = (scheme, host.lower(), int(port or (443 if scheme == "https" else 80)))
        if place in self._left or not self._left_out.isdisjoint((place[1], f"{place[1]}:{place[2]}")):
            return None
        return place, target or "/"

    def _answered(
        self, place: Place, target: str, question: Question
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse] | None:
        """A connection and what came over it; None where httpx is to ask."""
        headers = {**self._headers, "Accept-Encoding": "gzip", **question.headers}
        if question.authentication is not None:
            headers["Authorization"] = _basic(*question.authentication)
        while True:
            reached = self._connection(place)
            if reached is None:
                break
            connection, kept = reached
            try:
                connection.request(question.method, target, headers=headers)
                response = connection.getresponse()
            except TimeoutError as error:
                connection.close()
                raise TryAgainError(sent_nothing(self._patience)) from error
            except (http.client.HTTPException, OSError, ValueError):
                connection.close()
                if kept:
                    continue  # servers close connections that nobody has used for a while
                break
            except BaseException:
                connection.close()
                raise
            if response.status in _REDIRECTS or response.headers.get("content-encoding", "gzip") != "gzip":
                connection.close()
                break
            return connection, response
        with self._lock:
            self._left.add(place)
        return None

    def _connection(self, place: Place) -> tuple[http.client.HTTPConnection, bool] | None:
        """A connection, and whether it was used before; None where there is none to be had."""
        scheme, host, port = place
        with self._lock:
            idle = self._idle.get(place)
            if idle:
                return idle.pop(), True
            if scheme == "https" and self._context is None:
                self._context = self._certificates()
        wait = self._patience.connect
        connection = (
            http.client.HTTPSConnection(host, port, timeout=wait, context=self._context)
            if scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=wait)
        )
        try:
            connection.connect()
        except TimeoutError as error:
            raise TryAgainError(no_connection(self._patience)) from error
        except OSError:
            return None
        connection.sock.settimeout(self._patience.read)
        return connection, False

    def _keep(self, place: Place, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        """Keep a connection for the next question, if its answer has come to its end or soon will."""
        if not response.isclosed():
            if response.length is None or response.length > _PART:
                connection.close()
                return
            try:
                response.read()
            except (http.client.HTTPException, OSError):
                connection.close()
                return
        with self._lock:
            idle = self._idle.setdefault(place, [])
            if len(idle) < _MOST_IDLE and connection.sock is not None:
                idle.append(connection)
                return
        connection.close()


def _is_proxied(environment: Mapping[str, str]) -> bool:
    """Whether anything says that some questions go through a proxy; which, httpx knows."""
    if sys.platform in ("darwin", "win32"):
        from urllib.request import getproxies  # the system says so too

        return any(scheme != "no" for scheme in getproxies())
    named = {name.lower() for name, value in environment.items() if value}
    return any(name.endswith("_proxy") and name != "no_proxy" for name in named)


def no_connection(patience: Patience) -> str:
    """What is said of a server that cannot be reached in time."""
    return f"no connection within {patience.connect:g} s"


def sent_nothing(patience: Patience) -> str:
    """What is said of a server that is too slow."""
    return f"it sent nothing for {patience.read:g} s"


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def _decompressed(parts: Iterator[bytes]) -> Iterator[bytes]:
    """What gzip made small; never much more at once than a part, whatever it grows to."""
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        for part in parts:
            rest = part
            while rest:
                yield decoder.decompress(rest, _PART)
                rest = decoder.unconsumed_tail
        yield decoder.flush()
    except zlib.error as error:
        raise TryAgainError(f"its answer is broken: {error}") from error
    if not decoder.eof:
        raise TryAgainError("its answer broke off before its end")
