"""What cannot be installed, or is known to be bad, is never built: `--plan` says so, with the reason."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bisector.cli import main
from tests.docker.image_project import git
from tests.file_axes.small_repository import SmallRepository
from tests.local_index import LocalIndex

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "bisector.plan-1.schema.json").read_text())
HEAD = "FROM python:3.11-slim AS base\n"
TOGETHER = HEAD + "RUN pip install -U outer=={outer} core=={core} free=={free}\n"
GOOD, BAD = {"outer": "1.0", "core": "10.0", "free": "1.0"}, {"outer": "3.0", "core": "30.0", "free": "2.0"}


@pytest.fixture(scope="module")
def index() -> Iterator[LocalIndex]:
    """outer N takes core from N0 up to the next ten; `free` takes anything."""
    with LocalIndex() as made:
        for number in (1, 2, 3):
            made.add("outer", f"{number}.0", requires=[f"core>={number}0,<{number + 1}0"])
        for number in (10, 15, 20, 25, 30):
            made.add("core", f"{number}.0")
        for number in (1, 2):
            made.add("free", f"{number}.0")
        yield made


@dataclass
class Planner:
    """Plans runs in a directory of its own, in this process."""

    directory: Path
    index: LocalIndex
    patch: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]

    def run(self, *words: str, plan: bool = True) -> str:
        self.patch.chdir(self.directory)
        self.patch.setenv("XDG_STATE_HOME", str(self.directory / "state"))
        self.patch.setenv("XDG_CACHE_HOME", str(self.directory / "cache"))
        self.patch.setattr(sys, "argv", ["bisector", "run", "--index-url", self.index.url, *words, *["--plan"] * plan])
        self.captured.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = self.captured.readouterr()
        assert not ended.value.code, said.err
        return said.out

    def planned(self, *words: str) -> dict[str, Any]:
        plan: dict[str, Any] = json.loads(self.run(*words, "--format", "json"))
        Draft202012Validator(SCHEMA).validate(plan)
        return plan

    def of_revisions(self, *texts: str, **files: str) -> dict[str, Any]:
        return self.planned("--dockerfile", self.dockerfile(*texts, **files), "--good", "HEAD~1", "--bad", "HEAD")

    def dockerfile(self, *texts: str, **files: str) -> str:
        """A Dockerfile in a repository with these two revisions."""
        repository = SmallRepository(self.directory / "repository")
        for text in texts:
            repository.commit(text, **files)
        return str(repository.dockerfile)


@pytest.fixture
def planner(
    index: LocalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Planner:
    return Planner(tmp_path, index, monkeypatch, capsys)


def steps(plan: dict[str, Any]) -> list[tuple[tuple[str, str, str], ...]]:
    chain = plan["chain"]
    return [tuple((pin, low[pin], high[pin]) for pin in low if low[pin] != high[pin]) for low, high in pairwise(chain)]


def test_pins_of_one_installation_that_exclude_one_another_move_together(planner: Planner) -> None:
    plan = planner.of_revisions(TOGETHER.format(**GOOD), TOGETHER.format(**BAD))
    assert steps(plan) == [
        (("free", "1.0", "2.0"),),
        (("outer", "1.0", "2.0"), ("core", "10.0", "20.0")),
        (("outer", "2.0", "3.0"), ("core", "20.0", "30.0")),
    ]
    forced = plan["forced_together"]
    assert [[move["pin"] for move in step["moves"]] for step in forced] == [["outer", "core"], ["outer", "core"]]
    assert "outer 2.0 requires core<30,>=20" in forced[0]["reason"] or "requires core>=20,<30" in forced[0]["reason"]
    assert "Dockerfile:2" in forced[0]["reason"]


def test_the_text_of_a_plan_names_what_is_forced_together(planner: Planner) -> None:
    file = planner.dockerfile(*(TOGETHER.format(**values) for values in (GOOD, BAD)))
    said = planner.run("--dockerfile", file, "--good", "HEAD~1", "--bad", "HEAD")
    assert "Forced together: outer 1.0 -> 2.0, core 10.0 -> 20.0" in said
    assert "Order: free (1 step), then outer with core (2 steps)." in said
    assert "Never built:" in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "RUN pip install outer=={outer} && pip install core=={core}\n",
            "the second call replaces what the first took",
        ),
        ("RUN pip install outer=={outer} core=={core} || true\n", "the failure is ignored"),
        ("RUN pip install outer=={outer} core=={core}; echo done\n", "the failure is lost"),
        ("RUN if [ -e x ]; then pip install outer=={outer} core=={core}; fi\n", "it may not run"),
        ("RUN pip install --no-deps outer=={outer} core=={core}\n", "what outer requires is left out"),
        ("RUN pip install --extra-index-url http://x.test outer=={outer} core=={core}\n", "another index may have it"),
        ("ENV PIP_INDEX_URL=http://x.test\nRUN pip install outer=={outer} core=={core}\n", "another index"),
        ("COPY pip.conf /etc/\nRUN pip install outer=={outer} core=={core}\n", "a configuration that is not read"),
        ("RUN pip install ./outer outer=={outer} core=={core}\n", "a directory may bring another outer"),
        ("RUN pip install ./own\nRUN pip install outer=={outer} core=={core}\n", "a directory may have brought one"),
        ("RUN pip install /w/*.whl\nRUN pip install outer=={outer} core=={core}\n", "a wheel may have brought one"),
        ("RUN conda install x\nRUN pip install outer=={outer} core=={core}\n", "conda may have brought one"),
        ("FROM rocm/pytorch:latest\nRUN pip install outer=={outer} core=={core}\n", "the image may have one"),
    ],
)
def test_what_may_be_installed_all_the_same_is_never_left_out(text: str, why: str, planner: Planner) -> None:
    ends = [{"outer": "1.0", "core": "10.0"}, {"outer": "3.0", "core": "30.0"}]
    plan = planner.of_revisions(*(HEAD + text.format(**values) for values in ends))
    assert plan["forced_together"] == [], why
    assert plan["infeasible"] == []
    assert plan["chain_length"] == 7


def test_a_pip_that_is_too_old_to_refuse_anything_excludes_nothing(planner: Planner) -> None:
    text = TOGETHER.replace("python:3.11-slim", "rocm/dev-ubuntu-20.04:6.3")
    assert planner.of_revisions(text.format(**GOOD), text.format(**BAD))["infeasible"] == []


def test_a_version_that_no_index_has_may_be_in_the_base_image(planner: Planner) -> None:
    text = HEAD + "RUN pip install local==9.0+image free=={free}\n"
    plan = planner.of_revisions(text.format(free="1.0"), text.format(free="2.0"))
    assert plan["chain_length"] == 2
    assert plan["infeasible"] == []


def test_a_call_that_has_no_solution_at_an_end_is_not_believed(planner: Planner) -> None:
    values = ({"outer": "1.0", "core": "30.0", "free": "1.0"}, {"outer": "3.0", "core": "10.0", "free": "2.0"})
    plan = planner.of_revisions(*(TOGETHER.format(**each) for each in values))
    assert plan["infeasible"] == []
    assert plan["chain_length"] == 8


def test_an_unknown_python_counts_as_every_python(planner: Planner) -> None:
    text = "FROM ubuntu:24.04\nRUN pip install spam=={spam} eggs=={eggs}\n"
    with LocalIndex() as made:
        for number in (1, 2):
            requires = [f'eggs=={number}; python_version < "3.9"']
            made.add("spam", f"{number}.0", requires=requires)
            made.add("eggs", f"{number}.0")
        plan = replace(planner, index=made).of_revisions(
            text.format(spam="1.0", eggs="1.0"), text.format(spam="2.0", eggs="2.0")
        )
    assert plan["infeasible"] == []
    assert plan["chain_length"] == 3


@pytest.mark.slow
def test_an_index_that_cannot_be_read_excludes_nothing(planner: Planner) -> None:
    file = planner.dockerfile(*(TOGETHER.format(**values) for values in (GOOD, BAD)))
    ends = ("--good", "HEAD~1", "--bad", "HEAD", "--index-url", "http://127.0.0.1:9/simple")
    plan = planner.planned("--dockerfile", file, *ends)
    assert plan["infeasible"] == []
    assert plan["chain_length"] == 4


def test_requirements_from_the_build_context_count(planner: Planner) -> None:
    text = HEAD + "WORKDIR /app\nCOPY requirements.txt .\nRUN pip install -r requirements.txt core=={core}\n"
    repository = SmallRepository(planner.directory / "repository")
    repository.commit(text.format(core="10.0"), requirements__txt="outer==1.0\n")
    repository.commit(text.format(core="20.0"), requirements__txt="outer==2.0\n")
    ends = ("--good", "HEAD~1", "--bad", "HEAD")
    plan = planner.planned("--dockerfile", str(repository.dockerfile), *ends)
    assert [[move[0] for move in step] for step in steps(plan)] == [["text", "core"]]
    assert "outer 2.0 requires core" in plan["forced_together"][0]["reason"]


def test_arguments_that_take_pins_are_asked_for_together(planner: Planner) -> None:
    text = HEAD + "ARG OUTER_VERSION=1.0\nARG CORE_VERSION=10.0\n"
    (planner.directory / "Dockerfile").write_text(text + "RUN pip install outer==$OUTER_VERSION core==$CORE_VERSION\n")
    (planner.directory / "smoke.sh").write_text("#!/bin/sh\n")
    (planner.directory / "smoke.sh").chmod(0o755)
    pins = ("--pin", "outer=1.0..3.0", "--pin", "core=10.0..30.0")
    words = ("--dockerfile", "Dockerfile", *pins, "--smoke", "./smoke.sh")
    plan = planner.planned(*words)
    assert [[move[0] for move in step] for step in steps(plan)] == [["outer", "core"], ["outer", "core"], ["core"]] or [
        [move[0] for move in step] for step in steps(plan)
    ] == [["outer", "core"], ["outer", "core"]]


KNOWN = '[[known-bad]]\nrequirement = "core==20.0"\nreason = "crashes"\n'


def test_a_known_bad_version_between_the_ends_is_passed_by(planner: Planner) -> None:
    (planner.directory / "smoke.py").write_text("import core\n")
    (planner.directory / "pins.toml").write_text(KNOWN)
    plan = planner.planned("--pin", "core=10.0..30.0", "--smoke", "smoke.py")
    assert steps(plan) == [(("core", *pair),) for pair in (("10.0", "15.0"), ("15.0", "25.0"), ("25.0", "30.0"))]
    [step] = plan["forced_together"]
    assert step["passed_by"] == [{"pin": "core", "value": "20.0"}]
    assert step["reason"] == "core 20.0 is known to be bad (pins.toml:2: crashes)"


def test_a_known_bad_end_is_tried_all_the_same(planner: Planner) -> None:
    (planner.directory / "smoke.py").write_text("import core\n")
    (planner.directory / "pins.toml").write_text(KNOWN)
    plan = planner.planned("--pin", "core=10.0..20.0", "--pin", "free=1.0..2.0", "--smoke", "smoke.py")
    assert plan["infeasible"] == []
    assert plan["chain_length"] == 4


def test_known_bad_versions_of_a_dockerfile_stand_at_the_top_of_its_repository(planner: Planner) -> None:
    text = HEAD + "RUN pip install core=={core}\n"
    ends = [text.format(core="10.0"), text.format(core="30.0")]
    plan = planner.of_revisions(*ends, pins__toml=KNOWN)
    assert plan["chain_length"] == 4


def test_a_repository_without_files_of_its_own_is_read_at_the_bad_end(planner: Planner) -> None:
    text = HEAD + "RUN pip install core=={core}\n"
    planner.dockerfile(text.format(core="10.0"), text.format(core="30.0"), pins__toml=KNOWN)
    bare = planner.directory / "bare.git"
    git(planner.directory, "clone", "--quiet", "--bare", str(planner.directory / "repository"), str(bare))
    plan = planner.planned("--dockerfile", str(bare / "Dockerfile"), "--good", "HEAD~1", "--bad", "HEAD")
    assert plan["chain_length"] == 4


def test_an_end_that_cannot_be_installed_is_said_and_stays(planner: Planner) -> None:
    (planner.directory / "smoke.py").write_text("import outer\n")
    plan = planner.planned("--pin", "outer=1.0..3.0", "--with", "core==10.0", "--smoke", "smoke.py")
    assert [entry["candidate"]["outer"] for entry in plan["infeasible"]] == ["3.0", "2.0"]
    assert [candidate["outer"] for candidate in plan["chain"]] == ["1.0", "3.0"]


def test_a_long_chain_is_asked_for_as_a_whole(planner: Planner) -> None:
    (planner.directory / "smoke.py").write_text("import spam\n")
    with LocalIndex() as made:
        for number in range(100):
            made.add("spam", f"{number}.0", requires=["eggs==1.0"] if number % 10 else ["eggs==2.0"])
        for number in (1, 2):
            made.add("eggs", f"{number}.0")
        words = ("--pin", "spam=1.0..99.0", "--with", "eggs==1.0", "--smoke", "smoke.py")
        plan = replace(planner, index=made).planned(*words)
    assert plan["chain_length"] == 90
    assert [entry["candidate"]["spam"] for entry in plan["infeasible"]] == [f"{number}0.0" for number in range(1, 10)]
    assert "spam 10.0 requires eggs==2.0" in plan["infeasible"][0]["reason"]


def test_a_report_says_which_known_bad_version_lies_in_the_culprits_step(planner: Planner) -> None:
    smoke = planner.directory / "smoke.sh"
    smoke.write_text('#!/bin/sh\n[ "${PIN_CORE%.0}" -lt 20 ]\n')
    smoke.chmod(0o755)
    (planner.directory / "pins.toml").write_text(KNOWN)
    words = ("--pin", "core=10.0..30.0", "--smoke", "./smoke.sh", "--repeat", "1", "--env", "command")
    result = json.loads(planner.run(*words, "--build-command", "true", "--format", "json", plan=False))
    culprit = result["culprit"]
    assert (culprit["old"], culprit["new"]) == ("15.0", "25.0")
    assert any("past 20.0: core 20.0 is known to be bad" in note for note in result["notes"])
    assert all(probe["candidate"]["core"] != "20.0" for probe in result["probes"])
