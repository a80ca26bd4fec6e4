"""The case this project started from, as a canary sees it: no line of the Dockerfile changed, and it broke."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docker.test_inventories import project

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.slow]


def test_the_release_that_broke_kimi_is_found_before_anybody_builds_it(engine_image: str, tmp_path: Path) -> None:
    context = project(tmp_path)
    file = context / "Dockerfile"
    (context / "aiter.txt").write_text("pybind11==3.0.4\n")  # as a source tree pins it: not the Dockerfile's to move
    (context / "needs.txt").write_text("pybind11>=3.0.1\n")
    text = file.read_text()
    text = text.replace("RUN python3 -m pip install pybind11==3.0.4", "COPY aiter.txt /\nRUN pip install -r /aiter.txt")
    text = text.replace("install pybind11\n", "install pybind11\nCOPY needs.txt /\nRUN pip install -r /needs.txt\n")
    assert text.count("COPY aiter.txt") == text.count("COPY needs.txt") == 1
    file.write_text(text)
    words = ["canary", str(file), "--build-arg", f"BASE_IMAGE={engine_image}", "--smoke", str(context / "smoke.py")]
    words += ["--since", "2026-08-01", "--as-of", "2026-08-10", "--write", "--format", "json"]
    command = [sys.executable, "-c", "import sys; from bisector.cli import main; sys.exit(main())", *words]
    variables = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    culprit = found["result"]["culprit"]
    assert (culprit["pin"], culprit["old"], culprit["new"]) == ("pybind11", "3.0.4", "3.1.0")
    [suggestion] = [each for each in found["suggestion"]["suggestions"] if each["pin"] == "pybind11"]
    assert suggestion["suggested"] == "<3.1.0"
    assert suggestion["window"] == ">=3.0.1,<3.1.0"
    assert 'requirement = "pybind11==3.1.0"' in (context / "pins.toml").read_text()
