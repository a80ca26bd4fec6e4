"""The document `pins.suggest/1`."""

import json
from typing import Any

from pins.json_document import opening
from pins.suggest.model import Kept, Suggestion, SuggestReport, VersionState


def suggest_document_json(report: SuggestReport) -> str:
    """All that the report holds."""
    document = opening("pins.suggest/1", "pins")
    document["file"] = report.file
    document["headline"] = report.headline
    document["suggestions"] = [_suggestion(s) for s in report.suggestions]
    document["conflicts"] = [
        {"where": c.where, "because": list(c.because), "ways": list(c.ways)} for c in report.conflicts
    ]
    document["kept"] = [_kept(k) for k in report.kept]
    document["unknown"] = list(report.unknown)
    document["patch"] = report.patch
    document["reproduce"] = report.reproduce
    document["data_time"] = report.data_time.isoformat(timespec="seconds") if report.data_time else None
    return json.dumps(document, indent=2, ensure_ascii=True)


def _suggestion(suggestion: Suggestion) -> dict[str, Any]:
    return {
        "pin": suggestion.pin.name,
        "kind_of_pin": suggestion.pin.kind.value,
        "file": suggestion.pin.file,
        "line": suggestion.pin.line,
        "now": suggestion.now,
        "suggested": suggestion.suggested,
        "window": suggestion.window,
        "kind": suggestion.kind.value,
        "certainty": suggestion.certainty.value,
        "headline": suggestion.headline,
        "because": [{"text": r.text, "origin": r.origin or None, "link": r.link or None} for r in suggestion.because],
        "options": [{"value": o.value, "kind": o.kind.value, "trade": o.trade} for o in suggestion.options],
        "rejected": [{"value": r.value, "why": r.why} for r in suggestion.rejected],
        "until": suggestion.until or None,
        "review": suggestion.review.isoformat() if suggestion.review else None,
        "rebuilds": list(suggestion.rebuilds),
        "not_enough": list(suggestion.not_enough),
        "versions": [_version(v) for v in suggestion.versions],
        "evidence": [{"tried": what, "outcome": outcome} for what, outcome in suggestion.evidence],
        "reproduce": suggestion.reproduce or None,
    }


def _kept(kept: Kept) -> dict[str, Any]:
    return {
        "pin": kept.name,
        "line": kept.line,
        "now": kept.now,
        "why": kept.why,
        "window": kept.window or None,
        "versions": [_version(v) for v in kept.versions],
    }


def _version(version: VersionState) -> dict[str, Any]:
    return {
        "version": version.version,
        "state": version.state.value,
        "reason": version.reason or None,
        "current": version.current,
        "suggested": version.suggested,
    }
