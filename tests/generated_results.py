"""Hypothesis strategies for results, with text as foreign as it may get."""

from datetime import UTC, datetime

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from bisector.model import Candidate, Outcome, Signature
from bisector.report.model import (
    AxisSummary,
    BeliefPoint,
    Culprit,
    Move,
    OtherFailure,
    ProbeRecord,
    Result,
    RunRecord,
    TransitiveChange,
    Verdict,
)
from pins.model import PinKind

HOSTILE = (
    "",
    "3.1.0",
    "`a` ``b`` | c",
    "</code><script>alert(1)</script>",
    "\x1b[31mred\x1b[0m\x07",
    "\u202egnp.exe",
    "a\r\nb\tc",
    "- # > 1. @ada #12 <details>",
    "한국어 éà",
    "$(touch x) ; --flag",
    "x" * 300,
)
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A result is large: few of them say much."""
text = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8))
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
seconds = st.floats(0, 1e7, allow_nan=False)
probability = st.none() | st.floats(0, 1)
kinds = st.sampled_from([kind.value for kind in PinKind])
pairs = st.dictionaries(text, text, max_size=2).map(lambda found: tuple(found.items()))
candidates = pairs.map(Candidate)
signatures = st.builds(Signature, exit=text, kind=text, message=text, frame=text)
moves = st.builds(Move, pin=text, old=text, new=text, forced_by=text)
swaps = st.sampled_from(["pass", "fail", "infeasible", "not-run"])
culprits = st.builds(
    Culprit,
    moves=st.lists(moves, min_size=1, max_size=2).map(tuple),
    kind=kinds,
    date=st.none() | moments,
    url=text,
    subject=text,
    partners=pairs,
    alone_on_good=swaps,
    removed_from_bad=swaps,
)
runs = st.builds(
    RunRecord,
    outcome=st.sampled_from(Outcome),
    seconds=seconds,
    log=text,
    output=text,
    signature=st.none() | signatures,
    reason=text,
)
probes = st.builds(
    ProbeRecord,
    id=text,
    step=st.none() | st.integers(0, 12),
    candidate=candidates,
    outcome=st.sampled_from(Outcome),
    why=text,
    reason=text,
    built=st.booleans(),
    signature=st.none() | signatures,
    build_seconds=seconds,
    build_log=text,
    runs=st.lists(runs, max_size=2).map(tuple),
    input_hash=text,
    content_identity=text,
    host=text,
    image_digest=text,
    approximate=st.booleans(),
)
places = st.integers(0, 12)
beliefs = st.builds(
    BeliefPoint,
    probe=text,
    step=places,
    outcome=st.sampled_from(Outcome),
    lower=places,
    upper=places,
    steps=st.integers(0, 13),
    likeliest=st.none() | places,
    probability=st.integers(0, 1_000_000).map(lambda millionths: millionths / 1_000_000),
)
results = st.builds(
    Result,
    verdict=st.sampled_from(Verdict),
    run_id=text,
    run_directory=text,
    created=moments,
    axes=st.lists(
        st.builds(AxisSummary, pin=text, kind=kinds, good=text, bad=text, length=st.integers(2, 99)), max_size=2
    ).map(tuple),
    summary=text,
    culprit=st.none() | culprits,
    range=st.lists(moves, max_size=2).map(tuple),
    confidence=probability,
    confidence_if_flaky=probability,
    signature=st.none() | signatures,
    failing_output=text,
    culprit_output=text,
    predecessor_output=text,
    first_failing=st.none() | candidates,
    other_failures=st.lists(
        st.builds(OtherFailure, signature=signatures, candidates=st.lists(candidates, max_size=2).map(tuple)),
        max_size=2,
    ).map(tuple),
    held_fixed=pairs,
    transitive=st.lists(st.builds(TransitiveChange, name=text, predecessor=text, culprit=text), max_size=2).map(tuple),
    chain_length=st.integers(0, 14),
    builds=st.integers(0, 99),
    runs=st.integers(0, 99),
    seconds=seconds,
    build_seconds=seconds,
    run_seconds=seconds,
    fail_if_bad=probability,
    fail_if_good=probability,
    probes=st.lists(probes, max_size=2).map(tuple),
    belief=st.lists(beliefs, max_size=3).map(tuple),
    reproduce=text,
    reproduce_in=text,
    resume=text,
    notes=st.lists(text, max_size=2).map(tuple),
    environment=text,
    exclude_newer=st.none() | moments,
    facts=st.dictionaries(text, text, max_size=2),
)
