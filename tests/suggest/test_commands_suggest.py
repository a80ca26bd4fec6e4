"""`pins suggest` as a person runs it; every form says the same."""

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from bisector.report.json_writer import render_json
from pins.cli import app
from tests import example_results
from tests.local_index import LocalIndex
from tests.suggest.dockerfiles import DOCKERFILE

TOP = Path(__file__).resolve().parents[2]


def run(*arguments: str, code: int = 0) -> Result:
    done = CliRunner(env={"NO_COLOR": "1"}).invoke(app, ["suggest", *arguments])
    assert done.exit_code == code, done.stderr + done.stdout
    return done


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    (tmp_path / "result.json").write_text(render_json(example_results.CULPRIT))
    return tmp_path


ASKED = ("Dockerfile", "--run", "result.json", "--offline")


def test_the_first_lines_say_what_to_change_and_why(place: Path) -> None:
    lines = run(*ASKED).stdout.splitlines()
    first = " ".join(lines[:2])
    assert first.startswith("Cap pybind11 below 3.1.0 in Dockerfile:3: 3.1.0 is the first that fails")
    assert max(map(len, lines)) <= 100
    assert (place / "Dockerfile").read_text() == DOCKERFILE


def test_json_follows_its_schema(place: Path) -> None:
    document = json.loads(run(*ASKED, "--format", "json").stdout)
    schema = json.loads((TOP / "docs/schemas/pins.suggest-1.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    assert document["suggestions"][0]["suggested"] == "<3.1.0"
    assert document["suggestions"][0]["because"][-1]["origin"] == "Dockerfile:3"


def test_markdown_has_the_headings_of_a_pull_request(place: Path) -> None:
    text = run(*ASKED, "--format", "md").stdout
    for heading in ("#### Purpose", "#### Test Plan", "#### Test Result"):
        assert heading in text
    assert "```diff" in text


def test_the_page_stands_alone_and_names_every_version(place: Path) -> None:
    page = run(*ASKED, "--format", "html").stdout
    assert "<script" not in page
    assert "src=" not in page
    assert '<li class="bad" title="fails in run 2026-11-03-101500-pybind11"><code>3.1.0</code>' in page
    assert '<span class="mark">suggested</span>' in page


def test_write_changes_the_file_and_records_the_hold(place: Path) -> None:
    done = run(*ASKED, "--write")
    assert "Dockerfile, pins.toml: changed." in done.stderr
    assert "'pybind11<3.1.0'" in (place / "Dockerfile").read_text()
    assert 'requirement = "pybind11<3.1.0"' in (place / "pins.toml").read_text()


def test_usage_errors_say_what_to_do(place: Path) -> None:
    assert "nowhere does not exist" in run("nowhere", "--offline", code=2).stderr
    assert "is none of minimal" in run(*ASKED, "--policy", "best", code=2).stderr
    assert "give one of them" in run(*ASKED, "--write", "--branch", "b", code=2).stderr
    assert "no such file" in run("Dockerfile", "--run", "no-such-run", "--offline", code=2).stderr
    (place / "other.json").write_text(render_json(example_results.UNDETERMINED))
    assert "names no culprit" in run("Dockerfile", "--run", "other.json", "--offline", code=3).stderr


def test_a_contradiction_comes_first_and_has_an_exit_code_of_its_own(
    place: Path, local_index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", local_index.url)
    local_index.add("engine", "2.6.0", requires=["nccl==2.21.5"])
    local_index.add("nccl", "2.21.5")
    local_index.add("nccl", "2.25.1")
    (place / "Dockerfile").write_text(
        "FROM ubuntu:22.04\nRUN pip install engine==2.6.0\nRUN pip install nccl==2.25.1\n"
    )
    done = run("Dockerfile", "--python", "3.12", code=5)
    assert done.stdout.startswith("One of the requirements of ")
    assert "engine 2.6.0 requires nccl==2.21.5" in done.stdout
    assert "nccl==2.25.1 is asked for (Dockerfile:3)" in done.stdout
    document = json.loads(run("Dockerfile", "--python", "3.12", "--format", "json", code=5).stdout)
    schema = json.loads((TOP / "docs/schemas/pins.suggest-1.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    assert len(document["conflicts"]) == 1
