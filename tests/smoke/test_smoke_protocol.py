"""What a smoke script is given, and what its end means."""

import json
import os
import sys
from pathlib import Path

import pytest

from bisector.caches import WORK, fresh_directories
from bisector.model import Candidate, Ended, SmokeRun, SmokeScript
from bisector.processes import run_process
from bisector.processes.tree import MARKER
from bisector.smoke import check_script, observe, pin_variables, smoke_command, smoke_environment
from pins.errors import EnvironmentFailureError, UsageError

CANDIDATE = Candidate((("pybind11", "3.1.0"), ("ruamel.yaml", "0.18"), ("my-pin", "$(reboot)")))


def smoke_run(tmp_path: Path, script: Path, **settings: object) -> SmokeRun:
    return SmokeRun(
        SmokeScript(script, **settings),  # type: ignore[arg-type]
        CANDIDATE,
        probe=f"test-{os.getpid()}-{tmp_path.name}",
        scratch=tmp_path / "scratch",
        output=tmp_path / "output",
        log=tmp_path / "log",
    )


def start(smoke: SmokeRun, base: dict[str, str] | None = None) -> Ended:
    environment = smoke_environment(smoke, base if base is not None else {"PATH": os.environ["PATH"]})
    return run_process(
        smoke_command(smoke.script, sys.executable),
        environment=environment,
        directory=smoke.scratch / WORK,
        log=smoke.log,
        marker=smoke.probe,
        timeout=smoke.script.timeout,
    )


def script(tmp_path: Path, text: str, name: str = "smoke.sh", mode: int = 0o755) -> Path:
    path = tmp_path / name
    path.write_text(text)
    path.chmod(mode)
    return path


SHOW = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd(), "there": os.listdir("."),
                  "env": dict(os.environ)}))
"""


def shown(smoke: SmokeRun, base: dict[str, str] | None = None) -> dict[str, object]:
    ended = start(smoke, base)
    assert ended.exit_status == 0, ended.errors
    found: dict[str, object] = json.loads(ended.output)
    return found


def test_the_script_gets_what_the_protocol_promises(tmp_path: Path) -> None:
    run = smoke_run(tmp_path, script(tmp_path, SHOW, "smoke.py", 0o644), arguments=("--fast", "a b"))
    found = shown(run)
    environment = found["env"]
    assert isinstance(environment, dict)
    assert found["argv"] == ["--fast", "a b"]
    assert found["stdin"] == ""
    assert found["there"] == []
    assert environment["LC_ALL"] == "C.UTF-8"
    assert environment["PIN_PYBIND11"] == "3.1.0"
    assert environment["PIN_RUAMEL_YAML"] == "0.18"
    assert environment["PIN_MY_PIN"] == "$(reboot)"
    assert environment["PROBE_OUTPUT"] == str(run.output)
    assert run.output.is_dir()
    assert environment[MARKER] == run.probe
    for name in (
        *("HOME", "XDG_CACHE_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "VLLM_CACHE_ROOT", "TMPDIR"),
        *("TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH", "MIOPEN_USER_DB_PATH", "NUMBA_CACHE_DIR"),
    ):
        directory = Path(environment[name])
        assert directory.is_relative_to(run.scratch), name
        assert directory.is_dir(), name


def test_nothing_else_of_the_callers_shell_reaches_it(tmp_path: Path) -> None:
    base = {
        "PATH": os.environ["PATH"],
        "TOKEN": "s3cret",
        "PYTHONPATH": "/elsewhere",
        "HF_HOME": "/models",
        "TRITON_CACHE_DIR": "/warm",
        "CUDA_VISIBLE_DEVICES": "1",
        "CUDA_CACHE_PATH": "/warm",
        "HTTPS_PROXY": "proxy:1",
        MARKER: "outer",
    }
    run = smoke_run(tmp_path, script(tmp_path, SHOW, "smoke.py"))
    environment = shown(run, base)["env"]
    assert isinstance(environment, dict)
    assert {"TOKEN", "PYTHONPATH", "HF_HOME"}.isdisjoint(environment)
    assert "/warm" not in environment.values()
    assert environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert environment["HTTPS_PROXY"] == "proxy:1"
    assert environment[MARKER] == run.probe


def test_the_user_can_pass_and_set_variables_but_not_pins(tmp_path: Path) -> None:
    run = smoke_run(
        tmp_path,
        script(tmp_path, SHOW, "smoke.py"),
        pass_environment=("HF_HOME", "ABSENT"),
        variables=(("TRITON_CACHE_DIR", "./tc"), ("PIN_PYBIND11", "9")),
    )
    environment = shown(run, {"PATH": os.environ["PATH"], "HF_HOME": "/models"})["env"]
    assert isinstance(environment, dict)
    assert environment["HF_HOME"] == "/models"
    assert environment["TRITON_CACHE_DIR"] == "./tc"
    assert environment["PIN_PYBIND11"] == "3.1.0"
    assert "ABSENT" not in environment


CACHING = """#!/bin/sh
for place in "$HOME" "$XDG_CACHE_HOME" "$TRITON_CACHE_DIR" "$TORCH_EXTENSIONS_DIR" "$VLLM_CACHE_ROOT" "$TMPDIR" .; do
    [ -e "$place/artefact" ] && exit 0
    : > "$place/artefact"
done
exit 1
"""


def test_what_an_earlier_run_left_in_home_caches_or_directory_is_not_there(tmp_path: Path) -> None:
    path = script(tmp_path, CACHING)
    first = smoke_run(tmp_path, path)
    second = SmokeRun(first.script, CANDIDATE, "second", tmp_path / "other", tmp_path / "output", tmp_path / "log")
    assert start(first).exit_status == 1
    assert start(second).exit_status == 1


def test_a_shared_cache_is_kept_and_the_working_directory_still_fresh(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    variables = fresh_directories(tmp_path / "one", shared)
    assert Path(variables["TRITON_CACHE_DIR"]).is_relative_to(shared)
    assert Path(variables["HOME"]).is_relative_to(shared)
    assert Path(variables["TMPDIR"]).is_relative_to(tmp_path / "one")
    Path(variables["TRITON_CACHE_DIR"], "kernel").touch()
    again = fresh_directories(tmp_path / "two", shared)
    assert Path(again["TRITON_CACHE_DIR"], "kernel").exists()
    assert list((tmp_path / "two" / WORK).iterdir()) == []


def test_directories_that_cannot_be_made_are_our_failure(tmp_path: Path) -> None:
    (tmp_path / "scratch").write_text("in the way")
    with pytest.raises(EnvironmentFailureError, match="scratch"):
        smoke_environment(smoke_run(tmp_path, tmp_path / "smoke.py"), {})


def test_names_of_pins_become_names_of_variables() -> None:
    names = ["a-b", "a.b2", "ROCM_é", "x y\n"]
    assert list(pin_variables(Candidate(tuple((name, "1") for name in names)))) == [
        "PIN_A_B",
        "PIN_A_B2",
        "PIN_ROCM__",
        "PIN_X_Y_",
    ]


BAD_SCRIPTS = [
    ("does not exist", None, 0),
    ("not executable", "#!/bin/sh\n", 0o644),
    ("does not say what runs it", "echo hello\n", 0o755),
    ("does not say what runs it", "", 0o755),
    ("carriage return", "#!/bin/sh\r\nexit 0\r\n", 0o755),
    ("names no program", "#!\n", 0o755),
]


@pytest.mark.parametrize(("message", "text", "mode"), BAD_SCRIPTS)
def test_a_script_that_cannot_be_started_is_told_before_anything_is_built(
    tmp_path: Path, message: str, text: str | None, mode: int
) -> None:
    path = tmp_path / "smoke"
    if text is not None:
        script(tmp_path, text, "smoke", mode)
    with pytest.raises(UsageError, match=message):
        check_script(path)


def test_an_interpreter_that_is_not_here_is_the_environments_fault(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailureError, match="/nowhere/sh"):
        check_script(script(tmp_path, "#!/nowhere/sh\n"))


def test_a_directory_is_no_script(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="directory"):
        check_script(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is readable for root")
def test_a_script_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        check_script(script(tmp_path, SHOW, "smoke.py", 0o000))


def test_good_scripts_pass(tmp_path: Path) -> None:
    check_script(script(tmp_path, "print()", "smoke.py", 0o644))
    check_script(script(tmp_path, "#!/bin/sh\n"))
    check_script(script(tmp_path, "#! /usr/bin/env python3\n"))
    check_script(Path("/bin/sh"))
    check_script(script(tmp_path, "#!/only/in/the/image\n"), local=False)


@pytest.mark.parametrize(
    ("ended", "kind", "reason"),
    [
        (Ended(0), "pass", ""),
        (Ended(0, out_of_memory="x"), "infra", "memory"),
        (Ended(125), "skip", "125"),
        (Ended(1), "fail", "exit status 1"),
        (Ended(127), "fail", "127"),
        (Ended(None, 11), "fail", "SIGSEGV"),
        (Ended(None, 9), "fail", "SIGKILL"),
        (Ended(None, 9, out_of_memory="the kernel killed a process"), "infra", "kernel killed"),
        (Ended(137, out_of_memory="the engine says so"), "infra", "engine"),
        (Ended(137), "fail", "137"),
        (Ended(None, 15, timed_out=True, seconds=60), "timeout", "60 s"),
        (Ended(None, 15, cancelled=True), "cancelled", ""),
        (Ended(None, not_started="smoke.sh: No such file or directory"), "infra", "No such file"),
    ],
)
def test_what_an_end_means(tmp_path: Path, ended: Ended, kind: str, reason: str) -> None:
    observation = observe(ended, tmp_path / "smoke.sh")
    assert observation.kind == kind
    assert reason in observation.reason
    assert (observation.signature is not None) == (kind in ("fail", "timeout"))


def test_a_command_that_is_not_found_inside_the_script_is_a_failure(tmp_path: Path) -> None:
    run = smoke_run(tmp_path, script(tmp_path, "#!/bin/sh\nno-such-program-here\n"))
    observation = observe(start(run), run.script.path)
    assert (observation.kind, observation.command_not_found) == ("fail", True)
    assert observation.signature is not None
    assert "no-such-program-here" in observation.signature.message


def test_an_interpreter_that_env_does_not_find_is_the_environments_fault(tmp_path: Path) -> None:
    run = smoke_run(tmp_path, script(tmp_path, "#!/usr/bin/env no-such-interpreter\nexit 0\n"))
    observation = observe(start(run), run.script.path)
    assert observation.kind == "infra"
    assert "no-such-interpreter" in observation.reason


def test_a_script_that_was_removed_is_the_environments_fault(tmp_path: Path) -> None:
    run = smoke_run(tmp_path, script(tmp_path, "#!/bin/sh\nexit 0\n"))
    run.script.path.unlink()
    assert observe(start(run), run.script.path).kind == "infra"
    python = smoke_run(tmp_path, tmp_path / "gone.py")
    assert observe(start(python), python.script.path).kind == "infra"


@pytest.mark.parametrize(
    ("status", "printed"),
    [
        (127, "exec /bisector/smoke.sh: no such file or directory"),
        (127, 'exec: "/bisector/smoke.sh": stat /bisector/smoke.sh: no such file or directory: unknown'),
        (255, "exec /bisector/smoke.sh: exec format error"),
        (127, "/usr/bin/env: 'python9': No such file or directory"),
        (126, "env: ‘python9’: Permission denied"),
    ],
)
def test_what_engines_and_env_say_of_a_script_that_cannot_be_started(tmp_path: Path, status: int, printed: str) -> None:
    path = script(tmp_path, "#!/usr/bin/env python9\n")
    assert observe(Ended(status, errors=printed + "\n"), path).kind == "infra"


def test_a_command_that_env_does_not_find_inside_the_script_is_a_failure(tmp_path: Path) -> None:
    run = smoke_run(tmp_path, script(tmp_path, "#!/bin/sh\nenv A=1 no-such-program-here\n"))
    assert observe(start(run), run.script.path).kind == "fail"


def test_a_build_that_failed(tmp_path: Path) -> None:
    observation = observe(Ended(1, errors="error: no compiler\n"), None)
    assert observation.kind == "fail"
    assert observation.signature is not None
    assert observation.signature.exit == "build"
    assert observe(Ended(0), None).kind == "pass"
    assert observe(Ended(1, out_of_memory="x"), None).kind == "infra"


def test_a_byte_order_mark_before_the_first_line_is_named(tmp_path: Path) -> None:
    script = tmp_path / "smoke.sh"
    script.write_bytes(b"\xef\xbb\xbf#!/bin/sh\ntrue\n")
    script.chmod(0o755)
    with pytest.raises(UsageError, match="byte order mark"):
        check_script(script)
