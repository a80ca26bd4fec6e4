"""`pins drift` as a document, for Markdown and HTML: what is new first, the worst first."""

from collections.abc import Iterator, Sequence

from pins.drift.report import DriftReport, Reported, State
from pins.hazards.model import Severity
from pins.report.blocks import Block, Bullets, Document, Facts, Line, Paragraph, Section, Span, Table, prose
from pins.report.drift_text import TONES, about, by_reason, counted, last_complete, of_one_reason, place_of
from pins.report.tones import Tone

_MOST_IN_FULL = 40
"""New findings that are shown with all that is to be said of them; further ones stand in a table."""


def drift_document(report: DriftReport) -> Document:
    """The whole report."""
    new = report.of(State.NEW)
    sections = []
    if new:
        sections.append(Section("New", tuple(_in_full(new[:_MOST_IN_FULL]))))
    if new[_MOST_IN_FULL:]:
        sections.append(Section("Also new", (_table(new[_MOST_IN_FULL:]),)))
    if resolved := report.of(State.RESOLVED):
        sections.append(Section("Resolved", (_table(resolved),)))
    if report.unknown:
        lines = tuple(_marked(of_one_reason(reason, these)) for reason, these in by_reason(report.unknown))
        sections.append(Section("Could not be told", (Bullets(lines),)))
    if still := report.of(State.OPEN):
        sections.append(Section(f"Open ({len(still)})", (_table(still),), folded=bool(new) or len(still) > 10))
    if acked := report.of(State.ACKED):
        sections.append(Section(f"Acknowledged ({len(acked)})", (_table(acked),), folded=True))
    notes = tuple(_marked(note) for note in report.notes)
    lead: tuple[Block, ...] = (
        Paragraph(prose(last_complete(report))),
        *((Bullets(notes),) if notes else ()),
    )
    return Document(f"Drift: {counted(report)}", _tone(report), lead, tuple(sections))


def _marked(text: str) -> Line:
    """Running text whose parts between backticks are literals, such as commands."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one without a partner
        return prose(text)
    return tuple(Span(part, code=place % 2 == 1) for place, part in enumerate(parts) if part)


def _tone(report: DriftReport) -> Tone:
    worst = next((s for s in Severity if any(r.finding.severity is s for r in report.of(State.NEW))), None)
    if worst is not None:
        return TONES[worst]
    return Tone.GOOD if report.complete else Tone.DOUBT


def _in_full(findings: Sequence[Reported]) -> Iterator[Block]:
    for reported in findings:
        one = reported.finding
        yield Paragraph(
            (
                Span(f"{one.severity.value} ", TONES[one.severity]),
                Span(one.rule, code=True),
                Span(" "),
                Span(place_of(reported), code=True),
                Span(": "),
                *_marked(one.summary),
            )
        )
        rows: list[tuple[str, Line]] = [("", _marked(line)) for line in one.evidence]
        if one.suggestion:
            rows.append(("do", _marked(one.suggestion)))
        rows.extend(("", _marked(line)) for line in about(reported))
        rows.append(("id", (Span(one.id, code=True),)))
        yield Facts(tuple(rows))


def _table(findings: Sequence[Reported]) -> Table:
    rows = tuple(
        (
            (Span(r.finding.severity.value, TONES[r.finding.severity]),),
            (Span(r.finding.rule, code=True),),
            (Span(place_of(r), code=True),),
            _marked("; ".join((r.finding.summary, *about(r)))),
            (Span(r.finding.id, code=True),),
        )
        for r in findings
    )
    return Table(("severity", "rule", "where", "what", "id"), rows, caption="Findings")
