import io
import threading
import time
from datetime import datetime

import pytest

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
from bisector.model import Axis, AxisValue, Candidate, Outcome
from bisector.progress import reporter_for
from bisector.progress.guarded_stream import GuardedStream
from bisector.progress.plain import PlainReporter
from pins.model import PinKind

AXIS = Axis("pybind11", PinKind.PACKAGE, tuple(AxisValue(text) for text in ("3.0.0", "3.0.4", "3.1.0")))


def at(version: str) -> Candidate:
    return Candidate((("pybind11", version),))


EVENTS: tuple[Event, ...] = (
    RunStarted("r1", "/state/r1", (AXIS,), 2, resumed_runs=3),
    BuildStarted("p1", at("3.0.0"), "good end"),
    BuildEnded("p1", at("3.0.0"), 12.2),
    SmokeStarted("p1", at("3.0.0"), "good end"),
    SmokeEnded("p1", at("3.0.0"), Outcome.PASS, 3.04, log="/state/r1/p1.log"),
    SearchMoved((("pybind11 3.0.4 -> 3.1.0", 0.62),), 2, 1.4, 40.0),
    SearchMoved((("pybind11 3.0.4 -> 3.1.0", 0.62),), 2, 1.4, 40.0),
    BuildStarted("p2", at("3.0.4"), "search"),
    BuildEnded("p2", at("3.0.4"), 5.0, failure="\nno compiler\nmore", log="/state/r1/p2.build"),
    Note("the index was slow"),
    Note("the disk is nearly full", warning=True),
    RunEnded("culprit", "pybind11 3.1.0 is the first that fails."),
)


def told(*events: Event, quiet: bool = False, verbose: bool = False, color: bool = False) -> list[str]:
    stream = io.StringIO()
    with PlainReporter(
        GuardedStream(stream),
        quiet=quiet,
        verbose=verbose,
        color=color,
        clock=lambda: 0.0,
        now=lambda: datetime(2026, 11, 3, 10, 15),
    ) as reporter:
        for event in events:
            reporter(event)
    return stream.getvalue().splitlines()


def test_each_event_is_a_line_with_a_clock() -> None:
    assert told(*EVENTS) == [
        "10:15:00  start       pybind11 3.0.0..3.1.0 (2 steps)",
        "10:15:00              logs lie under /state/r1",
        "10:15:00              3 finished runs taken from the journal",
        "10:15:00  build       pybind11 3.0.0 (good end)",
        "10:15:00  built       pybind11 3.0.0 in 12 s",
        "10:15:00  smoke       pybind11 3.0.0 (good end)",
        "10:15:00  PASS        pybind11 3.0.0 in 3.0 s",
        "10:15:00  search      2 steps suspected, likeliest pybind11 3.0.4 -> 3.1.0 (62 %); left: about 1 build, 40 s",
        "10:15:00  build       pybind11 3.0.4 (search)",
        "10:15:00  UNBUILDABLE pybind11 3.0.4 in 5.0 s: no compiler (log: /state/r1/p2.build)",
        "10:15:00  note        the index was slow",
        "10:15:00  warning     the disk is nearly full",
        "10:15:00  ended       culprit: pybind11 3.1.0 is the first that fails.",
    ]


def test_quiet_tells_warnings_and_the_end_alone() -> None:
    assert [line.split()[1] for line in told(*EVENTS, quiet=True)] == ["warning", "ended"]


def test_verbose_names_logs_and_suspects() -> None:
    lines = told(*EVENTS, verbose=True)
    assert any("(log: /state/r1/p1.log)" in line for line in lines)
    assert "10:15:00              62 %  pybind11 3.0.4 -> 3.1.0" in lines


def test_what_a_script_said_cannot_start_a_line_or_colour_one() -> None:
    hostile = SmokeEnded("p1", at("3.0.0"), Outcome.FAIL, 1.0, detail="x\n10:15:00  PASS \x1b[32m" + "y" * 5000)
    (line,) = told(hostile)
    assert line.isprintable()
    assert len(line) < 450


def test_colours_only_where_asked_for() -> None:
    assert not any("\x1b" in line for line in told(*EVENTS))
    assert any("\x1b[32mPASS" in line for line in told(*EVENTS, color=True))


def test_heartbeat_says_what_still_runs_after_silence_only() -> None:
    stream = io.StringIO()
    clock = [0.0]
    reporter = PlainReporter(GuardedStream(stream), heartbeat=30.0, clock=lambda: clock[0])
    reporter.beat()
    clock[0] = 31.0
    reporter.beat()
    assert stream.getvalue() == ""  # nothing runs
    reporter(BuildStarted("p1", at("3.0.0"), "good end"))
    clock[0] = 45.0
    reporter.beat()
    assert len(stream.getvalue().splitlines()) == 1  # a line was written 14 s ago
    clock[0] = 61.5
    reporter.beat()
    assert stream.getvalue().splitlines()[1].endswith("still building pybind11 3.0.0, 30 s so far")
    reporter(BuildEnded("p1", at("3.0.0"), 31.0))
    reporter(SmokeStarted("p1", at("3.0.0"), "good end"))
    reporter(ProbeCancelled("p1", at("3.0.0")))
    clock[0] = 200.0
    reporter.beat()
    assert "still running" not in stream.getvalue()


def test_heartbeat_comes_by_itself_and_its_thread_ends_with_the_context() -> None:
    beaten = threading.Event()

    class Stream(io.StringIO):
        def write(self, text: str) -> int:
            if "still building" in text:
                beaten.set()
            return super().write(text)

    with PlainReporter(GuardedStream(Stream()), heartbeat=0.02) as reporter:
        reporter(BuildStarted("p1", at("3.0.0"), "good end"))
        assert beaten.wait(10)
    assert not any(thread.name == "heartbeat" for thread in threading.enumerate())


def test_lines_of_events_and_heartbeats_stay_whole() -> None:
    stream = io.StringIO()
    with PlainReporter(GuardedStream(stream), heartbeat=0.0001) as reporter:
        reporter(BuildStarted("p0", at("3.0.0"), ""))
        for number in range(300):
            reporter(Note(f"number {number}"))
            if number % 100 == 0:
                time.sleep(0.002)
    numbers = [line.split("note        ")[1] for line in stream.getvalue().splitlines() if "note" in line]
    assert numbers == [f"number {number}" for number in range(300)]


@pytest.mark.parametrize("color", [True, False])
def test_a_stream_that_breaks_ends_the_display_not_the_run(color: bool) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with reporter_for(Broken(), color=color) as reporter:
        for event in EVENTS:
            reporter(event)
    closed = io.StringIO()
    with reporter_for(closed, color=color) as reporter:
        closed.close()
        for event in EVENTS:
            reporter(event)


def test_a_stream_that_lacks_characters_gets_what_it_can_show() -> None:
    raw = io.BytesIO()
    with reporter_for(io.TextIOWrapper(raw, encoding="ascii"), color=False) as reporter:
        reporter(Note("über"))
        assert raw.getvalue().endswith(b"note        ?ber\n")


def test_without_a_terminal_rich_is_not_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from bisector.progress import reporter_for; from bisector.events import Note\n"
        "with reporter_for(sys.stderr) as r: r(Note('x'))\n"
        "assert not any(name.split('.')[0] == 'rich' for name in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.endswith("note        x\n")


def test_a_fault_in_the_display_never_reaches_the_run() -> None:
    with reporter_for(io.StringIO(), color=False) as reporter:
        reporter(SmokeEnded("p1", at("3.0.0"), "not an outcome", 1.0))  # type: ignore[arg-type]
        reporter(EVENTS[0])


def test_no_more_steps_are_suspected_than_there_are_and_none_where_the_ends_do_not_bracket() -> None:
    moved = SearchMoved((("pybind11 3.0.4 -> 3.1.0", 0.62),), 6, 1.4, None)
    assert "2 steps suspected, likeliest" in told(EVENTS[0], moved)[-1]
    nothing = SearchMoved((("pybind11 3.0.4 -> 3.1.0", 0.0002),), 1, 0.0, None)
    assert told(EVENTS[0], nothing) == told(EVENTS[0])
