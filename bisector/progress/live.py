"""Progress on a terminal: a display at the bottom that is drawn again and again, and lines above it that stay."""

import atexit
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO, cast

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from bisector.events import BuildStarted, Event, Note, RunEnded, SearchMoved, SmokeStarted
from bisector.progress.event_lines import event_lines
from bisector.progress.frame import frame
from bisector.progress.guarded_stream import GuardedStream
from bisector.progress.state import RunState
from pins.report.blocks import Line
from pins.report.tones import Tone
from pins.sign_of_life import hush

_STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.DOUBT: "yellow",
    Tone.FAINT: "dim",
}
_FRAMES_PER_SECOND = 4
_SHOW_CURSOR = "\x1b[?25h"


class LiveReporter:
    """Draws the display between entering and leaving it, four times a second, from a thread of rich's.

    Leaving it, however that comes about (Ctrl-C, an error), takes the display away and gives the cursor back.

    Args:
        stream: the terminal.
        verbose: a line above the display for each event, not only for warnings and the end.
        color: use colours.
        clock: seconds, rising.
    """

    def __init__(
        self, stream: GuardedStream, *, verbose: bool, color: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._verbose = verbose
        self._clock = clock
        self._state = RunState()
        self._lock = threading.Lock()
        self._console = Console(
            file=cast("TextIO", stream),
            force_terminal=True,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._live = Live(
            get_renderable=self._drawing,
            console=self._console,
            refresh_per_second=_FRAMES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        hush()
        atexit.register(self._show_cursor)
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._live.stop()
        finally:
            # A second Ctrl-C may have come while the display was being taken away.
            self._show_cursor()
            atexit.unregister(self._show_cursor)

    def __call__(self, event: Event) -> None:
        """Take one event into the display, and write a line above it where it should stay."""
        with self._lock:
            self._state.take(event, self._clock())
            lasting = isinstance(event, RunEnded) or (isinstance(event, Note) and event.warning)
            passing = isinstance(event, BuildStarted | SmokeStarted | SearchMoved)
            wanted = lasting or (self._verbose and not passing)
            lines = event_lines(event, self._state, verbose=self._verbose) if wanted else []
        if isinstance(event, RunEnded):
            self._live.stop()
        for line in lines:
            text = Text.assemble((f"{line.word:<11} ", _STYLES[line.tone]), line.text)
            self._console.print(text)

    def _drawing(self) -> Group:
        size = self._console.size
        with self._lock:
            # One column is left free: some terminals wrap as soon as the last one is written.
            lines = frame(self._state, self._clock(), max(size.width - 1, 1), size.height)
        return Group(*map(_text, lines))

    def _show_cursor(self) -> None:
        self._stream.write(_SHOW_CURSOR)
        self._stream.flush()


def _text(line: Line) -> Text:
    text = Text(no_wrap=True, overflow="crop")
    for span in line:
        text.append(span.text, _STYLES[span.tone])
    return text
