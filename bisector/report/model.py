"""The data of a bisection report: what `bisector.result/1` holds and every renderer draws."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bisector.model import Candidate, Outcome, Signature


class Verdict(StrEnum):
    """How a run ended."""

    CULPRIT = "culprit"
    RANGE = "range"
    NO_BRACKET = "no-bracket"
    UNDETERMINED = "undetermined"
    ENVIRONMENT = "environment"
    INFRASTRUCTURE = "infrastructure"
    INTERRUPTED = "interrupted"


NEWEST_PASSES = "the newest pin set passes, so that there is nothing to search"
"""The summary of a canary's run that found nothing wrong; its verdict is that the ends do not bracket."""
EXIT_CODES = {
    Verdict.CULPRIT: 0,
    Verdict.RANGE: 3,
    Verdict.NO_BRACKET: 4,
    Verdict.UNDETERMINED: 3,
    Verdict.ENVIRONMENT: 3,
    Verdict.INFRASTRUCTURE: 6,
    Verdict.INTERRUPTED: 130,
}


@dataclass(frozen=True)
class Move:
    """One pin moving within a step; `forced_by` names the pin that the resolver makes it move with."""

    pin: str
    old: str
    new: str
    forced_by: str = ""


@dataclass(frozen=True)
class NestedMove:
    """A pin that the tree of a commit carries itself, and that the blamed commit moves.

    Attributes:
        path: where in the tree it is.
        name: of what it pins.
        kind: `git` or `package`.
        old: its value before.
        new: its value in the commit.
        repository: where its commits come from, "" where that is not known.
        run: the run that searched between the two (`--descend`), "" where none did.
        first_bad: what that run found, "" for nothing.
        said: what came of it, in a sentence.
    """

    path: str
    name: str
    kind: str
    old: str
    new: str
    repository: str = ""
    run: str = ""
    first_bad: str = ""
    said: str = ""


@dataclass(frozen=True)
class Culprit:
    """The step that turns good into bad."""

    moves: tuple[Move, ...]
    kind: str
    date: datetime | None = None
    url: str = ""
    subject: str = ""
    commit: str = ""
    """The full hash of the commit whose change it is: the new one or, back in history, the old one."""
    authored: datetime | None = None
    """When that change was written."""
    nested: tuple[NestedMove, ...] = ()
    """Pins within its tree that it moves."""
    partners: tuple[tuple[str, str], ...] = ()
    """Pins (name, value) that must be at these values for the culprit to fail."""
    alone_on_good: str = "not-run"
    """pass | fail | infeasible | not-run"""
    removed_from_bad: str = "not-run"


@dataclass(frozen=True)
class RunRecord:
    """One run of the smoke script."""

    outcome: Outcome
    seconds: float
    log: str
    output: str
    """The directory that the script saw as PROBE_OUTPUT."""
    signature: Signature | None = None
    reason: str = ""
    value: float | None = None
    """What it printed of the metric that decides."""


@dataclass(frozen=True)
class ProbeRecord:
    """One candidate that was tried: its build (once) and its runs."""

    id: str
    step: int | None
    """Index on the chain, None for a candidate off it (swap test)."""
    candidate: Candidate
    outcome: Outcome
    why: str = ""
    reason: str = ""
    """For UNBUILDABLE and INFRA: why, in one sentence or more."""
    built: bool = True
    """False where no build was needed or possible (infeasible, or shared with another candidate)."""
    signature: Signature | None = None
    build_seconds: float = 0.0
    build_log: str = ""
    runs: tuple[RunRecord, ...] = ()
    input_hash: str = ""
    content_identity: str = ""
    host: str = ""
    image_digest: str = ""
    approximate: bool = False


@dataclass(frozen=True)
class BeliefPoint:
    """Where the culprit was thought to be after one thing became known.

    Attributes:
        probe: what it became known of.
        step: its place on the chain.
        outcome: what was seen.
        lower, upper: the candidates between which the culprit lies with probability 0.99.
        steps: how many steps hold that probability, the likeliest first.
        likeliest: the upper candidate of the likeliest step, None where none is likely at all.
        probability: of that step.
    """

    probe: str
    step: int
    outcome: Outcome
    lower: int
    upper: int
    steps: int
    likeliest: int | None
    probability: float


@dataclass(frozen=True)
class OtherFailure:
    """A failure that is not the one sought, and where it was seen."""

    signature: Signature
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class AxisSummary:
    """One axis: `length` counts its values, both ends included."""

    pin: str
    kind: str
    good: str
    bad: str
    length: int


@dataclass(frozen=True)
class TransitiveChange:
    """A distribution that nobody pinned and that differs between predecessor and culprit ("" where absent)."""

    name: str
    predecessor: str
    culprit: str


@dataclass(frozen=True)
class MetricSummary:
    """The number that decided, in place of the exit status.

    Attributes:
        name: what the script calls it.
        limit: the worst value that is good; None where the ends have not shown it.
        higher_is_worse: which way is worse.
        good, bad: mean and standard deviation of the values at the two ends, and how many; None without any.
    """

    name: str
    limit: float | None = None
    higher_is_worse: bool = True
    good: tuple[float, float, int] | None = None
    bad: tuple[float, float, int] | None = None


@dataclass(frozen=True)
class Result:
    """Everything that a report says. Times are seconds."""

    verdict: Verdict
    run_id: str
    run_directory: str
    created: datetime
    axes: tuple[AxisSummary, ...]
    summary: str = ""
    """The verdict in one or two sentences."""
    culprit: Culprit | None = None
    further_culprits: tuple[Culprit, ...] = ()
    """What else fails on its own once the culprit is taken out (`--all`), in the order of finding."""
    first_good: bool = False
    """The fix was sought: the culprit's moves go from the first good value (old) back to the last bad one (new)."""
    control: tuple[Outcome, ...] = ()
    """How the bad end came out when it was run once more before anything was blamed."""
    metric: MetricSummary | None = None
    range: tuple[Move, ...] = ()
    confidence: float | None = None
    confidence_if_flaky: float | None = None
    signature: Signature | None = None
    failing_output: str = ""
    """The end of what the script printed at the culprit (or the bad end), credentials masked."""
    culprit_output: str = ""
    """PROBE_OUTPUT directory of the culprit's first failing run; `predecessor_output` likewise."""
    predecessor_output: str = ""
    first_failing: Candidate | None = None
    other_failures: tuple[OtherFailure, ...] = ()
    held_fixed: tuple[tuple[str, str], ...] = ()
    transitive: tuple[TransitiveChange, ...] = ()
    chain_length: int = 0
    """Candidates of the chain, both ends included."""
    builds: int = 0
    runs: int = 0
    seconds: float = 0.0
    build_seconds: float = 0.0
    run_seconds: float = 0.0
    fail_if_bad: float | None = None
    fail_if_good: float | None = None
    probes: tuple[ProbeRecord, ...] = ()
    belief: tuple[BeliefPoint, ...] = ()
    """How it narrowed: one point for each run, failed build and shared build of the chain, in the order of knowing."""
    reproduce: str = ""
    reproduce_in: str = ""
    """The directory in which that command line was typed, where its relative paths begin."""
    resume: str = ""
    notes: tuple[str, ...] = ()
    """Further sentences for the reader: what was not run, what could not be told, what to try next."""
    environment: str = ""
    """venv, docker or command, with its Python or engine."""
    exclude_newer: datetime | None = None
    """The package index was read as of this time."""
    facts: dict[str, str] = field(default_factory=dict)
    """Host facts: kernel, Python, driver, engine."""
