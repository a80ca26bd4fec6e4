import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from bisector.report import render, result_from_json
from bisector.report.model import Result
from pins.errors import UsageError
from tests.example_results import CULPRIT, EXAMPLES
from tests.generated_results import few, results

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "bisector.result-1.schema.json"


@few
@given(results)
def test_a_result_reads_back_as_it_was(result: Result) -> None:
    assert result_from_json(render(result, "json")) == result


@few
@given(results)
def test_documents_are_ascii_and_keep_to_the_schema(result: Result) -> None:
    jsonschema: Any = pytest.importorskip("jsonschema")
    text = render(result, "json")
    assert text.isascii()
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    assert [error.message for error in validator.iter_errors(json.loads(text))] == []


def test_schema_is_sound_and_refuses_what_is_not_a_result() -> None:
    jsonschema: Any = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = json.loads(render(CULPRIT, "json"))
    changes: tuple[dict[str, object], ...] = (
        {"verdict": "guilty"},
        {"confidence": 7},
        {"probes": [{}]},
        {"schema": "bisector.result/2"},
    )
    for change in changes:
        assert list(validator.iter_errors({**document, **change})), change


def test_schema_names_every_key_that_is_written() -> None:
    schema = json.loads(SCHEMA.read_text())
    document = json.loads(render(EXAMPLES["partners"], "json"))
    assert set(document) == set(schema["properties"])
    probe = schema["properties"]["probes"]["items"]
    assert set(document["probes"][0]) == set(probe["properties"])
    assert set(document["probes"][0]["runs"][0]) == set(probe["properties"]["runs"]["items"]["properties"])


def test_document_begins_with_schema_tool_and_time() -> None:
    document = json.loads(render(CULPRIT, "json"))
    assert list(document)[:3] == ["schema", "tool", "created"]
    assert document["schema"] == "bisector.result/1"
    assert document["created"] == "2026-11-03T10:17:42Z"
    assert document["culprit"]["pin"] == "pybind11"
    assert document["culprit"]["old"] == "3.0.4"
    assert document["culprit"]["new"] == "3.1.0"
    assert document["held_fixed"] == {"python": "3.12.7", "setuptools": "80.9.0"}


def test_what_is_not_finite_is_not_known() -> None:
    broken = replace(CULPRIT, confidence=float("nan"), seconds=float("inf"))
    assert json.loads(render(broken, "json"))["confidence"] is None
    assert result_from_json(render(broken, "json")).seconds == 0.0


def test_unknown_keys_are_ignored_and_absent_ones_have_their_defaults() -> None:
    document = {
        "schema": "bisector.result/1",
        "created": "2026-11-03T10:17:42+00:00",
        "verdict": "interrupted",
        "future": [1],
    }
    assert result_from_json(json.dumps(document)).probes == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a JSON document"),
        ("[" * 100_000, "not a JSON document"),
        ("[]", "expected an object"),
        ('{"schema": "pins.show/1"}', "pins.show/1"),
        ('{"schema": "bisector.result/1"}', "created"),
        ('{"schema": "bisector.result/1", "created": "yesterday"}', "created: expected a date"),
        ('{"schema": "bisector.result/1", "created": "2026-11-03", "verdict": "guilty"}', "verdict: expected one of"),
        (
            '{"schema": "bisector.result/1", "created": "2026-11-03", "verdict": "range", '
            '"probes": [{"id": "p1", "candidate": {}, "outcome": "PASS"}, {"id": 7}]}',
            r"probes\[1\].id: expected a string, found 7",
        ),
    ],
)
def test_a_wrong_document_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        result_from_json(text)


def test_unknown_format_is_a_usage_error_that_names_the_formats() -> None:
    with pytest.raises(UsageError, match="text, md, json, html"):
        render(CULPRIT, "pdf")
