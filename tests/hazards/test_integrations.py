"""The GitHub Action and the pre-commit hooks, as far as a machine without GitHub can try them."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

TOP = Path(__file__).resolve().parents[2]


def action(place: Path, command: str = "check", paths: str = ".", arguments: str = "") -> tuple[int, str, str, str]:
    """Run what the action runs; gives exit code, log, outputs and summary."""
    pins = place / "pins"
    pins.write_text(f'#!/bin/sh\nexec {sys.executable} -m pins "$@"\n')
    pins.chmod(0o755)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(TOP),
        "RUNNER_TEMP": str(place / "temp"),
        "GITHUB_OUTPUT": str(place / "output"),
        "GITHUB_STEP_SUMMARY": str(place / "summary"),
        "PINS": str(pins),
        "PINS_COMMAND": command,
        "PINS_PATHS": paths,
        "PINS_ARGUMENTS": arguments,
        "HOME": str(place),
    }
    (place / "temp").mkdir(exist_ok=True)
    for name in ("output", "summary"):
        (place / name).write_text("")
    done = subprocess.run(
        [TOP / "scripts/github-action"], cwd=place / "work", env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr, (place / "output").read_text(), (place / "summary").read_text()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/Dockerfile").write_text("FROM ubuntu:22.04\nRUN pip install foo>=4\n")
    return tmp_path


@pytest.mark.slow
def test_the_action_annotates_summarises_and_fails_on_findings(place: Path) -> None:
    code, log, outputs, summary = action(place, paths="Dockerfile\n\n")
    assert code == 1
    assert "::error file=Dockerfile,line=2" in log
    assert "exit-code=1" in outputs
    assert "unquoted-specifier" in summary
    sarif = re.search(r"^sarif=(.*)$", outputs, re.MULTILINE)
    assert sarif
    assert Path(sarif[1]).is_file()


@pytest.mark.slow
def test_the_action_says_what_has_moved_and_fails_on_what_is_new(place: Path) -> None:
    hold = '[[hold]]\nrequirement = "cmake<4"\nreason = "it breaks"\nreview = 2020-01-01\n'
    (place / "work/pins.toml").write_text(hold)
    words = f"--select\nhold-review\n--state\nfile:{place}/state.json"
    code, _, outputs, summary = action(place, command="drift", arguments=words)
    assert code == 1
    assert "### Drift: 1 new" in summary
    assert "exit-code=1" in outputs
    code, _, outputs, summary = action(place, command="drift", arguments=words)
    assert code == 0
    assert "### Drift: 1 open" in summary


@pytest.mark.slow
def test_inputs_are_words_and_never_shell_text(place: Path) -> None:
    code, log, _, _ = action(place, paths="$(touch x); Dockerfile", arguments="--select\njunk-arguments")
    assert code == 2
    assert "does not exist" in log
    assert not (place / "work/x").exists()
    assert action(place, paths="Dockerfile", arguments="--select\njunk-arguments")[0] == 0
    assert action(place, command="check; ls")[0] == 2


def test_the_action_hands_every_input_over_through_the_environment() -> None:
    definition: dict[str, Any] = yaml.safe_load((TOP / "action.yml").read_text())
    assert definition["runs"]["using"] == "composite"
    for step in definition["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    used = set(re.findall(r"inputs\.([a-z-]+)", (TOP / "action.yml").read_text()))
    assert used == set(definition["inputs"])


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("docker/Dockerfile.rocm", True),
        ("Containerfile", True),
        ("a.dockerfile", True),
        ("requirements/rocm.txt", True),
        ("requirements-rocm.txt", True),
        ("docker-bake.hcl", True),
        ("src/dockerfile.py.md", False),
    ],
)
def test_the_hook_takes_files_with_pins(path: str, wanted: bool) -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())}
    hook = hooks["pins-check"]
    assert hook["entry"].split()[0] == "pins"
    assert bool(re.search(hook["files"], path)) is wanted
