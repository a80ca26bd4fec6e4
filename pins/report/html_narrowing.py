"""How a search narrowed, as a drawing in the page (SVG) with a table of the same numbers below it.

The drawing is one picture to a screen reader, named by its caption; the table says the same row by row. What was seen
is told by shape and side, not by colour alone; a row says itself in words under the pointer.
"""

import html
from collections.abc import Iterator

from pins.report.blocks import Mark, Narrowed, Narrowing
from pins.report.characters import clip, one_line

_WIDTH = 1000
_LEFT, _RIGHT = 48, 110
"""Room for the numbers of rows, and for how many steps are left."""
_STRIP = 58
"""Where the row of places stands, from the top."""
_TALL = 16
_FIRST_ROW = 128
_ALL_ROWS = 640
_LINE = 15
"""Least distance of two lines of text."""
_LABEL = 60
"""Characters of a label in the drawing; the table has all of it."""


def narrowing_html(drawn: Narrowing) -> Iterator[str]:
    """A figure and a table."""
    yield '<figure class="narrowing">'
    yield '<div class="scroll" tabindex="0" role="group" aria-label="Drawing of the search">'
    yield from _drawing(drawn)
    yield "</div>"
    yield "<figcaption>Above the line: passed; below it: failed; on it: told nothing. Then one row for each thing that"
    yield "became known, from the top: the bar spans what was still suspected.</figcaption>"
    yield "</figure>"
    yield f"<details><summary>The same as a table ({len(drawn.rows)} rows)</summary>"
    yield '<div class="scroll" tabindex="0" role="group" aria-label="How the search narrowed"><table>'
    yield "<caption>What was known after each thing that was seen</caption>"
    heads = (("", ' class="number"'), ("seen", ""), ("at", ""), ("steps left", ' class="number"'), ("likeliest", ""))
    yield (
        "<thead><tr>"
        + "".join(f'<th scope="col"{kind}>{title or "no."}</th>' for title, kind in heads)
        + "</tr></thead>"
    )
    yield "<tbody>"
    yield from (_row(number, row) for number, row in enumerate(drawn.rows, 1))
    yield "</tbody></table></div></details>"


def _row(number: int, row: Narrowed) -> str:
    mark = row.mark
    seen = f'<span class="{mark.tone}"><span aria-hidden="true">{_text(mark.glyph)}</span> {_text(mark.word)}</span>'
    return (
        f'<tr><td class="number">{number}</td><td>{seen}</td><td><code>{_text(mark.label)}</code></td>'
        f'<td class="number">{row.left}</td><td>{_text(row.likeliest)}</td></tr>'
    )


def _drawing(drawn: Narrowing) -> Iterator[str]:
    height = max(1.6, min(20.0, _ALL_ROWS / max(1, len(drawn.rows))))
    bottom = _FIRST_ROW + height * len(drawn.rows)
    yield (
        f'<svg class="drawn" viewBox="0 0 {_WIDTH} {_number(bottom + 6)}" role="img"'
        f' aria-label="{_text(drawn.caption)}">'
    )
    for place, name in drawn.named:
        x = _x(drawn, place)
        yield f'<path class="guide" d="M{_number(x)} {_STRIP}V{_number(bottom)}"/>'
        yield from _name(drawn, place, name)
    yield f'<path class="axis" d="M{_LEFT} {_STRIP}H{_WIDTH - _RIGHT}"/>'
    yield from (_seen(drawn, mark) for mark in drawn.marks)
    for end, x, anchor in ((drawn.ends[0], _LEFT, "start"), (drawn.ends[1], _WIDTH - _RIGHT, "end")):
        yield f'<text x="{x}" y="{_STRIP + 2 * _TALL + 26}" text-anchor="{anchor}">{_clipped(end)}</text>'
    if drawn.rows:
        yield f'<text x="{_WIDTH}" y="{_FIRST_ROW - 8}" text-anchor="end">steps left</text>'
    written = 0.0
    for number, row in enumerate(drawn.rows, 1):
        y = _FIRST_ROW + height * (number - 0.5)
        yield _narrowed(drawn, number, row, y, height)
        if number == 1 or y - written >= _LINE:
            written = y
            yield f'<text x="{_LEFT - 14}" y="{_number(y + 4)}" text-anchor="end">{number}</text>'
            yield f'<text x="{_WIDTH}" y="{_number(y + 4)}" text-anchor="end">{row.left}</text>'
    yield "</svg>"


def _narrowed(drawn: Narrowing, number: int, row: Narrowed, y: float, height: float) -> str:
    mark = row.mark
    thick = max(0.8, height * 0.45)
    left, right = _x(drawn, row.lower), _x(drawn, row.upper)
    steps = "1 step" if row.left == 1 else f"{row.left} steps"
    likeliest = f"; likeliest: {row.likeliest}" if row.likeliest else ""
    said = f"{number}: {mark.word} at {mark.label}; {steps} left{likeliest}"
    bar = (
        f'<rect class="bar" x="{_number(left)}" y="{_number(y - thick / 2)}"'
        f' width="{_number(max(right - left, 1.5))}" height="{_number(thick)}"/>'
    )
    shape = _shape(mark, _x(drawn, mark.place), y, min(6.0, max(1.3, height * 0.4)))
    return f"<g><title>{_text(said)}</title>{bar}{shape}</g>"


def _shape(mark: Mark, x: float, y: float, size: float) -> str:
    """A disc for what speaks for the good side, a cross for the bad one, a ring for neither."""
    at, across = _number(x), _number(y)
    if mark.side > 0:
        return f'<circle class="{mark.tone} disc" cx="{at}" cy="{across}" r="{_number(size)}"/>'
    if mark.side == 0:
        return f'<circle class="{mark.tone} ring" cx="{at}" cy="{across}" r="{_number(size * 0.8)}"/>'
    start, whole = _number(x - size), _number(2 * size)
    cross = f"M{start} {_number(y - size)}l{whole} {whole}M{start} {_number(y + size)}l{whole} -{whole}"
    return f'<path class="{mark.tone} cross" stroke-width="{_number(max(1.0, size * 0.5))}" d="{cross}"/>'


def _seen(drawn: Narrowing, mark: Mark) -> str:
    """A bar that stands on the row of places, or hangs from it."""
    room = (_WIDTH - _LEFT - _RIGHT) / (drawn.last + 1)
    wide = max(1.5, min(10.0, room * 0.9))
    top, tall = {1: (_STRIP - _TALL, _TALL), -1: (_STRIP, _TALL)}.get(mark.side, (_STRIP - 4, 8))
    bar = (
        f'<rect class="{mark.tone} tick" x="{_number(_x(drawn, mark.place) - wide / 2)}" y="{top}"'
        f' width="{_number(wide)}" height="{tall}"/>'
    )
    return f"<g><title>{_text(f'{mark.word} at {mark.label}')}</title>{bar}</g>"


def _name(drawn: Narrowing, place: int, name: str) -> Iterator[str]:
    """The name of a place: above the row where it passed, below it where it did not, so that neighbours do not meet."""
    mark = next((mark for mark in drawn.marks if mark.place == place), None)
    above = mark is not None and mark.side > 0
    y = _STRIP - _TALL - 8 if above else _STRIP + _TALL + 16
    x = _x(drawn, place)
    anchor = "start" if x < _WIDTH * 0.35 else "end" if x > _WIDTH * 0.65 else "middle"
    yield f'<text class="name" x="{_number(x)}" y="{y}" text-anchor="{anchor}">{_clipped(name)}</text>'


def _x(drawn: Narrowing, place: int) -> float:
    return _LEFT + (place + 0.5) / (drawn.last + 1) * (_WIDTH - _LEFT - _RIGHT)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _clipped(text: str) -> str:
    return html.escape(clip(one_line(text), _LABEL))


def _text(text: str) -> str:
    return html.escape(one_line(text))
