"""Scripts with known truth to search against, and a loop that drives a search to its end."""

import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from bisector.search import ChainSearch, Conclusion, Costs, Observation, Probe

MOST_PROBES = 5000
EQUAL = Costs(1.0, 1.0)


@dataclass
class Driven:
    """What a driven search did."""

    conclusion: Conclusion
    trail: list[tuple[int, str]] = field(default_factory=list)
    built: list[int] = field(default_factory=list)
    failed_builds: list[int] = field(default_factory=list)

    @property
    def runs(self) -> int:
        return len(self.trail) - len(self.failed_builds)

    @property
    def builds(self) -> int:
        return len(self.built) + len(self.failed_builds)


def drive(
    search: ChainSearch,
    outcome: Callable[[int], Observation],
    *,
    costs: Costs = EQUAL,
    unbuildable: Collection[int] = (),
    before_each: Callable[[ChainSearch], None] = lambda search: None,
) -> Driven:
    """Do what the search asks for, one probe at a time, until it concludes."""
    trail: list[tuple[int, str]] = []
    built: list[int] = []
    failed: list[int] = []
    for _ in range(MOST_PROBES):
        before_each(search)
        decision = search.next((), costs)
        if isinstance(decision, Conclusion):
            return Driven(decision, trail, built, failed)
        assert isinstance(decision, Probe), "nothing is in flight, so there is nothing to wait for"
        candidate = decision.candidate
        assert 0 <= candidate <= search.steps
        trail.append((candidate, decision.why))
        if candidate in unbuildable:
            assert candidate not in failed, "a candidate that does not build was asked for twice"
            failed.append(candidate)
            search.mark_untestable(candidate, buildable=False)
            continue
        if candidate not in built:
            built.append(candidate)
            search.mark_built(candidate)
        search.record(candidate, outcome(candidate))
    raise AssertionError(f"no end after {MOST_PROBES} probes")


def sound(culprit: int) -> Callable[[int], Observation]:
    """A script that never errs."""
    return lambda candidate: Observation.FAIL if candidate >= culprit else Observation.PASS


def flaky(culprit: int, fail_if_good: float, pass_if_bad: float, seed: object) -> Callable[[int], Observation]:
    """A script that errs at these rates."""
    rng = random.Random(str(seed))

    def outcome(candidate: int) -> Observation:
        chance = 1.0 - pass_if_bad if candidate >= culprit else fail_if_good
        return Observation.FAIL if rng.random() < chance else Observation.PASS

    return outcome


def irreducible(culprit: int, untestable: Collection[int]) -> tuple[int, int]:
    """The neighbours that can be tested on both sides of a culprit."""
    lower, upper = culprit - 1, culprit
    while lower in untestable:
        lower -= 1
    while upper in untestable:
        upper += 1
    return lower, upper


def plain_bisection_builds(steps: int) -> int:
    """Builds of a plain bisection in the worst case, both ends included."""
    return math.ceil(math.log2(steps)) + 2


def broken_ranges(rng: random.Random, steps: int, share: float, length: float) -> set[int]:
    """Untestable candidates between the ends, in ranges of this mean length that cover about this share."""
    found, broken = set(), rng.random() < share
    for candidate in range(1, steps):
        broken = rng.random() >= 1.0 / length if broken else rng.random() < share / (1.0 - share) / length
        if broken:
            found.add(candidate)
    return found


def observations(text: str) -> Sequence[Observation]:
    """`"PF"` as outcomes."""
    return [Observation.PASS if letter == "P" else Observation.FAIL for letter in text]
