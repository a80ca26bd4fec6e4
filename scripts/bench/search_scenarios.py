"""Candidates that cannot be tested, several workers, and very long chains, simulated."""

import heapq
import math
import random
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

from bisector.search import ChainSearch, Conclusion, ConclusionKind, Costs, Observation, Probe

Case = tuple[int, set[int]]
COSTS = Costs(10.0, 1.0)
STEPS = 1000


@dataclass
class Found:
    """What a search among untestable candidates came to."""

    conclusion: Conclusion
    builds: int
    failed: int


def search(steps: int, culprit: int, broken: set[int]) -> Found:
    """A script that never errs, candidates that do not build."""
    chain, built, failed = ChainSearch(steps), set[int](), 0
    while True:
        decision = chain.next((), COSTS)
        if isinstance(decision, Conclusion):
            return Found(decision, len(built) + failed, failed)
        assert isinstance(decision, Probe)
        if decision.candidate in broken:
            failed += 1
            chain.mark_untestable(decision.candidate, buildable=False)
        else:
            built.add(decision.candidate)
            fails = decision.candidate >= culprit
            chain.record(decision.candidate, Observation.FAIL if fails else Observation.PASS)


def irreducible(culprit: int, broken: set[int]) -> tuple[int, int]:
    """The nearest candidates on both sides of the culprit that can be tested."""
    lower, upper = culprit - 1, culprit
    while lower in broken:
        lower -= 1
    while upper in broken:
        upper += 1
    return lower, upper


def one_range(share: float) -> Callable[[random.Random], Case]:
    """One range of broken candidates that covers this share."""

    def draw(rng: random.Random) -> Case:
        length = int(STEPS * share)
        first = rng.randrange(1, STEPS - length)
        return rng.randrange(1, STEPS + 1), set(range(first, first + length))

    return draw


def many_ranges(share: float, length: float) -> Callable[[random.Random], Case]:
    """Broken ranges of this mean length that cover about this share."""

    def draw(rng: random.Random) -> Case:
        broken, inside = set(), rng.random() < share
        for candidate in range(1, STEPS):
            inside = rng.random() >= 1.0 / length if inside else rng.random() < share / (1.0 - share) / length
            if inside:
                broken.add(candidate)
        return rng.randrange(1, STEPS + 1), broken

    return draw


def alternating(rng: random.Random) -> Case:
    """Every other candidate is broken."""
    parity = rng.randrange(2)
    return rng.randrange(1, STEPS + 1), {v for v in range(1, STEPS) if v % 2 == parity}


def lone(rng: random.Random) -> Case:
    """Eighty candidates in a row of which one, anywhere, builds; the culprit is among them."""
    first = rng.randrange(1, STEPS - 80)
    broken = set(range(first, first + 80)) - {rng.randrange(first, first + 80)}
    return rng.randrange(first, first + 81), broken


PATTERNS: dict[str, Callable[[random.Random], Case]] = {
    "none broken": lambda rng: (rng.randrange(1, STEPS + 1), set()),
    "one range of 5 %": one_range(0.05),
    "one range of 10 %": one_range(0.1),
    "one range of 20 %": one_range(0.2),
    "one range of 30 %": one_range(0.3),
    "5 % in ranges of 20": many_ranges(0.05, 20.0),
    "20 % in ranges of 20": many_ranges(0.2, 20.0),
    "30 % in ranges of 5": many_ranges(0.3, 5.0),
    "30 % in ranges of 60": many_ranges(0.3, 60.0),
    "every other one": alternating,
    "all but one of 80": lone,
}


def print_untestable(trials: int, seed: int) -> None:
    """Builds (both ends and failed ones included), and how wide the reported range is."""
    print(f"Unbuildable candidates, N = {STEPS}, a script that never errs")
    print("pattern                  builds  of these failed  most  range  irreducible  exact  culprit inside")
    for name, draw in PATTERNS.items():
        rng = random.Random(f"{seed} {name}")
        rows = []
        for _ in range(trials):
            culprit, broken = draw(rng)
            found, ends = search(STEPS, culprit, broken), irreducible(culprit, broken)
            said = (found.conclusion.lower, found.conclusion.upper)
            rows.append((found.builds, found.failed, said[1] - said[0], ends[1] - ends[0], said == ends,
                         said[0] < culprit <= said[1]))  # fmt: skip
        builds, failed, width, least, exact, inside = (sum(column) / trials for column in zip(*rows, strict=True))
        print(
            f"{name:24s} {builds:6.1f} {failed:16.1f} {max(row[0] for row in rows):5d} {width:6.1f} {least:12.1f}"
            f" {100 * exact:5.0f}% {100 * inside:14.0f}%",
            flush=True,
        )
    print()


def elapsed(workers: int, a: float, b: float, spread: float, seed: str) -> tuple[float, int, bool]:
    """(time to the verdict in mean probes, probes started, whether it was right) with workers that run freely."""
    rng = random.Random(seed)
    culprit = rng.randrange(1, STEPS + 1)
    chain = ChainSearch(STEPS)
    running: list[tuple[float, int, int]] = []
    now, started = 0.0, 0
    while True:
        while len(running) < workers:
            decision = chain.next([candidate for _, _, candidate in running], Costs(0.0, 1.0))
            if isinstance(decision, Conclusion):
                return now, started, decision.kind is ConclusionKind.CULPRIT and decision.upper == culprit
            if not isinstance(decision, Probe):
                break
            started += 1
            duration = rng.lognormvariate(-spread * spread / 2.0, spread) if spread else 1.0
            heapq.heappush(running, (now + duration, started, decision.candidate))
        now, _, candidate = heapq.heappop(running)
        ended = [candidate]
        while running and running[0][0] <= now:
            ended.append(heapq.heappop(running)[2])
        for candidate in ended:
            fails = rng.random() < (1.0 - b if candidate >= culprit else a)
            chain.record(candidate, Observation.FAIL if fails else Observation.PASS)
        useless = set(chain.useless([candidate for _, _, candidate in running]))
        running = [probe for probe in running if probe[2] not in useless]
        heapq.heapify(running)


def print_workers(trials: int, seed: int) -> None:
    """How much sooner several workers come to the verdict, with probes that take different times."""
    print(f"Workers, N = {STEPS}, rates unknown, confirming runs included: speed-up, and probes started")
    print("   a    b  spread       1 worker        2 workers        4 workers        8 workers (log2(K+1): 1 1.6 2.3)")
    for a, b, spread in ((0.0, 0.0, 0.0), (0.0, 0.0, 0.3), (0.0, 0.0, 0.7), (0.1, 0.1, 0.3), (0.1, 0.1, 0.7)):
        line, alone = f"{a:4.2f} {b:4.2f} {spread:7.1f}", math.nan
        for workers in (1, 2, 4, 8):
            rows = [elapsed(workers, a, b, spread, f"{seed} {a} {b} {spread} {n}") for n in range(max(10, trials // 2))]
            mean = sum(row[0] for row in rows) / len(rows)
            alone = mean if workers == 1 else alone
            line += f"    {alone / mean:5.2f} {sum(row[1] for row in rows) / len(rows):6.1f}"
        print(line, flush=True)
    print()


def print_size(seed: int) -> None:
    """Time to choose the next probe, and memory, for 100,000 steps."""
    for label, a, b, broken_share in (
        ("sound", 0.0, 0.0, 0.0),
        ("flaky", 0.1, 0.1, 0.0),
        ("30 % broken", 0.0, 0.0, 0.3),
    ):
        steps, rng = 100_000, random.Random(f"{seed} {label}")
        culprit = rng.randrange(1, steps + 1)
        first = rng.randrange(1, int(steps * (1.0 - broken_share)))
        broken = range(first, first + int(steps * broken_share))
        tracemalloc.start()
        chain, slowest, decisions = ChainSearch(steps), 0.0, 0
        while True:
            began = time.perf_counter()
            decision = chain.next((), COSTS)
            slowest, decisions = max(slowest, time.perf_counter() - began), decisions + 1
            if not isinstance(decision, Probe):
                break
            if decision.candidate in broken:
                chain.mark_untestable(decision.candidate, buildable=False)
                continue
            fails = rng.random() < (1.0 - b if decision.candidate >= culprit else a)
            chain.record(decision.candidate, Observation.FAIL if fails else Observation.PASS)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(
            f"{steps} steps, {label}: {decisions} decisions, the slowest {1000 * slowest:.0f} ms (traced),"
            f" {peak / 2**20:.0f} MB, {decision}"
        )
