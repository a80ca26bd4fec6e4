"""Candidates that are files, with a real engine: from two revisions to the culprit."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bisector.environments.docker.engine import engine
from bisector.environments.docker.leftovers import list_leftovers
from tests.docker.docker_setting import variables_of_its_own
from tests.docker.image_project import Extension, ImageProject, git, served
from tests.file_axes.small_repository import SmallRepository

pytestmark = pytest.mark.docker

TOOL = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}} AS base
ARG TOOL_VERSION={tool}
RUN echo "${{TOOL_VERSION}}" > /tool
FROM base AS final
COPY data.txt /data
{more}"""


def bisector(directory: Path, image: str, *words: str, code: int = 0) -> dict[str, Any]:
    """The JSON result of a run in its own state directory."""
    variables = variables_of_its_own(directory)
    options = ("--build-arg", f"BASE_IMAGE={image}", "--docker-build-option=--network=host", "--repeat", "1")
    command = [sys.executable, "-m", "bisector", "run", *options, "--format", "json", *words]
    ran = subprocess.run(command, cwd=directory, env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stdout[-2000:] + ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout)
    assert [left for left in list_leftovers() if left.run.startswith(found["run_id"])] == []
    return found


def script(directory: Path, text: str) -> str:
    path = directory / "smoke.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def status(repository: Path) -> str:
    return git(repository, "status", "--porcelain") + git(repository, "worktree", "list") + git(repository, "log", "-1")


def test_the_revision_whose_text_or_files_broke_it_is_named(engine_image: str, tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    repository.commit(TOOL.format(tool="1.0", more=""), "First", data__txt="one")
    repository.commit(TOOL.format(tool="1.0", more="ENV A=1\n"), "Set A", data__txt="one")
    culprit = repository.commit(TOOL.format(tool="1.0", more="ENV A=1\n"), "Other data", data__txt="two")
    repository.commit(TOOL.format(tool="1.1", more="ENV A=1\nENV B=1\n"), "Bump and set B", data__txt="two")
    (repository.path / "data.txt").write_text("not committed")
    before = status(repository.path)
    smoke = script(tmp_path, 'test "$(cat /data)" = one')
    ends = ("--good", repository.revisions[0], "--bad", repository.revisions[-1])
    found = bisector(tmp_path, engine_image, "--dockerfile", str(repository.dockerfile), *ends, "--smoke", smoke)
    assert (found["culprit"]["pin"], found["culprit"]["new"]) == ("text", culprit)
    assert found["culprit"]["alone_on_good"] == "fail"
    assert found["culprit"]["removed_from_bad"] == "pass"
    assert status(repository.path) == before
    assert (repository.path / "data.txt").read_text() == "not committed"


@pytest.mark.slow
def test_a_pin_of_the_file_that_the_base_image_is_built_from_is_named(engine_image: str, tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    base = "ARG BASE_IMAGE\nFROM ${{BASE_IMAGE}} AS early\nARG TOOL_VERSION={}\nRUN echo ${{TOOL_VERSION}} > /tool\n"
    top = "ARG FOUNDATION=none:1\nFROM ${FOUNDATION}\nARG KIT_VERSION=5.0\nRUN echo ${KIT_VERSION} > /kit\n"
    for tool in ("1.0", "1.1", "1.2", "1.3"):
        repository.commit(top, f"Tool {tool}", Dockerfile__base=base.format(tool))
    smoke = script(tmp_path, 'case "$(cat /tool)" in 1.[23]) exit 1;; esac; test "$(cat /kit)" = 5.0')
    chain = ("--chain", f"{repository.path / 'Dockerfile.base'}:early=FOUNDATION")
    ends = ("--good", repository.revisions[0], "--bad", "HEAD")
    words = ("--dockerfile", str(repository.dockerfile), *chain, *ends, "--smoke", smoke)
    found = bisector(tmp_path, engine_image, *words)
    assert (found["culprit"]["pin"], found["culprit"]["old"], found["culprit"]["new"]) == ("tool", "1.1", "1.2")


@pytest.mark.slow
def test_ends_that_do_not_bracket_name_what_floats(engine_image: str, tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    for tool in ("1.0", "1.1"):
        text = TOOL.format(tool=tool, more="RUN true || pip install pybind11 'cmake<4'\n")
        repository.commit(text, data__txt="x")
    ends = ("--good", "HEAD~1", "--bad", "HEAD", "--smoke", script(tmp_path, "exit 1"))
    found = bisector(tmp_path, engine_image, "--dockerfile", str(repository.dockerfile), *ends, code=4)
    assert "loating requirement may have moved: pybind11 (line 7, final), cmake<4 (line 7, final)" in found["summary"]


SMOKES = {
    "git": "import ext\nassert ext.level < 120, 'too high'\n",
    "package": "import ext, pkg_resources\n",
    "text": "import ext, os\nassert os.environ['SPEED'] != 'reckless', 'too fast'\n",
    "both": "import ext, packaging\nassert ext.level < 120 or packaging.__version__ < '24', 'together'\n",
}
CULPRITS = {
    "git": ("ext", "120"),
    "package": ("setuptools", "82.0.0"),
    "text": ("text", "Be reckless"),
    "both": ("ext", "120"),  # the later layer moves last, and needs what has moved before it
}


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("planted", sorted(SMOKES))
def test_a_culprit_planted_in_an_image_like_vllms_base_is_named(
    planted: str, engine_image: str, tmp_path: Path
) -> None:
    extension = Extension.make(tmp_path / "extension")
    (tmp_path / "smoke.py").write_text(SMOKES[planted])
    with served(extension.path) as address:
        project = planted_project(tmp_path / "images", address, extension)
        ends = ("--good", project.revisions[0], "--bad", project.revisions[-1])
        words = ("--dockerfile", str(project.dockerfile), *ends, "--repo", f"ext={extension.path}")
        found = bisector(tmp_path, engine_image, *words, "--smoke", str(tmp_path / "smoke.py"))
    pin, value = CULPRITS[planted]
    culprit = found["culprit"]
    named = str(culprit["new"])
    if culprit["kind"] == "git":
        named = str(extension.commits.index(named))
    elif culprit["kind"] == "text":
        named = git(project.path, "log", "-1", "--format=%s", named)
    assert (culprit["pin"], named) == (pin, value)
    steps = found["chain_length"] - 1
    searching = [probe for probe in found["probes"] if probe["step"] is not None]
    assert len(searching) <= (steps - 1).bit_length() + 2, "ceil(log2 S) + 2 at most"
    if planted == "both":
        assert [(partner["pin"], partner["value"]) for partner in culprit["partners"]] == [("packaging", "24.0")]


def planted_project(path: Path, address: str, extension: Extension, parts: int = 0) -> ImageProject:
    """The project with its history, in which everything moves; `parts` as `ImageProject.make` has it."""
    commits = extension.commits
    first = {"ext": commits[20][:8], "packaging": "23.0", "setuptools": "80.9.0", "pybind11": "2.13.0"}
    project = ImageProject.make(path, address, parts, **first)
    project.change("Try more speed", speed="high", extra="# a comment\n")
    project.change("Bump packaging", packaging="24.0")
    project.change("Be reckless", speed="reckless", extra="ENV A=1\n")
    project.change("Bump ext", ext=commits[100][:8])
    project.change("Set B", extra="ENV A=1\nENV B=2\n", pybind11="3.0.1")
    project.change("Bump all", ext=commits[170], setuptools="82.0.1", packaging="25.0")
    return project


SLOW = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}} AS base
ARG TOOL_VERSION={tool}
RUN echo "${{TOOL_VERSION}}" > /tool
FROM base AS slow
ARG KIND=wheel
RUN echo "slow stage runs" && cat /tool > /slow
FROM base AS final
COPY --from=slow /slow /slow
"""


@pytest.mark.slow
def test_a_reused_stage_is_built_once_for_all_and_the_answer_rests_on_full_builds(
    engine_image: str, tmp_path: Path
) -> None:
    repository = SmallRepository(tmp_path / "repository")
    for number in range(8):
        repository.commit(SLOW.format(tool=f"1.{number}-{tmp_path.parent.name}"))
    smoke = script(tmp_path, 'case "$(cat /tool)" in 1.[67]*) exit 1;; esac')
    words = ("--dockerfile", str(repository.dockerfile), "--good", repository.revisions[0], "--bad", "HEAD")
    found = bisector(tmp_path, engine_image, *words, "--smoke", smoke, "--reuse-stage", "slow")
    assert (found["culprit"]["pin"], found["culprit"]["new"][:3]) == ("tool", "1.6")
    logs = [Path(probe["build_log"]).read_text() for probe in found["probes"] if probe["build_log"]]
    assert sum(text.count(" slow stage runs\n") for text in logs) == 3, "once for all, once at each witness"
    witnesses = {"1.5", "1.6"}
    for probe in found["probes"]:
        assert probe["approximate"] == (probe["candidate"]["tool"][:3] not in witnesses)


BESIDE = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}} AS slow
RUN echo "slow stage runs" && echo {mark} > /slow
FROM ${{BASE_IMAGE}} AS final
COPY --from=slow /slow /slow
ARG TOOL_VERSION={tool}
RUN echo "${{TOOL_VERSION}}" > /tool
"""


@pytest.mark.slow
def test_a_reused_stage_behind_which_the_culprit_lies_runs_once(engine_image: str, tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    for number in range(8):
        repository.commit(BESIDE.format(tool=f"1.{number}", mark=tmp_path.parent.name))
    smoke = script(tmp_path, 'case "$(cat /tool)" in 1.[4567]) exit 1;; esac; test -e /slow')
    words = ("--dockerfile", str(repository.dockerfile), "--good", repository.revisions[0], "--bad", "HEAD")
    found = bisector(tmp_path, engine_image, *words, "--smoke", smoke, "--reuse-stage", "slow")
    assert (found["culprit"]["pin"], found["culprit"]["new"]) == ("tool", "1.4")
    logs = [Path(probe["build_log"]).read_text() for probe in found["probes"] if probe["build_log"]]
    assert sum(text.count(" slow stage runs\n") for text in logs) == 1, "full builds take it from the builder's cache"


@pytest.mark.slow
def test_a_failure_that_comes_through_a_reused_stage_shows_at_both_ends_and_that_is_said(
    engine_image: str, tmp_path: Path
) -> None:
    repository = SmallRepository(tmp_path / "repository")
    for number in range(3):
        repository.commit(SLOW.format(tool=f"1.{number}-{tmp_path.parent.name}"))
    smoke = script(tmp_path, 'case "$(cat /slow)" in 1.2*) exit 1;; esac')
    words = ("--dockerfile", str(repository.dockerfile), "--good", repository.revisions[0], "--bad", "HEAD")
    found = bisector(tmp_path, engine_image, *words, "--smoke", smoke, "--reuse-stage", "slow", code=4)
    assert "leave --reuse-stage out to see" in found["summary"]


def test_reused_stages_name_an_image_and_keep_every_line_in_its_place() -> None:
    from bisector.environments.docker.reused_stages import with_reused_stages

    text = SLOW.format(tool="1.0").encode()
    changed = with_reused_stages(text, {"slow": "bisector/reused:x"}).decode().splitlines()
    before = text.decode().splitlines()
    assert changed[4:7] == ["FROM bisector/reused:x AS slow", "ARG KIND=wheel", ""]
    assert changed[:4] + changed[7:] == before[:4] + before[7:]


def test_an_image_named_for_a_stage_needs_no_name_where_the_stage_has_none() -> None:
    from bisector.environments.docker.reused_stages import built_stage, with_overlay, with_reused_stages

    text = b"FROM a AS one\nRUN x\nFROM one\nRUN y"
    assert built_stage(text, "") == "1"
    changed = with_reused_stages(text, {"1": "image:1"})
    assert changed.decode().splitlines() == ["FROM a AS one", "RUN x", "FROM image:1", ""]
    over = with_overlay(changed, "1", {"six": "1.0", "attrs": "<2", "pip": "*"}).decode().splitlines()
    assert over == [
        *("FROM a AS one", "RUN x", "FROM image:1"),
        *("RUN python3 -m pip install six==1.0 'attrs<2' pip", ""),
    ]
    assert with_overlay(b"FROM image:1", "0", {"six": "1.0"}).decode().splitlines()[1:] == [
        "RUN python3 -m pip install six==1.0"
    ]


OVERLAID = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}} AS base
RUN echo {mark} > /mark
FROM base AS final
RUN pip install packaging=={packaging} {more}
RUN echo "slow step runs" && sleep 1 && touch /slow
"""


@pytest.mark.network
@pytest.mark.slow
def test_a_package_of_the_finished_image_is_put_over_it(engine_image: str, tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    mark = tmp_path.parent.name
    for packaging in ("23.0", "25.0"):
        repository.commit(OVERLAID.format(packaging=packaging, mark=mark, more=""))
    smoke = tmp_path / "smoke.py"
    smoke.write_text(
        "import os, packaging\nassert os.path.exists('/slow')\nassert packaging.__version__ < '24.1', 'new'\n"
    )
    words = ("--dockerfile", str(repository.dockerfile), "--good", "HEAD~1", "--bad", "HEAD", "--smoke", str(smoke))
    found = bisector(tmp_path, engine_image, *words, "--reuse-stage", "final")
    culprit = found["culprit"]
    assert (culprit["pin"], culprit["old"], culprit["new"]) == ("packaging", "24.0", "24.1")
    logs = [Path(probe["build_log"]).read_text() for probe in found["probes"] if probe["build_log"]]
    assert sum(text.count(" slow step runs\n") for text in logs) == 3, "once for all, once at each witness"
    approximate = {probe["candidate"]["packaging"] for probe in found["probes"] if probe["approximate"]}
    assert approximate
    assert not approximate & {"24.0", "24.1"}, "the answer rests on full builds"
    repository.commit(OVERLAID.format(packaging="25.0", mark=mark, more="&& echo other"))
    words = ("--dockerfile", str(repository.dockerfile), "--good", "HEAD~2", "--bad", "HEAD", "--smoke", str(smoke))
    with pytest.raises(AssertionError, match="text is none of them"):
        bisector(tmp_path, engine_image, *words, "--reuse-stage", "final")


@pytest.mark.slow
def test_an_image_of_the_slow_stage_leaves_its_two_runs_to_the_witnesses(engine_image: str, tmp_path: Path) -> None:
    from tests.docker.test_inventories import build

    repository = SmallRepository(tmp_path / "repository")
    mark = tmp_path.parent.name
    for number in range(8):
        repository.commit(SLOW.format(tool=f"1.{number}-{mark}"))
    name = f"bisector-test-slow:{mark}"
    image = SLOW.format(tool=f"1.7-{mark}").partition("FROM base AS final")[0]
    (tmp_path / "Dockerfile").write_text(image)
    build(engine_image, tmp_path / "Dockerfile", tmp_path, name)
    smoke = script(tmp_path, 'case "$(cat /tool)" in 1.[4567]*) exit 1;; esac')
    words = ("--dockerfile", str(repository.dockerfile), "--good", repository.revisions[0], "--bad", "HEAD")
    try:
        found = bisector(tmp_path, engine_image, *words, "--smoke", smoke, "--reuse-stage", f"slow={name}")
    finally:
        with engine() as client:
            client.api.remove_image(name, force=True)
    assert (found["culprit"]["pin"], found["culprit"]["new"][:3]) == ("tool", "1.4")
    logs = [Path(probe["build_log"]).read_text() for probe in found["probes"] if probe["build_log"]]
    assert sum(text.count(" slow stage runs\n") for text in logs) == 2, "once at each witness"


@pytest.mark.slow
def test_a_chain_of_three_files_runs_its_slow_stage_twice(engine_image: str, tmp_path: Path) -> None:
    mark = tmp_path.parent.name
    repository = SmallRepository(tmp_path / "repository")
    base = "ARG BASE_IMAGE\nFROM ${{BASE_IMAGE}} AS early\nARG TOOL_VERSION={}\nRUN echo ${{TOOL_VERSION}} > /tool\n"
    middle = (
        "ARG ONE=none:1\nFROM ${ONE} AS slow\nRUN echo 'slow stage runs' && cat /tool > /slow\n"
        "FROM ${ONE} AS middle\nCOPY --from=slow /slow /slow\n"
    )
    top = "ARG TWO=none:1\nFROM ${TWO}\nARG KIT_VERSION=5.0\nRUN echo ${KIT_VERSION} > /kit\n"
    for tool in ("1.0", "1.1"):
        repository.commit(top, Dockerfile__base=base.format(f"{tool}-{mark}"), Dockerfile__middle=middle)
    smoke = script(tmp_path, 'case "$(cat /tool)" in 1.1*) exit 1;; esac; test -e /slow && test "$(cat /kit)" = 5.0')
    files = (repository.path / "Dockerfile.base", repository.path / "Dockerfile.middle")
    chain = ("--chain", f"{files[0]}:early=ONE", "--chain", f"{files[1]}:middle=TWO")
    words = ("--dockerfile", str(repository.dockerfile), "--good", "HEAD~1", "--bad", "HEAD", *chain)
    found = bisector(tmp_path, engine_image, *words, "--smoke", smoke, "--reuse-stage", "slow")
    assert found["culprit"]["pin"] == "tool"
    assert not any(probe["approximate"] for probe in found["probes"])
    logs = [Path(probe["build_log"]).read_text() for probe in found["probes"] if probe["build_log"]]
    assert sum(text.count(" slow stage runs\n") for text in logs) <= 2
