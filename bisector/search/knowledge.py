"""All that follows from the evidence at one moment, however it arrived."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from bisector.search.belief import Belief, Prior
from bisector.search.evidence import Evidence
from bisector.search.outlook import Outlook
from bisector.search.rates import RateModel, rate_model
from bisector.search.settings import SearchSettings
from bisector.search.testability import Prospects

ALL_OF = 32
"""Between two known candidates, no more untried ones than this are looked at one by one."""
PARTS = 24


class Knowledge:
    """What is believed, what can be tested, and what is worth trying."""

    def __init__(self, evidence: Evidence, settings: SearchSettings, prior: Prior) -> None:
        """Take the evidence as it stands; a later change of it asks for new knowledge."""
        self.evidence = evidence
        self.settings = settings
        self.steps = evidence.steps
        self._prior = prior

    @cached_property
    def rate_model(self) -> RateModel:
        """The error rates that are thought possible."""
        return rate_model(self.settings)

    @cached_property
    def belief(self) -> Belief:
        """What is true, as far as it can be known."""
        return Belief(self._prior, self.rate_model, self.evidence.counts())

    @cached_property
    def doubt(self) -> Belief:
        """What one would believe who trusts the script less; the next run is chosen by this.

        A search that takes the script for sound builds on what single runs have said, and where the script is flaky
        after all, those builds are lost. The doubt puts some cheap repeated runs first; the belief, by which the search
        concludes, is not touched. Once runs have contradicted each other nothing of that trust is left, and the two are
        one.
        """
        if self.open_group is None:
            return self.belief
        return Belief(self._prior, rate_model(self.settings, doubtful=True), self.evidence.counts())

    @cached_property
    def outlook(self) -> Outlook:
        """What runs would tell, with nothing in flight."""
        return Outlook(self.belief)

    @cached_property
    def built(self) -> list[int]:
        """Candidates whose build exists, ascending."""
        return self.evidence.positions_built()

    @cached_property
    def untestable(self) -> list[int]:
        """Candidates that were tried and told nothing, ascending."""
        return self.evidence.positions_untestable()

    @cached_property
    def _testabilities(self) -> tuple[Prospects, Prospects]:
        evidence = self.evidence
        return (
            Prospects(self.steps, evidence.build_statuses()),
            Prospects(self.steps, evidence.judgement_statuses()),
        )

    def chance(self, candidate: int) -> float:
        """Probability that a run of this candidate would pass or fail, judging by its neighbours."""
        if not self.untestable:
            return 1.0
        builds, judgements = self._testabilities
        return builds(candidate) * judgements(candidate)

    def untestable_within(self, low: int, high: int) -> list[int]:
        """Untestable candidates strictly between two."""
        return self.untestable[bisect_left(self.untestable, low + 1) : bisect_left(self.untestable, high)]

    def gaps(self, group: int) -> Iterator[tuple[int, int]]:
        """Within one of the belief's groups, the neighbouring known candidates with untried ones between them."""
        low, high = self.belief.marks[group], self.belief.marks[group + 1]
        walls = [max(low, -1), *self.untestable_within(low, high), min(high, self.steps + 1)]
        return ((before, after) for before, after in pairwise(walls) if after - before > 1)

    def worthy(self, group: int) -> list[list[int]]:
        """Untried candidates of a group that are worth trying, gap by gap; many stand for all where there are many.

        One that is unlikely to be testable is worth a try only while what it would tell, weighed by its chance, is more
        than `least_gain`; in a short range every one is.
        """
        found = self._worthy.get(group)
        if found is None:
            interior = self.belief.marks[group + 1] - self.belief.marks[group] - 1
            sure = interior <= self.settings.exhaustive_range
            found = self._worthy[group] = [
                [candidate for candidate in self._sample(before, after, group) if sure or self._promising(candidate)]
                for before, after in self.gaps(group)
            ]
        return found

    @cached_property
    def _worthy(self) -> dict[int, list[list[int]]]:
        return {}

    def _promising(self, candidate: int) -> bool:
        chance = self.chance(candidate)
        return chance >= 0.5 or chance * self.outlook.information(candidate) >= self.settings.least_gain

    def _sample(self, before: int, after: int, group: int) -> list[int]:
        first, last = before + 1, after - 1
        if last - first < ALL_OF:
            return list(range(first, last + 1))
        best = self.belief.at_share(group, self.outlook.best_share(group))
        found = {first, last, *(min(max(near, first), last) for near in (best - 1, best))}
        found.update(first + (last - first) * part // PARTS for part in range(1, PARTS))
        distance = 1
        while distance <= (last - first) // 2:
            found.update((first + distance, last - distance))
            distance *= 2
        return sorted(found)

    @cached_property
    def open_group(self) -> int | None:
        """The group in which a script that never errs has its culprit; None once runs have contradicted each other."""
        belief = self.belief
        consistent = [group for group, fits in enumerate(belief.consistent) if fits]
        return max(consistent, key=lambda group: belief.weights[group], default=None)

    def within_reach(self, candidate: int) -> bool:
        """Whether a script that never errs would tell anything new there; true once runs contradicted each other."""
        marks, group = self.belief.marks, self.open_group
        return group is None or marks[group] < candidate < marks[group + 1]

    @cached_property
    def threshold(self) -> float:
        """Probability that the answer must hold."""
        if self.open_group is not None:
            return self.settings.threshold(contradicted=False)
        of_an_end = self.answer[0] < 0 or self.answer[1] > self.steps
        return self.settings.threshold(contradicted=True, rates=self.error_rates, of_an_end=of_an_end)

    @cached_property
    def error_rates(self) -> tuple[float, float]:
        """How often the script fails a good candidate, and passes a bad one, as far as that is known."""
        fail_if_good, fail_if_bad = self.belief.rates()
        return fail_if_good, 1.0 - fail_if_bad

    @cached_property
    def sure(self) -> bool:
        """Whether the answer is likely enough to be taken for the truth, once its witnesses confirm it."""
        return self.belief.mass(*self.answer) >= self.threshold

    @cached_property
    def mass_if_flaky(self) -> float:
        """Probability of the answer if the script is flaky, however consistent it looks."""
        return self.belief.mass(*self.answer, self.belief.weights_if_flaky)

    @cached_property
    def settled(self) -> bool:
        """Whether the answer's witnesses are next: it is sure, or it is all that a sound script leaves."""
        belief = self.belief
        group = belief.group_of(self.answer[1])
        whole = belief.consistent[group] and belief.mass(*self.answer) >= belief.weights[group] * (1.0 - 1e-9)
        return self.sure or whole

    @cached_property
    def answer(self) -> tuple[int, int]:
        """The hypotheses around the median that nothing worth trying can tell apart: lower < c <= upper.

        A set that holds nearly all of the probability holds the median too. -1 stands below the good end, steps + 1
        above the bad end.
        """
        belief = self.belief
        hypothesis = belief.quantile(0.5)
        group = belief.group_of(hypothesis)
        low, high = belief.marks[group], belief.marks[group + 1]
        lower, upper = hypothesis - 1, hypothesis
        if self.untestable_within(low, high):
            lower, upper = self._between_worthy(hypothesis, group)
        below = belief.below
        while lower + 1 < upper and below[lower + 2] == below[lower + 1]:
            lower += 1
        while upper - 1 > lower and below[upper + 1] == below[upper]:
            upper -= 1
        return lower, upper

    def _between_worthy(self, hypothesis: int, group: int) -> tuple[int, int]:
        lower, upper = self.belief.marks[group], self.belief.marks[group + 1]
        for (before, after), worthy in zip(self.gaps(group), self.worthy(group), strict=True):
            if not worthy:
                continue
            if before < hypothesis - 1:
                lower = hypothesis - 1 if hypothesis - 1 < after else worthy[-1]
            if after > hypothesis and upper == self.belief.marks[group + 1]:
                upper = hypothesis if hypothesis > before else worthy[0]
        return lower, upper
