"""Where a run stands, in a dozen lines: what `bisector status` shows, also while the run goes on."""

from collections.abc import Sequence
from datetime import UTC, datetime

from bisector.report.chain import chain_entries
from bisector.report.findings import chain_facts
from bisector.report.model import Result, Verdict
from bisector.report.outline import verdict_tone
from bisector.report.short_values import with_short_values
from bisector.report.wording import count, duration, title
from pins.report.blocks import Block, Chain, Document, Facts, Line, Span, literal, prose
from pins.report.text import render_text
from pins.report.tones import Tone


def render_status(
    result: Result,
    *,
    now: datetime,
    activity: Sequence[str] = (),
    running: bool | None = None,
    width: int = 100,
    color: bool = False,
) -> str:
    """Where a run stands, as text that ends with a newline.

    Args:
        result: what the journal holds so far.
        now: the time (aware), to say how long ago the run began.
        activity: what runs at present, each in a phrase ("building pybind11 3.0.2, 12 s").
        running: whether a process drives the run; None: if anything runs.
        width: columns of the terminal.
        color: whether ANSI colours may be used.
    """
    result = with_short_values(result)
    live = bool(activity) if running is None else running
    rows: list[tuple[str, Line]] = list(_searched(result))
    rows += chain_facts(result)
    if live:
        rows += [("Now" if place == 0 else "", literal(what, Tone.STRONG)) for place, what in enumerate(activity)]
    began = result.created if result.created.tzinfo else result.created.replace(tzinfo=UTC)
    ago = max((now - began).total_seconds(), 0.0)
    rows.append(("Began", prose(f"{duration(ago)} ago")))
    builds = f"{count(result.builds, 'build')} ({duration(result.build_seconds)})"
    rows.append(("Work so far", prose(f"{builds}, {count(result.runs, 'run')} ({duration(result.run_seconds)})")))
    rows += [("Note" if place == 0 else "", prose(note)) for place, note in enumerate(result.notes[-2:])]
    rows.append(("Logs lie under", literal(result.run_directory)))
    if result.resume and not live:
        rows.append(("Go on with", literal(result.resume)))
    lead: list[Block] = [Facts(tuple(rows))]
    if entries := chain_entries(result):
        lead.insert(0, Chain(entries, labels=False))
    running_title = "Running" if result.verdict in (Verdict.INTERRUPTED, Verdict.INFRASTRUCTURE) else title(result)
    document = Document(
        title=running_title if live else title(result),
        tone=Tone.STRONG if live else verdict_tone(result),
        lead=tuple(lead),
        sections=(),
        footer=f"run {result.run_id}",
    )
    return render_text(document, width, color=color)


def _searched(result: Result) -> list[tuple[str, Line]]:
    """The axes: at most three by name."""
    rows: list[tuple[str, Line]] = [
        ("Searched" if place == 0 else "", literal(f"{axis.pin} {axis.good}..{axis.bad}"))
        for place, axis in enumerate(result.axes[:3])
    ]
    if len(result.axes) > 3:
        rows.append(("", (Span(f"and {count(len(result.axes) - 3, 'further pin')}"),)))
    return rows
