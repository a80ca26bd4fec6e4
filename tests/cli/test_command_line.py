"""How a command ends: exit codes, what goes to which stream, and that nobody meets a traceback."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from pins import errors
from pins.command_line import guarded, without_credentials

PROGRAM = """
import sys
from pins.command_line import deliver, guarded, new_app, start
from pins import errors

app = new_app("test")

@app.callback()
def _all() -> None: ...

@app.command("do")
@guarded
def do() -> int:
{body}

start(app, "tool", args=["do"])
"""


def ended(body: str, directory: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """A command with this body, run as a program of its own."""
    return subprocess.run([sys.executable, "-c", program(body)], **settings(directory), **options)  # type: ignore[call-overload, no-any-return]


def program(body: str) -> str:
    return PROGRAM.format(body="\n".join(f"    {line}" for line in body.splitlines()))


def settings(directory: Path) -> dict[str, object]:
    environment = {name: value for name, value in os.environ.items() if name != "BISECTOR_DEBUG"}
    environment |= {"TMPDIR": str(directory), "PYTHONPATH": os.pathsep.join(sys.path)}
    return {"env": environment, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("UsageError", 2),
        ("UndeterminedError", 3),
        ("NoSolutionError", 5),
        ("EnvironmentFailureError", 6),
        ("SourceError", 6),
    ],
)
def test_an_error_ends_with_its_own_code_and_its_message_alone(name: str, code: int, tmp_path: Path) -> None:
    assert getattr(errors, name).exit_code == code
    result = ended(f"raise errors.{name}('there is no index here; look there')", tmp_path)
    assert result.returncode == code
    assert result.stderr == "Error: there is no index here; look there\n"
    assert result.stdout == ""


def test_a_command_ends_with_the_code_that_it_returns(tmp_path: Path) -> None:
    assert ended("return 3", tmp_path).returncode == 3
    assert ended("return 0", tmp_path).returncode == 0


def test_a_fault_of_ours_is_70_with_one_message_and_its_traceback_in_a_file(tmp_path: Path) -> None:
    result = ended("raise KeyError('https://user:secret@host/x')", tmp_path)
    assert result.returncode == 70
    assert "Traceback" not in result.stderr
    assert "report it" in result.stderr
    assert "secret" not in result.stderr
    (kept,) = tmp_path.glob("bisector-fault-*")
    assert str(kept) in result.stderr
    assert "Traceback" in kept.read_text()
    assert "secret" not in kept.read_text()


def test_a_fault_shows_its_traceback_where_that_is_asked_for(tmp_path: Path) -> None:
    options = settings(tmp_path)
    environment = {**options.pop("env"), "BISECTOR_DEBUG": "1"}  # type: ignore[dict-item]
    result = subprocess.run([sys.executable, "-c", program("1 / 0")], env=environment, **options)  # type: ignore[call-overload]
    assert result.returncode == 70
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" in result.stderr
    assert not list(tmp_path.glob("bisector-fault-*"))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EMFILE])
def test_a_machine_that_fails_is_not_a_fault_of_ours(number: int, tmp_path: Path) -> None:
    result = ended(f"raise OSError({number}, 'full', '/x')", tmp_path)
    assert result.returncode == 6
    assert "nothing is concluded" in result.stderr


def test_a_reader_that_goes_away_changes_no_code(tmp_path: Path) -> None:
    command = f'"$0" -c "$1" | head -c 10 >{tmp_path}/head; echo "${{PIPESTATUS[0]}}"'
    script = ["bash", "-c", command, sys.executable, program("return deliver('x' * 1000000, None, 3)")]
    result = subprocess.run(script, **settings(tmp_path))  # type: ignore[call-overload]
    assert (result.stdout, result.stderr) == ("3\n", "")


def test_standard_output_that_is_full_or_closed_is_the_machines_failure(tmp_path: Path) -> None:
    options = settings(tmp_path)
    for redirection, said in ((">/dev/full", "No space left"), (">&-", "closed")):
        script = ["bash", "-c", f'"$0" -c "$1" {redirection}', sys.executable, program("return deliver('x', None)")]
        result = subprocess.run(script, **options)  # type: ignore[call-overload]
        assert result.returncode == 6
        assert said in result.stderr
        assert "Traceback" not in result.stderr


def test_a_result_goes_to_standard_output_or_to_the_file_that_is_named(tmp_path: Path) -> None:
    assert ended("return deliver('result', None)", tmp_path).stdout == "result\n"
    file = tmp_path / "out" / "report.md"
    code = f"from pathlib import Path\nreturn deliver('result', Path({str(file)!r}))"
    result = ended(code, tmp_path)
    assert result.returncode == 2
    assert "--output" in result.stderr
    file.parent.mkdir()
    file.write_text("before")
    result = ended(code, tmp_path)
    assert (result.returncode, result.stdout, file.read_text()) == (0, "", "result\n")
    assert [path.name for path in file.parent.iterdir()] == ["report.md"]


def test_text_that_the_terminal_cannot_show_is_shown_otherwise(tmp_path: Path) -> None:
    options = settings(tmp_path)
    environment = {**options.pop("env"), "PYTHONIOENCODING": "ascii"}  # type: ignore[dict-item]
    script = [sys.executable, "-c", program("return deliver('a → b', None)")]
    result = subprocess.run(script, env=environment, **options)  # type: ignore[call-overload]
    assert (result.returncode, result.stdout) == (0, "a \\u2192 b\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_command_with_its_code_after_it_has_cleaned_up(
    number: int, code: int, tmp_path: Path
) -> None:
    body = """
import time
try:
    print("ready", flush=True)
    time.sleep(60)
finally:
    print("cleaned", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program(body)], **settings(tmp_path))  # type: ignore[call-overload]
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    output, messages = process.communicate(timeout=30)
    assert (process.returncode, output) == (code, "cleaned\n")
    assert "Traceback" not in messages


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    body = (
        'import os, signal, time\nos.kill(os.getpid(), signal.SIGHUP)\ntime.sleep(0.1)\nreturn deliver("went on", None)'
    )
    script = ["bash", "-c", 'trap "" HUP; exec "$0" -c "$1"', sys.executable, program(body)]
    result = subprocess.run(script, **settings(tmp_path))  # type: ignore[call-overload]
    assert (result.returncode, result.stdout) == (0, "went on\n")


def test_a_wrong_option_is_a_usage_error(tmp_path: Path) -> None:
    text = program("return 0").replace('args=["do"]', 'args=["do", "--wrong"]')
    result = subprocess.run([sys.executable, "-c", text], **settings(tmp_path))  # type: ignore[call-overload]
    assert result.returncode == 2
    assert "--wrong" in result.stderr
    assert result.stdout == ""


def test_credentials_are_masked_in_any_url() -> None:
    text = "see https://user:pa%40ss@host/simple and http://token@other:80/x, not a@b"
    assert without_credentials(text) == "see https://***@host/simple and http://***@other:80/x, not a@b"


def test_time_is_not_spent_on_what_help_does_not_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
        monkeypatch.delenv(name)  # it would import more
    code = (
        "import sys, bisector.cli, pins.cli\n"
        "heavy = {'httpx', 'docker', 'git', 'rich', 'pydantic', 'sqlite3', 'packaging', 'tomllib', 'uv', 'requests'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], **settings(tmp_path))  # type: ignore[call-overload]
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_a_second_interruption_says_what_the_first_said(capsys: pytest.CaptureFixture[str]) -> None:
    class StoppedError(errors.PinsError):
        exit_code = 130

    def command() -> None:
        try:
            raise StoppedError("go on with: bisector resume r1")
        finally:
            raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as end:
        guarded(command)()
    assert end.value.exit_code == 130
    assert "go on with: bisector resume r1" in capsys.readouterr().err


def test_a_current_directory_that_is_gone_is_no_fault_of_the_program(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    script = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$1" -c "$2"'
    words = ["bash", "-c", script, str(gone), sys.executable, program("return deliver('done', None)")]
    result = subprocess.run(words, **settings(tmp_path))  # type: ignore[call-overload]
    assert result.returncode == 6
    assert "current directory is gone" in result.stderr


def test_a_dash_is_standard_output(tmp_path: Path) -> None:
    body = "from pathlib import Path\nfrom pins.command_line import check_output\ncheck_output(Path('-'))\n"
    result = ended(f"{body}return deliver('result', Path('-'))", tmp_path, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "result\n")
    assert not (tmp_path / "-").exists()
