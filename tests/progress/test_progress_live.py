"""The live display on a real pseudo-terminal, read back through a small model of a screen."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from bisector.events import BuildStarted, Note, RunStarted, SearchMoved, SmokeEnded, SmokeStarted
from bisector.model import Axis, AxisValue, Candidate, Outcome
from bisector.progress.frame import frame
from bisector.progress.state import RunState
from pins.model import PinKind
from pins.report.blocks import plain
from pins.report.characters import width

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys, time
from bisector.events import *
from bisector.model import *
from bisector.progress import reporter_for
from pins.model import PinKind
axis = Axis("pybind11", PinKind.PACKAGE, tuple(AxisValue(v) for v in ("3.0.0", "3.0.4", "3.1.0")))
one = Candidate((("pybind11", "3.0.0"),))
with reporter_for(sys.stderr, verbose="-v" in sys.argv) as tell:
    tell(RunStarted("r1", "/state/r1", (axis,), 2))
    tell(BuildStarted("p1", one, "good end"))
    tell(Note("the disk is nearly full", warning=True))
    print("READY", flush=True)
    sys.stdin.readline()
    if "--break" in sys.argv:
        raise SystemExit(3)
    tell(BuildEnded("p1", one, 1.0))
    tell(RunEnded("culprit", "found"))
print("REPORT", flush=True)
"""


class Terminal:
    """A process whose standard error is a pseudo-terminal."""

    def __init__(self, *arguments: str, columns: int = 80, environment: dict[str, str] | None = None) -> None:
        self._master, slave = pty.openpty()
        self.resize(columns)
        kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        kept = {**kept, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **(environment or {})}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=slave,
            env=kept,
            text=True,
        )
        os.close(slave)
        self.shown = ""

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 20, columns, 0, 0))

    def read_until(self, pattern: str) -> str:
        deadline = time.monotonic() + 20
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, f"{pattern!r} was never shown: {self.shown!r}"
            if select.select([self._master], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    self.shown += os.read(self._master, 65536).decode()
        return self.shown

    def end(self, line: str = "\n") -> str:
        output, _ = self.process.communicate(line, timeout=20)
        with contextlib.suppress(OSError):
            while chunk := os.read(self._master, 65536):
                self.shown += chunk.decode()
        os.close(self._master)
        return output


def without_escapes(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_display_is_drawn_and_taken_away_and_the_cursor_given_back() -> None:
    terminal = Terminal()
    terminal.read_until("building")
    assert "\x1b[?25l" in terminal.shown
    assert "REPORT" in terminal.end()
    assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")
    text = without_escapes(terminal.shown)
    assert re.search(r"pybind11 3\.0\.0\.\.3\.1\.0, 2 steps +\d", text)
    assert re.search(r"warning +the disk is nearly full", text)
    assert re.search(r"ended +culprit: found", text)


@pytest.mark.parametrize("how", ["interrupt", "error"])
def test_cursor_comes_back_after_an_interrupt_or_an_error(how: str) -> None:
    terminal = Terminal(*(["--break"] if how == "error" else []))
    terminal.read_until("building")
    assert terminal.process.stdout is not None
    assert terminal.process.stdout.readline() == "READY\n"
    if how == "interrupt":
        terminal.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            terminal.process.wait(20)
    terminal.end()
    assert terminal.process.returncode != 0
    assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")


def test_display_follows_the_terminal_as_it_is_resized() -> None:
    terminal = Terminal(columns=80)
    terminal.read_until("building")
    terminal.resize(24)
    terminal.read_until("pyb[^\n]*…")
    terminal.resize(100)
    terminal.shown = ""
    terminal.read_until(r"pybind11 3\.0\.0\.\.3\.1\.0, 2 steps")
    terminal.end()
    assert terminal.process.returncode == 0


@pytest.mark.parametrize(
    "environment", [{"TERM": "dumb"}, {"TTY_INTERACTIVE": "0"}, {"TTY_INTERACTIVE": "0", "FORCE_COLOR": "1"}]
)
def test_plain_lines_where_the_display_is_not_wanted(environment: dict[str, str]) -> None:
    terminal = Terminal(environment=environment)
    terminal.end()
    assert "\x1b[?25l" not in terminal.shown
    assert re.search(r"\d\d:\d\d:\d\d  ", without_escapes(terminal.shown))


def test_no_color_draws_without_colours() -> None:
    terminal = Terminal(environment={"NO_COLOR": "1"})
    terminal.read_until("building")
    terminal.end()
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", terminal.shown)


def test_verbose_keeps_a_line_for_each_event() -> None:
    terminal = Terminal("-v")
    terminal.end()
    assert re.search(r"built +pybind11 3\.0\.0", without_escapes(terminal.shown))


def state() -> RunState:
    found = RunState()
    axis = Axis("pybind11", PinKind.PACKAGE, tuple(AxisValue(f"3.{minor}.0") for minor in range(40)))
    one = Candidate((("pybind11", "3.7.0"),))
    found.take(RunStarted("r1", "/state/r1", (axis,), 39), 0.0)
    found.take(SmokeStarted("p0", one, "good end"), 1.0)
    found.take(SmokeEnded("p0", one, Outcome.PASS, 1.0), 2.0)
    for number in range(30):
        found.take(BuildStarted(f"q{number}", one, "search \x1b[2J" + "한" * 40), 3.0)
    suspects = tuple((f"pybind11 3.{minor}.0 -> 3.{minor + 1}.0", 0.2) for minor in range(5))
    found.take(SearchMoved(suspects, 32, 5.0, 100.0), 4.0)
    found.take(Note("a note\nof two lines " * 20), 5.0)
    return found


@pytest.mark.parametrize("columns", [1, 5, 20, 60, 80, 120])
@pytest.mark.parametrize("rows", [1, 10, 24])
def test_frame_fits_any_terminal(columns: int, rows: int) -> None:
    lines = frame(state(), 64.0, columns, rows)
    assert all(width(plain(line)) <= columns for line in lines), [plain(line) for line in lines]
    assert all(plain(line).isprintable() for line in lines)
    assert len(lines) <= max(rows, 6)


def test_frame_says_what_runs_and_what_is_left() -> None:
    text = "\n".join(plain(line) for line in frame(state(), 64.0, 100, 24))
    assert "pybind11 3.0.0..3.39.0, 39 steps  1 min 04 s" in text
    assert "and 14 more" in text
    assert "suspects  32 steps: pybind11 3.0.0 -> 3.1.0 20 %, " in text
    assert "left      about 5 builds, 40 s" in text
    assert "so far    ···✓···  0 builds, 1 run" in text
