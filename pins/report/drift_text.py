"""`pins drift` for a person at a terminal, and as annotations in GitHub's log."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from pins.drift.model import Unknown
from pins.drift.report import DriftReport, Reported, State
from pins.hazards.model import Severity
from pins.report.characters import one_line, wrap
from pins.report.hazards_text import MOST_ANNOTATIONS, annotation
from pins.report.terminal_colours import painted
from pins.report.tones import Tone

TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.DOUBT, Severity.NOTE: Tone.FAINT}
_STATES = {State.NEW: Tone.STRONG, State.OPEN: Tone.PLAIN, State.ACKED: Tone.FAINT, State.RESOLVED: Tone.GOOD}
WORDS = {State.NEW: "new", State.OPEN: "open", State.ACKED: "acknowledged", State.RESOLVED: "resolved"}
"""How a person reads a state."""

_MOST_REASONS = 5
"""Reasons why something could not be told that are listed, those of most checks first."""


def counted(report: DriftReport) -> str:
    """What there is, in a few words."""
    counts = [f"{len(report.of(state))} {WORDS[state]}" for state in State if report.of(state)]
    if report.unknown:
        counts.append(f"{len(report.unknown)} that could not be told")
    watched = f"{_number(report.pins, 'pin')} in {_number(report.files, 'file')}"
    return f"{', '.join(counts)}; {watched}" if counts else f"nothing has moved; {watched}"


def last_complete(report: DriftReport) -> str:
    """When everything could last be told."""
    if report.complete:
        return "Last complete check: this one."
    return f"Last complete check: {shown_time(report.last_complete) if report.last_complete else 'never'}."


def shown_time(moment: datetime) -> str:
    """A time to the minute."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def place_of(reported: Reported) -> str:
    """Where it is, and of what: `docker/Dockerfile:12: TRITON_BRANCH`."""
    one = reported.finding
    where = f"{one.file}:{one.line}" if one.file and one.line else one.file
    return ": ".join(part for part in (where, one.pin) if part) or "all files"


def about(reported: Reported) -> list[str]:
    """Since when it is known, and what else is to be said of how it stands."""
    said = []
    if reported.state is not State.NEW:
        said.append(f"first seen {reported.first_seen:%Y-%m-%d}")
    if reported.changed and reported.before:
        said.append(f"before: {reported.before}")
    if reported.ack:
        until = f" until {reported.ack.until.isoformat()}" if reported.ack.until else ""
        said.append(f"acknowledged{until}: {reported.ack.why}")
    if reported.note:
        said.append(reported.note)
    return said


def told(one: Unknown) -> str:
    """What could not be told, and why."""
    of = ": ".join(part for part in (one.file or one.place, one.pin) if part)
    return f"{of or 'all files'}, {one.rule}: {one.reason}"


def by_reason(unknown: Sequence[Unknown]) -> list[tuple[str, list[Unknown]]]:
    """What could not be told, by why not: a source that is down has many pins."""
    found: dict[str, list[Unknown]] = {}
    for one in unknown:
        found.setdefault(one.reason, []).append(one)
    return sorted(found.items(), key=lambda item: -len(item[1]))


def of_one_reason(reason: str, these: Sequence[Unknown], most: int = 3) -> str:
    """All that could not be told for one reason, in a line."""
    if len(these) == 1:
        return told(these[0])
    names = list(dict.fromkeys(": ".join(part for part in (one.file or one.place, one.pin) if part) for one in these))
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{len(these)} checks ({', '.join(names[:most])}{rest}): {reason}"


def drift_text(report: DriftReport, *, width: int, color: bool, verbose: bool = False) -> str:
    """The report in lines: what is new in full, the rest short unless `verbose`."""
    lines: list[str] = []
    for reported in report.findings:
        lines.extend(_finding(reported, width, color=color, full=verbose or reported.state is State.NEW))
    if report.unknown:
        lines.append(_paint("could not be told", Tone.DOUBT, color))
        lines.extend(line for said in _could_not_be_told(report, verbose) for line in _indented(f"- {said}", width))
        lines.append("")
    lines.extend(f"note: {note}" for note in report.notes)
    lines.append(counted(report))
    lines.append(last_complete(report))
    if report.of(State.NEW):
        lines.append("`pins ack ID --why TEXT` acknowledges a finding")
    return "\n".join(lines) + "\n"


def _could_not_be_told(report: DriftReport, verbose: bool) -> Iterator[str]:
    reasons = by_reason(report.unknown)
    shown = len(reasons) if verbose or len(reasons) <= _MOST_REASONS + 1 else _MOST_REASONS
    yield from (of_one_reason(reason, these) for reason, these in reasons[:shown])
    if rest := sum(len(these) for _, these in reasons[shown:]):
        yield f"{rest} more, for {len(reasons) - shown} other reasons; -v lists them"


def _finding(reported: Reported, width: int, *, color: bool, full: bool) -> Iterator[str]:
    one = reported.finding
    state = _paint(WORDS[reported.state], _STATES[reported.state], color)
    severity = _paint(one.severity.value, TONES[one.severity], color)
    changed = ", changed" if reported.changed and reported.state is not State.NEW else ""
    place = _paint(one_line(place_of(reported)), Tone.STRONG, color)
    yield f"{one.id}  {state}{changed}  {severity}  [{one.rule}]  {place}"
    yield from _indented(one.summary, width)
    if full:
        for line in one.evidence:
            yield from _indented(f"- {line}", width)
        if one.suggestion:
            yield from _indented(f"do: {one.suggestion}", width)
    for line in about(reported):
        yield from _indented(_paint(one_line(line), Tone.FAINT, color), width)
    yield ""


def _indented(text: str, width: int) -> Iterator[str]:
    yield from (f"    {line}" for line in wrap(one_line(text), max(width - 4, 40)))


def _paint(text: str, tone: Tone, color: bool) -> str:
    return painted(text, tone) if color else text


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def drift_annotations(report: DriftReport) -> str:
    """GitHub's annotations of what is new, the worst first, for it shows ten of a step; the rest as plain lines."""
    new = sorted(report.of(State.NEW), key=lambda reported: list(Severity).index(reported.finding.severity))
    lines = [_annotation(reported) for reported in new[:MOST_ANNOTATIONS]]
    rest = (*new[MOST_ANNOTATIONS:], *report.of(State.OPEN), *report.of(State.RESOLVED))
    lines += [
        f"{WORDS[r.state]}: {place_of(r)}: {one_line(r.finding.summary)} [{r.finding.rule}] {r.finding.id}"
        for r in rest
    ]
    lines += [
        f"could not be told: {one_line(of_one_reason(reason, these))}" for reason, these in by_reason(report.unknown)
    ]
    return "\n".join((*lines, counted(report), last_complete(report))) + "\n"


def _annotation(reported: Reported) -> str:
    one = reported.finding
    command = "notice" if one.severity is Severity.NOTE else one.severity.value
    properties = {"title": one_line(f"{one.rule}: {one.pin}" if one.pin else one.rule)}
    if one.file:
        properties = {"file": one_line(one.file), "line": str(max(one.line, 1)), **properties}
    said = (f"{one.summary}.", *one.evidence, *([f"{one.suggestion}."] if one.suggestion else []))
    return annotation(command, properties, "\n".join(map(one_line, said)))
