"""What the live display shows at a moment: a few lines that fit the terminal. Drawing them is `live`'s part."""

from dataclasses import replace

from bisector.model import short_text
from bisector.progress.event_lines import is_telling, left_phrase, steps_suspected
from bisector.progress.state import Activity, RunState
from bisector.report.tones import TONES
from bisector.report.wording import GLYPHS, UNTRIED, count, duration, percent
from pins.report.blocks import Line, Span
from pins.report.characters import clip, one_line, width
from pins.report.tones import Tone

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TURNS_PER_SECOND = 4
_LABEL = 10
"""Columns of the words at the left."""
_WORTH_NAMING = 0.01
"""Probability of a suspect beside the likeliest one."""
_LINES_BESIDES = 7
"""Lines of the display that are not activities, and one for the cursor."""


def frame(state: RunState, now: float, columns: int, rows: int) -> list[Line]:
    """The lines of the display, none wider than `columns` and together no more than `rows` where that can be."""
    lines = [_head(state, now, columns)]
    lines += _activities(state, now, columns, max(rows - _LINES_BESIDES, 1))
    if state.moved is not None and is_telling(state.moved):
        lines.append(_labelled("suspects", _suspects(state, columns - _LABEL - 2), columns))
        left = state.moved.seconds_left
        passed = now - state.moved_at
        moved = replace(state.moved, seconds_left=None if left is None or left <= passed else left - passed)
        lines.append(_labelled("left", left_phrase(moved), columns))
    if state.outcomes:
        lines.append(_so_far(state, columns))
    if state.note is not None and not state.note.warning:  # a warning stands above the display, and stays
        lines.append(_labelled("note", state.note.text, columns))
    return lines


def _head(state: RunState, now: float, columns: int) -> Line:
    elapsed = now - (now if state.began is None else state.began)
    turn = _SPINNER[int(elapsed * _TURNS_PER_SECOND) % len(_SPINNER)]
    if len(state.axes) == 1:
        axis = state.axes[0]
        what = f"{axis.pin} {short_text(axis.good)}..{short_text(axis.bad)}, {count(state.steps, 'step')}"
    elif state.axes:
        what = f"{', '.join(axis.pin for axis in state.axes)}: {count(state.steps, 'step')}"
    else:
        what = "getting ready"
    return _timed(f"{turn} {what}", elapsed, columns, Tone.STRONG)


def _activities(state: RunState, now: float, columns: int, most: int) -> list[Line]:
    activities = list(state.activities.values())
    shown = activities if len(activities) <= most else activities[: most - 1]
    lines = [_activity(activity, state, now, columns) for activity in shown]
    if len(shown) < len(activities):
        lines.append(_labelled("", f"and {len(activities) - len(shown)} more", columns, Tone.FAINT))
    return lines


def _activity(activity: Activity, state: RunState, now: float, columns: int) -> Line:
    why = f" ({activity.why})" if activity.why else ""
    said = f"  {activity.doing:<{_LABEL}}{state.label(activity.candidate)}{why}"
    return _timed(said, now - activity.since, columns)


def _timed(left: str, seconds: float, columns: int, tone: Tone = Tone.PLAIN) -> Line:
    """A text and how long it has lasted; the text is clipped where there is no room.

    Nothing is aligned to the right edge: a terminal that is made narrower would break every such line in two.
    """
    lasted = f"  {duration(seconds)}"
    room = columns - width(lasted)
    if room < 1:
        return (Span(clip(one_line(left), columns), tone),)
    return (Span(clip(one_line(left), room), tone), Span(lasted, Tone.FAINT))


def _labelled(label: str, text: str, columns: int, tone: Tone = Tone.PLAIN) -> Line:
    margin = f"  {label:<{_LABEL}}"
    if width(margin) >= columns:
        return (Span(clip(one_line(text), columns), tone),)
    return (Span(margin, Tone.FAINT), Span(clip(one_line(text), columns - width(margin)), tone))


def _suspects(state: RunState, columns: int) -> str:
    """How many steps are suspected, and as many of the likeliest as there is room for, one at least."""
    assert state.moved is not None
    said = steps_suspected(state.moved, state.steps)
    for place, (step, chance) in enumerate(state.moved.suspects):
        longer = f"{said}{', ' if place else ': '}{step} {percent(chance)}"
        if place and (width(longer) > columns or chance < _WORTH_NAMING):
            break
        said = longer
    return said


def _so_far(state: RunState, columns: int) -> Line:
    margin = f"  {'so far':<{_LABEL}}"
    counts = f"  {count(state.builds, 'build')}, {count(state.runs, 'run')}"
    room = columns - width(margin) - width(counts)
    if room < 1:
        return _labelled("so far", counts.strip(), columns)
    cells = [
        (GLYPHS[outcome], TONES[outcome]) if outcome else (UNTRIED, Tone.FAINT)
        for outcome, length in state.strip()
        for _ in range(min(length, 3))
    ]
    # Where they do not fit: those of the last places, which is where a long search ends up when in order of trying.
    strip = tuple(Span(glyph, tone) for glyph, tone in cells[-room:])
    return (Span(margin, Tone.FAINT), *strip, Span(counts, Tone.FAINT))
