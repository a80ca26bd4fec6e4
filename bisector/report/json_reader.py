"""A `bisector.result/1` document read back. Unknown keys are ignored."""

import json

from bisector.model import Candidate, Outcome, Signature
from bisector.report.json_value import JsonValue
from bisector.report.json_writer import SCHEMA
from bisector.report.model import (
    AxisSummary,
    BeliefPoint,
    Culprit,
    MetricSummary,
    Move,
    NestedMove,
    OtherFailure,
    ProbeRecord,
    Result,
    RunRecord,
    TransitiveChange,
    Verdict,
)
from pins.errors import UsageError


def read_result(text: str) -> Result:
    """The result that the document holds.

    Raises:
        UsageError: it is not such a document; the message says where.
    """
    try:
        document = JsonValue(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"This is not a JSON document: {error}.") from None
    schema = document["schema"].text()
    if schema != SCHEMA:
        raise UsageError(f"This document's schema is {schema!r}; only {SCHEMA} can be read.")
    return _result(document)


def _result(document: JsonValue) -> Result:
    created = document["created"].optional_moment()
    if created is None:
        raise document["created"].wrong("a date and time as of RFC 3339")
    culprit, first_failing = document["culprit"], document["first_failing"]
    rates, metric = document["rates"], document["metric"]
    first_good = document["sought"].text() == "first-good"

    def move(value: JsonValue) -> Move:
        return _move(value, first_good)

    def step(value: JsonValue) -> Culprit:
        return _culprit(value, first_good)

    return Result(
        verdict=document["verdict"].choice(Verdict),
        run_id=document["run_id"].text(),
        run_directory=document["run_directory"].text(),
        created=created,
        axes=document["axes"].items(_axis),
        summary=document["summary"].text(),
        culprit=None if culprit.missing else step(culprit),
        further_culprits=document["further_culprits"].items(step),
        first_good=first_good,
        control=document["control"].items(lambda outcome: outcome.choice(Outcome)),
        metric=None if metric.missing else _metric(metric),
        range=document["range"].items(move),
        confidence=document["confidence"].optional_number(),
        confidence_if_flaky=document["confidence_if_flaky"].optional_number(),
        signature=_signature(document["signature"]),
        failing_output=document["failing_output"].text(),
        culprit_output=document["culprit_output"].text(),
        predecessor_output=document["predecessor_output"].text(),
        first_failing=None if first_failing.missing else _candidate(first_failing),
        other_failures=document["other_failures"].items(_other_failure),
        held_fixed=document["held_fixed"].pairs(),
        transitive=document["transitive"].items(_transitive),
        chain_length=document["chain_length"].integer(),
        builds=document["builds"].integer(),
        runs=document["runs"].integer(),
        seconds=document["seconds"].number(),
        build_seconds=document["build_seconds"].number(),
        run_seconds=document["run_seconds"].number(),
        fail_if_bad=None if rates.missing else rates["fail_if_bad"].optional_number(),
        fail_if_good=None if rates.missing else rates["fail_if_good"].optional_number(),
        probes=document["probes"].items(_probe),
        belief=document["belief"].items(_belief),
        reproduce=document["reproduce"].text(),
        reproduce_in=document["reproduce_in"].text(),
        resume=document["resume"].text(),
        notes=document["notes"].items(lambda note: note.text(None)),
        environment=document["environment"].text(),
        exclude_newer=document["exclude_newer"].optional_moment(),
        facts=dict(document["facts"].pairs()),
    )


def _candidate(value: JsonValue) -> Candidate:
    return Candidate(value.pairs())


def _signature(value: JsonValue) -> Signature | None:
    if value.missing:
        return None
    return Signature(
        exit=value["exit"].text(None),
        kind=value["kind"].text(),
        message=value["message"].text(),
        frame=value["frame"].text(),
    )


def _axis(value: JsonValue) -> AxisSummary:
    return AxisSummary(
        pin=value["pin"].text(None),
        kind=value["kind"].text(None),
        good=value["good"].text(None),
        bad=value["bad"].text(None),
        length=value["length"].integer(),
    )


def _move(value: JsonValue, first_good: bool) -> Move:
    old, new = value["old"].text(None), value["new"].text(None)
    if first_good:
        old, new = new, old
    return Move(value["pin"].text(None), old, new, value["forced_by"].text())


def _metric(value: JsonValue) -> MetricSummary:
    def measured(end: JsonValue) -> tuple[float, float, int] | None:
        return None if end.missing else (end["mean"].number(), end["deviation"].number(), end["runs"].integer())

    return MetricSummary(
        name=value["name"].text(None),
        limit=value["limit"].optional_number(),
        higher_is_worse=value["worse"].text() != "lower",
        good=measured(value["good"]),
        bad=measured(value["bad"]),
    )


def _culprit(value: JsonValue, first_good: bool) -> Culprit:
    return Culprit(
        # A document may name one move by the culprit's own keys alone.
        moves=value["moves"].items(lambda move: _move(move, first_good)) or (_move(value, first_good),),
        kind=value["kind"].text(None),
        date=value["date"].optional_moment(),
        url=value["url"].text(),
        subject=value["subject"].text(),
        commit=value["commit"].text(),
        authored=value["authored"].optional_moment(),
        nested=value["nested"].items(_nested),
        partners=value["partners"].items(lambda partner: (partner["pin"].text(None), partner["value"].text(None))),
        alone_on_good=value["alone_on_good"].text("not-run"),
        removed_from_bad=value["removed_from_bad"].text("not-run"),
    )


def _nested(value: JsonValue) -> NestedMove:
    return NestedMove(
        path=value["path"].text(None),
        name=value["name"].text(None),
        kind=value["kind"].text(None),
        old=value["old"].text(None),
        new=value["new"].text(None),
        repository=value["repository"].text(),
        run=value["run"].text(),
        first_bad=value["first_bad"].text(),
        said=value["said"].text(),
    )


def _other_failure(value: JsonValue) -> OtherFailure:
    signature = _signature(value["signature"])
    if signature is None:
        raise value["signature"].wrong("a signature")
    return OtherFailure(signature, value["candidates"].items(_candidate))


def _transitive(value: JsonValue) -> TransitiveChange:
    return TransitiveChange(value["name"].text(None), value["predecessor"].text(), value["culprit"].text())


def _belief(value: JsonValue) -> BeliefPoint:
    between = value["between"].items(lambda end: end.integer())
    if len(between) != 2:
        raise value["between"].wrong("two places on the chain")
    return BeliefPoint(
        probe=value["probe"].text(None),
        step=value["step"].integer(),
        outcome=value["outcome"].choice(Outcome),
        lower=between[0],
        upper=between[1],
        steps=value["steps"].integer(),
        likeliest=value["likeliest"].optional_integer(),
        probability=value["probability"].number(),
    )


def _run(value: JsonValue) -> RunRecord:
    return RunRecord(
        outcome=value["outcome"].choice(Outcome),
        seconds=value["seconds"].number(),
        log=value["log"].text(),
        output=value["output"].text(),
        signature=_signature(value["signature"]),
        reason=value["reason"].text(),
        value=value["value"].optional_number(),
    )


def _probe(value: JsonValue) -> ProbeRecord:
    return ProbeRecord(
        id=value["id"].text(None),
        step=value["step"].optional_integer(),
        candidate=_candidate(value["candidate"]),
        outcome=value["outcome"].choice(Outcome),
        why=value["why"].text(),
        reason=value["reason"].text(),
        built=value["built"].flag(True),
        signature=_signature(value["signature"]),
        build_seconds=value["build_seconds"].number(),
        build_log=value["build_log"].text(),
        runs=value["runs"].items(_run),
        input_hash=value["input_hash"].text(),
        content_identity=value["content_identity"].text(),
        host=value["host"].text(),
        image_digest=value["image_digest"].text(),
        approximate=value["approximate"].flag(False),
    )
