"""A report for a person at a terminal: plain lines that fit its width, colours where asked for."""

import shlex
from collections.abc import Iterator

from pins.report.blocks import (
    Block,
    Bullets,
    Chain,
    Code,
    Document,
    Facts,
    Line,
    Narrowing,
    Paragraph,
    Section,
    Strip,
    Table,
    plain,
)
from pins.report.characters import cut_lines, one_line, visible, width, wrap
from pins.report.terminal_colours import painted
from pins.report.text_narrowing import narrowing_lines
from pins.report.text_tables import columns_of, stacked
from pins.report.tones import Tone

_INDENT = "  "
_NARROWEST = 30
_NARROWING_LINES = 16
_NARROWEST_BAR, _WIDEST_BAR, _BESIDE_A_BAR = 12, 60, 20
_OUTPUT_LINES = 40
"""So much of a long output is shown: its end, where errors stand."""


def render_text(document: Document, columns: int, *, color: bool) -> str:
    """The document in lines of at most so many columns; only a path, link or word of a command may be longer."""
    writer = _TextWriter(max(columns, _NARROWEST), color)
    return "\n".join(line.rstrip() for line in writer.document(document)) + "\n"


class _TextWriter:
    """Knows the width and whether colours are wanted."""

    def __init__(self, columns: int, color: bool) -> None:
        self._columns = columns
        self._color = color

    def document(self, document: Document) -> Iterator[str]:
        for line in wrap(one_line(document.title), self._columns):
            yield self._painted(line, Tone.STRONG if document.tone is Tone.PLAIN else document.tone)
        for block in document.lead:
            yield ""
            yield from self._block(block, "")
        for section in document.sections:
            yield ""
            yield from self._section(section)
        yield ""
        for line in wrap(one_line(document.footer), self._columns):
            yield self._painted(line, Tone.FAINT)

    def _section(self, section: Section) -> Iterator[str]:
        yield self._painted(section.title, Tone.STRONG)
        for block in section.blocks:
            yield from self._block(block, _INDENT)

    def _painted(self, text: str, tone: Tone) -> str:
        return painted(text, tone) if self._color else text

    def _block(self, block: Block, indent: str) -> Iterator[str]:
        match block:
            case Paragraph(line):
                yield from self._running(line, indent, indent)
            case Bullets(lines):
                for item in lines:
                    yield from self._running(item, f"{indent}- ", f"{indent}  ")
            case Facts(rows):
                yield from self._facts(rows, indent)
            case Table():
                yield from self._table(block, indent)
            case Chain():
                yield from self._chain(block, indent)
            case Strip(entries, caption):
                if caption:
                    yield f"{indent}{one_line(caption)}:"
                for entry in entries:
                    marks = "".join(f" <- {mark}" for mark in entry.marks)
                    word = self._painted(f"{entry.word:8}", entry.tone)
                    yield f"{indent}{word} {one_line(entry.label)}{marks}"
            case Narrowing():
                room = self._columns - width(indent) - _BESIDE_A_BAR
                bar = max(_NARROWEST_BAR, min(_WIDEST_BAR, room))
                yield from (indent + told for told in narrowing_lines(block, _NARROWING_LINES, bar))
            case Code(text, command=True):
                yield from _command(text, self._columns, indent)
            case Code(text):
                margin = f"{indent}| "
                shown = cut_lines(visible(text), self._columns - width(margin))
                if len(shown) > _OUTPUT_LINES:
                    yield f"{indent}({len(shown) - _OUTPUT_LINES} lines before these are left out)"
                yield from (margin + one for one in shown[-_OUTPUT_LINES:])

    def _running(self, line: Line, first: str, rest: str) -> Iterator[str]:
        """Wrapped running text. A colour never spans a line break: each piece is painted by itself."""
        out, used, started = first, width(first), False
        for word in _words(line):
            size = sum(width(text) for text, _ in word)
            if started and used + 1 + size > self._columns:
                yield out
                out, used, started = rest, width(rest), False
            if started:
                out, used = out + " ", used + 1
            out += "".join(self._painted(text, tone) for text, tone in word)
            used, started = used + size, True
        yield out

    def _facts(self, rows: tuple[tuple[str, Line], ...], indent: str) -> Iterator[str]:
        if not rows:
            return
        label_width = min(max(width(one_line(label)) for label, _ in rows), self._columns // 2)
        for label, line in rows:
            shown = one_line(label) + (":" if label else "")
            first = f"{indent}{shown}{' ' * (label_width + 2 - width(shown))}"
            rest = indent + " " * (label_width + 2)
            longest = max((sum(width(text) for text, _ in word) for word in _words(line)), default=0)
            if width(shown) > label_width + 1 or width(rest) + longest > self._columns:
                yield indent + shown
                first = rest = indent + _INDENT
            yield from self._running(line, first, rest)

    def _table(self, table: Table, indent: str) -> Iterator[str]:
        rows = [tuple(one_line(plain(cell)) for cell in row) for row in table.rows]
        tones = [tuple(_tone(cell) for cell in row) for row in table.rows]
        available = self._columns - width(indent)
        widths = columns_of(table.header, rows, table.numeric, available)
        if widths is None:
            yield from (indent + line for line in stacked(table.header, rows, available))
            return
        yield indent + self._painted(_aligned(table.header, widths, table.numeric), Tone.FAINT)
        for row, row_tones in zip(rows, tones, strict=True):
            cells = [wrap(cell, size, break_words=True) for cell, size in zip(row, widths, strict=True)]
            for place in range(max(map(len, cells))):
                parts = []
                for column, cell in enumerate(cells):
                    part = cell[place] if place < len(cell) else ""
                    space = " " * (widths[column] - width(part))
                    painted = self._painted(part, row_tones[column])
                    parts.append(space + painted if column in table.numeric else painted + space)
                yield indent + "  ".join(parts)

    def _chain(self, chain: Chain, indent: str) -> Iterator[str]:
        strip = [(entry.glyph, entry.tone) for entry in chain.entries for _ in range(min(entry.length, 3))]
        for start in range(0, len(strip), self._columns - width(indent)):
            part = strip[start : start + self._columns - width(indent)]
            yield indent + "".join(self._painted(glyph, tone) for glyph, tone in part)
        if not chain.labels:
            return
        word_width = max(width(entry.word) for entry in chain.entries)
        for entry in chain.entries:
            outcome = f"{entry.glyph} {entry.word}".rstrip()
            margin = word_width + 4
            first = f"{indent}{self._painted(outcome, entry.tone)}{' ' * (margin - width(outcome))}"
            rest = indent + " " * margin
            said = one_line(entry.label) + (f"  ({entry.note})" if entry.note else "")
            for place, told in enumerate(wrap(said, self._columns - width(rest), break_words=True)):
                yield (rest if place else first) + told


def _words(line: Line) -> list[list[tuple[str, Tone]]]:
    """The words of a line, each as pieces of one tone: a word may cross from one span into the next."""
    words: list[list[tuple[str, Tone]]] = [[]]
    for span in line:
        for place, part in enumerate(one_line(span.text).split(" ")):
            if place:
                words.append([])
            if part:
                words[-1].append((part, span.tone))
    return words


def _tone(cell: Line) -> Tone:
    return next((span.tone for span in cell if span.tone is not Tone.PLAIN), Tone.PLAIN)


def _pad(text: str, columns: int, *, right: bool = False) -> str:
    space = " " * max(columns - width(text), 0)
    return space + text if right else text + space


def _aligned(cells: tuple[str, ...], widths: list[int], numeric: frozenset[int]) -> str:
    return "  ".join(_pad(cell, widths[place], right=place in numeric) for place, cell in enumerate(cells))


def _command(text: str, columns: int, indent: str) -> Iterator[str]:
    """A command line, broken between its words with backslashes so that it can still be copied."""
    if width(indent) + width(text) <= columns or "\n" in text:
        yield from (indent + one_line(line) for line in text.split("\n"))
        return
    try:
        words = [shlex.quote(word) for word in shlex.split(text)]
    except ValueError:
        yield indent + one_line(text)
        return
    line = ""
    for word in words:
        if line and width(f"{indent}{line} {word} \\") > columns:
            yield f"{indent}{one_line(line)} \\"
            line = _INDENT + word
        else:
            line = f"{line} {word}" if line else word
    yield indent + one_line(line)
