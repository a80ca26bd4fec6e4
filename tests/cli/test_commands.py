"""The commands from end to end, over a small real index: what they print, where, and how they end."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from bisector.cli import main
from bisector.cli.machine_checks import Finding
from bisector.report import result_from_json
from tests.local_index import LocalIndex

Command = Callable[..., "Ran"]
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """A home and a state directory of its own, and no package index but the one that is named."""
    (tmp_path / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "NO_COLOR"))}
    return {
        **kept,
        "HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
        "PIP_CONFIG_FILE": os.devnull,
    }


@pytest.fixture
def bisector(
    tmp_path: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Command]:
    """Runs the command in `tmp_path`, within this process, since starting Python costs more than the rest."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # what others have left is none of ours
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def run(*arguments: str, **changed: str) -> Ran:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["bisector", *arguments])
            for name in os.environ.keys() - variables.keys():
                patch.delenv(name)
            for name, value in (variables | changed).items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as end:
                main()
        printed = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Ran(end.value.code, printed.out, printed.err)

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def widget(local_index: LocalIndex) -> LocalIndex:
    """An index with widget 0 to 8."""
    for number in range(9):
        local_index.add("widget", str(number))
    return local_index


def smoke(directory: Path, body: str = 'test "$PIN_WIDGET" -lt 5 || { echo "ValueError: broken" >&2; exit 1; }') -> str:
    path = directory / "smoke.sh"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path.name


def run_options(index: LocalIndex, pin: str = "widget=0..8") -> list[str]:
    return ["--pin", pin, "--env", "command", "--build-command", "true", "--index-url", index.url]


def test_a_run_names_the_culprit_on_standard_output_and_shows_its_progress_elsewhere(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert "widget 4 -> 5" in ran.stdout.splitlines()[0]
    assert "build" in ran.stderr
    assert "widget 4 -> 5" not in ran.stderr.splitlines()[0]

    # What was found can be shown again, in every format, by a later command.
    again = bisector("report")
    assert (again.returncode, again.stdout) == (0, ran.stdout)
    document = bisector("report", "--format", "json").stdout
    result = result_from_json(document)
    assert json.loads(document)["culprit"]["new"] == "5"
    assert result.reproduce.startswith("bisector run --pin widget=0..8 --env command")
    assert bisector("report", result.run_id[:10], "--format", "md").stdout.startswith("#")
    assert "<html" in bisector("report", "--format", "html").stdout
    status = bisector("status")
    assert (status.returncode, status.stderr) == (0, "")
    assert result.run_id in status.stdout
    assert json.loads(bisector("status", "--format", "json").stdout)["verdict"] == "culprit"
    assert bisector("resume").returncode == 0
    assert bisector("gc").returncode == 0


def test_a_quiet_run_that_writes_to_a_file_prints_nothing_but_the_end(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    options = ["--quiet", "--format", "json", "--output", "result.json", "--run-dir", "run"]
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path), *options)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) <= 1
    assert json.loads((tmp_path / "result.json").read_text())["verdict"] == "culprit"
    assert (tmp_path / "run" / "journal.sqlite").exists()


def test_what_runs_no_script_takes_a_name_after_the_dashes(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    assert bisector("run", *run_options(widget), "--smoke", smoke(tmp_path)).returncode == 0
    ran = bisector("report", "--", "no-such-run")
    assert ran.returncode == 2
    assert "no run is called 'no-such-run'" in ran.stderr


def test_what_follows_the_dashes_is_the_scripts(bisector: Command, widget: LocalIndex, tmp_path: Path) -> None:
    script = smoke(tmp_path, 'test "$1,$2,$3" = "--pin,a b,--" && test "$PIN_WIDGET" -lt 5')
    ran = bisector("run", *run_options(widget), "--smoke", script, "--", "--pin", "a b", "--")
    assert "widget 4 -> 5" in ran.stdout, ran.stderr
    report = json.loads(bisector("report", "--format", "json").stdout)
    reproduce = report["reproduce"]
    assert report["reproduce_in"] == str(tmp_path)
    assert "--smoke smoke.sh --exclude-newer 20" in reproduce
    assert reproduce.endswith(" -- --pin 'a b' --")


def test_a_run_goes_on_in_the_directory_in_which_it_was_started(
    bisector: Command, widget: LocalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "build.sh").write_text("#!/bin/sh\n")
    (tmp_path / "build.sh").chmod(0o755)
    options = [word if word != "true" else "./build.sh" for word in run_options(widget)]
    stopped = bisector("run", *options, "--smoke", smoke(tmp_path), "--max-runs", "2")
    assert stopped.returncode == 3, stopped.stderr
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    resumed = bisector("resume", "--max-runs", "50", "--output", "report.txt")
    assert resumed.returncode == 0, resumed.stderr
    assert f"In {tmp_path}:" in (elsewhere / "report.txt").read_text()
    monkeypatch.chdir(elsewhere)  # the command went on where the run began
    smoke(elsewhere)
    gone = bisector("run", *run_options(widget), "--smoke", "smoke.sh", "--max-runs", "2")
    assert gone.returncode == 3, gone.stderr
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(elsewhere)
    refused = bisector("resume", "--max-runs", "50")
    assert refused.returncode == 2
    assert f"was started in {elsewhere}" in refused.stderr


def test_options_come_from_a_file_and_its_paths_are_relative_to_it(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    smoke(there)
    text = f'smoke = "smoke.sh"\nbuild-command = "true"\nindex-url = "{widget.url}"\n[pin]\nwidget = "0..8"\n'
    (there / "bisect.toml").write_text(text)
    ran = bisector("run", "there/bisect.toml", "--quiet")
    assert "widget 4 -> 5" in ran.stdout, ran.stderr

    (tmp_path / "pyproject.toml").write_text(
        text.replace("[pin]", "[tool.bisector.pin]").replace("smoke =", "[tool.bisector]\nsmoke =")
    )
    smoke(tmp_path)
    ran = bisector("run", "--pin", "widget=3..8", "--plan")
    assert ran.returncode == 0, ran.stderr
    assert "pyproject.toml" in ran.stderr
    assert "widget (package): 3 (good) to 8 (bad), 5 steps" in ran.stdout


def test_a_plan_builds_nothing(bisector: Command, widget: LocalIndex, tmp_path: Path) -> None:
    options = ["run", *run_options(widget), "--smoke", smoke(tmp_path), "--plan"]
    ran = bisector(*options)
    assert ran.returncode == 0, ran.stderr
    assert "Chain: 9 candidates" in ran.stdout
    assert "at most 5" in ran.stdout
    document = json.loads(bisector(*options, "--format", "json").stdout)
    assert document["schema"] == "bisector.plan/1"
    assert document["chain"][1] == {"widget": "1"}
    assert not (tmp_path / "state").exists()
    assert "Chain: 9 candidates" in bisector(*options, "--format", "md").stdout
    assert "<html" in bisector(*options, "--format", "html").stdout


@pytest.mark.parametrize(("value", "code", "outcome"), [("2", 0, "PASS"), ("7", 1, "FAIL")])
def test_a_single_probe_tells_its_outcome(
    bisector: Command, widget: LocalIndex, tmp_path: Path, value: str, code: int, outcome: str
) -> None:
    options = [*run_options(widget, f"widget=={value}"), "--smoke", smoke(tmp_path)]
    ran = bisector("probe", *options)
    assert (ran.returncode, ran.stdout.splitlines()[0]) == (code, f"{outcome}: widget={value}")
    document = json.loads(bisector("probe", *options, "--format", "json", "--quiet").stdout)
    assert (document["schema"], document["outcome"]) == ("bisector.probe/1", outcome)
    jsonschema.validate(document, json.loads((ROOT / "docs/schemas/bisector.probe-1.schema.json").read_text()))
    assert Path(document["runs"][0]["log"]).exists()


@pytest.mark.parametrize(
    ("pin", "said"),
    [
        ("widget=8..0", "older one first"),
        ("widget=3..3", "same"),
        ("widget=0..99", "no version 99"),
        ("gadget=0..8", "unknown package gadget"),
        ("widget=0..8$(touch x)", "cannot be a version"),
        ("-rf=0..8", "names no package"),
    ],
)
def test_a_wrong_pin_is_a_usage_error(
    bisector: Command, widget: LocalIndex, tmp_path: Path, pin: str, said: str
) -> None:
    ran = bisector("run", *run_options(widget, pin), "--smoke", smoke(tmp_path))
    assert ran.returncode == 2
    assert said in ran.stderr
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr


def test_a_script_that_cannot_be_started_is_a_usage_error(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    missing = bisector("run", *run_options(widget), "--smoke", "none.sh")
    assert (missing.returncode, "none.sh does not exist" in missing.stderr) == (2, True)
    (tmp_path / smoke(tmp_path)).chmod(0o644)
    still = bisector("run", *run_options(widget), "--smoke", "smoke.sh")
    assert (still.returncode, "not executable" in still.stderr) == (2, True)


@pytest.mark.parametrize(
    ("body", "said"),
    [("exit 1", "The good end fails: widget=0"), ("exit 0", "The bad end passes: widget=8")],
    ids=["the good end fails", "the bad end passes"],
)
def test_ends_that_do_not_bracket_end_with_4(
    bisector: Command, widget: LocalIndex, tmp_path: Path, body: str, said: str
) -> None:
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path, body))
    assert ran.returncode == 4, ran.stderr
    assert "do not bracket" in ran.stdout.splitlines()[0]
    assert said in ran.stdout.splitlines()[2]


def test_an_index_that_cannot_be_read_ends_with_6(bisector: Command, widget: LocalIndex, tmp_path: Path) -> None:
    widget.fail_with(404)
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path))
    assert ran.returncode in {2, 6}
    ran = bisector("run", *run_options(widget)[:-1], "http://127.0.0.1:9/simple/", "--smoke", smoke(tmp_path))
    assert ran.returncode == 6, ran.stderr
    assert "127.0.0.1:9" in ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--wrong"],
        ["run", "--dockerfile"],
        ["run", "--workers", "none"],
        ["run", "--format", "pdf"],
        ["run", "none.toml"],
        ["status", "none"],
        ["report", "none"],
        ["resume", "none"],
        ["resume", "--budget", "soon"],
        ["gc", "--older-than", "old"],
        ["doctor", "--need", "luck"],
        ["wrong"],
    ],
)
def test_what_is_wrong_with_a_command_line_is_said_and_ends_with_2(bisector: Command, arguments: list[str]) -> None:
    ran = bisector(*arguments)
    assert ran.returncode == 2
    assert "Error: " in ran.stderr
    assert ran.stdout == ""


@pytest.mark.parametrize("command", ["run", "resume", "status", "report", "probe", "gc", "doctor"])
def test_help_fits_a_screen_and_shows_an_example(bisector: Command, command: str) -> None:
    ran = bisector(command, "--help", COLUMNS="80")
    assert ran.returncode == 0
    assert f"bisector {command}" in ran.stdout.partition("Example")[2]
    assert len(ran.stdout.splitlines()) <= 45


def test_every_option_is_told_where_all_are_asked_for(bisector: Command) -> None:
    ran = bisector("run", "--help-all")
    for option in ("--timeout-is", "--rebuild-witnesses", "--extra-index-url", "--pin"):
        assert option in ran.stdout
    assert "--rebuild-witnesses" not in bisector("run", "--help").stdout


def test_doctor_says_what_is_missing_that_is_needed(bisector: Command) -> None:
    ran = bisector("doctor", "--format", "json", "--need", "docker", DOCKER_HOST="unix:///nowhere/docker.sock")
    assert ran.returncode == 1
    findings = {each["name"]: each for each in json.loads(ran.stdout)["findings"]}
    assert not findings["docker"]["found"]
    assert findings["git"]["found"]
    assert "docker" in ran.stderr
    assert bisector("doctor", DOCKER_HOST="unix:///nowhere/docker.sock").returncode == 0


def test_both_commands_start_as_programs(variables: dict[str, str]) -> None:
    for name in ("bisector", "pins"):
        command = [sys.executable, "-m", name, "--version"]
        ran = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        assert ran.stdout.startswith(f"{name} ")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_interrupted_says_how_to_go_on_and_does(
    bisector: Command,
    variables: dict[str, str],
    widget: LocalIndex,
    tmp_path: Path,
    number: signal.Signals,
    code: int,
) -> None:
    waits = 'test "$PIN_WIDGET" -lt 8 || test -e go || { touch waiting; sleep 300; }\n'
    script = smoke(
        tmp_path, f'cd "{tmp_path}"\n{waits}test "$PIN_WIDGET" -lt 5 || {{ echo "ValueError: x" >&2; exit 1; }}'
    )
    command = [sys.executable, "-m", "bisector", "run", *run_options(widget), "--smoke", script]
    run = subprocess.Popen(
        command, env=variables, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "waiting").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "running widget 8" in bisector("status").stdout
    assert "still running: this is what is known so far" in bisector("report").stderr
    run.send_signal(number)
    output, messages = run.communicate(timeout=60)
    assert (run.returncode, output) == (code, "")
    assert "bisector resume" in messages.splitlines()[-1]
    assert "interrupted" in bisector("status", "--format", "json").stdout

    (tmp_path / "go").touch()
    name = messages.split("bisector resume ")[1].split()[0]
    resumed = bisector("resume", name)
    assert resumed.returncode == 0, resumed.stderr
    assert "widget 4 -> 5" in resumed.stdout


def test_a_directory_that_is_none_is_an_error_of_usage(bisector: Command, widget: LocalIndex, tmp_path: Path) -> None:
    script = smoke(tmp_path)
    for option in ("--run-dir", "--share-cache"):
        ran = bisector("run", *run_options(widget), "--smoke", script, option, f"{script}/below")
        assert ran.returncode == 2
        assert option in ran.stderr
        assert f"{script} is not a directory" in ran.stderr


def test_a_probe_of_what_no_index_has_is_an_error_of_usage(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    options = ["--smoke", smoke(tmp_path, "true"), "--index-url", widget.url]
    ran = bisector("probe", "--pin", "widget==99", *options)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "widget has no version 99" in ran.stderr
    assert bisector("probe", "--pin", "gadget==1", *options).returncode == 2
    # The index's own spelling is what is installed and shown.
    ran = bisector("probe", "--pin", "widget==3.0", *options)
    assert ran.returncode == 0, ran.stderr
    assert "PASS: widget=3\n" in ran.stdout


def test_doctor_takes_any_gpu_where_one_is_needed(bisector: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for found in (True, False):
        checks = {name: partial(Finding, name, name == "nvidia" and found, "") for name in ("rocm", "nvidia")}
        monkeypatch.setattr("bisector.cli.doctor.CHECKS", checks)
        assert bisector("doctor", "--need", "gpu").returncode == (0 if found else 1)
    assert bisector("doctor", "--need", "gpus").returncode == 2


def test_every_format_is_there_for_what_is_no_result(bisector: Command, widget: LocalIndex, tmp_path: Path) -> None:
    ran = bisector("probe", *run_options(widget, "widget==6"), "--smoke", smoke(tmp_path), "--format", "md")
    assert ran.returncode == 1
    assert "FAIL: widget=6" in ran.stdout.splitlines()[0]
    assert "<html" in bisector("gc", "--format", "html").stdout
    assert json.loads(bisector("gc", "--format", "json", "--dry-run").stdout)["dry_run"] is True
    assert bisector("gc", "-q").stdout == bisector("gc").stdout == "nothing is left over\n"
    assert bisector("gc", "--format", "sarif").returncode == 2


def test_less_and_more_progress_exclude_one_another(bisector: Command, widget: LocalIndex, tmp_path: Path) -> None:
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path), "-q", "-v", "--pass-env", "NOPE")
    assert ran.returncode == 2
    assert "--quiet and --verbose" in ran.stderr
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path), "--pass-env", "NOPE", "--max-runs", "2")
    assert "--pass-env NOPE: it is not set here" in ran.stderr


def test_more_runs_may_be_allowed_to_a_run_that_used_up_its_own(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path), "--max-runs", "3")
    assert ran.returncode == 3, ran.stderr
    assert bisector("resume", "--max-runs", "1").returncode == 2
    ran = bisector("resume", "--max-runs", "60")
    assert ran.returncode == 0, ran.stderr
    assert "widget 4 -> 5" in ran.stdout


def test_a_probe_offers_no_options_of_a_search(bisector: Command) -> None:
    shown = bisector("probe", "--help-all").stdout
    assert "--pin NAME==VERSION" in shown
    assert not [name for name in ("--budget", "--workers", "--repeat", "--confidence") if name in shown]


def test_a_range_is_told_in_versions_and_a_failure_in_its_own_words(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    body = """
case "$PIN_WIDGET" in 4|5) exit 125 ;; [0-3]) exit 0 ;; esac
echo "ValueError: broken in line 17 of 3.4.5" >&2
exit 1"""
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path, body))
    assert ran.returncode == 3, ran.stderr
    shown = " ".join(ran.stdout.split())
    assert "widget 3 passes and widget 6 fails; of what lies between: 2 skipped by the script" in shown
    assert "candidate 3" not in ran.stdout + ran.stderr
    assert "Failure: ValueError: broken in line 17 of 3.4.5 (exit 1)" in shown
    assert json.loads(bisector("report", "--format", "json").stdout)["signature"]["message"].endswith("<version>")


def test_what_was_not_built_before_the_culprit_did_not_fail(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    options = [*run_options(widget)[:-3], 'test "$PIN_WIDGET" != 4', "--index-url", widget.url]
    ran = bisector("run", *options, "--smoke", smoke(tmp_path))
    assert "widget 4 could not be built" in ran.stdout, ran.stderr
    assert "in another way" not in ran.stdout


def test_ends_that_do_not_bracket_are_told_once(bisector: Command, widget: LocalIndex, tmp_path: Path) -> None:
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path, "exit 0"))
    assert ran.returncode == 4
    assert ran.stdout.lower().count("the bad end passes") == 1
    assert "under 0.1 %" not in ran.stderr
    ran = bisector("run", *run_options(widget), "--smoke", smoke(tmp_path, "exit 125"))
    assert ran.returncode == 4
    assert "end skipped" not in ran.stdout


def test_the_line_to_reproduce_says_nothing_of_this_one_call(
    bisector: Command, widget: LocalIndex, tmp_path: Path
) -> None:
    options = ["--run-dir", "run", "--format=json", "--output", "x.json", "-q", "--no-color"]
    bisector("run", *run_options(widget), *options, "--smoke", smoke(tmp_path), "--", "-q")
    reproduce = json.loads((tmp_path / "x.json").read_text())["reproduce"]
    left = f"bisector run {shlex.join(run_options(widget))} --smoke smoke.sh --exclude-newer "
    assert reproduce.startswith(left)
    assert reproduce.endswith("Z -- -q")
