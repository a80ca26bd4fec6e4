"""Runs that are cut off at any moment, and go on."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from bisector.entries import BuildStatus
from bisector.journal import Journal
from bisector.processes import MARKER
from bisector.runs import JOURNAL, identity_of
from tests.local_index import LocalIndex

SCRIPT = """#!/bin/sh
sleep 30 >/dev/null 2>&1 & # a stray child, to be ended with the run
sleep 0.05
[ "$PIN_WIDGET" -lt 23 ]
"""


@dataclass
class Bench:
    """A run as a user starts it, in a process of its own."""

    index: LocalIndex
    directory: Path
    script: Path
    variables: dict[str, str]

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "bisector", *words]

    def start(self) -> "subprocess.Popen[bytes]":
        words = ["run", "--pin", "widget=0..40", "--smoke", str(self.script), "--index-url", self.index.url]
        words += ["--env", "command", "--build-command", "sleep 0.02", "--run-dir", str(self.directory)]
        return subprocess.Popen(
            self.command(*words, "--format", "json"),
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def call(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(self.command(*words), env=self.variables, capture_output=True, check=False)

    def finished(self) -> tuple[Counter[str], Counter[str]]:
        """Finished runs and builds of each candidate, by the journal."""
        journal = Journal(self.directory / JOURNAL, writable=False)
        names = {entry.id: str(entry.candidate) for entry in journal.probes()}
        runs = Counter(names[run.probe] for run in journal.runs() if run.ended is not None)
        builds = Counter(names[build.probe] for build in journal.builds() if build.status is BuildStatus.BUILT)
        journal.close()
        return runs, builds


@pytest.fixture
def bench(tmp_path: Path, local_index: LocalIndex) -> Bench:
    for number in range(41):
        local_index.add("widget", str(number))
    script = tmp_path / "smoke.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    variables = {**os.environ, "XDG_STATE_HOME": f"{tmp_path}/state", "XDG_CACHE_HOME": f"{tmp_path}/cache"}
    return Bench(local_index, tmp_path / "state" / "bisector" / "runs" / "one", script, variables)


def marked_processes(bench: Bench) -> list[psutil.Process]:
    """Every process that was started for a probe or a build of this test's run."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARKER, "").startswith(identity_of(bench.directory)):
                found.append(process)
        except psutil.Error:
            continue
    return found


def answer(document: bytes) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(document)
    return {"verdict": result["verdict"], "culprit": result["culprit"], "runs": result["runs"]}


def runs_so_far(bench: Bench) -> int:
    """Finished runs, -1 before there is a journal."""
    return bench.finished()[0].total() if (bench.directory / JOURNAL).exists() else -1


def cut_off_and_go_on(bench: Bench, runs: int, seconds: float) -> tuple[bytes, bool]:
    """What `resume` prints after a kill -9, and whether there was a run to go on with.

    The moment: so many seconds after so many runs have finished (after the start, where `runs` is -1).
    """
    process = bench.start()
    while process.poll() is None and runs_so_far(bench) < runs:
        time.sleep(0.01)
    try:
        out, _ = process.communicate(timeout=seconds)
        return out, False
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    if not (bench.directory / JOURNAL).exists():
        return b"", False
    runs_before, builds_before = bench.finished()
    resumed = bench.call("resume", "one", "--format", "json")
    if resumed.returncode == 2 and b"no run" in resumed.stderr:
        return b"", False
    assert resumed.returncode == 0, resumed.stderr.decode()
    runs_after, builds_after = bench.finished()
    assert all(runs_after[name] >= count for name, count in runs_before.items())
    assert all(builds_after[name] == count for name, count in builds_before.items()), "a finished build was repeated"
    return resumed.stdout, True


def check_moments(bench: Bench, moments: int, seed: int) -> None:
    """Cut off at random moments: the answer and the number of finished runs are always those of a run left alone."""
    began = time.monotonic()
    out, _ = bench.start().communicate()
    expected = answer(out)
    each = (time.monotonic() - began) / expected["runs"]
    assert expected["culprit"]["new"] == "23"
    chance = random.Random(seed)
    went_on = 0
    for _ in range(moments):
        bench.call("gc", "--all")
        subprocess.run(["rm", "-rf", str(bench.directory)], check=True)
        out, again = cut_off_and_go_on(bench, chance.randrange(-1, expected["runs"]), chance.uniform(0, each))
        went_on += again
        if out:
            assert answer(out) == expected
        bench.call("gc")
        assert marked_processes(bench) == []
        assert not any((bench.directory / "scratch").glob("*"))
        if out:
            assert not (bench.directory / "builds").exists()
    assert went_on > moments / 4, "most moments came before the run began: the test shows nothing"


def test_a_run_that_is_killed_goes_on_without_repeating_what_was_finished(bench: Bench) -> None:
    check_moments(bench, 3, seed=3)


@pytest.mark.slow
def test_a_run_can_be_killed_at_any_of_fifty_moments(bench: Bench) -> None:
    check_moments(bench, 50, seed=2)


def wait_for(bench: Bench, runs: int) -> None:
    """Until the journal has this many finished runs."""
    for _ in range(200):
        time.sleep(0.05)
        if (bench.directory / JOURNAL).exists() and bench.finished()[0].total() >= runs:
            return
    raise AssertionError("the run does not get on")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_how_to_go_on(bench: Bench, number: signal.Signals, code: int) -> None:
    process = bench.start()
    wait_for(bench, 3)
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == code
    assert b"bisector resume" in errors
    assert b"Traceback" not in errors
    assert marked_processes(bench) == []
    resumed = bench.call("resume", "one", "--format", "json")
    assert answer(resumed.stdout)["culprit"]["new"] == "23"


def test_a_run_is_watched_but_not_driven_by_a_second_process(bench: Bench) -> None:
    process = bench.start()
    wait_for(bench, 2)
    second = bench.call("resume", "one")
    watched = bench.call("status", "one")
    process.communicate()
    assert second.returncode == 2
    assert b"being driven by process" in second.stderr
    assert watched.returncode == 0
    assert b"widget" in watched.stdout


def test_a_changed_script_is_noticed_on_resume(bench: Bench) -> None:
    process = bench.start()
    wait_for(bench, 2)
    process.kill()
    process.communicate()
    bench.script.write_text(SCRIPT.replace("23", "24"))
    resumed = bench.call("resume", "one")
    assert resumed.returncode == 2
    assert b"smoke script" in resumed.stderr
    assert b"changed" in resumed.stderr


def test_resuming_a_finished_run_shows_its_report_again(bench: Bench) -> None:
    out, _ = bench.start().communicate()
    again = bench.call("resume", "one", "--format", "json")
    assert again.returncode == 0
    assert answer(again.stdout) == answer(out)


def test_an_interrupted_probe_is_not_said_to_go_on(bench: Bench) -> None:
    bench.script.write_text('#!/bin/sh\ntouch "$PROBE_OUTPUT/begun"\nsleep 60\n')
    words = ["probe", "--pin", "widget==3", "--smoke", str(bench.script), "--index-url", bench.index.url]
    words += ["--env", "command", "--build-command", "true", "--run-dir", str(bench.directory)]
    process = subprocess.Popen(bench.command(*words), env=bench.variables, stderr=subprocess.PIPE)
    while process.poll() is None and not list(bench.directory.glob("output/*/begun")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert b"resume" not in errors
    resumed = bench.call("resume", str(bench.directory))
    assert resumed.returncode == 2
    assert b"single probe" in resumed.stderr
