"""`pins check` as a document, for Markdown and HTML; and the page of one rule."""

from collections.abc import Iterator, Sequence

from pins.hazards.model import Hazard, Rule, Severity
from pins.report.blocks import Block, Bullets, Code, Document, Facts, Line, Paragraph, Section, Span, Table, prose
from pins.report.hazards_text import counted
from pins.report.tones import Tone

TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.DOUBT, Severity.NOTE: Tone.FAINT}


def check_document(hazards: Sequence[Hazard], files: int) -> Document:
    """All findings, by file; each rule explained once, at the end."""
    counting = [hazard for hazard in hazards if not hazard.ignored]
    by_file: dict[str, list[Hazard]] = {}
    for hazard in counting:
        by_file.setdefault(hazard.file, []).append(hazard)
    sections = [Section(file, tuple(_file(found))) for file, found in by_file.items()]
    rules = {hazard.rule.name: hazard.rule for hazard in counting}
    if rules:
        rows = tuple((rule.name, prose(f"{rule.why} {rule.case}")) for rule in rules.values())
        sections.append(Section("Why these matter", (Facts(rows),)))
    ignored = [hazard for hazard in hazards if hazard.ignored]
    if ignored:
        lines = tuple(prose(f"{h.file}:{h.line} {h.rule.name}: {h.ignored}") for h in ignored)
        sections.append(Section("Ignored", (Bullets(lines),), folded=True))
    worst = next((s for s in Severity if any(h.rule.severity is s for h in counting)), None)
    return Document(counted(hazards, files), TONES[worst] if worst else Tone.GOOD, (), tuple(sections))


def _file(hazards: Sequence[Hazard]) -> Iterator[Block]:
    rows = tuple(
        (
            prose(str(h.line)),
            (Span(h.rule.severity.value, TONES[h.rule.severity]),),
            (Span(h.rule.name, code=True),),
            prose(h.summary),
            prose(h.fix),
        )
        for h in hazards
    )
    yield Table(
        ("line", "severity", "rule", "what", "fix"), rows, numeric=frozenset({0}), caption="Hazards of this file"
    )
    for hazard in hazards:
        if hazard.evidence:
            yield Paragraph(prose(f"Line {hazard.line}, {hazard.rule.name}:"))
            yield Bullets(tuple(prose(line) for line in hazard.evidence))


def rule_document(rule: Rule) -> Document:
    """The page of one rule."""
    lead: Line = prose(rule.summary + ".")
    facts = (
        ("severity", prose(rule.severity.value)),
        ("by default", prose("on" if rule.default else "off: name it in --select")),
        ("fix", prose(rule.advice + ".")),
    )
    return Document(
        rule.name,
        Tone.PLAIN,
        (Paragraph(lead), Facts(facts)),
        (
            Section("Why it matters", (Paragraph(prose(rule.why)), Paragraph(prose(rule.case)))),
            Section("A file that has it", (Code(rule.bad.text.rstrip("\n")),)),
            Section("A near miss that has not", (Code(rule.good.text.rstrip("\n")),)),
            Section("To ignore it", (Code(f"# pins: ignore[{rule.name}] the reason"),)),
        ),
    )
