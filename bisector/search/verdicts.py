"""When a search is over, and what it says then."""

from collections import Counter

from bisector.search.decisions import Conclusion, ConclusionKind, Decision, Probe, Wait
from bisector.search.knowledge import Knowledge
from bisector.search.outlook import capacity

MOST_REPEATED = 2
"""Repeated runs that a sound script may cost, in hits asked for of one witness: eight where four are asked for."""


def verify_ends(known: Knowledge, running: Counter[int]) -> Decision | None:
    """Both ends come first; None once they have run and do not contradict each other."""
    evidence = known.evidence
    ends = ((0, "good end"), (known.steps, "bad end"))
    for end, name in ends:
        if evidence.untestable(end) and not evidence.tested(end):
            return give_up(known, f"the {name} cannot be tested")
    missing = [(end, name) for end, name in ends if not evidence.tested(end)]
    for end, name in missing:
        if not running[evidence.build_of(end)]:
            return Probe(end, name)
    if missing:
        return Wait()
    return _swapped(known, running)


def _swapped(known: Knowledge, running: Counter[int]) -> Decision | None:
    """Where each end shows the other's outcome, and nothing else, both are run again before anything is said."""
    evidence, last = known.evidence, known.steps
    if evidence.passes(0) or evidence.fails(last) or not (evidence.fails(0) and evidence.passes(last)):
        return None
    if evidence.runs >= known.settings.run_limit(known.steps):
        return give_up(known, f"each end shows what the other should, in {evidence.runs} runs")
    waiting = False
    for end, name, count in ((0, "good end", evidence.fails(0)), (last, "bad end", evidence.passes(last))):
        in_flight = running[evidence.build_of(end)]
        if count + in_flight < known.settings.end_hits and not evidence.untestable(end):
            return Probe(end, f"{name} again")
        waiting = waiting or in_flight > 0
    if waiting:
        return Wait()
    reason = (
        f"the good end failed in all of its {evidence.fails(0)} runs and the bad end passed in all of its"
        f" {evidence.passes(last)}: the ends look swapped"
    )
    confidence = known.settings.confidence
    return Conclusion(ConclusionKind.SWAPPED, 0, last, confidence, confidence, reason)


def confirm(known: Knowledge, running: Counter[int]) -> Decision | None:
    """Run the answer's witnesses until they have hit often enough, then conclude; None where more is to be learned."""
    evidence, settings = known.evidence, known.settings
    spent = evidence.runs >= settings.run_limit(known.steps)
    if not known.settled:
        return give_up(known, f"{evidence.runs} runs did not settle it") if spent else None
    lower, upper = known.answer
    bracketed = lower >= 0 and upper <= known.steps
    enough = settings.hits if bracketed else settings.end_hits
    missing = [(witness, enough - hits) for witness, hits in _hits(known).items() if hits < enough]
    if not missing and bracketed and _flaky_all_the_same(known):
        missing = [(witness, 1) for witness in _hits(known)]
    if known.sure and not missing:
        return conclude(known, lower, upper)
    if spent:
        return give_up(known, f"{evidence.runs} runs did not confirm it")
    free = [witness for witness, hits in missing if running[evidence.build_of(witness)] < hits]
    if free:
        witness = min(free, key=lambda each: (-round(known.outlook.information(each), 9), each))
        name = {lower: "predecessor", upper: "culprit", 0: "good end", known.steps: "bad end"}[witness]
        return Probe(witness, f"{name} again" if evidence.tested(witness) else name)
    return Wait() if missing else None


def _hits(known: Knowledge) -> dict[int, int]:
    """How often each witness that can be run has shown what the answer says of it."""
    lower, upper = known.answer
    evidence = known.evidence
    hits = {lower: evidence.passes(lower)} if lower >= 0 else {}
    if upper <= known.steps:
        hits[upper] = evidence.fails(upper)
    return {witness: count for witness, count in hits.items() if not evidence.untestable(witness)}


def _flaky_all_the_same(known: Knowledge) -> bool:
    """Whether too little speaks against a flaky script that looks sound, and a run more is within what may be spent."""
    if known.open_group is None or known.mass_if_flaky >= known.settings.threshold_if_flaky:
        return False
    repeated = known.evidence.runs - (len(known.belief.marks) - 2)
    return repeated < MOST_REPEATED * known.settings.hits


def conclude(known: Knowledge, lower: int, upper: int) -> Conclusion:
    """Say what was found."""
    belief, evidence = known.belief, known.evidence
    confidence = belief.mass(lower, upper)
    if_flaky = known.mass_if_flaky
    kind, first, last = ConclusionKind.CULPRIT, lower, upper
    reason = f"{_passed(known, lower)}, {_failed(known, upper)}"
    if upper > known.steps:
        kind, first, last = ConclusionKind.NONE, 0, known.steps
        reason = f"the bad end: {_passed(known, known.steps)}"
    elif lower < 0:
        kind, first, last = ConclusionKind.ALL_BAD, 0, known.steps
        reason = f"the good end: {_failed(known, 0)}"
    elif upper - lower > 1:
        kind = ConclusionKind.RANGE
        tried = len(known.untestable_within(lower, upper))
        between = upper - lower - 1
        reason += f"; of the {between} candidates between, {tried} were tried and cannot be tested"
        if tried < between:
            chance = max(known.chance(v) for v in range(lower + 1, upper) if not evidence.untestable(v))
            reason += (
                f", {between - tried} were not tried: their neighbours leave each a chance of at most {chance:.1%} that"
                " it can be tested"
            )
    return Conclusion(kind, first, last, confidence, if_flaky, reason)


def _passed(known: Knowledge, candidate: int) -> str:
    passes, fails = known.evidence.passes(candidate), known.evidence.fails(candidate)
    return f"candidate {candidate} passed in {passes} of {passes + fails} runs"


def _failed(known: Knowledge, candidate: int) -> str:
    passes, fails = known.evidence.passes(candidate), known.evidence.fails(candidate)
    return f"candidate {candidate} failed in {fails} of {passes + fails} runs"


def give_up(known: Knowledge, reason: str) -> Conclusion:
    """Say what is left, and about how many more runs it would take."""
    belief, settings = known.belief, known.settings
    lower, upper = belief.interval(settings.confidence)
    bits = capacity(*belief.rates())
    further = belief.entropy() / bits + 2.0 * settings.hits if bits > 1e-3 else None
    confidence = belief.mass(lower, upper)
    if_flaky = belief.mass(lower, upper, belief.weights_if_flaky)
    for probability, what in (
        (belief.none_probability, "the bad end is not bad"),
        (belief.all_bad_probability, "the good end is bad already"),
    ):
        if probability > 1.0 - settings.confidence:
            reason += f"; with a probability of {probability:.0%} {what}"
    return Conclusion(ConclusionKind.UNDETERMINED, lower, upper, confidence, if_flaky, reason, further)
