"""Commits as pins of an image, with a real engine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.git.repository_builder import RepositoryBuilder

pytestmark = pytest.mark.docker


def run_bisector(tmp_path: Path, *words: str) -> dict[str, Any]:
    variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "bisector", "run", *words, "--format", "json", "-q", "--repeat", "1"],
        capture_output=True,
        text=True,
        env=os.environ | variables,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def history(builder: RepositoryBuilder, culprit: str) -> RepositoryBuilder:
    builder.line("main", 3)
    builder.line("side", 4, "main0")
    builder.add("merge", "main2", "side3")
    builder.line("later", 3, "merge")
    bad: set[str] = set()
    for made in builder.commits:
        if made.name == culprit or bad & set(made.parents):
            bad.add(made.name)
        made.files = {"state": "bad\n" if made.name in bad else "good\n"}
    builder.write()
    return builder


def test_a_branch_that_the_file_clones_is_bisected_by_commits_into_a_merge(engine_image: str, tmp_path: Path) -> None:
    builder = history(RepositoryBuilder(tmp_path / "source"), "side2")
    context = tmp_path / "context"
    shutil.copytree(builder.directory, context / "thing.git")
    text = (
        f"FROM {engine_image}\nARG THING_BRANCH=main\nCOPY thing.git /src/thing.git\nWORKDIR /\n"
        "RUN git clone -b ${THING_BRANCH} \\\n    --depth 1 file:///src/thing.git thing && cp thing/state /state\n"
    )
    (context / "Dockerfile").write_text(text)
    smoke = tmp_path / "smoke.sh"
    smoke.write_text("#!/bin/sh\ngrep -q good /state\n")
    smoke.chmod(0o755)
    result = run_bisector(
        tmp_path,
        *("--dockerfile", str(context / "Dockerfile"), "--smoke", str(smoke), "--pin", "thing=main~5..main"),
        *("--repo", f"thing={builder.directory}", "--no-index-time"),
    )
    assert (result["culprit"]["subject"], result["culprit"]["kind"]) == ("change side2", "git")
    assert (context / "Dockerfile").read_text() == text


def test_a_pin_that_is_only_checked_out_is_in_the_container(engine_image: str, tmp_path: Path) -> None:
    builder = history(RepositoryBuilder(tmp_path / "source"), "later1")
    (tmp_path / "Dockerfile").write_text(f"FROM {engine_image}\n")
    smoke = tmp_path / "smoke.sh"
    smoke.write_text('#!/bin/sh\n[ "$CHECKOUT" = "$CHECKOUT_THING" ] && grep -q good "$CHECKOUT/state"\n')
    smoke.chmod(0o755)
    result = run_bisector(
        tmp_path,
        *("--dockerfile", str(tmp_path / "Dockerfile"), "--smoke", str(smoke), "--pin", "thing=main~5..main"),
        *("--repo", f"thing={builder.directory}", "--checkout-only", "thing"),
    )
    assert result["culprit"]["subject"] == "change later1"
