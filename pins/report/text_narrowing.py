"""How a search narrowed, drawn with characters: for terminals and for Markdown."""

from pins.report.blocks import Narrowed, Narrowing

_INSIDE, _OUTSIDE = "━", "·"
_COLUMNS = 48


def narrowing_lines(drawn: Narrowing, most: int, columns: int = _COLUMNS) -> list[str]:
    """A line for each thing that became known, at most so many: from both ends where there are more."""
    rows = list(enumerate(drawn.rows, 1))
    half = most // 2
    kept = rows if len(rows) <= most else [*rows[:half], *rows[-(most - half) :]]
    digits = len(str(len(rows)))
    first, last = (end.partition(":")[0] for end in drawn.ends)
    lines = [f"{'':{digits}}   {first:<{columns - len(last)}}{last}  steps left"]
    before = 0
    for number, row in kept:
        if number != before + 1:
            lines.append(f"{'':{digits}}   ({number - before - 1} more)")
        lines.append(f"{number:>{digits}} {row.mark.glyph} {_bar(drawn.last, row, columns)}  {row.left}")
        before = number
    return lines


def _bar(last: int, row: Narrowed, columns: int) -> str:
    def column(place: int) -> int:
        return round(min(max(place, 0), last) * (columns - 1) / max(1, last))

    cells = [_OUTSIDE] * columns
    for at in range(column(row.lower), column(row.upper) + 1):
        cells[at] = _INSIDE
    cells[column(row.mark.place)] = row.mark.glyph
    return "".join(cells)
