"""A log of one process: bounded in size, and complete on disk up to the last write whatever happens to us."""

import os
from collections.abc import Callable
from pathlib import Path

LOG_LIMIT = 16 * 1024 * 1024
"""Bytes that one process may add to its log."""

_HELD_BACK = 4096
"""Bytes of an unfinished line that redaction waits for: a credential may be cut in two by a write."""
_LONGEST_LINE = 64 * 1024
_SLACK = 8
"""How many times what is kept of a stream may lie in memory."""
_CONTINUATION = bytes(range(0x80, 0xC0))
"""Bytes that do not begin a character of UTF-8."""


class BoundedLog:
    """Appends to a file; the middle is left out once there is too much.

    The first quarter of the limit is kept as it came. What follows is kept until it fills the rest, then the older half
    of it gives way to the newer, and a note in its place says how many bytes are gone. So the file is in order and
    readable at any moment, nothing waits in memory, and a killed bisector loses nothing that was written.
    """

    def __init__(self, path: Path, limit: int = LOG_LIMIT) -> None:
        self._head = limit // 4
        self._rest = limit - self._head
        self._cut = 0
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._base = os.lseek(self._descriptor, 0, os.SEEK_END)
        self._end = self._base

    def write(self, data: bytes) -> None:
        """Append. Raises OSError where the disk does not take it."""
        rest_from = self._base + self._head
        while data:
            room = rest_from - self._end
            if room <= 0:
                room = rest_from + self._rest - self._end
            if room <= 0:
                self._drop_middle(rest_from)
                continue
            part, data = data[:room], data[room:]
            self._put(part, self._end)
            self._end += len(part)

    def _put(self, data: bytes, at: int) -> None:
        while data:
            count = os.pwrite(self._descriptor, data, at)
            data, at = data[count:], at + count

    def _drop_middle(self, rest_from: int) -> None:
        kept = os.pread(self._descriptor, self._rest // 2, self._end - self._rest // 2)
        note_size = len(self._note(0)) if self._cut else 0
        self._cut += self._end - rest_from - note_size - len(kept)
        note = self._note(self._cut)
        self._put(note + kept, rest_from)
        self._end = rest_from + len(note) + len(kept)
        os.ftruncate(self._descriptor, self._end)

    @staticmethod
    def _note(count: int) -> bytes:
        # Of one width, so that the count of what is gone stays exact when the note itself is replaced.
        return f"\n[... {count:>20} bytes left out here ...]\n".encode()

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class Stream:
    """One output stream of a process: redacted, written to the log, its end kept."""

    def __init__(self, log: BoundedLog, redact: Callable[[str], str] | None, keep: int) -> None:
        self._log = log
        self._redact = redact
        self._keep = keep
        self._tail = bytearray()
        self._pending = bytearray()

    def take(self, data: bytes) -> None:
        """Take what the process wrote."""
        if self._redact is None:
            self._emit(data)
            return
        cut = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if cut:
            self._emit(self._redacted(bytes(self._pending) + data[:cut]))
            self._pending.clear()
        self._pending += data[cut:]
        if len(self._pending) > _LONGEST_LINE:
            clean = self._redacted(bytes(self._pending))
            self._emit(clean[:-_HELD_BACK])
            self._pending = bytearray(clean[-_HELD_BACK:])

    def finish(self) -> None:
        """The stream has ended: write what was held back."""
        if self._pending:
            self._emit(self._redacted(bytes(self._pending)))
            self._pending.clear()

    @property
    def text(self) -> str:
        """The end of the stream, from the start of a character."""
        whole = len(self._tail) < self._keep
        tail = self._tail[-self._keep :]
        return (tail if whole else tail.lstrip(_CONTINUATION)).decode("utf-8", "replace")

    def _redacted(self, data: bytes) -> bytes:
        if self._redact is None:
            return data
        return self._redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _emit(self, data: bytes) -> None:
        self._log.write(data)
        self._tail += data[-self._keep :]
        if len(self._tail) > _SLACK * self._keep:  # now and then: at every write, it would be copied for a few bytes
            del self._tail[: -self._keep]
