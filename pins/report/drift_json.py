"""`pins drift` for programs: `pins.drift/1`, and SARIF 2.1.0."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pins.drift.model import Rule
from pins.drift.report import DriftReport, Reported, State
from pins.json_document import installed_version, opening
from pins.report.hazards_json import LEVELS, SARIF_SCHEMA, address


def drift_object(report: DriftReport) -> dict[str, Any]:
    """`pins.drift/1` as an object."""
    document = opening("pins.drift/1", "pins")
    document["now"] = _time(report.now)
    document["complete"] = report.complete
    document["last_complete"] = _time(report.last_complete)
    document["files"], document["pins"], document["checks"] = report.files, report.pins, report.checks
    document["findings"] = [_entry(reported) for reported in report.findings]
    document["unknown"] = [
        {"pin": one.pin or None, "rule": one.rule, "reason": one.reason, "file": one.file or one.place or None}
        for one in report.unknown
    ]
    document["notes"] = list(report.notes)
    return document


def drift_json(report: DriftReport) -> str:
    """`pins.drift/1`."""
    return json.dumps(drift_object(report), indent=2, ensure_ascii=True)


def _entry(reported: Reported) -> dict[str, Any]:
    one = reported.finding
    ack = reported.ack
    return {
        "id": one.id,
        "rule": one.rule,
        "pin": one.pin or None,
        "state": reported.state.value,
        "severity": one.severity.value,
        "first_seen": _time(reported.first_seen),
        "changed": reported.changed,
        "before": reported.before or None,
        "bucket": one.bucket,
        "file": one.file or None,
        "line": one.line or None,
        "summary": one.summary,
        "evidence": list(one.evidence),
        "suggestion": one.suggestion or None,
        "ack": {"why": ack.why, "until": ack.until.isoformat() if ack.until else None} if ack else None,
        "note": reported.note or None,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")


def drift_sarif(report: DriftReport, rules: Sequence[Rule]) -> str:
    """SARIF 2.1.0: what is open; what is acknowledged is a suppressed result, what is resolved is absent."""
    index = {rule.id: place for place, rule in enumerate(rules)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "pins drift",
                "version": installed_version(),
                "rules": [
                    {
                        "id": rule.id,
                        "name": "".join(part.capitalize() for part in rule.id.split("-")),
                        "shortDescription": {"text": rule.summary},
                        "defaultConfiguration": {"level": LEVELS[rule.severity]},
                    }
                    for rule in rules
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(r, index) for r in report.findings if r.state is not State.RESOLVED],
    }
    if report.unknown:
        notifications = [
            {"level": "warning", "message": {"text": f"{one.pin or one.place}, {one.rule}: {one.reason}"}}
            for one in report.unknown
        ]
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notifications}]
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=True)


def _result(reported: Reported, index: dict[str, int]) -> dict[str, Any]:
    one = reported.finding
    message = "\n".join((f"{one.summary}.", *one.evidence, *([f"{one.suggestion}."] if one.suggestion else [])))
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "level": LEVELS[one.severity],
        "message": {"text": message},
        "partialFingerprints": {"pinsDrift/v1": one.id},
        "baselineState": "new" if reported.state is State.NEW else "updated" if reported.changed else "unchanged",
    }
    if one.rule in index:
        result["ruleIndex"] = index[one.rule]
    if one.file:
        result["locations"] = [
            {
                "physicalLocation": {
                    "artifactLocation": address(one.file),
                    "region": {"startLine": max(one.line, 1)},
                }
            }
        ]
    if reported.ack:
        result["suppressions"] = [{"kind": "external", "justification": reported.ack.why}]
    return result
