"""`pins suggest` as a document: what to change first, then why, what else was possible, and what is unknown.

Its headings are those of a pull request (Purpose, Test Plan, Test Result), so that the Markdown can be pasted into one.
"""

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from pins.report.blocks import (
    Block,
    Bullets,
    Code,
    Document,
    Facts,
    Line,
    Paragraph,
    Section,
    Span,
    Strip,
    StripEntry,
    Table,
    literal,
    prose,
)
from pins.report.tones import Tone
from pins.suggest.model import Certainty, Conflict, Kept, Reason, State, Suggestion, SuggestReport, VersionState

_TONES = {State.ALLOWED: Tone.GOOD, State.EXCLUDED: Tone.BAD, State.UNKNOWN: Tone.DOUBT}
_CERTAINTY = {
    Certainty.BISECTED: "bisected: both sides of the step were run",
    Certainty.DECLARED: "declared: requirements say so",
    Certainty.INFERRED: "inferred: by a rule, from code or from what is known of releases",
}
_FEW = 5


def suggest_document(report: SuggestReport, *, all_windows: bool = False) -> Document:
    """The report, the most important first; `all_windows` draws those of what was not changed too."""
    tone = Tone.DOUBT if report.suggestions else Tone.BAD if report.conflicts else Tone.GOOD
    lead: list[Block] = []
    if report.suggestions:
        lead.append(_table(report.suggestions))
    sections = [_conflict(conflict) for conflict in report.conflicts]
    if report.suggestions:
        sections.append(Section("Purpose", tuple(_purpose(report))))
    if report.patch:
        sections.append(Section("The change", (Code(report.patch, language="diff"),)))
    sections.extend(_test_sections(report))
    sections.extend(Section(f"{s.pin.name}, line {s.pin.line}", tuple(_details(s))) for s in report.suggestions)
    sections.extend(_rest(report, all_windows=all_windows))
    return Document(f"{report.headline}.", tone, tuple(lead), tuple(sections))


def _conflict(conflict: Conflict) -> Section:
    blocks: list[Block] = [Bullets(tuple(prose(sentence) for sentence in conflict.because))]
    if conflict.ways:
        blocks.append(Paragraph(prose("It would fit:" if len(conflict.ways) == 1 else "Any one of these would do:")))
        blocks.append(Bullets(tuple(prose(way) for way in conflict.ways)))
    return Section("What cannot be kept together" + (f": {conflict.where}" if conflict.where else ""), tuple(blocks))


def _table(suggestions: Sequence[Suggestion]) -> Table:
    rows = tuple(
        (
            literal(s.pin.name),
            literal(s.now),
            literal(s.suggested, Tone.STRONG),
            prose(s.window),
            prose(s.kind.value),
            prose(s.certainty.value),
        )
        for s in suggestions
    )
    return Table(("pin", "now", "suggested", "window", "kind", "how sure"), rows, caption="What to change")


def _purpose(report: SuggestReport) -> Iterator[Block]:
    for suggestion in report.suggestions:
        if len(report.suggestions) > 1:  # of one, the title has said it
            yield Paragraph((Span(f"{suggestion.headline}.", Tone.STRONG),))
        yield Bullets(tuple(_reason(reason) for reason in suggestion.because))
        if suggestion.until:
            yield Paragraph(prose(_ends(suggestion)))


def _reason(reason: Reason) -> Line:
    line: list[Span] = [Span(reason.text)]
    if reason.origin:
        line.extend((Span(" ("), Span(reason.origin, code=True), Span(")")))
    if reason.link:
        line.extend((Span(" "), Span(reason.link, code=True, link=True)))
    return tuple(line)


def _ends(suggestion: Suggestion) -> str:
    again = f" Look again on {suggestion.review.isoformat()}." if suggestion.review else ""
    return f"It ends when {suggestion.until}.{again}"


def _test_sections(report: SuggestReport) -> Iterator[Section]:
    planned: list[Block] = [Code(s.reproduce, command=True) for s in report.suggestions if s.reproduce]
    if planned:
        yield Section("Test Plan", tuple(dict.fromkeys(planned)))
    rows = tuple((prose(what), prose(outcome)) for s in report.suggestions for what, outcome in s.evidence)
    if rows:
        yield Section("Test Result", (Table(("tried", "outcome"), rows, caption="What was run"),))


def _details(suggestion: Suggestion) -> Iterator[Block]:
    facts: list[tuple[str, Line]] = [
        ("now", literal(suggestion.now)),
        ("suggested", literal(suggestion.suggested, Tone.STRONG)),
        ("window", prose(suggestion.window)),
        ("how sure", prose(_CERTAINTY[suggestion.certainty])),
    ]
    if suggestion.until:
        facts.append(("until", prose(suggestion.until)))
    if suggestion.review:
        facts.append(("look again", prose(suggestion.review.isoformat())))
    if suggestion.rebuilds:
        facts.append(("it rebuilds", prose(f"{len(suggestion.rebuilds)} stages: {', '.join(suggestion.rebuilds)}")))
    yield Facts(tuple(facts))
    if suggestion.versions:
        yield drawn_window(suggestion.versions, f"{suggestion.pin.name}, oldest first")
    if len(suggestion.options) > 1:
        yield Paragraph(prose("What would do, the first is recommended:"))
        yield Bullets(
            tuple((Span(o.value, code=True), Span(f" ({o.kind.value}): {o.trade}")) for o in suggestion.options)
        )
    others = [r for r in suggestion.rejected if r.value not in {o.value for o in suggestion.options}]
    if others or suggestion.not_enough:
        yield Paragraph(prose("What would not do:"))
        lines = [(Span(r.value), Span(f": {r.why}")) for r in others]
        yield Bullets((*lines, *(prose(text) for text in suggestion.not_enough)))


def drawn_window(versions: Sequence[VersionState], caption: str) -> Strip:
    """Versions as a strip: of long runs that are alike the last few, and the others as one."""
    entries: list[StripEntry] = []
    for _, run in groupby(versions, key=lambda v: (v.state, v.current or v.suggested)):
        alike = [_entry(version) for version in run]
        left_out = len(alike) - _FEW
        if left_out > 1:
            first, last = alike[0], alike[left_out - 1]
            entries.append(replace(first, label=f"{first.label} ... {last.label}", reason=""))
            alike = alike[left_out:]
        entries.extend(alike)
    return Strip(tuple(entries), caption)


def _entry(version: VersionState) -> StripEntry:
    marks = tuple(mark for mark, on in (("now", version.current), ("suggested", version.suggested)) if on)
    return StripEntry(version.version, version.state.value, _TONES[version.state], marks, version.reason)


def _rest(report: SuggestReport, *, all_windows: bool) -> Iterator[Section]:
    if report.kept:
        yield Section("Not changed", tuple(_kept(report.kept)), folded=len(report.kept) > 30)
    windows = [kept for kept in report.kept if kept.versions]
    if windows and all_windows:
        blocks = tuple(drawn_window(kept.versions, f"{kept.name}, oldest first") for kept in windows)
        yield Section("Windows of what was not changed", blocks, folded=True)
    if report.unknown:
        yield Section("Not known", (Bullets(tuple(prose(text) for text in report.unknown)),))
    if report.reproduce:
        when = f"Package indexes were read as of {report.data_time:%Y-%m-%d %H:%M %Z}." if report.data_time else ""
        dated = (Paragraph(prose(when)),) if when else ()
        yield Section("To see this again", (Code(report.reproduce, command=True), *dated))


def _kept(kept: Sequence[Kept]) -> Iterator[Block]:
    """Those with a window in a table; of the others, who shares a reason in one line."""
    rows = tuple(
        (literal(k.name), prose(str(k.line)), literal(k.now), prose(k.window), prose(k.why)) for k in kept if k.window
    )
    if rows:
        yield Table(
            ("pin", "line", "holds", "window", "why"), rows, numeric=frozenset({1}), caption="Pins left as they are"
        )
    by_reason: dict[str, list[str]] = {}
    for entry in kept:
        if not entry.window:
            by_reason.setdefault(entry.why, []).append(entry.name)
    if by_reason:
        yield Bullets(tuple(prose(f"{', '.join(dict.fromkeys(names))}: {why}") for why, names in by_reason.items()))


def commit_message(report: SuggestReport) -> str:
    """For the commit of `--branch`: the change in a line, then why and until when."""
    first = report.suggestions[0]
    change = first.headline.split(" in ")[0]
    more = len(report.suggestions) - 1
    parts = [change + (f", and {more} more" if more else "")]
    for suggestion in report.suggestions:
        parts.append(textwrap.fill(f"{suggestion.headline}.", 72, break_long_words=False))
        parts.append(
            "\n".join(
                textwrap.fill(f"- {reason.text}", 72, subsequent_indent="  ", break_long_words=False)
                for reason in suggestion.because
            )
        )
        if suggestion.until:
            parts.append(textwrap.fill(_ends(suggestion), 72, break_long_words=False))
    return "\n\n".join(parts) + "\n"


def command_line(arguments: Sequence[str]) -> str:
    """The command as it can be typed again."""
    return shlex.join(arguments)
