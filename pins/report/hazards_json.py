"""`pins check` for programs: `pins.check/1`, and SARIF 2.1.0."""

import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from pins.hazards.ignoring import KNOWN
from pins.hazards.model import Hazard, Rule, Severity
from pins.json_document import installed_version, opening
from pins.report.hazards_text import message_of

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def check_json(hazards: Sequence[Hazard], files: Sequence[str]) -> str:
    """`pins.check/1`: what was found, and what is ignored."""
    document = opening("pins.check/1", "pins")
    document["files"] = list(files)
    document["hazards"] = [_entry(hazard) for hazard in hazards if not hazard.ignored]
    document["ignored"] = [{**_entry(hazard), "reason": hazard.ignored} for hazard in hazards if hazard.ignored]
    return json.dumps(document, indent=2, ensure_ascii=True)


def _entry(hazard: Hazard) -> dict[str, Any]:
    return {
        "rule": hazard.rule.name,
        "severity": hazard.rule.severity.value,
        "file": hazard.file,
        "line": hazard.line,
        "column": hazard.column,
        "end_line": hazard.end_line,
        "end_column": hazard.end_column,
        "pin": hazard.pin or None,
        "summary": hazard.summary,
        "why": hazard.rule.why,
        "fix": hazard.fix,
        "edits": [{"start": e.start, "end": e.end, "text": e.text.decode("utf-8", "replace")} for e in hazard.edits],
        "evidence": list(hazard.evidence),
        "fingerprint": hazard.fingerprint,
    }


def check_sarif(hazards: Sequence[Hazard], rules: Sequence[Rule]) -> str:
    """SARIF 2.1.0, as code scanning takes it; ignored findings are suppressed results."""
    index = {rule.name: place for place, rule in enumerate(rules)}
    document = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "pins check",
                        "version": installed_version(),
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(hazard, index) for hazard in hazards],
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=True)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{rule.why} {rule.case}"},
        "help": {"text": f"{rule.why} {rule.case} To do: {rule.advice}."},
        "defaultConfiguration": {"level": LEVELS[rule.severity], "enabled": rule.default},
    }


def _result(hazard: Hazard, index: dict[str, int]) -> dict[str, Any]:
    region = {
        "startLine": hazard.line,
        "startColumn": hazard.column,
        "endLine": hazard.end_line,
        "endColumn": hazard.end_column,
    }
    location = {
        "physicalLocation": {
            "artifactLocation": address(hazard.identity or hazard.file),
            "region": region,
        }
    }
    result: dict[str, Any] = {
        "ruleId": hazard.rule.name,
        "ruleIndex": index[hazard.rule.name],
        "level": LEVELS[hazard.rule.severity],
        "message": {"text": "\n".join((message_of(hazard), *hazard.evidence))},
        "locations": [location],
        "partialFingerprints": {"pinsCheck/v1": hazard.fingerprint},
    }
    if hazard.ignored:
        kind = "external" if hazard.ignored == KNOWN else "inSource"
        result["suppressions"] = [{"kind": kind, "justification": hazard.ignored}]
    return result


def address(path: str) -> dict[str, str]:
    """A file from the top of its repository; where it is in none, by its whole path."""
    uri = quote(os.fsencode(path))  # a name may be no text at all
    if path.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}
