"""Real regressions whose script has become flaky: it fails, or passes, at random with a seeded rate."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_cases import Case, load_cases

SEEDS = range(20)
FLAKY = {
    # case: (share of runs of a good candidate that fail, share of runs of a bad one that pass)
    "click-mix-stderr": (0.2, 0.0),
    "packaging-legacy-version": (0.05, 0.25),
    "urllib3-method-whitelist": (0.1, 0.1),
}

WRAPPER = """
import os
import random
import runpy
import sys

# The name of the output directory is that of the run: every run of every candidate has a fate of its own.
fate = random.Random({seed!r} + os.path.basename(os.environ["PROBE_OUTPUT"])).random()
try:
    runpy.run_path({script!r}, run_name="__main__")
except BaseException as error:
    if not isinstance(error, SystemExit) or error.code not in (0, None):
        if fate < {pass_if_bad}:
            sys.exit(0)
        raise
if fate < {fail_if_good}:
    raise RuntimeError("flaky")
"""


def flaky_script(case: Case, seed: int, directory: Path) -> Path:
    fail_if_good, pass_if_bad = FLAKY[case.name]
    path = directory / "smoke.py"
    path.write_text(
        WRAPPER.format(
            seed=f"{case.name} {seed} ",
            script=str(case.directory / "smoke.py"),
            pass_if_bad=pass_if_bad,
            fail_if_good=fail_if_good,
        )
    )
    return path


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", sorted(FLAKY))
def test_a_flaky_variant_of_a_real_regression_gives_its_known_answer(name: str, seed: int, tmp_path: Path) -> None:
    case = next(case for case in load_cases() if case.name == name)
    options = case.options()
    options[options.index("--smoke") + 1] = str(flaky_script(case, seed, tmp_path))
    command = [sys.executable, "-m", "bisector", "run", *options, "--any-failure", "--format", "json", "-q"]
    variables = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    if done.returncode == 2 and "no Python" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr + done.stdout
    assert case.right(json.loads(done.stdout)), done.stdout
