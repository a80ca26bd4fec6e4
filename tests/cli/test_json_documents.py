"""The small JSON documents are as their schemas say, and each schema is of a document that there is."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from bisector.cli.doctor import render_findings
from bisector.cli.garbage_text import render_garbage
from bisector.cli.machine_checks import Finding
from bisector.leftovers import Garbage, Leftover

ROOT = Path(__file__).resolve().parents[2]
HELD = ["hold", "setuptools<80", "--why", "it breaks"]
ACKED = ["ack", "3f0c9a1be27d", "--why", "known", "--until", "2999-12-31"]


def checked(text: str, name: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(text)
    schema = json.loads((ROOT / f"docs/schemas/{name}-1.schema.json").read_text())
    jsonschema.validate(document, schema)
    assert list(document)[:3] == ["schema", "tool", "created"]
    return document


@pytest.mark.parametrize(
    "words",
    [HELD, [*HELD, "--write"], ["hold", "triton=9c1ab00", "--why", "the next fails"], ACKED, [*ACKED, "--write"]],
    ids=" ".join,
)
def test_what_is_written_down_is_told_with_its_patch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    command = [sys.executable, "-m", "pins", *words, "--format", "json", "--quiet"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    document = checked(ran.stdout, f"pins.{words[0]}")
    assert document["written"] == ("--write" in words) == (tmp_path / "pins.toml").exists()
    assert "+++ " in str(document["patch"])


@pytest.mark.parametrize("kind", ["github", "systemd"])
def test_a_schedule_is_told_file_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-m", "pins", "schedule", kind, ".", "--format", "json"]
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    document = checked(text, "pins.schedule")
    assert document["kind"] == kind
    assert document["files"]


def test_what_a_machine_has_is_told() -> None:
    checked(render_findings([Finding("git", False, "gone", "get it")], "json"), "bisector.doctor")


def test_what_is_left_over_is_told() -> None:
    garbage = Garbage(removed=[Leftover("a build", "r1")], not_looked_for=["images"], cache="/c", cache_bytes=7)
    checked(render_garbage(garbage, "json", dry_run=True), "bisector.gc")


@pytest.mark.parametrize(
    "words", [["check", "--rules"], ["check", "--explain", "junk-arguments"], ["drift", "--rules"]]
)
def test_rules_are_told_in_every_form(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def said(form: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "pins", *words, "--format", form]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == code, ran.stderr
        return ran.stdout

    document = checked(said("json"), "pins.rules")
    assert document["rules"]
    assert "<html" in said("html")
    said("sarif", code=2)
