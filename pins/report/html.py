"""A report as one page that stands alone: it fetches nothing, runs nothing, and escapes everything."""

import html
import re
from collections.abc import Iterator

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
from pins.report.characters import one_line, visible
from pins.report.html_narrowing import narrowing_html
from pins.report.html_style import STYLE
from pins.report.tones import Tone

_LINK = re.compile(r"https?://[^\s<>\"']+")
# Even if something slipped through unescaped, the page could neither run nor load anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render_html(document: Document) -> str:
    """The document as an HTML page."""
    return "\n".join(_page(document)) + "\n"


def _page(document: Document) -> Iterator[str]:
    title = _escaped(document.title)
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title>"
    yield f"<style>{STYLE}</style>"
    yield "</head>"
    yield "<body>"
    yield "<main>"
    yield f'<h1 class="{document.tone}">{title}</h1>'
    for block in document.lead:
        yield from _block(block)
    for number, section in enumerate(document.sections, 1):
        yield from _section(section, f"section-{number}")
    yield "</main>"
    yield f"<footer>{_escaped(document.footer)}</footer>"
    yield "</body>"
    yield "</html>"


def _section(section: Section, anchor: str) -> Iterator[str]:
    title = _escaped(section.title)
    if section.folded:
        yield f'<details id="{anchor}"><summary>{title}</summary>'
    else:
        yield f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{title}</h2>'
    for block in section.blocks:
        yield from _block(block, section.title)
    yield "</details>" if section.folded else "</section>"


def _block(block: Block, title: str = "") -> Iterator[str]:
    match block:
        case Paragraph(line):
            yield f"<p>{_line(line)}</p>"
        case Bullets(lines):
            yield "<ul>"
            yield from (f"<li>{_line(line)}</li>" for line in lines)
            yield "</ul>"
        case Facts(rows):
            yield from _facts(rows)
        case Table():
            yield from _table(block)
        case Chain(entries):
            yield '<ol class="chain">'
            yield from map(_entry, entries)
            yield "</ol>"
        case Strip(entries):
            yield f'<ol class="strip" aria-label="{_escaped(block.caption or "Versions")}">'
            yield from map(_strip_entry, entries)
            yield "</ol>"
        case Narrowing():
            yield from narrowing_html(block)
        case Code(text, command=command):
            # Focusable, so that a long one can be scrolled with the keyboard.
            kind = ' class="command"' if command else ""
            label = _escaped(title or "Output")
            code = f"<code>{html.escape(visible(text))}</code>"
            yield f'<pre{kind} tabindex="0" role="group" aria-label="{label}">{code}</pre>'


def _facts(rows: tuple[tuple[str, Line], ...]) -> Iterator[str]:
    """A label with the lines that follow under the same one."""
    yield "<dl>"
    for place, (label, line) in enumerate(rows):
        if label or place == 0:
            yield f"<dt>{_escaped(label)}</dt>"
        elif not label:
            yield '<dt aria-hidden="true"></dt>'
        yield f"<dd>{_line(line)}</dd>"
    yield "</dl>"


def _table(table: Table) -> Iterator[str]:
    def classes(place: int) -> str:
        return ' class="number"' if place in table.numeric else ""

    yield f'<div class="scroll" tabindex="0" role="group" aria-label="{_escaped(table.caption or "Table")}"><table>'
    if table.caption:
        yield f"<caption>{_escaped(table.caption)}</caption>"
    heads = "".join(
        f'<th scope="col"{classes(place)}>{_escaped(title)}</th>' for place, title in enumerate(table.header)
    )
    yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for row in table.rows:
        cells = "".join(f"<td{classes(place)}>{_line(cell)}</td>" for place, cell in enumerate(row))
        yield f"<tr>{cells}</tr>"
    yield "</tbody>"
    yield "</table></div>"


def _entry(entry: ChainEntry) -> str:
    note = f' <span class="note">{_escaped(entry.note)}</span>' if entry.note else ""
    glyph = f'<span aria-hidden="true">{_escaped(entry.glyph)}</span>'
    outcome = f'<span class="outcome {entry.tone}">{glyph} {_escaped(entry.word)}</span>'
    label = (
        f"<code>{_escaped(entry.label)}</code>" if entry.word else f'<span class="note">{_escaped(entry.label)}</span>'
    )
    return f"<li>{outcome} {label}{note}</li>"


def _strip_entry(entry: StripEntry) -> str:
    """A version: what may be done with it in colour, in words for those who do not see it, its reason on hover."""
    title = f' title="{_escaped(entry.reason)}"' if entry.reason else ""
    marks = "".join(f'<span class="mark">{_escaped(mark)}</span>' for mark in entry.marks)
    word = f'<span class="unseen">{_escaped(entry.word)}{": " + _escaped(entry.reason) if entry.reason else ""}</span>'
    return f'<li class="{entry.tone}"{title}><code>{_escaped(entry.label)}</code>{word}{marks}</li>'


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    text = _escaped(span.text)
    if span.code:
        text = f"<code>{text}</code>"
        if _LINK.fullmatch(span.text):
            text = f'<a href="{_escaped(span.text)}" rel="noopener noreferrer">{text}</a>'
    return text if span.tone is Tone.PLAIN else f'<span class="{span.tone}">{text}</span>'


def _escaped(text: str) -> str:
    return html.escape(one_line(text))
