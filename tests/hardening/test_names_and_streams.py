"""Names that the system does not take, and standard streams that are closed: one clear message, never a fault."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import typer

from bisector.progress import reporter_for
from bisector.progress.guarded_stream import GuardedStream
from pins.command_line import guarded

ROOT = Path(__file__).resolve().parents[2]
TOO_LONG = "x" * 5000


def ended(module: str, *words: str, closed: Iterable[int] = (), cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """A command of ours, run with some of its standard streams closed."""

    def close() -> None:
        for number in closed:
            os.close(number)

    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(cwd / "state")}
    return subprocess.run(
        [sys.executable, "-m", module, *words], cwd=cwd, env=environment, capture_output=True, preexec_fn=close
    )


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("pins", ("show", TOO_LONG)),
        ("bisector", ("report", TOO_LONG)),
        ("bisector", ("run", "--pin", "six=1.15.0..1.16.0", "--smoke", TOO_LONG)),
    ],
)
def test_a_name_that_is_too_long_is_a_wrong_name(tmp_path: Path, module: str, words: tuple[str, ...]) -> None:
    done = ended(module, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert len(done.stderr) < 6000
    assert done.stderr.splitlines()[-1].startswith((b"Error: ", b"'x"))


@pytest.mark.parametrize("number", [errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES])
def test_what_the_system_says_of_a_name_is_told_with_the_name(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    @guarded
    def command() -> int:
        raise OSError(number, os.strerror(number), "some/file")

    with pytest.raises(typer.Exit) as exit_:
        command()
    assert exit_.value.exit_code == 2
    said = capsys.readouterr().err
    assert "'some/file' cannot be used" in said
    assert os.strerror(number) in said


def test_an_error_of_the_system_without_a_name_is_still_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    @guarded
    def command() -> int:
        raise OSError(errno.EACCES, "no")

    with pytest.raises(typer.Exit) as exit_:
        command()
    assert exit_.value.exit_code == 70


def test_files_do_not_take_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    program = (
        "import os, sys, typer; from pins.command_line import start;\n"
        "app = typer.Typer(); seen = []\n"
        "@app.command()\n"
        "def one() -> None:\n"
        "    with open('first', 'w') as file: file.write(str(file.fileno()))\n"
        "start(app, 'x', args=[])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, preexec_fn=lambda: os.closerange(0, 3)
    )
    assert int((tmp_path / "first").read_text()) > 2


def test_progress_goes_nowhere_where_there_is_no_standard_error() -> None:
    assert GuardedStream(None).write("text") == 4
    assert not GuardedStream(None).isatty()
    with reporter_for(None):
        pass
