"""Ways to find the first bad candidate with a flaky script, simulated: ours, git bisect with a majority, FACF."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from bisector.search import ChainSearch, Conclusion, ConclusionKind, Costs, Observation, Probe, SearchSettings
from bisector.search.belief import Belief, Prior
from bisector.search.outlook import Outlook
from bisector.search.rates import RateModel

FACF_FLOOR = 0.1
FACF_THRESHOLD = 0.99
MOST_RUNS = 3000


@dataclass(frozen=True)
class World:
    """One simulated case: candidates 0..steps, bad from `culprit` on, and a script with these error rates."""

    steps: int
    culprit: int
    fail_if_good: float
    pass_if_bad: float
    seed: str

    def script(self) -> Callable[[int], bool]:
        """A script: whether its next run of a candidate fails."""
        rng = random.Random(self.seed)
        return lambda candidate: (
            rng.random() < (1.0 - self.pass_if_bad if candidate >= self.culprit else self.fail_if_good)
        )


@dataclass(frozen=True)
class Trial:
    """What one search came to. `answer` is the upper candidate of the step, None where it abstains or names no step."""

    answer: int | None
    runs: int
    builds: int
    undetermined: bool = False
    confidence: float = 1.0
    confidence_if_flaky: float = 1.0


Method = Callable[[World], Trial]


def ours(costs: Costs, *, rates_given: bool = False) -> Method:
    """The engine; both ends' runs and builds are counted."""

    def search(world: World) -> Trial:
        settings = SearchSettings()
        if rates_given:
            settings = SearchSettings(fail_if_good=world.fail_if_good, fail_if_bad=1.0 - world.pass_if_bad)
        chain, fails, built = ChainSearch(world.steps, settings), world.script(), set()
        while True:
            decision = chain.next((), costs)
            if isinstance(decision, Conclusion):
                break
            assert isinstance(decision, Probe)
            built.add(decision.candidate)
            chain.record(decision.candidate, Observation.FAIL if fails(decision.candidate) else Observation.PASS)
        return Trial(
            answer=decision.upper if decision.kind is ConclusionKind.CULPRIT else None,
            runs=chain.evidence.runs,
            builds=len(built),
            undetermined=decision.kind is ConclusionKind.UNDETERMINED,
            confidence=decision.confidence,
            confidence_if_flaky=decision.confidence_if_flaky,
        )

    return search


def git_bisect(votes: int) -> Method:
    """Plain bisection that runs every candidate so many times and follows the majority; the ends are taken on trust."""

    def search(world: World) -> Trial:
        fails, low, high, runs = world.script(), 0, world.steps, 0
        builds = 0
        while high - low > 1:
            middle = (low + high) // 2
            failed = passed = 0
            while max(failed, passed) * 2 <= votes:
                if fails(middle):
                    failed += 1
                else:
                    passed += 1
            runs, builds = runs + failed + passed, builds + 1
            low, high = (low, middle) if failed > passed else (middle, high)
        return Trial(high, runs, builds)

    return search


def facf(world: World) -> Trial:
    """Flake Aware Culprit Finding (Henderson et al., ICST 2023), as published: a bad candidate never passes.

    The paper leaves the stopping threshold open; 0.99 and an even prior that includes "no culprit" are used here. The
    flake rate is taken as known, and at least 0.1.
    """
    flakes = max(FACF_FLOOR, world.fail_if_good)
    share = 1.0 / (world.steps + 1)
    settings = SearchSettings(prior_none=share, prior_all_bad=0.0)
    prior, model = Prior(world.steps, settings, None), RateModel(0.0, (flakes,), (0.0,), ((1.0,),))
    fails = world.script()
    counts: dict[int, tuple[int, int]] = {}
    for runs in range(MOST_RUNS):
        belief = Belief(prior, model, [(candidate, *counts[candidate]) for candidate in sorted(counts)])
        likeliest = next(belief.likeliest_groups())
        upper = belief.marks[likeliest + 1]
        if belief.marks[likeliest + 1] - belief.marks[likeliest] == 1 and belief.weights[likeliest] >= FACF_THRESHOLD:
            return Trial(upper if upper <= world.steps else None, runs, len(counts))
        candidate = _most_telling(belief)
        failed, passed = counts.get(candidate, (0, 0))
        counts[candidate] = (failed + 1, passed) if fails(candidate) else (failed, passed + 1)
    return Trial(None, MOST_RUNS, len(counts), undetermined=True)


def _most_telling(belief: Belief) -> int:
    outlook = Outlook(belief)
    candidates = set(belief.marks[1:-1]) | {belief.steps}
    for group in range(len(belief.weights)):
        best = belief.at_share(group, outlook.best_share(group))
        candidates.update(min(max(near, 0), belief.steps) for near in (best - 1, best, best + 1))
    return max(sorted(candidates), key=outlook.information)
