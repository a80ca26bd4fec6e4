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


INSIDE = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}} AS base
ARG THING_BRANCH="{thing}"
ENV SPEED={speed}
RUN git clone {address} /thing && cd /thing && git checkout -q ${{THING_BRANCH}} \\
    && git clone {inside} lib && cd lib && git checkout -q $(tail -n 1 ../lib-hash.txt) && cp state /state
"""
MODULE = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}} AS base
ARG THING_BRANCH=main
RUN git clone {address} /thing
RUN cd /thing && git checkout -q ${{THING_BRANCH}} && git submodule update --init && cp deps/lib/state /state
"""


def lib(path: Path) -> list[str]:
    """A repository of twelve commits, bad from the eighth on."""
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")
    for number in range(12):
        (path / "state").write_text(f"{'bad' if number >= 8 else 'good'}\n{number}\n")
        git(path, "add", "--all")
        git(path, "commit", "--quiet", "--message", f"Lib {number}")
    return git(path, "rev-list", "--reverse", "main").split()


def user_of(path: Path, hashes: list[str], module: str) -> list[str]:
    """A repository whose third commit moves the hash that a file, and a submodule, pin."""
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")
    (path / ".gitmodules").write_text(f'[submodule "lib"]\n\tpath = deps/lib\n\turl = {module}\n')
    for number in range(5):
        at = hashes[11 if number >= 3 else 2]
        (path / "lib-hash.txt").write_text(f"# the library\n{at}\n")
        (path / "other").write_text(f"{number}\n")
        git(path, "add", "lib-hash.txt", "other", ".gitmodules")
        git(path, "update-index", "--add", "--cacheinfo", f"160000,{at},deps/lib")
        git(path, "commit", "--quiet", "--message", f"User {number}")
    return git(path, "rev-list", "--reverse", "main").split()


def test_the_search_goes_on_inside_a_tree_that_the_file_checks_out(engine_image: str, tmp_path: Path) -> None:
    hashes = lib(tmp_path / "lib")
    repository = SmallRepository(tmp_path / "repository")
    with served(tmp_path / "lib") as inside:
        commits = user_of(tmp_path / "thing", hashes, inside)
        with served(tmp_path / "thing") as address:
            for number, speed in ((0, "low"), (4, "high")):
                repository.commit(
                    INSIDE.format(thing=commits[number], address=address, inside=inside, speed=speed), f"At {number}"
                )
            words = (
                *("--dockerfile", str(repository.dockerfile), "--good", "HEAD~1", "--bad", "HEAD", "--descend"),
                *("--repo", f"thing={tmp_path / 'thing'}", "--repo", f"lib={tmp_path / 'lib'}"),
                *("--smoke", script(tmp_path, "grep -q good /state")),
            )
            found = bisector(tmp_path, engine_image, *words)
    assert (found["culprit"]["pin"], found["culprit"]["subject"]) == ("thing", "User 3")
    moved = {move["path"]: move for move in found["culprit"]["nested"]}
    assert moved["lib-hash.txt"]["first_bad"] == hashes[8], moved


def test_a_submodule_of_a_tree_that_an_image_checks_out_is_searched_by_name(engine_image: str, tmp_path: Path) -> None:
    hashes = lib(tmp_path / "lib")
    with served(tmp_path / "lib") as inside:
        user_of(tmp_path / "thing", hashes, inside)
        with served(tmp_path / "thing") as address:
            (tmp_path / "Dockerfile").write_text(MODULE.format(address=address))
            words = (
                *("--dockerfile", str(tmp_path / "Dockerfile"), "--fix", "thing=main", "--no-index-time"),
                *("--repo", f"thing={tmp_path / 'thing'}", "--repo", f"lib={tmp_path / 'lib'}"),
                *("--pin", f"lib={hashes[2]}..{hashes[11]}", "--within", "lib=thing:deps/lib"),
                *("--smoke", script(tmp_path, "grep -q good /state")),
            )
            found = bisector(tmp_path, engine_image, *words)
    assert (found["culprit"]["pin"], found["culprit"]["new"]) == ("lib", hashes[8])
