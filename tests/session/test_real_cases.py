"""Real regressions, through the command line, in virtual environments made from the configured package index.

A few run by default; `-m "slow or not slow"` runs them all (about half an hour). Those that bisect commits need
clones of public repositories: PINS_HISTORIES names the directory that holds them.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_cases import Case, load_cases

BY_DEFAULT = {"tenacity-840", "setuptools-72-yanked", "pyyaml-load-unbuildable-gap", "multi-flask-werkzeug"}

CASES = [
    pytest.param(case, id=case.name, marks=() if case.name in BY_DEFAULT else pytest.mark.slow) for case in load_cases()
]


@pytest.mark.network
@pytest.mark.parametrize("case", CASES)
def test_a_real_regression_gives_its_known_answer(case: Case, tmp_path: Path) -> None:
    if case.group == "C" and case.repository is None:
        pytest.skip(f"PINS_HISTORIES names no directory with a clone of {case.facts['repo']}")
    command = [sys.executable, "-m", "bisector", "run", *case.options(), "--format", "json", "-q"]
    variables = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    if done.returncode == 2 and "no Python" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode in (0, 3), done.stderr
    result = json.loads(done.stdout)
    assert case.right(result), done.stdout
    untestable = any(probe["outcome"] == "UNBUILDABLE" for probe in result["probes"])
    if len(result["axes"]) == 1 and not untestable:
        assert result["builds"] <= math.ceil(math.log2(result["chain_length"] - 1)) + 2
