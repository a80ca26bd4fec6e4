"""Text that is read as one run although the file spreads it over several places.

A Dockerfile instruction may be continued over lines with comments in between; a heredoc may be indented. What a reader
downstream sees is the joined text; where each byte of it came from is kept, so that a span found in it can be edited
in the file.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class JoinedText:
    r"""Joined bytes and the places they came from.

    Attributes:
        text: the joined bytes, such as b"pip install  foo" for ``pip install \`` and ``foo`` on two lines.
        starts: offsets in `text` where a new place begins, ascending, the first 0.
        sources: for each of `starts`, the offset in the file.
    """

    text: bytes
    starts: tuple[int, ...]
    sources: tuple[int, ...]

    def source(self, offset: int) -> int:
        """The offset in the file of the byte at `offset` of the joined text."""
        index = bisect_right(self.starts, offset) - 1
        return self.sources[index] + offset - self.starts[index]

    def source_end(self, offset: int) -> int:
        """The offset in the file just behind the byte before `offset`."""
        return self.source(offset - 1) + 1 if offset else self.source(0)

    def runs(self, start: int, end: int) -> list[tuple[int, int]]:
        """The pieces of [start, end) that lie in one place each, as (start, end) of the joined text."""
        if len(self.starts) == 1:
            return [(start, end)]
        first = bisect_right(self.starts, start)
        last = bisect_right(self.starts, end - 1) if end > start else first
        edges = [start, *self.starts[first:last], end]
        return list(pairwise(edges))

    def part(self, start: int, end: int) -> "JoinedText":
        """The joined text from `start` to `end`."""
        if len(self.starts) == 1:  # nearly always
            return JoinedText(self.text[start:end], (0,), (self.sources[0] + start,))
        runs = self.runs(start, end)
        return JoinedText(
            self.text[start:end],
            tuple(run_start - start for run_start, _ in runs),
            tuple(self.source(run_start) for run_start, _ in runs),
        )


def join(data: bytes, spans: Iterable[tuple[int, int]]) -> JoinedText:
    """Join the spans (start, end) of `data`, leaving out empty ones."""
    parts: list[bytes] = []
    starts: list[int] = []
    sources: list[int] = []
    length = 0
    first: int | None = None
    for start, end in spans:
        if first is None:
            first = start
        if end <= start:
            continue
        parts.append(data[start:end])
        starts.append(length)
        sources.append(start)
        length += end - start
    if not parts:
        return JoinedText(b"", (0,), (first or 0,))
    return JoinedText(b"".join(parts), tuple(starts), tuple(sources))
