"""Hand-made results of every verdict, for the tests of the renderers."""

from dataclasses import replace
from datetime import UTC, datetime

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

RUN_DIRECTORY = "/home/ada/.local/state/bisector/2026-11-03-101500-pybind11"
CREATED = datetime(2026, 11, 3, 10, 17, 42, tzinfo=UTC)
ABI = Signature(
    exit="exit 1",
    kind="ImportError",
    message="generic_type: type <q> referenced unknown base type <q>",
    frame="consumer = importlib.import_module('consumer')",
)
LINKER = Signature(exit="exit 1", kind="RuntimeError", message="no C++ compiler that knows -std=c++17")
OUTPUT = """\
building provider against pybind11 3.0.4
building consumer against pybind11 3.1.0
Traceback (most recent call last):
  File "/smoke/load.py", line 31, in <module>
    consumer = importlib.import_module('consumer')
ImportError: generic_type: type "Tensor" referenced unknown base type "provider::Storage"
"""


def one_pin(value: str, pin: str = "pybind11") -> Candidate:
    return Candidate(((pin, value),))


def probe(
    number: int,
    step: int | None,
    candidate: Candidate,
    outcome: Outcome,
    *,
    why: str = "search",
    runs: int = 1,
    signature: Signature | None = None,
    reason: str = "",
    build_seconds: float = 21.4,
) -> ProbeRecord:
    directory = f"{RUN_DIRECTORY}/probes/{number}"
    return ProbeRecord(
        id=f"p{number}",
        step=step,
        candidate=candidate,
        outcome=outcome,
        why=why,
        reason=reason,
        built=outcome is not Outcome.UNBUILDABLE,
        signature=signature,
        build_seconds=build_seconds,
        build_log=f"{directory}/build.log",
        runs=tuple(
            RunRecord(
                outcome=outcome,
                seconds=6.25 + run,
                log=f"{directory}/run-{run + 1}.log",
                output=f"{directory}/output-{run + 1}",
                signature=signature,
            )
            for run in range(runs)
        ),
        input_hash=f"{number:064x}",
        content_identity=f"{number + 4096:064x}",
        host="build-7",
    )


CULPRIT = Result(
    verdict=Verdict.CULPRIT,
    run_id="2026-11-03-101500-pybind11",
    run_directory=RUN_DIRECTORY,
    created=CREATED,
    axes=(AxisSummary("pybind11", "package", "3.0.0", "3.1.0", 6),),
    culprit=Culprit(
        moves=(Move("pybind11", "3.0.4", "3.1.0"),),
        kind="package",
        date=datetime(2026, 8, 12, 17, 4, tzinfo=UTC),
    ),
    confidence=0.99983,
    confidence_if_flaky=0.9914,
    signature=ABI,
    failing_output=OUTPUT,
    culprit_output=f"{RUN_DIRECTORY}/probes/2/output-1",
    predecessor_output=f"{RUN_DIRECTORY}/probes/4/output-1",
    held_fixed=(("python", "3.12.7"), ("setuptools", "80.9.0")),
    chain_length=6,
    builds=4,
    runs=10,
    seconds=162.4,
    build_seconds=85.6,
    run_seconds=72.0,
    fail_if_bad=0.9999,
    fail_if_good=0.00001,
    probes=(
        probe(1, 0, one_pin("3.0.0"), Outcome.PASS, why="good end"),
        probe(2, 5, one_pin("3.1.0"), Outcome.FAIL, why="bad end", runs=4, signature=ABI),
        probe(3, 2, one_pin("3.0.2"), Outcome.PASS),
        probe(4, 4, one_pin("3.0.4"), Outcome.PASS, runs=4),
    ),
    belief=(
        BeliefPoint("p1", 0, Outcome.PASS, 0, 5, 5, 1, 0.196),
        BeliefPoint("p2", 5, Outcome.FAIL, 0, 5, 5, 1, 0.199),
        BeliefPoint("p3", 2, Outcome.PASS, 1, 5, 3, 3, 0.33),
        BeliefPoint("p4", 4, Outcome.PASS, 3, 5, 2, 5, 0.986),
        *(BeliefPoint("p4", 4, Outcome.PASS, 4, 5, 1, 5, 0.996) for _ in range(3)),
        *(BeliefPoint("p2", 5, Outcome.FAIL, 4, 5, 1, 5, 0.9998) for _ in range(3)),
    ),
    reproduce="bisector run --pin pybind11=3.0.0..3.1.0 --smoke ./load.py --exclude-newer 2026-11-03T10:15:00Z",
    reproduce_in="/home/ana/kimi",
    environment="venv, CPython 3.12.7, uv 0.9.8",
    exclude_newer=datetime(2026, 11, 3, 10, 15, tzinfo=UTC),
    facts={"kernel": "Linux 6.8.0-48-generic x86_64", "platform": "glibc 2.39"},
)

_PAIR = (
    AxisSummary("pybind11", "package", "3.0.4", "3.1.0", 2),
    AxisSummary("triton", "git", "532137f", "f0b55c0", 41),
)


def pair(pybind11: str, triton: str) -> Candidate:
    return Candidate((("pybind11", pybind11), ("triton", triton)))


PARTNERS = replace(
    CULPRIT,
    run_id="2026-11-03-120000-pair",
    axes=_PAIR,
    culprit=Culprit(
        moves=(Move("triton", "9c1ab00", "a71f3d2"), Move("filelock", "3.15.0", "3.16.1", forced_by="triton")),
        kind="git",
        date=datetime(2026, 8, 2, 9, 30, tzinfo=UTC),
        url="https://github.com/ROCm/triton/commit/a71f3d2",
        subject="[AMD] Bump pybind11 in the build | drop `-fvisibility` (#812)",
        partners=(("pybind11", "3.1.0"),),
        alone_on_good="pass",
        removed_from_bad="pass",
    ),
    first_failing=pair("3.1.0", "77d0e11"),
    other_failures=(OtherFailure(LINKER, (pair("3.1.0", "77d0e11"),)),),
    transitive=(TransitiveChange("numpy", "2.3.1", "2.3.2"), TransitiveChange("zstandard", "", "0.25.0")),
    chain_length=42,
    probes=(
        probe(1, 0, pair("3.0.4", "532137f"), Outcome.PASS, why="good end"),
        probe(2, 41, pair("3.1.0", "f0b55c0"), Outcome.FAIL, why="bad end", signature=ABI),
        probe(3, 20, pair("3.1.0", "77d0e11"), Outcome.OTHER, signature=LINKER, reason="RuntimeError, not ImportError"),
        probe(4, 30, pair("3.1.0", "a71f3d2"), Outcome.FAIL, runs=4, signature=ABI),
        probe(5, 29, pair("3.1.0", "9c1ab00"), Outcome.PASS, runs=4),
        probe(6, None, pair("3.0.4", "a71f3d2"), Outcome.PASS, why="swap test: alone on the good set"),
        probe(7, None, pair("3.1.0", "532137f"), Outcome.PASS, why="swap test: taken out of the bad set"),
    ),
    belief=(
        BeliefPoint("p1", 0, Outcome.PASS, 0, 41, 41, 1, 0.024),
        BeliefPoint("p2", 41, Outcome.FAIL, 0, 41, 41, 1, 0.024),
        BeliefPoint("p3", 20, Outcome.OTHER, 0, 41, 41, 1, 0.024),
        BeliefPoint("p4", 30, Outcome.FAIL, 0, 31, 30, 1, 0.033),
        BeliefPoint("p5", 29, Outcome.PASS, 29, 30, 1, 30, 0.995),
    ),
    notes=("The culprit was confirmed on the builds that exist; neither witness was built a second time.",),
)

_YAML = (AxisSummary("pyyaml", "package", "5.1", "6.0.1", 9),)


def yaml(value: str) -> Candidate:
    return one_pin(value, "pyyaml")


RANGE = replace(
    CULPRIT,
    verdict=Verdict.RANGE,
    run_id="2026-11-03-130000-pyyaml",
    axes=_YAML,
    culprit=None,
    range=(Move("pyyaml", "5.3.1", "5.4"), Move("pyyaml", "5.4", "5.4.1"), Move("pyyaml", "5.4.1", "6.0")),
    confidence=0.9951,
    confidence_if_flaky=None,
    signature=Signature("exit 1", "TypeError", "load() missing 1 required positional argument: <q>"),
    failing_output="TypeError: load() missing 1 required positional argument: 'Loader'\n",
    culprit_output="",
    predecessor_output="",
    chain_length=9,
    belief=(),
    probes=(
        probe(1, 0, yaml("5.1"), Outcome.PASS, why="good end"),
        probe(2, 8, yaml("6.0.1"), Outcome.FAIL, why="bad end"),
        probe(3, 4, yaml("5.3.1"), Outcome.PASS, runs=2),
        probe(4, 6, yaml("5.4.1"), Outcome.UNBUILDABLE, runs=0, reason="AttributeError: cython_sources (build)"),
        probe(5, 5, yaml("5.4"), Outcome.UNBUILDABLE, runs=0, reason="AttributeError: cython_sources (build)"),
        probe(6, 7, yaml("6.0"), Outcome.FAIL, runs=2),
    ),
    reproduce="bisector run --pin pyyaml=5.1..6.0.1 --smoke ./load.py",
    resume="bisector resume 2026-11-03-130000-pyyaml",
)

NO_BRACKET_GOOD_FAILS = replace(
    RANGE,
    verdict=Verdict.NO_BRACKET,
    range=(),
    confidence=None,
    resume="",
    builds=1,
    runs=1,
    probes=(probe(1, 0, yaml("5.1"), Outcome.FAIL, why="good end", signature=LINKER),),
)
NO_BRACKET_BAD_PASSES = replace(
    NO_BRACKET_GOOD_FAILS,
    signature=None,
    failing_output="",
    builds=2,
    runs=2,
    probes=(
        probe(1, 0, yaml("5.1"), Outcome.PASS, why="good end"),
        probe(2, 8, yaml("6.0.1"), Outcome.PASS, why="bad end"),
    ),
)
UNDETERMINED = replace(
    RANGE,
    verdict=Verdict.UNDETERMINED,
    range=(Move("pyyaml", "5.3.1", "5.4"), Move("pyyaml", "5.2", "5.3")),
    confidence=0.61,
    confidence_if_flaky=0.58,
    fail_if_bad=0.42,
    fail_if_good=0.08,
    runs=200,
    notes=("The limit of 200 runs was reached.",),
)
ENVIRONMENT = replace(
    RANGE,
    verdict=Verdict.ENVIRONMENT,
    range=(),
    confidence=None,
    notes=("pyyaml=5.3.1 passes on gpu-1 (driver 6.12.12) and fails on gpu-2 (driver 6.14.4).",),
)
INFRASTRUCTURE = replace(
    RANGE,
    verdict=Verdict.INFRASTRUCTURE,
    range=(),
    confidence=None,
    probes=(
        probe(1, 0, yaml("5.1"), Outcome.PASS, why="good end"),
        probe(2, 8, yaml("6.0.1"), Outcome.INFRA, why="bad end", reason="No space left on device: /var/tmp"),
    ),
    notes=("The disk that holds /var/tmp is full: free some space there, or point TMPDIR elsewhere.",),
)
INTERRUPTED = replace(
    RANGE,
    verdict=Verdict.INTERRUPTED,
    range=(),
    confidence=None,
    signature=None,
    failing_output="",
    probes=RANGE.probes[:3],
)

EXAMPLES = {
    "culprit": CULPRIT,
    "partners": PARTNERS,
    "range": RANGE,
    "good-end-fails": NO_BRACKET_GOOD_FAILS,
    "bad-end-passes": NO_BRACKET_BAD_PASSES,
    "undetermined": UNDETERMINED,
    "environment": ENVIRONMENT,
    "infrastructure": INFRASTRUCTURE,
    "interrupted": INTERRUPTED,
}
