"""Plain questions, asked directly: what httpx would do, at a fifth of its price.

Windows are known only once a thousand small files have been read from one server, and nearly all of the time that httpx
takes for them is its own (`scripts/bench/metadata.py`). So what is plain is asked over plain connections that are kept
(`pins.sources.plain_connection`). Whatever is not plain is left to httpx, as if it had never been asked:
proxies, redirects, hosts whose certificates are not checked, odd URLs, encodings, connections that fail. Once a place
had to be left to httpx, it stays so.
"""

import base64
import contextlib
import os
import re
import sys
import threading
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pins.sources.http_question import Patience, Question, TryAgainError
from pins.sources.plain_connection import PART, BrokenAnswerError, Connection, Reply

if TYPE_CHECKING:
    import ssl

_PLAIN_URL = re.compile(r"(https?)://([A-Za-z0-9.-]+)(?::(\d{1,5}))?(/[A-Za-z0-9._~!$&'()*+,;=:@/%?-]*)?", re.ASCII)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_IDLE = 64

Place = tuple[str, str, int]
"""Scheme, host and port."""


class DirectAnswer:
    """An answer whose body is still to be read.

    Attributes:
        status, reason: of HTTP.
        headers: with names in lower case.
    """

    def __init__(self, reply: Reply, patience: Patience) -> None:
        self.status = reply.status
        self.reason = reply.reason
        self.headers = reply.headers
        self._reply = reply
        self._patience = patience

    def parts(self) -> Iterator[bytes]:
        """The body, decompressed, as it comes.

        Raises:
            TryAgainError: it broke off, came too slowly, or cannot be decompressed.
        """
        return _decompressed(self._raw()) if self.headers.get("content-encoding") == "gzip" else self._raw()

    def _raw(self) -> Iterator[bytes]:
        try:
            yield from self._reply.parts()
        except TimeoutError as error:
            raise TryAgainError(sent_nothing(self._patience)) from error
        except (BrokenAnswerError, OSError) as error:
            raise TryAgainError(f"its answer broke off: {error or type(error).__name__}") from error


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
        certificates: "Callable[[], ssl.SSLContext]",
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
        self._idle: dict[Place, list[Connection]] = {}
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
        connection, reply = answered
        try:
            yield DirectAnswer(reply, self._patience)
        except BaseException:
            connection.close()
            raise
        self._keep(found[0], connection, reply)

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

    def _answered(self, place: Place, target: str, question: Question) -> tuple[Connection, Reply] | None:
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
                reply = connection.ask(question.method, target, headers)
            except TimeoutError as error:
                connection.close()
                raise TryAgainError(sent_nothing(self._patience)) from error
            except (BrokenAnswerError, OSError, ValueError):
                connection.close()
                if kept:
                    continue  # servers close connections that nobody has used for a while
                break
            except BaseException:
                connection.close()
                raise
            if reply.status in _REDIRECTS or reply.headers.get("content-encoding", "gzip") != "gzip":
                connection.close()
                break
            return connection, reply
        with self._lock:
            self._left.add(place)
        return None

    def _connection(self, place: Place) -> tuple[Connection, bool] | None:
        """A connection, and whether it was used before; None where there is none to be had."""
        scheme, host, port = place
        with self._lock:
            idle = self._idle.get(place)
            if idle:
                return idle.pop(), True
            if scheme == "https" and self._context is None:
                self._context = self._certificates()
        try:
            connection = Connection(host, port, self._context if scheme == "https" else None, self._patience.connect)
        except TimeoutError as error:
            raise TryAgainError(no_connection(self._patience)) from error
        except OSError:
            return None
        connection.wait_for(self._patience.read)
        return connection, False

    def _keep(self, place: Place, connection: Connection, reply: Reply) -> None:
        """Keep a connection for the next question, if its answer has come to its end or soon will."""
        if not reply.is_last and not reply.is_read and reply.left is not None and reply.left <= PART:
            with contextlib.suppress(BrokenAnswerError, OSError):
                for _ in reply.parts():
                    pass
        if reply.is_last or not reply.is_read:
            connection.close()
            return
        with self._lock:
            idle = self._idle.setdefault(place, [])
            if len(idle) < _MOST_IDLE:
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
                yield decoder.decompress(rest, PART)
                rest = decoder.unconsumed_tail
        yield decoder.flush()
    except zlib.error as error:
        raise TryAgainError(f"its answer is broken: {error}") from error
    if not decoder.eof:
        raise TryAgainError("its answer broke off before its end")
