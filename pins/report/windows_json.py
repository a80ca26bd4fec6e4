"""The documents `pins.windows/1` and `pins.why/1`."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pins.json_document import opening
from pins.report.windows_model import EnvironmentWindows, WindowsReport
from pins.resolve.bounds import PackageWindow
from pins.resolve.sentences import Sentence
from pins.resolve.why import Answer


def windows_document(report: WindowsReport) -> str:
    """`pins.windows/1`: every window of every environment."""
    document = opening("pins.windows/1", "pins")
    document["environments"] = [
        {
            "name": one.name,
            "also": list(one.also),
            "target": one.target,
            "installer": one.installer,
            "possible": one.possible,
            "differences": list(one.differences),
            "not_counted": list(one.not_counted),
        }
        for one in report.environments
    ]
    document["packages"] = [_package(one.name, w) for one in report.environments if one.possible for w in one.packages]
    document["exclusions"] = [
        {
            "environment": one.name,
            "name": pair.name,
            "version": pair.version,
            "other": pair.other,
            "left": pair.left,
            "count": pair.count,
        }
        for one in report.environments
        for pair in one.exclusions
    ]
    document["unresolved"] = list(_unresolved(report.environments))
    document["broken"] = [{"environment": o.name, "sentence": text} for o in report.environments for text in o.broken]
    document["notes"] = list(report.notes)
    return json.dumps(document, indent=2, ensure_ascii=True)


def _package(environment: str, window: PackageWindow) -> dict[str, Any]:
    return {
        "name": window.name,
        "kind": window.kind,
        "environment": environment,
        "current": window.current or None,
        "versions": list(window.versions),
        "window": window.specifier,
        "runs": window.text,
        "newest": window.newest or None,
        "suggested": window.newest_inside or None,
        "bounds": [
            {"side": bound.side.value, "version": bound.version, "because": _because(bound.because)}
            for bound in window.bounds
        ],
        "unknown": [{"versions": list(one.versions), "reason": one.reason} for one in window.unknown],
        "not_offered": list(window.not_offered),
        "complete": window.is_complete,
        "commits": [{"label": label, "detail": detail} for label, detail in window.described],
        "notes": list(window.notes),
    }


def _because(sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
    return [
        {
            "requirement": premise.requirement,
            "origin": premise.origin,
            "kind": premise.kind.value if premise.kind else "metadata",
            "sentence": sentence.text,
        }
        for sentence in sentences
        for premise in sentence.premises
    ]


def _unresolved(environments: Sequence[EnvironmentWindows]) -> Iterable[dict[str, Any]]:
    for one in environments:
        if one.answer is not None:
            yield {"environment": one.name, **_answer(one.answer)}


def why_document(answers: Sequence[tuple[str, Answer]]) -> str:
    """`pins.why/1`: the answer for each environment."""
    document = opening("pins.why/1", "pins")
    document["answers"] = [{"environment": name, **_answer(answer)} for name, answer in answers]
    return json.dumps(document, indent=2, ensure_ascii=True)


def _answer(answer: Answer) -> dict[str, Any]:
    explanation = answer.explanation
    return {
        "question": answer.question or None,
        "fits": True if answer.model is not None else False if explanation is not None else None,
        "example": dict(sorted(answer.model.chosen.items())) if answer.model is not None else None,
        "unknown": list(answer.unknown),
        "not_counted": list(answer.not_counted),
        "sentences": [sentence.text for sentence in explanation.sentences] if explanation else [],
        "because": _because(explanation.sentences) if explanation else [],
        "relaxations": [
            [
                {"requirement": constraint.requirement, "origin": constraint.origin.place, "instead": instead or None}
                for constraint, instead in zip(one.constraints, one.instead, strict=True)
            ]
            for one in answer.relaxations
        ],
    }
