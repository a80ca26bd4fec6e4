"""What goes wrong, as a user meets it: one message that says what was tried and what to do, and the exit code."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local_index import LocalIndex

GOOD_SCRIPT = '#!/bin/sh\n[ "$PIN_WIDGET" -lt 6 ]\n'


class Terminal:
    """Types `bisector run` with a script and a package index, and shows what came of it."""

    def __init__(self, directory: Path, index: LocalIndex) -> None:
        self.directory = directory
        self.index = index
        self.script = directory / "smoke.sh"
        self.script.write_text(GOOD_SCRIPT)
        self.script.chmod(0o755)
        self.variables = {**os.environ, "XDG_STATE_HOME": f"{directory}/state", "XDG_CACHE_HOME": f"{directory}/cache"}

    def run(self, pin: str = "widget=0..16", *words: str, url: str = "", **variables: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "bisector", "run", "--pin", pin, "--smoke", str(self.script)]
        command += ["--env", "command", "--build-command", "true", "--index-url", url or self.index.url, *words]
        done = subprocess.run(
            command, env={**self.variables, **variables}, capture_output=True, text=True, check=False, timeout=300
        )
        assert "Traceback (most recent call last)" not in done.stderr
        return done.returncode, done.stderr + done.stdout

    def runs_left(self) -> list[Path]:
        return list((self.directory / "state").glob("bisector/runs/*/journal.sqlite"))


@pytest.fixture
def terminal(tmp_path: Path, local_index: LocalIndex) -> Terminal:
    for number in range(17):
        local_index.add("widget", str(number))
    return Terminal(tmp_path, local_index)


@pytest.mark.parametrize(
    ("pin", "words"),
    [
        ("no-such-package=1..2", ["no-such-package"]),
        ("widget=0..99", ["99", "widget"]),
        ("widget=16..0", ["16", "0", "newer"]),
        ("widget=3..3", ["3", "the same"]),
        ("widget=3", ["NAME=GOOD..BAD"]),
        ("widget=0..$(touch /tmp/x)", ["widget"]),
        ("--privileged=0..1", ["--pin"]),
        ("wid get=0..1", ["wid get"]),
        ("widget=0..1\n2", ["widget"]),
    ],
)
def test_a_pin_that_cannot_be_is_a_usage_error(terminal: Terminal, pin: str, words: list[str]) -> None:
    code, said = terminal.run(pin)
    assert code == 2, said
    assert all(word in said for word in words), said
    assert terminal.runs_left() == []


def test_two_neighbours_are_one_step_which_is_verified_and_said(terminal: Terminal) -> None:
    code, said = terminal.run("widget=5..6")
    assert code == 0, said
    assert "no version in between" in said
    assert "widget 5 -> 6" in said


def test_a_script_that_is_not_there_is_a_usage_error(terminal: Terminal) -> None:
    terminal.script.unlink()
    code, said = terminal.run()
    assert code == 2
    assert str(terminal.script) in said


def test_a_script_that_is_not_executable_is_a_usage_error_that_says_how_to_mend_it(terminal: Terminal) -> None:
    terminal.script.chmod(0o644)
    code, said = terminal.run()
    assert code == 2
    assert "chmod +x" in said


@pytest.mark.parametrize(("body", "words"), [("exit 1", "good end fails"), ("exit 0", "bad end passes")])
def test_ends_that_do_not_bracket_have_an_exit_code_of_their_own(terminal: Terminal, body: str, words: str) -> None:
    terminal.script.write_text(f"#!/bin/sh\n{body}\n")
    code, said = terminal.run()
    assert code == 4
    assert words in said


def test_an_index_that_nobody_answers_at_is_an_environment_error(terminal: Terminal) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code, said = terminal.run(url=f"http://127.0.0.1:{port}/simple/")
    assert code == 6, said
    assert f"127.0.0.1:{port}" in said
    assert terminal.runs_left() == []


@pytest.mark.parametrize("failure", ["status", "garbage"])
def test_an_index_that_answers_nonsense_is_an_environment_error(terminal: Terminal, failure: str) -> None:
    if failure == "status":
        terminal.index.fail_with(503)
    else:
        terminal.index.garbage()
    code, said = terminal.run()
    assert code == 6, said
    assert terminal.index.url.split("/")[2] in said


def test_an_index_that_fails_now_and_then_is_asked_again(terminal: Terminal) -> None:
    terminal.index.fail_with(503, times=2)
    code, said = terminal.run()
    assert code == 0, said


def test_a_wrong_option_is_a_usage_error(terminal: Terminal) -> None:
    code, said = terminal.run("widget=0..16", "--no-such-option")
    assert code == 2
    assert "--no-such-option" in said


def test_a_state_directory_that_cannot_be_written_is_an_environment_error(terminal: Terminal) -> None:
    (terminal.directory / "state").write_text("a file where a directory should be")
    code, said = terminal.run()
    assert code == 6, said
    assert "--run-dir" in said


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    place = tmp_path / "small"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], capture_output=True)
    if made.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {made.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path, leave: int) -> None:
    """Fill a file system but for so many bytes."""
    descriptor = os.open(place / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(descriptor, bytes(4096)):
            pass
    except OSError:
        pass
    os.ftruncate(descriptor, max(0, os.fstat(descriptor).st_size - leave))
    os.close(descriptor)


def test_a_disk_that_fills_up_during_a_run_counts_for_nothing_and_the_run_goes_on(
    terminal: Terminal, small_disk: Path
) -> None:
    terminal.script.write_text('#!/bin/sh\nhead -c 90000 /dev/zero >"$PROBE_OUTPUT/dump"\n[ "$PIN_WIDGET" -lt 6 ]\n')
    fill(small_disk, 1_000_000)
    code, said = terminal.run("widget=0..16", "--run-dir", str(small_disk / "run"))
    assert code == 6, said
    assert "full" in said
    (small_disk / "filler").unlink()
    resumed = subprocess.run(
        [sys.executable, "-m", "bisector", "resume", str(small_disk / "run")],
        env=terminal.variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert resumed.returncode == 0, resumed.stderr
    assert "widget 5 -> 6" in resumed.stdout


def test_a_disk_that_is_full_from_the_start_is_an_environment_error(terminal: Terminal, small_disk: Path) -> None:
    fill(small_disk, 0)
    code, said = terminal.run("widget=0..16", "--run-dir", str(small_disk / "run"))
    assert code == 6, said
    assert "--run-dir" in said or "full" in said or "No space left" in said


def test_an_output_file_that_cannot_be_written_is_refused_before_anything_runs(terminal: Terminal) -> None:
    for output in (terminal.directory / "nowhere" / "report.txt", terminal.directory):
        code, said = terminal.run("widget=0..16", "--output", str(output))
        assert code == 2
        assert "--output" in said
    assert terminal.runs_left() == []


def test_a_name_that_is_no_text_is_refused_before_anything_runs(terminal: Terminal) -> None:
    script = os.fsdecode(os.fsencode(terminal.directory) + b"/caf\xe9.sh")
    terminal.script.rename(script)
    terminal.script = Path(script)
    code, said = terminal.run()
    assert code == 2
    assert "is not UTF-8" in said
    assert terminal.runs_left() == []
