"""A report for programs: the document `bisector.result/1`.

Its JSON Schema is docs/schemas/bisector.result-1.schema.json; `json_reader` reads it back. Pure ASCII, so that no
direction mark or control character reaches a terminal that shows it.
"""

import json
import math
from dataclasses import asdict
from datetime import UTC, datetime

from bisector.model import Candidate, Signature
from bisector.report.model import BeliefPoint, Culprit, MetricSummary, Move, ProbeRecord, Result, RunRecord
from bisector.report.outline import tool_version

SCHEMA = "bisector.result/1"

Json = dict[str, object]


def render_json(result: Result) -> str:
    """The whole result as one JSON object. Times are seconds, points in time RFC 3339 in UTC."""
    return json.dumps(result_object(result), indent=2, allow_nan=False) + "\n"


def result_object(result: Result) -> Json:
    """The result as JSON values."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "bisector", "version": tool_version()},
        "created": _moment(result.created),
        "run_id": result.run_id,
        "run_directory": result.run_directory,
        "verdict": result.verdict.value,
        "summary": result.summary,
        "sought": "first-good" if result.first_good else "first-bad",
        "culprit": _culprit(result.culprit, result.first_good) if result.culprit else None,
        "further_culprits": [_culprit(culprit, result.first_good) for culprit in result.further_culprits],
        "control": [outcome.value for outcome in result.control],
        "metric": _metric(result.metric) if result.metric else None,
        "range": [_move(move, result.first_good) for move in result.range],
        "confidence": _number(result.confidence),
        "confidence_if_flaky": _number(result.confidence_if_flaky),
        "signature": _signature(result.signature),
        "failing_output": result.failing_output,
        "culprit_output": result.culprit_output,
        "predecessor_output": result.predecessor_output,
        "axes": [
            {"pin": axis.pin, "kind": axis.kind, "good": axis.good, "bad": axis.bad, "length": axis.length}
            for axis in result.axes
        ],
        "first_failing": _candidate(result.first_failing) if result.first_failing is not None else None,
        "other_failures": [
            {
                "signature": _signature(failure.signature),
                "candidates": [_candidate(candidate) for candidate in failure.candidates],
            }
            for failure in result.other_failures
        ],
        "held_fixed": dict(result.held_fixed),
        "transitive": [
            {"name": change.name, "predecessor": change.predecessor, "culprit": change.culprit}
            for change in result.transitive
        ],
        "chain_length": result.chain_length,
        "builds": result.builds,
        "runs": result.runs,
        "seconds": _number(result.seconds),
        "build_seconds": _number(result.build_seconds),
        "run_seconds": _number(result.run_seconds),
        "rates": {"fail_if_bad": _number(result.fail_if_bad), "fail_if_good": _number(result.fail_if_good)},
        "probes": [_probe(probe) for probe in result.probes],
        "belief": [_belief(point) for point in result.belief],
        "reproduce": result.reproduce,
        "reproduce_in": result.reproduce_in,
        "resume": result.resume,
        "notes": list(result.notes),
        "environment": result.environment,
        "exclude_newer": _moment(result.exclude_newer),
        "facts": dict(result.facts),
    }


def _moment(when: datetime | None) -> str | None:
    if when is None:
        return None
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _number(value: float | None) -> float | None:
    """A number as JSON knows it: what is not finite is not known."""
    return value if value is not None and math.isfinite(value) else None


def _candidate(candidate: Candidate) -> Json:
    return dict(candidate.pins)


def _signature(signature: Signature | None) -> Json | None:
    if signature is None:
        return None
    return {
        "exit": signature.exit,
        "kind": signature.kind,
        "message": signature.message,
        "frame": signature.frame,
    }


def _move(move: Move, first_good: bool) -> Json:
    """A move from the older to the newer value, whichever of them is the good one."""
    old, new = (move.new, move.old) if first_good else (move.old, move.new)
    return {"pin": move.pin, "old": old, "new": new, "forced_by": move.forced_by}


def _metric(metric: MetricSummary) -> Json:
    def measured(values: tuple[float, float, int] | None) -> Json | None:
        if values is None:
            return None
        mean, deviation, runs = values
        return {"mean": _number(mean), "deviation": _number(deviation), "runs": runs}

    return {
        "name": metric.name,
        "limit": _number(metric.limit),
        "worse": "higher" if metric.higher_is_worse else "lower",
        "good": measured(metric.good),
        "bad": measured(metric.bad),
    }


def _culprit(culprit: Culprit, first_good: bool) -> Json:
    first = _move(culprit.moves[0], first_good)
    return {
        "pin": first["pin"],
        "kind": culprit.kind,
        "old": first["old"],
        "new": first["new"],
        "date": _moment(culprit.date),
        "url": culprit.url,
        "subject": culprit.subject,
        "commit": culprit.commit,
        "authored": _moment(culprit.authored),
        "nested": [asdict(move) for move in culprit.nested],
        "moves": [_move(move, first_good) for move in culprit.moves],
        "partners": [{"pin": pin, "value": value} for pin, value in culprit.partners],
        "alone_on_good": culprit.alone_on_good,
        "removed_from_bad": culprit.removed_from_bad,
    }


def _belief(point: BeliefPoint) -> Json:
    return {
        "probe": point.probe,
        "step": point.step,
        "outcome": point.outcome.value,
        "between": [point.lower, point.upper],
        "steps": point.steps,
        "likeliest": point.likeliest,
        "probability": round(point.probability, 6),
    }


def _run(run: RunRecord) -> Json:
    return {
        "outcome": run.outcome.value,
        "seconds": _number(run.seconds),
        "log": run.log,
        "output": run.output,
        "signature": _signature(run.signature),
        "reason": run.reason,
        "value": _number(run.value),
    }


def _probe(probe: ProbeRecord) -> Json:
    return {
        "id": probe.id,
        "step": probe.step,
        "candidate": _candidate(probe.candidate),
        "outcome": probe.outcome.value,
        "why": probe.why,
        "reason": probe.reason,
        "built": probe.built,
        "signature": _signature(probe.signature),
        "approximate": probe.approximate,
        "host": probe.host,
        "image_digest": probe.image_digest,
        "build_seconds": _number(probe.build_seconds),
        "build_log": probe.build_log,
        "runs": [_run(run) for run in probe.runs],
        "input_hash": probe.input_hash,
        "content_identity": probe.content_identity,
    }
