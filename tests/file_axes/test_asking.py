"""Candidates that a person judges: `--ask`."""

import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest

from bisector.environments.asking import AskingEnvironment
from bisector.model import Build, Candidate, Ended, SmokeRun, SmokeScript
from tests.session.conftest import Ask

BUILD = Build("hash", "somewhere")


class Inner:
    """Stands for an environment: says how to get in, and runs a script that always fails."""

    name = "inner"

    def shell(self, build: Build) -> str:
        return f"enter {build.location}"

    def run(self, _build: Build, _smoke: SmokeRun, _cancel: threading.Event) -> Ended:
        return Ended(3)


@contextmanager
def typed(text: str) -> Iterator[TextIO]:
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    with os.fdopen(reading) as stream:
        yield stream


def smoke(directory: Path) -> SmokeRun:
    candidate = Candidate((("spam", "1.0"),))
    return SmokeRun(SmokeScript(Path(os.devnull)), candidate, "p1", directory, directory, directory / "log")


def asked(text: str, directory: Path, *, script: bool = False, cancel: bool = False) -> tuple[Ended, str]:
    screen, flag = io.StringIO(), threading.Event()
    if cancel:
        flag.set()
    environment: Any = Inner()
    with typed(text) as answers:
        ended = AskingEnvironment(environment, script=script, answers=answers, screen=screen).run(
            BUILD, smoke(directory), flag
        )
    return ended, screen.getvalue()


@pytest.mark.parametrize(("text", "status"), [("pass\n", 0), ("F\n", 1), (" skip \n", 125), ("what?\n\np\n", 0)])
def test_answers_are_exit_statuses(text: str, status: int, tmp_path: Path) -> None:
    ended, shown = asked(text, tmp_path)
    assert ended.exit_status == status
    assert "Candidate: spam=1.0" in shown
    assert "enter somewhere" in shown
    assert "judged by hand" in (tmp_path / "log").read_text()


def test_again_shows_it_once_more_and_a_script_runs_first_each_time(tmp_path: Path) -> None:
    ended, shown = asked("again\nfail\n", tmp_path, script=True)
    assert ended.exit_status == 1
    assert shown.count("exit status 3") == 2


@pytest.mark.parametrize("text", ["stop\n", "", "maybe"])
def test_stopping_and_an_end_of_input_interrupt_the_run(text: str, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        asked(text, tmp_path)


def test_an_answer_that_nobody_needs_any_more_is_not_waited_for(tmp_path: Path) -> None:
    assert asked("", tmp_path, cancel=True)[0].cancelled


def test_a_search_by_hand_is_a_search(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    from bisector import session
    from bisector.session import InterruptedRunError

    request = ask("exit 1", "widget=0..4", ask=True, repeat=1)
    with typed("pass\nfail\nstop\n") as answers:
        monkeypatch.setattr("sys.stdin", answers)
        with pytest.raises(InterruptedRunError) as interrupted:
            session.bisect(request)
    assert "bisector resume" in str(interrupted.value)
    with typed("pass\nfail\n") as answers:
        monkeypatch.setattr("sys.stdin", answers)
        result = session.resume(None)
    assert result.culprit is not None
    assert (result.culprit.moves[0].old, result.culprit.moves[0].new) == ("2", "3")
    assert [run.outcome.value for probe in result.probes for run in probe.runs] == ["PASS", "FAIL", "PASS", "FAIL"]
