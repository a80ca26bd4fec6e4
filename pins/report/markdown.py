"""A report that can be pasted into an issue: GitHub's Markdown, short enough for it, its long parts folded.

Foreign text stands in code spans and fenced blocks, where it can neither format anything nor call a person (`@name`)
or another issue (`#1`) by accident; what stands in running text is escaped.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pins.report.blocks import (
    Block,
    Bullets,
    Chain,
    ChainEntry,
    Code,
    Document,
    Facts,
    Line,
    Narrowing,
    Paragraph,
    Section,
    Span,
    Strip,
    StripEntry,
    Table,
)
from pins.report.characters import clip, last_bytes, one_line, visible
from pins.report.text_narrowing import narrowing_lines
from pins.report.tones import Tone

LIMIT = 60 * 1024
"""Bytes of a whole report: GitHub takes 65,536 characters in an issue or comment, and people add words of their own."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<|~&$])")
_LEADING = re.compile(r"^(\s*)([#>+=-]|\d+(?=[.)](?:\s|$)))")
"""What would start a heading, quotation or list where a line begins with it."""
_ADDRESS = re.compile(r"https?://[\w./~%?&=+:@,;-]+(?:#[\w./=-]*)?")
_REFERENCE = re.compile(r"(?<![\w`])(?:[\w.-]+/[\w.-]+)?[@#]\w[\w/.-]*")


@dataclass(frozen=True)
class _Limits:
    """How much of the long parts is kept."""

    output_bytes: int
    rows: int
    characters: int


_TRIES = (
    _Limits(output_bytes=16_000, rows=200, characters=1_500),
    _Limits(output_bytes=8_000, rows=60, characters=300),
    _Limits(output_bytes=4_000, rows=20, characters=120),
    _Limits(output_bytes=1_500, rows=6, characters=80),
)


def render_markdown(document: Document) -> str:
    """The document in at most `LIMIT` bytes: where it would be longer, long parts are cut and say so."""
    for limits in _TRIES:
        text = "\n".join(_document(document, limits)) + "\n"
        if len(text.encode()) <= LIMIT:
            break
    return text


def _document(document: Document, limits: _Limits) -> Iterator[str]:
    yield f"### {_escaped(document.title, limits)}"
    for block in document.lead:
        yield ""
        yield from _block(block, limits)
    for section in document.sections:
        yield ""
        if section.folded:
            yield f"<details><summary>{html.escape(one_line(section.title))}</summary>"
        else:
            yield f"#### {_escaped(section.title, limits)}"
        yield from _blocks(section, limits)
        if section.folded:
            yield ""
            yield "</details>"
    yield ""
    yield f"<sub>{_escaped(document.footer, limits)}</sub>"


def _blocks(section: Section, limits: _Limits) -> Iterator[str]:
    for block in section.blocks:
        yield ""
        yield from _block(block, limits)


def _block(block: Block, limits: _Limits) -> Iterator[str]:
    match block:
        case Paragraph(line):
            yield _line(line, limits)
        case Bullets(lines):
            yield from (f"- {_line(line, limits)}" for line in lines[: limits.rows])
            yield from _left_out(len(lines) - limits.rows)
        case Facts(rows):
            yield from (_fact(label, line, limits) for label, line in rows[: limits.rows])
            yield from _left_out(len(rows) - limits.rows)
        case Table():
            yield from _table(block, limits)
        case Chain():
            yield from _chain(block, limits)
        case Narrowing():
            yield from fenced("\n".join(narrowing_lines(block, limits.rows)), "")
        case Code(text, command=True):
            yield from fenced(clip(visible(text), limits.output_bytes // 4), "sh")
        case Code(text):
            kept, cut = last_bytes(visible(text), limits.output_bytes)
            if cut:
                yield f"_The first {cut:,} bytes are left out._"
                yield ""
            yield from fenced(kept, block.language)
        case Strip(entries):
            runs = " · ".join(_strip_entry(entry) for entry in entries[: limits.rows])
            yield f"{_escaped(block.caption, limits)}: {runs}" if block.caption else runs
            yield from _left_out(len(entries) - limits.rows)


def _strip_entry(entry: StripEntry) -> str:
    marks = f" ({', '.join(entry.marks)})" if entry.marks else ""
    label = code_span(one_line(entry.label))
    return f"~~{label}~~{marks}" if entry.tone is Tone.BAD else f"{label}{marks}"


def _fact(label: str, line: Line, limits: _Limits) -> str:
    return f"- **{_escaped(label, limits)}:** {_line(line, limits)}" if label else f"- {_line(line, limits)}"


def _left_out(number: int) -> Iterator[str]:
    if number > 0:
        yield ""
        yield f"_{number} more are left out; the JSON report holds all._"


def _table(table: Table, limits: _Limits) -> Iterator[str]:
    yield "| " + " | ".join(_escaped(title, limits) for title in table.header) + " |"
    yield "|" + "|".join(" ---: " if place in table.numeric else " --- " for place in range(len(table.header))) + "|"
    start = window(len(table.rows), table.keep, limits.rows)
    for row in table.rows[start : start + limits.rows]:
        yield "| " + " | ".join(_line(cell, limits, in_table=True) for cell in row) + " |"
    yield from _left_out(len(table.rows) - limits.rows)


def window(length: int, keep: int, size: int) -> int:
    """Where a window of some rows starts, so that it holds the row that matters most, about in its middle."""
    return max(0, min(keep - size // 2, length - size))


def _chain(chain: Chain, limits: _Limits) -> Iterator[str]:
    start = window(len(chain.entries), chain.keep, limits.rows)
    entries = chain.entries[start : start + limits.rows]
    yield from fenced("\n".join(_entry(entry, limits) for entry in entries), "")
    yield from _left_out(len(chain.entries) - limits.rows)


def _entry(entry: ChainEntry, limits: _Limits) -> str:
    note = f"  ({entry.note})" if entry.note else ""
    return f"{entry.glyph} {entry.word:<11} {clip(one_line(entry.label), limits.characters)}{note}"


def _line(line: Line, limits: _Limits, *, in_table: bool = False) -> str:
    return "".join(_span(span, limits, in_table=in_table) for span in line if span.text)


def _span(span: Span, limits: _Limits, *, in_table: bool) -> str:
    if span.link and _ADDRESS.fullmatch(span.text):
        return f"<{span.text}>"
    if span.code:
        code = code_span(clip(one_line(span.text), limits.characters))
        # GitHub splits a row at each bare "|" before it looks for code.
        return code.replace("|", "\\|") if in_table else code
    text = _escaped(span.text, limits)
    return f"**{text.strip()}**" if span.tone is Tone.STRONG and text.strip() else text


def _escaped(text: str, limits: _Limits) -> str:
    """Running text that formats nothing, and calls nobody."""
    said = clip(one_line(text), limits.characters)
    out, at = [], 0
    for reference in _REFERENCE.finditer(said):
        out.append(_SPECIAL.sub(r"\\\1", said[at : reference.start()]))
        out.append(code_span(reference.group()))
        at = reference.end()
    out.append(_SPECIAL.sub(r"\\\1", said[at:]))
    return _LEADING.sub(_disarm, "".join(out))


def _disarm(start: re.Match[str]) -> str:
    space, marker = start.groups()
    return f"{space}{marker}\\" if marker.isdigit() else f"{space}\\{marker}"


def code_span(text: str) -> str:
    """Text as an inline literal, with more backticks around it than it holds in a row."""
    if not text:
        return ""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    # One space at each side is taken off again, so that backticks and spaces at the edges survive.
    space = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def fenced(text: str, language: str) -> Iterator[str]:
    """Text as a literal block, with a longer fence than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence + language
    yield text.rstrip("\n")
    yield fence
