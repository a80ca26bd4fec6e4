"""A text stream that may break while a run goes on."""

import io
from typing import TextIO


class GuardedStream:
    """Writes to a stream until that fails (a closed pipe, a lost terminal, a full disk); from then on, nowhere.

    `None`, what Python has in place of a stream that was closed when it began, has failed from the start.

    Attributes:
        broken: whether writing has failed.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.broken = stream is None  # closed before the program began
        self._stream = stream or io.StringIO()

    @property
    def encoding(self) -> str:
        """The encoding of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write, with what the encoding lacks replaced."""
        if self.broken:
            return len(text)
        try:
            self._stream.write(text.encode(self.encoding, "replace").decode(self.encoding))
        except (OSError, ValueError):
            self.broken = True
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        if self.broken:
            return
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self.broken = True

    def isatty(self) -> bool:
        """Whether a terminal reads this."""
        try:
            return not self.broken and self._stream.isatty()
        except (OSError, ValueError):
            return False

    def fileno(self) -> int:
        """The file descriptor; `OSError` where there is none."""
        return self._stream.fileno()
