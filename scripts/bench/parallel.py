"""What several workers gain: rounds where every build takes the same time, speed-up where build times vary.

    scripts/bench/parallel [--trials 200] [--steps 1000] [--seed 1]

Workers are simulated, and the search is the real one, with a script that is trusted: what is counted is the search
itself, without the two ends (which several workers run side by side, too) and without confirming runs. The first table:
every build takes the same time, so that w workers go in rounds; the bound is log(N) to the base w + 1, rounded up. The
second: build times are log-normal (sigma 0.7), each worker gets its next candidate as soon as it has none, and builds
that can no longer matter are cancelled; beside it rounds in which all workers wait for the slowest.
"""

import argparse
import heapq
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bisector.search import ChainSearch, Conclusion, Costs, Observation, Probe, SearchSettings

Method = Callable[[int, int, float, str], tuple[float, int]]

COSTS = Costs(1.0, 1e-3)
"""A run that takes a thousandth of a build: builds are what is counted."""
SIGMA = 0.7
ROUNDS_WORKERS = (1, 2, 3, 7)
SPEED_WORKERS = {1: 1.0, 2: 1.6, 3: 2.1, 8: 3.3}
"""How many workers, and the speed-up that is asked for."""


def search_between(steps: int) -> ChainSearch:
    """A search whose ends have run."""
    search = ChainSearch(steps, SearchSettings(trust=True))
    search.mark_built(0)
    search.mark_built(steps)
    search.record(0, Observation.PASS)
    search.record(steps, Observation.FAIL)
    return search


def seconds_of_a_build(rng: random.Random, sigma: float) -> float:
    """With the mean 1."""
    return rng.lognormvariate(-sigma * sigma / 2.0, sigma) if sigma else 1.0


def tell(search: ChainSearch, candidate: int, culprit: int) -> None:
    """Record what a candidate shows."""
    search.mark_built(candidate)
    search.record(candidate, Observation.FAIL if candidate >= culprit else Observation.PASS)


def freely(workers: int, steps: int, sigma: float, seed: str) -> tuple[float, int]:
    """(time in mean builds, builds begun) of workers that each go on as soon as they can."""
    rng = random.Random(seed)
    culprit = rng.randrange(1, steps + 1)
    search = search_between(steps)
    running: list[tuple[float, int, int]] = []
    now, begun = 0.0, 0
    while True:
        while len(running) < workers:
            decision = search.next([candidate for _, _, candidate in running], COSTS)
            if isinstance(decision, Conclusion):
                assert (decision.lower, decision.upper) == (culprit - 1, culprit), decision
                return now, begun
            if not isinstance(decision, Probe):
                break
            begun += 1
            heapq.heappush(running, (now + seconds_of_a_build(rng, sigma), begun, decision.candidate))
        now, _, candidate = heapq.heappop(running)
        tell(search, candidate, culprit)
        while running and running[0][0] <= now:
            tell(search, heapq.heappop(running)[2], culprit)
        useless = set(search.useless([candidate for _, _, candidate in running]))
        running = [probe for probe in running if probe[2] not in useless]
        heapq.heapify(running)


def in_rounds(workers: int, steps: int, sigma: float, seed: str) -> tuple[float, int]:
    """The same of workers that wait for the slowest of each round."""
    rng = random.Random(seed)
    culprit = rng.randrange(1, steps + 1)
    search = search_between(steps)
    now, begun = 0.0, 0
    while True:
        chosen: list[int] = []
        while len(chosen) < workers:
            decision = search.next(chosen, COSTS)
            if isinstance(decision, Conclusion):
                assert (decision.lower, decision.upper) == (culprit - 1, culprit), decision
                return now, begun
            if not isinstance(decision, Probe):
                break
            chosen.append(decision.candidate)
        begun += len(chosen)
        now += max(seconds_of_a_build(rng, sigma) for _ in chosen)
        for candidate in chosen:
            tell(search, candidate, culprit)


def mean(trials: int, method: Method, workers: int, steps: int, sigma: float, seed: int) -> tuple[float, float]:
    """Mean time and mean number of builds."""
    rows = [method(workers, steps, sigma, f"{seed} {steps} {sigma} {trial}") for trial in range(trials)]
    return sum(row[0] for row in rows) / trials, sum(row[1] for row in rows) / trials


def print_rounds(steps: int, trials: int, seed: int) -> bool:
    """Rounds, where every build takes the same time."""
    print(f"Every build takes the same time, N = {steps}, {trials} trials: rounds")
    print("workers   rounds   bound   above it   builds   speed-up")
    alone, good = math.nan, True
    for workers in ROUNDS_WORKERS:
        rounds, builds = mean(trials, in_rounds, workers, steps, 0.0, seed)
        alone = rounds if workers == 1 else alone
        bound = math.ceil(math.log(steps, workers + 1) - 1e-9)
        good = good and rounds <= 1.15 * bound
        print(
            f"{workers:7d} {rounds:8.2f} {bound:7d} {rounds / bound - 1.0:+9.0%} {builds:8.1f} {alone / rounds:10.2f}"
        )
    print()
    return good


def print_speed(steps: int, trials: int, seed: int) -> bool:
    """Speed-up, where build times vary."""
    print(f"Build times vary (log-normal, sigma {SIGMA}), N = {steps}, {trials} trials: speed-up over one worker")
    print("workers   freely   asked for   builds   in rounds")
    alone, good = mean(trials, freely, 1, steps, SIGMA, seed)[0], True
    for workers, asked in SPEED_WORKERS.items():
        time, builds = mean(trials, freely, workers, steps, SIGMA, seed)
        waiting = mean(trials, in_rounds, workers, steps, SIGMA, seed)[0]
        good = good and alone / time >= asked
        print(f"{workers:7d} {alone / time:8.2f} {asked:11.1f} {builds:8.1f} {alone / waiting:11.2f}", flush=True)
    print()
    return good


def main() -> int:
    """Print both tables; 1 where one falls short of what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--steps", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    good = [print_rounds(steps, given.trials, given.seed) for steps in given.steps]
    good += [print_speed(steps, given.trials, given.seed) for steps in given.steps]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
