"""Progress where there is no terminal: a line with a clock at each event, and a heartbeat."""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Self

from bisector.events import Event, Note, RunEnded, SearchMoved
from bisector.progress.event_lines import EventLine, event_lines, still_line
from bisector.progress.guarded_stream import GuardedStream
from bisector.progress.state import RunState
from pins.report.terminal_colours import painted

HEARTBEAT = 30.0
"""Seconds without a line after which one says what still runs."""


class PlainReporter:
    """Writes lines. Between entering and leaving it, a thread of its own writes the heartbeats.

    Events come from the thread that drives the run and heartbeats from another: a lock keeps lines whole.

    Args:
        stream: where to.
        quiet: only warnings and the end, no heartbeat.
        verbose: also logs and all suspects.
        color: colour the words.
        heartbeat: seconds between heartbeats.
        clock: seconds, rising. now: the time of day, for the lines.
    """

    def __init__(
        self,
        stream: GuardedStream,
        *,
        quiet: bool = False,
        verbose: bool = False,
        color: bool = False,
        heartbeat: float = HEARTBEAT,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._stream = stream
        self._quiet = quiet
        self._verbose = verbose
        self._color = color
        self._heartbeat = heartbeat
        self._clock = clock
        self._now = now
        self._state = RunState()
        self._told: SearchMoved | None = None
        self._last_line = clock()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if not self._quiet:
            self._thread = threading.Thread(target=self._beat_until_stopped, name="heartbeat", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            # Not for ever: the thread may hang in a write to a terminal that was stopped (Ctrl-S).
            self._thread.join(timeout=2.0)

    def __call__(self, event: Event) -> None:
        """Tell of one event."""
        with self._lock:
            self._state.take(event, self._clock())
            if self._quiet and not (isinstance(event, RunEnded) or (isinstance(event, Note) and event.warning)):
                return
            if isinstance(event, SearchMoved):
                if event == self._told:
                    return
                self._told = event
            self._write(event_lines(event, self._state, verbose=self._verbose))

    def beat(self) -> None:
        """Say what still runs, if nothing was said for long enough and anything runs."""
        with self._lock:
            now = self._clock()
            if self._state.activities and now - self._last_line >= self._heartbeat:
                self._write([still_line(activity, self._state, now) for activity in self._state.activities.values()])

    def _beat_until_stopped(self) -> None:
        while not self._stop.wait(max(self._heartbeat - (self._clock() - self._last_line), self._heartbeat / 30)):
            self.beat()

    def _write(self, lines: list[EventLine]) -> None:
        clock = self._now().strftime("%H:%M:%S")
        for line in lines:
            word = painted(f"{line.word:<11}", line.tone) if self._color and line.word else f"{line.word:<11}"
            self._stream.write(f"{clock}  {word} {line.text}\n")
        self._stream.flush()
        self._last_line = self._clock()
