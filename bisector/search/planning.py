"""Which candidate to run next: the one that is expected to tell the most for what it costs."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from bisector.search.decisions import Decision, Probe, Wait
from bisector.search.knowledge import Knowledge
from bisector.search.outlook import Outlook
from bisector.search.settings import Costs
from bisector.search.verdicts import give_up

REPEAT_SHARE = 0.01
"""Share of the cost of all builds that may go into runs which look for a first contradiction."""
FEW_REPEATS = 2
"""Such runs that are allowed whatever they cost."""
CHEAPER = 0.25
"""A candidate off the best place is looked at where it costs no more than this share of the best one."""
NEGLIGIBLE = 1e-9
NEGLIGIBLE_DIFFERENCE = 1e-8
"""Candidates whose information differs by less than this share count as equal."""
NEGLIGIBLE_SHARE = 0.01
"""Beside the likeliest group of hypotheses, one that has no more than this of its weight is not looked into."""


def plan(known: Knowledge, running: Counter[int], in_flight: Sequence[int], costs: Costs) -> Decision:
    """Choose among all candidates by expected information for expected cost, given what is in flight."""
    belief, evidence = known.belief, known.evidence
    outlook = Outlook(known.doubt, [evidence.build_of(candidate) for candidate in in_flight])
    limits = (-1, known.steps + 1)
    heavy = known.open_group
    if heavy is None and max(belief.weights) >= known.threshold:
        heavy = belief.weights.index(max(belief.weights))
    if heavy is not None:
        # The culprit of a sound script, or one beyond reasonable doubt, is in there: nothing outside is built.
        limits = (belief.marks[heavy], belief.marks[heavy + 1])
    untried = _untried(known, outlook, limits, costs)
    trials = [trial for trial in untried if not running or not running[evidence.build_of(trial[0])]]
    if not trials or _may_repeat(known, costs):
        trials += _repeats(known, outlook)
    best = _best(known, trials, costs)
    if best is None:
        return Wait() if in_flight else give_up(known, "no candidate that can be tested would tell more")
    candidate, information = best
    if in_flight and information < known.settings.least_gain:
        return Wait()
    name = {0: "good end", known.steps: "bad end"}.get(candidate, "search")
    return Probe(candidate, f"{name} again" if evidence.tested(candidate) else name)


def _repeats(known: Knowledge, outlook: Outlook) -> list[tuple[int, float]]:
    """The tested candidates of which another run tells the most, and how much: each costs one run."""
    marks = known.belief.marks[1:-1]
    found = [
        (mark, bits)
        for mark, bits in zip(marks, outlook.at_marks(), strict=True)
        if not known.untestable or not known.evidence.untestable(mark)
    ]
    least = max((bits for _, bits in found), default=0.0) * (1.0 - NEGLIGIBLE_DIFFERENCE)
    return [trial for trial in found if trial[1] >= least]


def _may_repeat(known: Knowledge, costs: Costs) -> bool:
    """Whether a run of a tested candidate may be chosen for what it tells.

    While no run has contradicted another, runs that only look for a first contradiction are kept to two, or to a small
    share of what all builds will cost.
    """
    belief = known.belief
    if known.open_group is None:
        return max(belief.weights) < known.threshold
    spent = known.evidence.runs - (len(belief.marks) - 2)
    share = REPEAT_SHARE * math.log2(known.steps + 1) * costs.build / max(costs.run, NEGLIGIBLE)
    return spent < max(FEW_REPEATS, share)


def _untried(known: Knowledge, outlook: Outlook, limits: tuple[int, int], costs: Costs) -> Iterator[tuple[int, float]]:
    """Untried candidates to compare, and what they tell: in each group those around the best place, and built ones.

    Also those nearest to the best place of which the build takes much less time. Where all builds cost the same and
    nothing is in flight, a group whose best place tells less than a candidate before it is not looked into.
    """
    belief, below = known.belief, known.belief.below
    tested = set(belief.marks)
    spare = [candidate for candidate in known.built if candidate not in tested]
    alike = not (spare or known.untestable or outlook.in_flight) and costs.building is None
    least = max(NEGLIGIBLE, NEGLIGIBLE_SHARE * max(outlook.weights))
    most = 0.0
    for part, (low, high) in enumerate(pairwise(outlook.marks)):
        if outlook.weights[part] <= least or high - low < 2 or low < limits[0] or high > limits[1]:
            continue
        share = outlook.best_share(part)
        if alike and not outlook.consistent[part] and outlook.at_share(part, share) < most:
            continue
        start, mass = below[low + 1], below[high + 1] - below[low + 1]
        best = _at_share(below, low, high, share)
        near = {best} if outlook.consistent[part] else {best - 1, best, best + 1}
        if not alike:
            if known.untestable_within(low, high):
                group = belief.group_of(high)
                near = {candidate for gap in known.worthy(group) for candidate in gap if low < candidate < high}
            index = bisect_left(spare, best)
            near.update(spare[max(0, index - 1) : index + 1])
            near.update(_cheaper(costs, low, high, best))
        for candidate in near:
            if max(low, -1) < candidate < min(high, known.steps + 1) and not known.evidence.untestable(candidate):
                bits = outlook.at_share(part, (below[candidate + 1] - start) / mass if mass > 0.0 else 0.0)
                most = max(most, bits * (1.0 - NEGLIGIBLE_DIFFERENCE))
                yield candidate, bits


def _cheaper(costs: Costs, low: int, high: int, best: int) -> list[int]:
    """Strictly between two candidates, both ends of each stretch where builds take a quarter of the best one's time."""
    if costs.building is None or not costs.turns:
        return []
    most = CHEAPER * (costs.building(best) + costs.run)
    turns = [low, *costs.turns[bisect_right(costs.turns, low) : bisect_left(costs.turns, high)], high]
    ends = [end for first, last in pairwise(turns) for end in (first + 1, last)]
    return [end for end in ends if low < end < high and end != best and costs.building(end) + costs.run <= most]


def _at_share(below: Sequence[float], low: int, high: int, share: float) -> int:
    """The candidate strictly between two that splits the probability between them nearest to a share."""
    start, mass = below[low + 1], below[high + 1] - below[low + 1]
    target = start + share * mass
    after = min(max(bisect_left(below, target, low + 2, high + 1) - 1, low + 1), high - 1)
    before = max(after - 1, low + 1)
    return before if target - below[before + 1] <= below[after + 1] - target + NEGLIGIBLE * mass else after


def _best(known: Knowledge, trials: Sequence[tuple[int, float]], costs: Costs) -> tuple[int, float] | None:
    """The candidate that tells the most for its cost, and how much; of equals the middle, the built, the lowest one."""
    evidence = known.evidence
    middle = known.belief.quantile(0.5)
    best: tuple[tuple[float, int, bool, int], float] | None = None
    least = NEGLIGIBLE
    for candidate, information in trials:
        if information <= least:
            continue
        built = evidence.built(candidate)
        chance = 1.0 if built and evidence.tested(candidate) else known.chance(candidate)
        cost = max(costs.run if built else costs.of_building(candidate) + chance * costs.run, NEGLIGIBLE)
        score = float(f"{chance * information / cost:.9g}")
        if best is not None and -score > best[0][0]:
            continue
        key = (-score, abs(candidate - middle), not built, candidate)
        if best is None or key < best[0]:
            best = (key, information)
            # What is built costs the least: what tells less than that at the same score cannot be better.
            least = max(NEGLIGIBLE, score * max(costs.run, NEGLIGIBLE) * (1.0 - 1e-6))
    return None if best is None else (best[0][3], best[1])
