"""What a report is made of, before a renderer draws it: sections of a few sorts of block.

`outline` turns a result into these; each renderer knows how to draw them and nothing about bisection. Text that came
from outside stands in code spans (or code blocks) as it is; escaping it is each renderer's duty.
"""

from dataclasses import dataclass

from pins.report.tones import Tone


@dataclass(frozen=True)
class Span:
    """A piece of a line. `code` marks a literal: a version, a path, a command; `link` an address to be followed."""

    text: str
    tone: Tone = Tone.PLAIN
    code: bool = False
    link: bool = False


Line = tuple[Span, ...]
"""Running text; spaces stand in the spans."""


@dataclass(frozen=True)
class Paragraph:
    """One paragraph."""

    line: Line


@dataclass(frozen=True)
class Bullets:
    """A list of lines."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Facts:
    """Labels with what they stand for."""

    rows: tuple[tuple[str, Line], ...]


@dataclass(frozen=True)
class Table:
    """Rows under a header.

    Attributes:
        header: the names of the columns.
        rows: as many cells each as the header.
        keep: index of the row that matters most, where a renderer has to leave rows out.
        numeric: indexes of columns that are aligned to the right.
        caption: what the table holds, for people who do not see it.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    keep: int = 0
    numeric: frozenset[int] = frozenset()
    caption: str = ""


@dataclass(frozen=True)
class Code:
    """Verbatim text; `end_matters` says which end to keep where a renderer has to cut it.

    Attributes:
        command: it is a command line to be copied.
        language: what it is written in, such as "diff"; "" for nothing in particular.
    """

    text: str
    command: bool = False
    language: str = ""


@dataclass(frozen=True)
class ChainEntry:
    """A place, or an untested stretch, of the chain.

    Attributes:
        glyph: one character for the outcome.
        word: the outcome ("PASS"), or "" for a stretch.
        label: the pins' values there, or how long the stretch is.
        note: "good end", "first bad", ...
        tone: of the outcome.
        length: how many candidates it stands for.
    """

    glyph: str
    word: str
    label: str
    note: str = ""
    tone: Tone = Tone.PLAIN
    length: int = 1


@dataclass(frozen=True)
class Chain:
    """The candidates from the good end to the bad end.

    Attributes:
        entries: in order.
        keep: index of the entry that matters most.
        labels: whether each entry is named, or the strip of glyphs is enough.
    """

    entries: tuple[ChainEntry, ...]
    keep: int = 0
    labels: bool = True


@dataclass(frozen=True)
class StripEntry:
    """One version, or a run of versions alike, in a drawn window.

    Attributes:
        label: "3.0.4", or "2.0 ... 2.13".
        word: what may be done with it: "allowed", "excluded", "unknown".
        tone: of that.
        marks: "now", "suggested".
        reason: why.
    """

    label: str
    word: str
    tone: Tone = Tone.PLAIN
    marks: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Strip:
    """Versions in order, and which of them may be taken.

    Attributes:
        entries: the oldest first.
        caption: of what.
    """

    entries: tuple[StripEntry, ...]
    caption: str = ""


@dataclass(frozen=True)
class Mark:
    """What was seen at one place of a row of places.

    Attributes:
        place: counted from 0.
        glyph: one character for what was seen.
        word: the same as a word.
        label: what stands at that place.
        tone: of what was seen.
        side: 1 for what speaks for the good side, -1 for the bad one, 0 for neither.
    """

    place: int
    glyph: str
    word: str
    label: str
    tone: Tone = Tone.PLAIN
    side: int = 0


@dataclass(frozen=True)
class Narrowed:
    """What was known after one more thing was seen.

    Attributes:
        mark: what was seen, and where.
        lower, upper: the places between which what is sought lies, almost surely.
        left: how many steps are suspected.
        likeliest: the likeliest of them, in words.
    """

    mark: Mark
    lower: int
    upper: int
    left: int
    likeliest: str = ""


@dataclass(frozen=True)
class Narrowing:
    """A row of places with what was seen there, and how what is sought was narrowed down.

    Attributes:
        last: the last place.
        ends: what stands at the first and at the last place.
        marks: all that was seen, by place.
        rows: how it narrowed, in the order of seeing.
        named: places that matter, with their names: (place, name).
        caption: all of it in a sentence or two, for people who do not see it.
    """

    last: int
    ends: tuple[str, str]
    marks: tuple[Mark, ...]
    rows: tuple[Narrowed, ...]
    named: tuple[tuple[int, str], ...] = ()
    caption: str = ""


Block = Paragraph | Bullets | Facts | Table | Code | Chain | Strip | Narrowing


@dataclass(frozen=True)
class Section:
    """Blocks under a title; `folded` ones are long and may be hidden at first."""

    title: str
    blocks: tuple[Block, ...]
    folded: bool = False


@dataclass(frozen=True)
class Document:
    """A whole report.

    Attributes:
        title: the verdict in a few words.
        tone: whether it is good news.
        lead: what a reader in a hurry needs.
        sections: the rest, the most important first.
        footer: what made this report, and when.
    """

    title: str
    tone: Tone
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]
    footer: str = ""


def plain(line: Line) -> str:
    """The text of a line, without its marks."""
    return "".join(span.text for span in line)


def prose(text: str, tone: Tone = Tone.PLAIN) -> Line:
    """A line of running text of our own."""
    return (Span(text, tone),)


def literal(text: str, tone: Tone = Tone.PLAIN) -> Line:
    """A line that is one literal."""
    return (Span(text, tone, code=True),)
