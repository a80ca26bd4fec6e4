"""The report of a canary: one document, from what moved to what to pin."""

import json
from dataclasses import replace
from datetime import UTC

from bisector.canary.model import CanaryReport, Sung
from bisector.report.json_writer import result_object
from bisector.report.outline import outline
from pins.json_document import opening
from pins.report.blocks import Block, Bullets, Code, Document, Facts, Paragraph, Section, Table, literal, prose
from pins.report.suggest_document import suggest_document
from pins.report.suggest_json import suggest_document_json
from pins.report.tones import Tone

SCHEMA = "bisector.canary/1"
_TITLES = {
    Sung.PASSED: "The newest that fits passes",
    Sung.NOTHING_NEW: "There is nothing newer",
    Sung.FAILED: "The newest that fits fails",
    Sung.UNDECIDED: "Whether the newest that fits works could not be told",
}
_TONES = {Sung.PASSED: Tone.GOOD, Sung.NOTHING_NEW: Tone.GOOD, Sung.FAILED: Tone.BAD, Sung.UNDECIDED: Tone.DOUBT}


def canary_document(report: CanaryReport) -> Document:
    """The document that every renderer for people draws."""
    result = None if report.result is None else outline(report.result)
    suggestion = None if report.suggestion is None else suggest_document(report.suggestion)
    lead: list[Block] = []
    if result is not None and report.ended in (Sung.FAILED, Sung.UNDECIDED):
        lead += [Paragraph(prose(result.title)), *(result.lead if report.ended is Sung.UNDECIDED else ())]
    if suggestion is not None:
        lead.append(Paragraph(prose(suggestion.title)))
    lead.append(
        Facts(
            (
                ("file", literal(report.file)),
                ("since", prose(_time(report, "since"))),
                ("as of", prose(_time(report, "as_of"))),
            )
        )
    )
    sections = [Section("What was moved", _moved(report))]
    if report.newest.notes or report.newest.bounded:
        notes = [
            *report.newest.notes,
            *(f"held back by pins.toml, today as well: {text}" for text in report.newest.bounded),
        ]
        sections.append(Section("What was not", (Bullets(tuple(prose(note) for note in notes)),)))
    if report.ended is Sung.PASSED and report.change:
        sections.append(Section("To move to it", (Code(report.change, language="diff"),)))
    if report.fact:
        done = "It was written into pins.toml." if report.written else "--write writes it into pins.toml."
        sections.append(Section("Known bad from now on", (Paragraph(prose(done)), Code(report.fact, language="diff"))))
    if suggestion is not None:
        sections += [replace(each, title=f"What to pin: {each.title}") for each in suggestion.sections]
    if result is not None and report.ended in (Sung.FAILED, Sung.UNDECIDED):
        sections += [
            Section("What the run found", result.lead if report.ended is Sung.FAILED else ()),
            *result.sections,
        ]
    if report.again:
        sections.append(Section("Go on", (Code(report.again, command=True),)))
    return Document(f"{_TITLES[report.ended]}: {report.file}", _TONES[report.ended], tuple(lead), tuple(sections))


def _time(report: CanaryReport, which: str) -> str:
    return f"{getattr(report, which).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _moved(report: CanaryReport) -> tuple[Block, ...]:
    rows = [(axis.pin, axis.kind, axis.good, axis.bad) for axis in report.result.axes] if report.result else []
    if not rows:
        return (Paragraph(prose("Nothing: no release and no commit since is newer than what the file gives.")),)
    cells = tuple((literal(pin), prose(kind), literal(good), literal(bad)) for pin, kind, good, bad in rows)
    return (Table(("pin", "kind", "today", "newest"), cells, caption="What was moved"),)


def canary_json(report: CanaryReport) -> str:
    """The document `bisector.canary/1`."""
    document = {
        **opening(SCHEMA, "bisector"),
        "file": report.file,
        "ended": report.ended.value,
        "since": report.since.astimezone(UTC).isoformat(),
        "as_of": report.as_of.astimezone(UTC).isoformat(),
        "moved": [
            {"pin": axis.pin, "kind": axis.kind, "today": axis.good, "newest": axis.bad}
            for axis in (report.result.axes if report.result else ())
        ],
        "notes": list(report.newest.notes),
        "held_back": list(report.newest.bounded),
        "change": report.change,
        "known_bad": {"patch": report.fact, "written": report.written} if report.fact else None,
        "result": None if report.result is None else result_object(report.result),
        "suggestion": None if report.suggestion is None else json.loads(suggest_document_json(report.suggestion)),
    }
    return json.dumps(document, indent=2) + "\n"
