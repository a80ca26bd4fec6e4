"""A git pin that moves between two revisions of a Dockerfile, with a real engine, and into what was merged."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.docker.image_project import git, served
from tests.docker.test_file_candidates import bisector, script
from tests.file_axes.small_repository import SmallRepository

pytestmark = [pytest.mark.docker, pytest.mark.slow]

TEXT = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}} AS base
ARG THING_BRANCH="{thing}"
ARG THING_REPO="{address}"
ENV SPEED={speed}
RUN git clone ${{THING_REPO}} /thing && cd /thing && git checkout ${{THING_BRANCH}} && cp state /state
"""


def thing(path: Path) -> dict[str, str]:
    """A repository whose commit "Break it" was merged from a side; commits by subject."""
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")

    def commit(subject: str, state: str) -> None:
        (path / "state").write_text(f"{state}\n{subject}\n")
        git(path, "add", "--all")
        git(path, "commit", "--quiet", "--message", subject)

    for number in range(3):
        commit(f"Main {number}", "good")
    git(path, "checkout", "--quiet", "-b", "side")
    for subject, state in (("Prepare", "good"), ("Break it", "bad"), ("Polish", "bad")):
        commit(subject, state)
    git(path, "checkout", "--quiet", "main")
    git(path, "commit", "--quiet", "--allow-empty", "--message", "Main 3")
    git(path, "merge", "--quiet", "--no-ff", "--message", "Merge side", "side")
    for number in range(4, 7):
        commit(f"Main {number}", "bad")
    lines = git(path, "log", "--format=%H %s", "main").splitlines()
    return {line.partition(" ")[2]: line.partition(" ")[0] for line in lines}


def test_the_commit_behind_a_merge_of_a_files_git_pin_is_named_and_the_command_holds_the_revisions(
    engine_image: str, tmp_path: Path
) -> None:
    commits = thing(tmp_path / "thing")
    repository = SmallRepository(tmp_path / "repository")
    with served(tmp_path / "thing") as address:
        repository.commit(TEXT.format(thing=commits["Main 0"][:8], address=address, speed="low"), "First")
        repository.commit(TEXT.format(thing=commits["Main 2"][:8], address=address, speed="high"), "Go on")
        repository.commit(TEXT.format(thing="main", address=address, speed="high"), "Follow the branch")
        words = (
            *("--dockerfile", str(repository.dockerfile), "--good", "HEAD~2", "--bad", "main"),
            *("--repo", f"thing={tmp_path / 'thing'}", "--smoke", script(tmp_path, "grep -q good /state")),
        )
        found: dict[str, Any] = bisector(tmp_path, engine_image, *words)
    culprit = found["culprit"]
    assert (culprit["pin"], culprit["kind"], culprit["subject"]) == ("thing", "git", "Break it")
    assert culprit["new"] == commits["Break it"]
    assert culprit["alone_on_good"] == "fail"
    again = shlex.split(found["reproduce"])
    assert again[again.index("--good") + 1] == repository.revisions[0]
    assert again[again.index("--bad") + 1] == repository.revisions[-1]
