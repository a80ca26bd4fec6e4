"""Showing what a run does while it does it: a live display on a terminal, plain lines elsewhere."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from bisector.events import Event, Reporter
from bisector.progress.guarded_stream import GuardedStream
from bisector.progress.plain import PlainReporter


@contextmanager
def reporter_for(
    stream: TextIO | None, *, quiet: bool = False, verbose: bool = False, color: bool | None = None, lines: bool = False
) -> Iterator[Reporter]:
    """A reporter that writes to `stream`, for as long as the context lasts.

    On a terminal it is a live display; elsewhere, a line for each event, and one every 30 s while something runs.
    `FORCE_COLOR` makes any stream count as a terminal (with `TTY_INTERACTIVE=0`: coloured lines, no live display),
    `TERM=dumb` and `TTY_INTERACTIVE=0` make none.

    Args:
        stream: usually standard error. That it breaks or closes meanwhile ends the display, never the run.
        quiet: only warnings and the end.
        verbose: also logs, all suspects, and on a terminal a line for each event.
        lines: no live display on a terminal either, since something else is written there.
        color: None for what `NO_COLOR`, `FORCE_COLOR` and the stream say.
    """
    guarded = GuardedStream(stream)
    coloured = _wants_colour(guarded) if color is None else color
    if not quiet and not lines and _is_live(guarded):
        from bisector.progress.live import LiveReporter

        with LiveReporter(guarded, verbose=verbose, color=coloured) as live:
            yield _never_raising(live)
        return
    with PlainReporter(guarded, quiet=quiet, verbose=verbose, color=coloured) as plain:
        yield _never_raising(plain)


def _forced() -> bool:
    return os.environ.get("FORCE_COLOR", "") not in {"", "0"}


def _wants_colour(stream: GuardedStream) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return _forced() or (stream.isatty() and os.environ.get("TERM") != "dumb")


def _is_live(stream: GuardedStream) -> bool:
    interactive = os.environ.get("TTY_INTERACTIVE", "")
    if os.environ.get("TERM") == "dumb" or interactive == "0":
        return False
    return stream.isatty() or _forced() or interactive == "1"


def _never_raising(reporter: Reporter) -> Reporter:
    """A reporter whose own faults end the display, not the run: hours of probes are worth more than a line."""
    broken: list[Exception] = []

    def report(event: Event) -> None:
        if broken:
            return
        try:
            reporter(event)
        except Exception as error:
            broken.append(error)

    return report
