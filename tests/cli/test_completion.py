"""The completion that the programs print, in the shells that take it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASKED = """
source <("$1" --show-completion bash)
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_${1}_completion "$1" "${COMP_WORDS[COMP_CWORD]}" ""
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with both programs on PATH, a Dockerfile and two runs on record."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bisector", "pins"):
        program = programs / name
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m {name} \"$@\"\n")
        program.chmod(0o755)
    for name in ("20260801-1200-a1b2", "20260802-0900-c3d4"):
        run = tmp_path / "state" / "bisector" / "runs" / name
        run.mkdir(parents=True)
        (run / "journal.sqlite").touch()
    (tmp_path / "Dockerfile").write_text("FROM python:3.12\nRUN pip install 'setuptools<80' pybind11==3.0.4\n")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(*words: str) -> list[str]:
    """What bash offers where the last word is being typed."""
    command = ["bash", "--norc", "-c", ASKED, "bash", words[0], *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    return ran.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["bisector", "re"], ["resume", "report"]),
        (["bisector", "report", "20260802"], ["20260802-0900-c3d4"]),
        (["bisector", "run", "--dockerf"], ["--dockerfile"]),
        (["bisector", "run", "--format", "h"], ["html"]),
        (["bisector", "run", "--env", "d"], ["docker"]),
        (["bisector", "run", "--timeout-is", ""], ["auto", "fail", "skip"]),
        (["bisector", "doctor", "--need", "do"], ["docker"]),
        (["pins", "sch"], ["schedule"]),
        (["pins", "schedule", "git"], ["github", "gitlab"]),
        (["pins", "set", "Dockerfile", "py"], ["python", "pybind11"]),
        (["pins", "check", "--select", "junk-arguments,unq"], ["junk-arguments,unquoted-specifier"]),
        (["pins", "set", "there-is-no-such-file", "py"], []),
        (["pins", "show", "Dock"], []),  # files: `complete -o default` is for them
    ],
    ids=" ".join,
)
def test_bash_offers_what_may_follow(place: Path, words: list[str], offered: list[str]) -> None:
    assert completed(*words) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_that_is_there_takes_what_is_printed_for_it(place: Path, shell: str) -> None:
    for program in ("bisector", "pins"):
        script = subprocess.run([program, "--show-completion", shell], capture_output=True, text=True, check=True)
        assert f"_{program.upper()}_COMPLETE" in script.stdout
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script.stdout, text=True, check=True)


def test_zsh_and_fish_are_told_the_same_words(place: Path) -> None:
    typed = {"_TYPER_COMPLETE_ARGS": "bisector report 20260802", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    for shell in ("zsh", "fish"):
        asked = {**os.environ, **typed, "_BISECTOR_COMPLETE": f"complete_{shell}"}
        ran = subprocess.run(["bisector"], env=asked, capture_output=True, text=True)
        assert "20260802-0900-c3d4" in ran.stdout
        assert "20260801-1200-a1b2" not in ran.stdout
