"""Each event in one line."""

from dataclasses import dataclass

from bisector.events import (
    BuildEnded,
    BuildStarted,
    Event,
    Note,
    ProbeCancelled,
    RunEnded,
    RunStarted,
    SearchMoved,
    SmokeEnded,
    SmokeStarted,
)
from bisector.model import Outcome, short_text
from bisector.progress.state import Activity, RunState
from bisector.report.tones import TONES
from bisector.report.wording import count, duration, percent
from pins.report.characters import clip, one_line
from pins.report.tones import Tone

_LONGEST = 400
"""Columns of what a script said; the log has all of it."""
_MOST = 0.5
"""Probability of the suspects together, below which they are not what the search suspects most."""


@dataclass(frozen=True)
class EventLine:
    """One line: a word that names the event, and the rest."""

    word: str
    text: str
    tone: Tone = Tone.PLAIN


def event_lines(event: Event, state: RunState, *, verbose: bool) -> list[EventLine]:
    """The lines that tell of an event, usually one. `state` holds it already."""
    match event:
        case RunStarted():
            lines = _started(event)
        case BuildStarted(_, candidate, why):
            lines = [EventLine("build", f"{state.label(candidate)} ({why})" if why else state.label(candidate))]
        case BuildEnded(_, candidate, seconds, failure, log):
            lines = [_built(state.label(candidate), seconds, failure, log, verbose)]
        case SmokeStarted(_, candidate, why):
            lines = [EventLine("smoke", f"{state.label(candidate)} ({why})" if why else state.label(candidate))]
        case SmokeEnded(_, candidate, outcome, seconds, detail, log):
            told = f"{state.label(candidate)} in {duration(seconds)}" + (f": {detail}" if detail else "")
            wanted = verbose or outcome is Outcome.INFRA
            lines = [EventLine(outcome.value, told + _log(log, wanted), TONES[outcome])]
        case ProbeCancelled(_, candidate):
            lines = [EventLine("cancelled", f"{state.label(candidate)}: its result is not needed any more")]
        case SearchMoved():
            lines = [EventLine("search", search_phrase(event, state.steps))] if is_telling(event) else []
            if verbose and lines:
                lines += [EventLine("", f"{percent(chance)}  {step}") for step, chance in event.suspects]
        case Note(text, warning):
            lines = [EventLine("warning", text, Tone.DOUBT) if warning else EventLine("note", text)]
        case RunEnded(verdict, summary):
            lines = [EventLine("ended", f"{verdict}: {summary}" if summary else verdict, Tone.STRONG)]
    return [EventLine(line.word, clip(one_line(line.text), _LONGEST), line.tone) for line in lines]


def _started(event: RunStarted) -> list[EventLine]:
    lines = [
        EventLine(
            "start" if place == 0 else "",
            f"{axis.pin} {short_text(axis.good)}..{short_text(axis.bad)} ({count(axis.steps, 'step')})",
        )
        for place, axis in enumerate(event.axes)
    ]
    if len(event.axes) > 1:
        lines.append(EventLine("", f"{count(event.steps, 'step')} in all"))
    lines.append(EventLine("", f"logs lie under {event.run_directory}"))
    if event.resumed_runs:
        lines.append(EventLine("", f"{count(event.resumed_runs, 'finished run')} taken from the journal"))
    return lines


def _built(label: str, seconds: float, failure: str, log: str, verbose: bool) -> EventLine:
    if not failure:
        return EventLine("built", f"{label} in {duration(seconds)}{_log(log, verbose)}")
    reason = next((line for line in failure.splitlines() if line.strip()), failure)
    told = f"{label} in {duration(seconds)}: {clip(reason, _LONGEST // 2)}"
    return EventLine(Outcome.UNBUILDABLE.value, told + _log(log, True), Tone.DOUBT)


def _log(log: str, wanted: bool) -> str:
    return f" (log: {log})" if log and wanted else ""


def is_telling(moved: SearchMoved) -> bool:
    """Whether steps are what the search suspects; not where it believes that the ends do not bracket at all."""
    if moved.suspects_left > len(moved.suspects):
        return True
    return sum(chance for _, chance in moved.suspects) >= _MOST


def steps_suspected(moved: SearchMoved, steps: int) -> str:
    """How many steps are suspected; the search also counts that none of them is to blame, which is no step."""
    return count(min(moved.suspects_left, steps) if steps else moved.suspects_left, "step")


def search_phrase(moved: SearchMoved, steps: int) -> str:
    """What the search believes: "4 steps suspected, likeliest a 1 -> 2 (62 %); left: about 2 builds, 40 s"."""
    likeliest = f", likeliest {moved.suspects[0][0]} ({percent(moved.suspects[0][1])})" if moved.suspects else ""
    return f"{steps_suspected(moved, steps)} suspected{likeliest}; left: {left_phrase(moved)}"


def left_phrase(moved: SearchMoved) -> str:
    """What is still to be done: "about 2 builds, 40 s"."""
    if moved.builds_left < 0.05:
        return "no further build"
    time = f", {duration(moved.seconds_left)}" if moved.seconds_left and moved.seconds_left >= 0.5 else ""
    return f"about {count(max(round(moved.builds_left), 1), 'build')}{time}"


def still_line(activity: Activity, state: RunState, now: float) -> EventLine:
    """The line of a heartbeat."""
    label = clip(one_line(state.label(activity.candidate)), _LONGEST)
    return EventLine("...", f"still {activity.doing} {label}, {duration(now - activity.since)} so far", Tone.FAINT)
