"""What the probes of a result show: who the witnesses are, and what lies between known good and known bad."""

from collections import Counter
from collections.abc import Iterable

from bisector.model import Candidate, Outcome
from bisector.report.model import Move, ProbeRecord, Result

UNTESTABLE = frozenset({Outcome.OTHER, Outcome.UNBUILDABLE, Outcome.SKIP, Outcome.INFRA})


def is_pending(probe: ProbeRecord) -> bool:
    """Whether nothing is known of a candidate yet: it was being built or run when this was written."""
    return probe.outcome is Outcome.INFRA and not probe.runs and not probe.reason


def on_chain(result: Result) -> dict[int, ProbeRecord]:
    """The last probe of each place of the chain that showed anything, by step, ascending."""
    probes = {probe.step: probe for probe in result.probes if probe.step is not None and not is_pending(probe)}
    return {step: probes[step] for step in sorted(probes)}


def _at(candidate: Candidate, moves: tuple[Move, ...], *, new: bool) -> bool:
    """Whether a candidate has the values before (or after) a step; the resolver may move along what is no pin."""
    pinned = [move for move in moves if move.pin in candidate]
    return bool(pinned) and all(candidate[move.pin] == (move.new if new else move.old) for move in pinned)


def culprit_probe(result: Result) -> ProbeRecord | None:
    """The probe of the first candidate after the culprit's move; None where it is not among the probes."""
    if result.culprit is None:
        return None
    moves = result.culprit.moves
    return next((probe for probe in on_chain(result).values() if _at(probe.candidate, moves, new=True)), None)


def predecessor_probe(result: Result) -> ProbeRecord | None:
    """The probe of the last candidate before the culprit's move; None where it is not among the probes."""
    if result.culprit is None:
        return None
    moves = result.culprit.moves
    before = [probe for probe in on_chain(result).values() if _at(probe.candidate, moves, new=False)]
    return before[-1] if before else None


def last_passing(result: Result) -> ProbeRecord | None:
    """The last probe that passed before the first failing one."""
    first_bad = first_failing(result)
    passing = [
        probe
        for step, probe in on_chain(result).items()
        if probe.outcome is Outcome.PASS and (first_bad is None or first_bad.step is None or step < first_bad.step)
    ]
    return passing[-1] if passing else None


def first_failing(result: Result) -> ProbeRecord | None:
    """The first probe of the chain that failed in the way sought."""
    return next((probe for probe in on_chain(result).values() if probe.outcome is Outcome.FAIL), None)


def tally(outcomes: Iterable[Outcome]) -> str:
    """How often each outcome was seen: "4 of 4 runs FAIL", "3 PASS, 1 FAIL of 4 runs"; "" for none."""
    counts = Counter(outcomes)
    total = counts.total()
    if not total:
        return ""
    runs = "1 run" if total == 1 else f"{total} runs"
    if len(counts) == 1:
        (outcome,) = counts
        return f"{outcome} in {'its only run' if total == 1 else f'all {total} runs'}"
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common()) + f" of {runs}"


def run_tally(probe: ProbeRecord) -> str:
    """How often each outcome was seen on one candidate."""
    return tally(run.outcome for run in probe.runs)


def differing(candidate: Candidate, reference: Candidate | None) -> Candidate:
    """The pins of a candidate that differ from another's; all of them where none do or there is no other."""
    if reference is None:
        return candidate
    moved = tuple((pin, value) for pin, value in candidate.pins if reference.get(pin) != value)
    return Candidate(moved) if moved else candidate
