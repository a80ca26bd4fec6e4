"""`pins diff` for a person: for each pair of files a table of the pins that differ."""

from collections.abc import Sequence

from pins.files.compare import Change
from pins.model import Pin, PinSet
from pins.report.blocks import Block, Bullets, Document, Line, Paragraph, Section, Span, Table, literal, prose
from pins.report.tones import Tone

COLUMNS = ("pin", "kind", "old", "new", "commits", "where")
Groups = Sequence[tuple[str, str, Sequence[Change]]]


def diff_report(groups: Groups, read: Sequence[PinSet] = ()) -> Document:
    """What moved, from (old, new, changes) of each pair of files, and what of the files in `read` was not read."""
    lead = tuple(_stopped(read))
    if len(groups) == 1:
        (old, new, changes) = groups[0]
        return Document(_title(old, new), Tone.PLAIN, (_table(changes, old, new), *lead), ())
    sections = tuple(Section(_title(old, new), (_table(changes, old, new),)) for old, new, changes in groups)
    count = sum(len(changes) for _, _, changes in groups)
    title = f"{count} pins differ in {len(groups)} files" if groups else "no pin differs"
    return Document(title, Tone.PLAIN, lead, sections)


def _title(old: str, new: str) -> str:
    return f"{old} -> {new}" if old != new else old


def _table(changes: Sequence[Change], old: str, new: str) -> Block:
    if not changes:
        return Paragraph(prose("no pin differs", Tone.FAINT))
    return Table(COLUMNS, tuple(_row(change, old, new) for change in changes), caption="The pins that differ.")


def _row(change: Change, old: str, new: str) -> tuple[Line, ...]:
    pin = change.pin
    here = any(label == pin.file or label.startswith(f"{pin.file} (") for label in (old, new))
    where = f"line {pin.line}" if here else f"{pin.file}:{pin.line}"
    return (
        literal(pin.name),
        prose(pin.kind.value),
        _shown(change.old),
        _shown(change.new),
        prose(distance(change)),
        prose(where + (f", {pin.stage}" if pin.stage else "")),
    )


def _shown(pin: Pin | None) -> Line:
    if pin is None:
        return prose("-")
    if pin.unknown:
        return prose(f"unknown: {pin.unknown}", Tone.DOUBT)
    return prose("floating", Tone.DOUBT) if pin.value is None else literal(pin.value or '""')


def distance(change: Change) -> str:
    """How far apart two commits are, or why that is not known; "" where nobody asked."""
    if change.distance is None:
        return f"unknown: {change.apart}" if change.apart else ""
    ahead, behind = change.distance.ahead, change.distance.behind
    text = f"{ahead} commit{'' if ahead == 1 else 's'}"
    return f"{text}, {behind} taken away" if behind else text


def _stopped(read: Sequence[PinSet]) -> list[Block]:
    lines = [
        (Span("stopped", Tone.BAD), Span(f": {p.file}:{p.line}: {p.message}"))
        for pin_set in read
        for p in pin_set.problems
        if p.fatal
    ]
    return [Bullets(tuple(lines))] if lines else []
