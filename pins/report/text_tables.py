"""How wide the columns of a table are on a terminal."""

from collections.abc import Iterator, Sequence

from pins.report.characters import width, wrap

_GAP = 2
_NARROWEST = 8
"""A column of words is not made narrower than this; a table that would need it is drawn as records instead."""


def columns_of(
    header: Sequence[str], rows: Sequence[Sequence[str]], numeric: frozenset[int], available: int
) -> list[int] | None:
    """The width of each column, so that together they fit; None where that would make columns too narrow to read.

    Columns take what they need; where that is too much, the widest ones of words give way first.
    """
    needed = [
        max(width(title), *(width(row[place]) for row in rows)) if rows else width(title)
        for place, title in enumerate(header)
    ]
    room = available - _GAP * (len(header) - 1)
    widths = list(needed)
    while sum(widths) > room:
        flexible = [place for place in range(len(widths)) if place not in numeric and widths[place] > _NARROWEST]
        if not flexible:
            return None
        widest = max(flexible, key=lambda place: widths[place])
        widths[widest] -= min(
            sum(widths) - room, max(widths[widest] - _NARROWEST, 1), _excess(widths, flexible, widest)
        )
    return widths


def _excess(widths: list[int], flexible: list[int], widest: int) -> int:
    """By how much the widest column exceeds the next one; at least 1."""
    others = [widths[place] for place in flexible if place != widest]
    return max(widths[widest] - max(others, default=_NARROWEST), 1)


def stacked(header: Sequence[str], rows: Sequence[Sequence[str]], available: int) -> Iterator[str]:
    """A table as records, one line a cell, for terminals too narrow for its columns."""
    label_width = max(map(width, header)) + 2
    for place, row in enumerate(rows):
        if place:
            yield ""
        for title, cell in zip(header, row, strict=True):
            if not cell:
                continue
            for number, part in enumerate(wrap(cell, max(available - label_width, _NARROWEST), break_words=True)):
                yield f"{title + ':' if not number else '':<{label_width}}{part}"
