"""HTTP/1.1 over one connection, as far as small plain answers take: a question's bytes out, an answer's in.

The standard library's client has headers read by a parser of mail: that takes as long as everything else that such an
answer takes, and importing it as long as thirty answers. What is not as it should be raises `BrokenAnswerError`; who
asked then leaves the question to a client that copes with it.
"""

import re
import socket
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

PART = 2**16
"""Bytes that are read at once, at most."""
_MOST_HEADERS = 100
_LONGEST_LINE = 2**16
_ODD = re.compile(r"[^\t -~\x80-\xff]")
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) (\d{3})(?: ([^\r\n]*))?\r?\n")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*\r?\n")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")


class BrokenAnswerError(Exception):
    """An answer is not as HTTP has it, or did not come to its end; the message says how."""


class Connection:
    """A connection that questions are asked over, one after another.

    Args:
        host, port: of the server.
        context: for TLS; None for none.
        timeout: seconds for connecting.

    Raises:
        OSError: it cannot be reached; a TimeoutError where that took too long.
    """

    def __init__(self, host: str, port: int, context: "ssl.SSLContext | None", timeout: float) -> None:
        made = socket.create_connection((host, port), timeout)
        try:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = made if context is None else context.wrap_socket(made, server_hostname=host)
        except BaseException:
            made.close()
            raise
        usual = port == (80 if context is None else 443)
        self._host = host if usual else f"{host}:{port}"
        self._file = self._socket.makefile("rb")

    def wait_for(self, seconds: float) -> None:
        """How long to wait for bytes from now on."""
        self._socket.settimeout(seconds)

    def close(self) -> None:
        """Close it."""
        self._file.close()
        self._socket.close()

    def ask(self, method: str, target: str, headers: Mapping[str, str]) -> "Reply":
        """The answer to a question, its headers read; its body is to be read before the next question.

        Raises:
            BrokenAnswerError: it is none, or there was none.
            ValueError: a header cannot be sent.
            OSError: the connection failed.
        """
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self._host}"]
        for name, value in headers.items():
            if _ODD.search(value):
                raise ValueError(f"the header {name} cannot be sent")
            lines.append(f"{name}: {value}")
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode("iso-8859-1"))
        while True:
            status_line = self._line()
            found = _STATUS_LINE.fullmatch(status_line)
            if found is None:
                raise BrokenAnswerError("there is no answer" if not status_line else "it is no answer of HTTP")
            received = self._headers()
            if found[2] != "100":
                return Reply(self, method, found[1] == "1", int(found[2]), (found[3] or "").strip(), received)

    def _line(self) -> str:
        line = self._file.readline(_LONGEST_LINE + 1)
        if len(line) > _LONGEST_LINE:
            raise BrokenAnswerError("a line of its headers is too long")
        return line.decode("iso-8859-1")

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for _ in range(_MOST_HEADERS):
            line = self._line()
            if line in ("\r\n", "\n"):
                return headers
            found = _HEADER.fullmatch(line)
            if found is None:
                raise BrokenAnswerError("a line of its headers is none")
            name, value = found[1].lower(), found[2]
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        raise BrokenAnswerError(f"it has more than {_MOST_HEADERS} headers")

    def read(self, count: int) -> bytes:
        """Some bytes, at most so many; none at the end of the connection."""
        return self._file.read1(count)

    def read_line(self) -> bytes:
        """A line between chunks."""
        return self._file.readline(_LONGEST_LINE)


class Reply:
    """An answer whose body is still to be read.

    Attributes:
        status, reason: of HTTP.
        headers: with names in lower case; several of one name are one.
        left: bytes of the body that are still to come, None where that is not known.
        is_read: whether the body was read to its end.
        is_last: whether no further question can be asked over the connection.
    """

    def __init__(
        self, connection: Connection, method: str, is_current: bool, status: int, reason: str, headers: dict[str, str]
    ) -> None:
        self.status = status
        self.reason = reason
        self.headers: Mapping[str, str] = headers
        self._connection = connection
        encoding = headers.get("transfer-encoding", "").lower()
        length = headers.get("content-length", "")
        if encoding not in ("", "chunked") or (length and not re.fullmatch(r"[0-9]{1,15}", length)):
            raise BrokenAnswerError("how long it is is not said as it should be")
        self._chunked = bool(encoding)
        self.left = int(length) if length and not self._chunked else None
        if method == "HEAD" or status in (204, 304):
            self.left, self._chunked = 0, False
        said = headers.get("connection", "").lower()
        self.is_last = "close" in said or not (is_current or "keep-alive" in said)
        self.is_last = self.is_last or (self.left is None and not self._chunked)
        self.is_read = self.left == 0

    def parts(self) -> Iterator[bytes]:
        """The body as it comes.

        Raises:
            BrokenAnswerError: it broke off.
            OSError: the connection failed.
        """
        if self._chunked:
            yield from self._chunks()
        elif self.left is None:
            while part := self._connection.read(PART):
                yield part
        else:
            while self.left:
                part = self._connection.read(min(self.left, PART))
                if not part:
                    raise BrokenAnswerError(f"{self.left} bytes before its end")
                self.left -= len(part)
                yield part
        self.is_read = True

    def _chunks(self) -> Iterator[bytes]:
        while size := self._size():
            while size:
                part = self._connection.read(min(size, PART))
                if not part:
                    raise BrokenAnswerError("in the middle of a chunk")
                size -= len(part)
                yield part
            if self._connection.read_line() not in (b"\r\n", b"\n"):
                raise BrokenAnswerError("a chunk is longer than it says")
        for _ in range(_MOST_HEADERS):
            line = self._connection.read_line()
            if line in (b"\r\n", b"\n"):
                return
            if not line:
                break
        raise BrokenAnswerError("behind its last chunk")

    def _size(self) -> int:
        found = _SIZE.fullmatch(self._connection.read_line())
        if found is None:
            raise BrokenAnswerError("where a chunk should begin")
        return int(found[1], 16)
