"""The search along a chain of candidates."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

from bisector.search.belief import Belief, Prior
from bisector.search.decisions import Decision
from bisector.search.evidence import Evidence
from bisector.search.knowledge import Knowledge
from bisector.search.planning import plan
from bisector.search.settings import Costs, Observation, SearchSettings
from bisector.search.verdicts import confirm, verify_ends

DEFAULT_SETTINGS = SearchSettings()
EQUAL_COSTS = Costs()


class ChainSearch:
    """Finds the first bad candidate of a chain 0..steps whose runs may err and whose candidates may not be testable.

    **What it searches.** One hypothesis for each step, that this step is the first bad one, and two more: the good
    end is bad already, the bad end is not bad. Two unknown rates, how often a good candidate fails and a bad one
    passes, are integrated out: either the script never errs (prior 0.95), or it errs at rates that are learned as
    the runs come in (`rates`). All hypotheses between two tested candidates explain the runs equally well, so the
    posterior costs the same for ten steps and for a hundred thousand (`belief`).

    **What it runs next.** First both ends. Then the candidate whose run is expected to tell the most bits about the
    hypotheses for its cost, where a build that exists costs only a run (`outlook`, `planning`), weighed by the
    chance that the candidate can be tested at all, which untestable neighbours lower (`testability`). With a script
    that has not contradicted itself that is plain bisection: the interval that such a script leaves is halved
    exactly, and nothing outside it is built. This gives at most ceil(log2(steps)) + 2 builds, unless some builds are
    known to take less than a quarter of the time of others, which then may come first. Until the first contradiction,
    two cheap runs may look for one, more only where builds are dear.

    **When it stops.** When the hypotheses that nothing worth trying can tell apart hold the asked-for probability,
    *and* the last candidate before them has passed, and the first after them has failed, r times each (`verdicts`).
    The second condition is not redundant. A sound-looking script is believed to be sound, and a single false fail
    makes everything to its left look good: with r = 1 up to one answer in five is wrong although the posterior says
    0.99. Each of the r hits would have to be false for that. Besides, while no run has contradicted another, the
    probability must be as high under the assumption that the script is flaky. If untestable candidates stand between
    the two witnesses, the answer is that range, and never one of its steps.

    **Invariants.** A single outcome never rules a step out for good, since a flaky script stays possible.
    Untestable candidates move no belief. Whatever is answered depends only on what was recorded, not on its order:
    replaying a journal gives the same next probe. It ends: every run is counted against a limit, and every
    candidate is found untestable at most once.

    A history with merges, or several pins whose steps form no chain, need another structure of hypotheses: what
    lies between `Belief` and `Outlook` (which hypotheses make a candidate bad, and sums of weights over them) is
    the place.
    """

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
        self._known: tuple[int, Knowledge] | None = None

    def record(self, candidate: int, observation: Observation) -> None:
        """Take the result of one run."""
        self.evidence.check(candidate)
        self.evidence.record(candidate, observation)

    def mark_built(self, candidate: int) -> None:
        """A build of this candidate exists: only a run is needed."""
        self.evidence.check(candidate)
        self.evidence.mark_built(candidate)

    def mark_untestable(self, candidate: int, *, buildable: bool) -> None:
        """It did not build (`buildable` false), or it was skipped or failed otherwise: its neighbours are suspect."""
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
    def known(self) -> Knowledge:
        """All that follows from what was recorded so far."""
        if self._known is None or self._known[0] != self.evidence.version:
            self._known = (self.evidence.version, Knowledge(self.evidence, self.settings, self._prior))
        return self._known[1]

    @property
    def belief(self) -> Belief:
        """The posterior over the steps."""
        return self.known.belief

    def next(self, in_flight: Sequence[int] = (), costs: Costs = EQUAL_COSTS) -> Decision:
        """What to do now, while the candidates `in_flight` are being built or run (twice there: run twice)."""
        for candidate in in_flight:
            self.evidence.check(candidate)
        known = self.known
        running = Counter(self.evidence.build_of(candidate) for candidate in in_flight)
        ends = verify_ends(known, running)
        if ends is not None:
            return ends
        return confirm(known, running) or plan(known, running, in_flight, costs)

    def useless(self, in_flight: Sequence[int]) -> list[int]:
        """Those of the candidates in flight whose outcome no longer matters: end them.

        Such as tell hardly anything, and builds outside the steps that a script which never errs leaves.
        """
        known = self.known
        if not all(self.evidence.tested(end) for end in (0, self.steps)):
            return []
        witnesses = known.answer if known.settled else ()
        return [
            candidate
            for candidate in in_flight
            if candidate not in witnesses
            and (
                known.outlook.information(candidate) < self.settings.least_gain
                or not (self.evidence.built(candidate) or known.within_reach(candidate))
            )
        ]

    def rates(self) -> tuple[float, float]:
        """Estimates of P(FAIL | good candidate) and P(FAIL | bad candidate)."""
        return self.belief.rates()

    def suspects(self, most: int = 5) -> list[tuple[int, float]]:
        """The likeliest steps, as (upper candidate, probability), the likeliest first."""
        belief = self.belief
        found: list[tuple[int, float]] = []
        for group in belief.likeliest_groups():
            if belief.weights[group] <= 0.0 or len(found) >= most:
                break
            found += belief.likeliest_steps(group, most)
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
        return self._expected(lambda _: 1.0)

    def expected_seconds_left(self, costs: Costs) -> float:
        """Expected seconds of these builds, with one run of each."""
        return self._expected(lambda candidate: costs.of_building(candidate) + costs.run)

    def _expected(self, cost: Callable[[int], float]) -> float:
        missing = sum(cost(end) for end in (0, self.steps) if not self.evidence.built(end))
        depth = 0.0
        belief = self.belief
        for group, weight in enumerate(belief.weights):
            low, high = max(belief.marks[group], 0), min(belief.marks[group + 1], self.steps)
            width = high - low - len(self.known.untestable_within(low, high))
            if width > 1:
                whole = math.floor(math.log2(width))
                depth += weight * (whole + 2.0 * (width - 2**whole) / width) * cost((low + high) // 2)
        return missing + depth
