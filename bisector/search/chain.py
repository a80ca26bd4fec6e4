"""The search along a chain of candidates."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from bisector.search.belief import Belief, Prior
from bisector.search.decisions import Conclusion, ConclusionKind, Decision, Probe, Wait
from bisector.search.evidence import Evidence
from bisector.search.outlook import Outlook, capacity
from bisector.search.rates import rate_model
from bisector.search.settings import Costs, Observation, SearchSettings
from bisector.search.testability import Testability

DEFAULT_SETTINGS = SearchSettings()
EQUAL_COSTS = Costs()
DOUBT = 0.5
"""Probability, before anything is seen, that the script never errs, for the choice of the next run."""
REPEAT_SHARE = 0.01
"""Share of the cost of all builds that may go into runs which look for a first contradiction."""


class ChainSearch:
    """Finds the first bad candidate of a chain 0..steps whose runs may err and whose candidates may not be testable."""

    def __init__(
        self, steps: int, settings: SearchSettings = DEFAULT_SETTINGS, prior: Sequence[float] | None = None
    ) -> None:
        """Search candidates 0 (the good end) to `steps` (the bad end).

        Args:
            steps: number of steps, at least 1.
            settings: how sure to be, and what to expect of the script.
            prior: a weight for each step (`prior[i]` for the step from i to i + 1), where something speaks for some.
        """
        if steps < 1:
            raise ValueError(f"a chain needs at least one step between its ends: {steps}")
        self.steps = steps
        self.settings = settings
        self.evidence = Evidence(steps)
        self._prior = Prior(steps, settings, prior)
        self.rate_model = rate_model(settings)
        self._belief: tuple[int, Belief] | None = None
        self._doubt: tuple[int, Belief] | None = None
        self._doubtful_model = rate_model(
            replace(settings, deterministic_prior=min(DOUBT, settings.deterministic_prior))
        )
        self._testable: tuple[int, tuple[Testability, Testability]] | None = None

    def record(self, candidate: int, observation: Observation) -> None:
        """Take the result of one run."""
        self.evidence.check(candidate)
        self.evidence.record(candidate, observation)

    def mark_built(self, candidate: int) -> None:
        """A build of this candidate exists: only a run is needed."""
        self.evidence.check(candidate)
        self.evidence.mark_built(candidate)

    def mark_untestable(self, candidate: int, *, buildable: bool) -> None:
        """It did not build (`buildable` false; its neighbours are suspect too), or was skipped or failed otherwise."""
        self.evidence.check(candidate)
        self.evidence.mark_untestable(candidate, buildable=buildable)

    def mark_same_build(self, first: int, second: int) -> None:
        """Two candidates are one build: they share one verdict, and no step between them can be the culprit."""
        self.evidence.check(first)
        self.evidence.check(second)
        if first != second:
            self.evidence.same_build(first, second)
            self._prior.exclude(min(first, second), max(first, second))

    @property
    def belief(self) -> Belief:
        """The posterior over the steps."""
        if self._belief is None or self._belief[0] != self.evidence.version:
            self._belief = (self.evidence.version, Belief(self._prior, self.rate_model, self.evidence.counts()))
        return self._belief[1]

    @property
    def doubt(self) -> Belief:
        """The posterior of one who doubts the script: what to run next is chosen by this, what is true by `belief`."""
        if self._doubt is None or self._doubt[0] != self.evidence.version:
            self._doubt = (self.evidence.version, Belief(self._prior, self._doubtful_model, self.evidence.counts()))
        return self._doubt[1]

    def testable(self, candidate: int) -> float:
        """Probability that a run of this candidate would pass or fail, judging by its neighbours."""
        if self._testable is None or self._testable[0] != self.evidence.version:
            builds = Testability(self.steps, self.evidence.build_statuses())
            judgements = Testability(self.steps, self.evidence.judgement_statuses())
            self._testable = (self.evidence.version, (builds, judgements))
        builds, judgements = self._testable[1]
        return builds(candidate) * judgements(candidate)

    def rates(self) -> tuple[float, float]:
        """Estimates of P(FAIL | good candidate) and P(FAIL | bad candidate)."""
        return self.belief.rates()

    def suspects(self, most: int = 5) -> list[tuple[int, float]]:
        """The likeliest steps, as (upper candidate, probability), the likeliest first."""
        found: list[tuple[int, float]] = []
        belief = self.belief
        for group in belief.likeliest_groups():
            low, high = max(belief.marks[group], 0), min(belief.marks[group + 1], self.steps)
            steps = range(low + 1, high + 1)
            weights = [(belief.below[step + 1] - belief.below[step], step) for step in steps]
            scale = belief.weights[group] / belief.prior[group] if belief.prior[group] > 0.0 else 0.0
            weights.sort(key=lambda pair: (-pair[0], pair[1]))
            found += [(step, weight * scale) for weight, step in weights[:most] if weight * scale > 0.0]
            if len(found) >= most:
                break
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:most]

    def suspects_left(self, mass: float = 0.99) -> int:
        """How many steps hold this probability, the likeliest first (each group of equals taken as evenly spread)."""
        count, reached = 0, 0.0
        belief = self.belief
        for group in belief.likeliest_groups():
            width, weight = belief.marks[group + 1] - belief.marks[group], belief.weights[group]
            if reached + weight >= mass:
                return count + max(1, math.ceil(width * (mass - reached) / weight))
            count, reached = count + width, reached + weight
        return count

    def expected_builds_left(self) -> float:
        """Expected number of further builds, the ends included, if none of them fails."""
        missing = sum(not self.evidence.built(end) for end in (0, self.steps))
        depth = 0.0
        belief = self.belief
        untestable = self.evidence.positions_untestable()
        for group, weight in enumerate(belief.weights):
            low, high = max(belief.marks[group], 0), min(belief.marks[group + 1], self.steps)
            width = high - low - (bisect_left(untestable, high) - bisect_left(untestable, low + 1))
            if width > 1:
                whole = math.floor(math.log2(width))
                depth += weight * (whole + 2.0 * (width - 2**whole) / width)
        return missing + depth

    def next(self, in_flight: Sequence[int] = (), costs: Costs = EQUAL_COSTS) -> Decision:
        """What to do now, while the candidates `in_flight` are being built or run."""
        for candidate in in_flight:
            self.evidence.check(candidate)
        running = Counter(self.evidence.build_of(candidate) for candidate in in_flight)
        ends = self._ends(running)
        if ends is not None:
            return ends
        lower, upper = self._answer()
        mass = self.belief.mass(lower, upper)
        if mass >= self.settings.threshold:
            return self._confirm(lower, upper, running)
        if self.evidence.runs >= self.settings.run_limit(self.steps):
            return self._give_up(f"{self.evidence.runs} runs did not settle it")
        return self._search(running, in_flight, costs)

    def useless(self, in_flight: Sequence[int]) -> list[int]:
        """Those of the candidates in flight whose outcome no longer matters: end them."""
        if not all(self.evidence.tested(end) for end in (0, self.steps)):
            return []
        lower, upper = self._answer()
        wanted = {lower, upper} if self.belief.mass(lower, upper) >= self.settings.threshold else set()
        outlook = Outlook(self.belief)
        return [
            candidate
            for candidate in in_flight
            if candidate not in wanted and outlook.information(candidate) < self.settings.least_gain
        ]

    def _ends(self, running: Counter[int]) -> Decision | None:
        evidence = self.evidence
        ends = ((0, "good end"), (self.steps, "bad end"))
        for end, why in ends:
            if not evidence.tested(end) and evidence.untestable(end):
                return self._give_up(f"the {why} cannot be tested")
        missing = [(end, why) for end, why in ends if not evidence.tested(end)]
        for end, why in missing:
            if not running[evidence.build_of(end)]:
                return Probe(end, why)
        if missing:
            return Wait()
        swapped = [(end, why, hits, misses) for end, why, hits, misses in self._end_counts() if hits and not misses]
        if len(swapped) < 2:
            return None
        wanting = [
            (end, why)
            for end, why, hits, _ in swapped
            if hits + running[evidence.build_of(end)] < self.settings.end_hits and not evidence.untestable(end)
        ]
        if wanting:
            return Probe(wanting[0][0], f"{wanting[0][1]} again")
        if any(running[evidence.build_of(end)] for end, _ in ends):
            return Wait()
        return Conclusion(
            ConclusionKind.SWAPPED, 0, self.steps, self.settings.confidence, self.settings.confidence,
            "the good end fails and the bad end passes, every time: the ends look swapped",
        )  # fmt: skip

    def _end_counts(self) -> Iterator[tuple[int, str, int, int]]:
        """(end, name, runs that contradict it, runs that fit it)."""
        evidence = self.evidence
        yield 0, "good end", evidence.fails(0), evidence.passes(0)
        yield self.steps, "bad end", evidence.passes(self.steps), evidence.fails(self.steps)

    def _answer(self) -> tuple[int, int]:
        """The hypotheses around the median that no candidate worth trying can tell apart: lower < c <= upper.

        A set that holds nearly all of the probability holds the median too. -1 stands below the good end, steps + 1
        above the bad end.
        """
        belief = self.belief
        hypothesis = belief.quantile(0.5)
        group = belief.group_of(hypothesis)
        low, high = belief.marks[group], belief.marks[group + 1]
        lower, upper = hypothesis - 1, hypothesis
        if self._untestable_within(low, high):
            lower = self._nearest_worthy(lower, low, group)
            upper = self._nearest_worthy(upper, high, group)
        below = belief.below
        while lower + 1 < upper and below[lower + 2] == below[lower + 1]:
            lower += 1
        while upper - 1 > lower and below[upper + 1] == below[upper]:
            upper -= 1
        return lower, upper

    def _untestable_within(self, low: int, high: int) -> list[int]:
        """Untestable candidates strictly between two."""
        positions = self.evidence.positions_untestable()
        return positions[bisect_left(positions, low + 1) : bisect_left(positions, high)]

    def _nearest_worthy(self, start: int, limit: int, group: int) -> int:
        """From `start` on towards `limit` (itself tested, or beyond an end), the first candidate worth trying."""
        low, high = self.belief.marks[group], self.belief.marks[group + 1]
        outlook = Outlook(self.belief)
        forward = limit > start
        walls = [low, *self._untestable_within(low, high), high]
        gaps = list(pairwise(walls))
        for before, after in gaps if forward else reversed(gaps):
            inside = self._sample(before, after, outlook, group)
            reachable = [v for v in inside if (v >= start if forward else v <= start)]
            for candidate in reachable if forward else reversed(reachable):
                if self._worthy(candidate, outlook, high - low - 1):
                    return candidate
        return limit

    def _worthy(self, candidate: int, outlook: Outlook, interior: int) -> bool:
        """Whether an untried candidate is worth trying for what it would tell, weighed by the chance that it can."""
        if interior <= self.settings.exhaustive_range or self.evidence.tested(candidate):
            return True
        chance = self.testable(candidate)
        return chance >= 0.5 or chance * outlook.information(candidate) >= self.settings.least_gain

    def _sample(self, before: int, after: int, outlook: Outlook, group: int) -> list[int]:
        """Candidates that stand for all those strictly between two known ones."""
        first, last = max(0, before + 1), min(self.steps, after - 1)
        if last - first < 32:
            return list(range(first, last + 1))
        best = self.belief.at_share(group, outlook.best_share(outlook.group_of(max(before, 0) + 1)))
        found = {first, last, *(min(max(near, first), last) for near in (best - 1, best))}
        found.update(first + (last - first) * part // 16 for part in range(1, 16))
        distance = 1
        while distance <= (last - first) // 2:
            found.update((first + distance, last - distance))
            distance *= 2
        return sorted(found)

    def _confirm(self, lower: int, upper: int, running: Counter[int]) -> Decision:
        """The answer is likely enough: have both its witnesses hit often enough?"""
        evidence, outlook = self.evidence, Outlook(self.belief)
        wanting = []
        ends = {0: "good end", self.steps: "bad end"}
        enough = self.settings.hits if lower >= 0 and upper <= self.steps else self.settings.end_hits
        for witness, name, hits in (
            (lower, "predecessor", evidence.passes(lower) if lower >= 0 else 0),
            (upper, "culprit", evidence.fails(upper) if upper <= self.steps else 0),
        ):
            if not 0 <= witness <= self.steps or evidence.untestable(witness):
                continue
            if hits < enough:
                short = enough - hits - running[evidence.build_of(witness)]
                why = f"{ends.get(witness, name)} again" if evidence.tested(witness) else name
                wanting.append((short, outlook.information(witness), -witness, why))
        startable = [entry for entry in wanting if entry[0] > 0]
        if self.evidence.runs >= self.settings.run_limit(self.steps) and wanting:
            return self._give_up(f"{self.evidence.runs} runs did not confirm it")
        if startable:
            _, _, witness, why = max(startable, key=lambda entry: (round(entry[1], 9), entry[2]))
            return Probe(-witness, why)
        if wanting:
            return Wait()
        return self._conclude(lower, upper)

    def _conclude(self, lower: int, upper: int) -> Conclusion:
        belief, evidence = self.belief, self.evidence
        confidence = belief.mass(lower, upper)
        if_flaky = belief.mass(lower, upper, belief.weights_if_flaky)
        if upper > self.steps:
            reason = f"the bad end passed in {evidence.passes(self.steps)} of {self._runs(self.steps)} runs"
            return Conclusion(ConclusionKind.NONE, 0, self.steps, confidence, if_flaky, reason)
        if lower < 0:
            reason = f"the good end failed in {evidence.fails(0)} of {self._runs(0)} runs"
            return Conclusion(ConclusionKind.ALL_BAD, 0, self.steps, confidence, if_flaky, reason)
        reason = (
            f"candidate {lower} passed in {evidence.passes(lower)} of {self._runs(lower)} runs, "
            f"candidate {upper} failed in {evidence.fails(upper)} of {self._runs(upper)}"
        )
        if upper - lower == 1:
            return Conclusion(ConclusionKind.CULPRIT, lower, upper, confidence, if_flaky, reason)
        tried = len(self._untestable_within(lower, upper))
        untried = upper - lower - 1 - tried
        reason += f"; of the {upper - lower - 1} candidates between, {tried} were tried and cannot be tested"
        if untried:
            chance = max((self.testable(v) for v in range(lower + 1, upper) if not evidence.untestable(v)), default=0.0)
            reason += f", {untried} were not tried, as each can be tested with a probability of at most {chance:.2g}"
        return Conclusion(ConclusionKind.RANGE, lower, upper, confidence, if_flaky, reason)

    def _runs(self, candidate: int) -> int:
        return self.evidence.passes(candidate) + self.evidence.fails(candidate)

    def _give_up(self, reason: str) -> Conclusion:
        belief = self.belief
        lower, upper = belief.interval(self.settings.confidence)
        mass = belief.mass(lower, upper)
        bits = capacity(*belief.rates())
        further = belief.entropy() / bits + 2.0 * self.settings.hits if bits > 1e-3 else None
        if_flaky = belief.mass(lower, upper, belief.weights_if_flaky)
        return Conclusion(ConclusionKind.UNDETERMINED, lower, upper, mass, if_flaky, reason, further)

    def _search(self, running: Counter[int], in_flight: Sequence[int], costs: Costs) -> Decision:
        belief = self.belief
        outlook = Outlook(self.doubt, [self.evidence.build_of(candidate) for candidate in in_flight])
        heavy = max(range(len(belief.weights)), key=lambda group: (belief.consistent[group], belief.weights[group]))
        within = belief.consistent[heavy] or belief.weights[heavy] >= self.settings.threshold
        limits = (belief.marks[heavy], belief.marks[heavy + 1]) if within else (-1, self.steps + 1)
        trials = [v for v in self._trials(outlook, limits) if not running[self.evidence.build_of(v)]]
        if not trials or self._may_repeat(costs):
            trials += [mark for mark in belief.marks[1:-1] if not self.evidence.untestable(mark)]
        best = self._best(trials, outlook, costs)
        if best is None:
            return Wait() if in_flight else self._give_up("no candidate that can be tested would tell more")
        candidate, information = best
        if in_flight and information < self.settings.least_gain:
            return Wait()
        again = " again" if self.evidence.tested(candidate) else ""
        name = {0: "good end", self.steps: "bad end"}.get(candidate, "search")
        return Probe(candidate, name + again)

    def _may_repeat(self, costs: Costs) -> bool:
        """Whether a run of a tested candidate may be chosen for what it tells.

        While no run has contradicted another, runs that only look for a first contradiction are kept to two, or to a
        small share of what the builds will cost.
        """
        belief = self.belief
        if not any(belief.consistent):
            return max(belief.weights) < self.settings.threshold
        spent = self.evidence.runs - (len(belief.marks) - 2)
        share = REPEAT_SHARE * math.log2(self.steps + 1) * costs.build / max(costs.run, 1e-9)
        return spent < max(2.0, share)

    def _trials(self, outlook: Outlook, limits: tuple[int, int]) -> Iterator[int]:
        """Untried candidates that are worth comparing: in each group the best, whatever stands in its way."""
        belief, evidence = self.belief, self.evidence
        built = evidence.positions_built()
        for part, (low, high) in enumerate(pairwise(outlook.marks)):
            if high - low < 2 or low < limits[0] or high > limits[1] or outlook.weights[part] <= 1e-9:
                continue
            group = belief.group_of(high)
            interior = belief.marks[group + 1] - belief.marks[group] - 1
            share = outlook.best_share(part)
            best = self._at_share(low, high, share)
            blocked = self._untestable_within(low, high)
            near: Iterable[int] = (best,) if outlook.consistent[part] else (best - 1, best, best + 1)
            if blocked:
                walls = [low, *blocked, high]
                near = [
                    v
                    for before, after in pairwise(walls)
                    for v in self._sample(before, after, outlook, group)
                    if self._worthy(v, outlook, interior)
                ]
            index = bisect_left(built, best)
            prebuilt = built[max(0, index - 1) : index + 1]
            for candidate in sorted({*near, *prebuilt}):
                if max(low, -1) < candidate < high and candidate <= self.steps and not evidence.untestable(candidate):
                    yield candidate

    def _at_share(self, low: int, high: int, share: float) -> int:
        """The candidate strictly between two whose share of the probability between them is nearest to this."""
        below = self.belief.below
        start, mass = below[low + 1], below[high + 1] - below[low + 1]
        target = start + share * mass
        after = min(max(bisect_left(below, target, low + 2, high + 1) - 1, low + 1), high - 1)
        before = max(after - 1, low + 1)
        slack = 1e-9 * mass
        return before if target - below[before + 1] <= below[after + 1] - target + slack else after

    def _best(self, trials: Sequence[int], outlook: Outlook, costs: Costs) -> tuple[int, float] | None:
        """The candidate that tells the most for its cost, and how much."""
        best: tuple[tuple[float, float, bool, int], float] | None = None
        middle = outlook.belief.quantile(0.5)
        for candidate in trials:
            information = outlook.information(candidate)
            if information <= 1e-12:
                continue
            built = self.evidence.built(candidate)
            chance = 1.0 if self.evidence.tested(candidate) else self.testable(candidate)
            cost = costs.run if built else costs.build + chance * costs.run
            score = float(f"{chance * information / max(cost, 1e-9):.9g}")
            key = (-score, abs(candidate - middle), not built, candidate)
            if best is None or key < best[0]:
                best = (key, information)
        return None if best is None else (best[0][3], best[1])
