"""SARIF: valid by its schema for every rule, and the same finding by the same name wherever it is looked at from."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from pins.cli import app
from pins.hazards.check import check
from pins.hazards.gather import subject
from pins.hazards.table import RULES
from pins.report.hazards_json import check_sarif

SCHEMA = Path(os.environ.get("SARIF_SCHEMA") or Path(__file__).parent / "sarif-2.1.0-used.schema.json")
BAD = "FROM ubuntu:latest\n# pins: ignore[unquoted-specifier] to be seen\nRUN pip install foo>=4\n"


def validated(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER).validate(document)
    return document


def test_what_every_rule_finds_is_valid() -> None:
    subjects = [subject(rule.bad.text.encode(), f"{rule.name}/{rule.bad.file}") for rule in RULES]
    document = validated(check_sarif(check(subjects, RULES), RULES))
    (run,) = document["runs"]
    found = {result["ruleId"] for result in run["results"]}
    assert len(found) > len(RULES) * 0.8  # some look at other files, at clones or at an index
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def sarif(*arguments: str) -> list[dict[str, Any]]:
    done = CliRunner(env={"NO_COLOR": "1"}).invoke(app, ["check", *arguments, "--format", "sarif"])
    assert done.exit_code in (0, 1), done.stderr
    results: list[dict[str, Any]] = validated(done.stdout)["runs"][0]["results"]
    return results


def address(result: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = result["locations"][0]["physicalLocation"]["artifactLocation"]
    return found


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = tmp_path / "top"
    (top / "docker images").mkdir(parents=True)
    (top / "docker images" / "Dockerfile").write_text(BAD)
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    monkeypatch.chdir(top)
    return top


def test_a_finding_has_one_address_and_one_fingerprint_however_its_file_is_named(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [sarif("docker images/Dockerfile"), sarif("."), sarif(str(repository / "docker images" / "Dockerfile"))]
    monkeypatch.chdir(repository / "docker images")
    seen += [sarif("Dockerfile"), sarif("../docker images")]
    names = [{(r["ruleId"], r["partialFingerprints"]["pinsCheck/v1"]) for r in results} for results in seen]
    assert all(each == names[0] for each in names)
    assert names[0]
    for results in seen:
        for result in results:
            assert address(result) == {"uri": "docker%20images/Dockerfile", "uriBaseId": "%SRCROOT%"}


def test_what_the_file_suppresses_and_what_a_baseline_suppresses_are_told_apart(repository: Path) -> None:
    (before,) = [result for result in sarif(".") if "suppressions" in result]
    assert before["suppressions"] == [{"kind": "inSource", "justification": "to be seen"}]
    CliRunner().invoke(app, ["check", ".", "--write-baseline", "known.json"])
    after = {result["ruleId"]: result["suppressions"][0]["kind"] for result in sarif(".", "--baseline", "known.json")}
    assert after == {"unquoted-specifier": "inSource", "floating-image": "external"}


def test_a_name_that_is_no_text_is_written_in_every_form(repository: Path) -> None:
    (repository / os.fsdecode(b"bad\xffname.Dockerfile")).write_text(BAD)
    assert {"uri": "bad%FFname.Dockerfile", "uriBaseId": "%SRCROOT%"} in map(address, sarif("."))
    for form in ("text", "md", "html", "json", "github"):
        done = CliRunner(env={"NO_COLOR": "1"}).invoke(app, ["check", ".", "--format", form])
        assert done.exit_code == 1, done.stderr
        assert "name.Dockerfile" in done.stdout
