"""What was installed from the wheel alone, in each way: both commands, a run, the library, the schemas."""

import json
import shlex
from pathlib import Path

import jsonschema
import pytest

from tests.local_index import LocalIndex
from tests.project.installations import Installation

pytestmark = [pytest.mark.slow, pytest.mark.network]

DOCKERFILE = """\
FROM base
ARG SPAM_SPEC=spam==5
RUN pip install "$SPAM_SPEC" ham
"""
SMOKE = """\
import spam

assert int(spam.__version__) < 4, "broken by " + spam.__version__
"""
LIBRARY = """
import sys
from pathlib import Path
from bisector import IndexRequest, PinRange, RunRequest, SmokeScript, Verdict, bisect, render

request = RunRequest(
    pins=(PinRange("spam", "1", "6"),),
    smoke=SmokeScript(Path("smoke.py").absolute()),
    index=IndexRequest(index_url=sys.argv[1]),
)
events = []
result = bisect(request, reporter=events.append)
assert events and result.verdict is Verdict.CULPRIT and render(result, "md").startswith("#")
print(result.culprit.moves[0].new)
"""
SCHEMAS = """
import json
from importlib.resources import files

found = [each.read_text() for each in (files("bisector") / "schemas").iterdir()]
print(json.dumps([json.loads(text) for text in found]))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    (tmp_path / "requirements.txt").write_text("spam>=2\nham\n")
    (tmp_path / "smoke.py").write_text(SMOKE)
    return tmp_path


def test_both_commands_start_and_explain_themselves(installed: Installation, tmp_path: Path) -> None:
    for command in ("bisector", "pins"):
        name, version = installed.call(command, "--version", cwd=tmp_path).split()
        assert (name, version[0].isdigit()) == (command, True)
        assert "Usage:" in installed.call(command, "--help", cwd=tmp_path)
    assert "--smoke" in installed.call("bisector", "run", "--help", cwd=tmp_path)
    assert installed.document("bisector", "doctor", cwd=tmp_path)["findings"]


def test_pins_are_shown_checked_and_fitted(installed: Installation, project: Path, spam: LocalIndex) -> None:
    pins = installed.document("pins", "show", "Dockerfile", cwd=project)["pins"]
    assert isinstance(pins, list)
    assert {pin["name"]: pin["value"] for pin in pins}.items() >= {"spam": "==5"}.items()
    hazards = installed.document("pins", "check", "Dockerfile", cwd=project, code=1)["hazards"]
    assert isinstance(hazards, list)
    assert {hazard["rule"] for hazard in hazards} >= {"floating-image"}
    fitted = installed.document(
        "pins", "windows", "requirements.txt", "--index-url", spam.url, "--python", "3.12", cwd=project
    )["packages"]
    assert isinstance(fitted, list)
    assert {each["name"]: each["versions"] for each in fitted}["spam"] == ["2", "3", "4", "5", "6"]


def test_a_run_and_the_library_find_the_culprit(installed: Installation, project: Path, spam: LocalIndex) -> None:
    words = shlex.split(f"run --pin spam=1..6 --smoke smoke.py --index-url {spam.url}")
    found = installed.document("bisector", *words, cwd=project)
    culprit = found["culprit"]
    assert isinstance(culprit, dict)
    assert (culprit["pin"], culprit["old"], culprit["new"]) == ("spam", "3", "4")
    schemas = {
        schema["title"]: schema for schema in json.loads(installed.evaluate(SCHEMAS, cwd=project)) if "title" in schema
    }
    jsonschema.validate(found, schemas["bisector.result/1"])
    assert installed.evaluate(LIBRARY, spam.url, cwd=project) == "4\n"
