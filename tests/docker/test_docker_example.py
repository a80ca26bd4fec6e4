"""The example of the README, from the command line to the name of the culprit."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bisector.environments.docker.leftovers import list_leftovers
from bisector.runs import identity_of
from tests.docker.docker_setting import DEMO, Setting
from tests.local_index import LocalIndex
from tests.session.conftest import PASSES_WHERE_WARM

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "pybind11"
COMMAND = [sys.executable, "-c", "import sys; from bisector.cli import main; sys.exit(main())"]


def bisector(*words: str, state: Path) -> subprocess.Popen[str]:
    variables = os.environ | {"XDG_STATE_HOME": str(state)}
    return subprocess.Popen([*COMMAND, *words], cwd=ROOT, env=variables, text=True, stdout=subprocess.PIPE)


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.slow
def test_the_release_that_broke_kimi_is_named_and_nothing_is_left(engine_image: str, tmp_path: Path) -> None:
    words = [
        *("run", "--pin", "pybind11=3.0.0..3.1.0", "--dockerfile", str(EXAMPLE / "Dockerfile")),
        *("--build-arg", f"BASE_IMAGE={engine_image}", "--smoke", str(EXAMPLE / "smoke.py")),
        *("--repeat", "1", "--format", "json", "--run-dir", str(tmp_path / "run")),
    ]
    process = bisector(*words, state=tmp_path)
    printed, _ = process.communicate(timeout=1200)
    assert process.returncode == 0
    culprit = json.loads(printed)["culprit"]
    assert (culprit["pin"], culprit["old"], culprit["new"]) == ("pybind11", "3.0.4", "3.1.0")
    assert list_leftovers([identity_of(tmp_path / "run")]) == ()


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.slow
def test_a_killed_run_is_resumed_and_what_it_left_is_collected(setting: Setting, tmp_path: Path) -> None:
    context = tmp_path / "context"
    context.mkdir()
    (context / "Dockerfile").write_text(DEMO.replace("DEMO_VERSION", "SIX_VERSION"))
    smoke = context / "smoke.sh"
    smoke.write_text('#!/bin/sh\nsleep 3\ngrep -q "1.1[0-4]" /demo && { echo broken >&2; exit 1; }\nexit 0\n')
    smoke.chmod(0o755)
    words = [
        *("run", "--pin", "six=1.5.0..1.14.0", "--dockerfile", str(context / "Dockerfile")),
        *("--build-arg", f"BASE_IMAGE={setting.base_image}", "--smoke", str(smoke), "--repeat", "1"),
    ]
    process = bisector(*words, state=tmp_path)
    runs = tmp_path / "bisector" / "runs"
    until = time.monotonic() + 120
    while not (logs := list(runs.glob("*/logs/*-run-1.log"))):
        assert time.monotonic() < until, "it never ran the script"
        time.sleep(0.2)
    time.sleep(1)
    process.kill()
    process.wait()
    run = identity_of(logs[0].parents[1])
    assert "container" in {one.kind for one in list_leftovers([run])}

    resumed = bisector("resume", "--format", "json", state=tmp_path)
    printed, _ = resumed.communicate(timeout=600)
    assert resumed.returncode == 0
    culprit = json.loads(printed)["culprit"]
    assert (culprit["old"], culprit["new"]) == ("1.9.0", "1.10.0")
    collected = bisector("gc", state=tmp_path)
    assert collected.wait(120) == 0
    assert list_leftovers([run]) == ()


@pytest.mark.docker
@pytest.mark.slow
def test_a_script_that_passes_where_an_earlier_candidate_left_something_gives_the_right_answer(
    setting: Setting, local_index: LocalIndex, tmp_path: Path
) -> None:
    for number in range(3, 10):
        local_index.add("widget", str(number))
    context = tmp_path / "context"
    context.mkdir()
    (context / "Dockerfile").write_text(DEMO.replace("DEMO_VERSION", "WIDGET_VERSION"))
    smoke = context / "smoke.sh"
    smoke.write_text("#!/bin/sh" + PASSES_WHERE_WARM.format(culprit=6))
    smoke.chmod(0o755)
    process = bisector(
        *("run", "--pin", "widget=3..9", "--dockerfile", str(context / "Dockerfile"), "--index-url", local_index.url),
        *("--build-arg", f"BASE_IMAGE={setting.base_image}", "--smoke", str(smoke), "--format", "json"),
        state=tmp_path,
    )
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    culprit = json.loads(printed)["culprit"]
    assert (culprit["old"], culprit["new"]) == ("5", "6")


@pytest.mark.network
@pytest.mark.slow
def test_the_release_that_broke_kimi_is_named_in_virtual_environments(tmp_path: Path) -> None:
    words = [
        *("run", "--pin", "pybind11=3.0.0..3.1.0", "--with", "pybind11-global==3.0.4", "--repeat", "1"),
        *("--smoke", str(EXAMPLE / "smoke.py"), "--format", "json"),
    ]
    process = bisector(*words, state=tmp_path)
    printed, _ = process.communicate(timeout=1200)
    assert process.returncode == 0
    result = json.loads(printed)
    culprit = result["culprit"]
    assert (culprit["pin"], culprit["old"], culprit["new"]) == ("pybind11", "3.0.4", "3.1.0")
    assert result["builds"] <= 5  # ceil(log2(5)) + 2
    assert "TypeError" in result["signature"]["kind"]
