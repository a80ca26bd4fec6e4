"""Several pins that move together, simulated: one culprit, one that needs a partner, two that fail on their own."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from bisector.certificate import Certificate, Standing, certify
from bisector.model import Axis, AxisValue, Candidate
from bisector.search import (
    ChainSearch,
    Conclusion,
    ConclusionKind,
    Costs,
    Observation,
    Probe,
    Replication,
    ReplicationVerdict,
)
from bisector.space import Chain, chain_through
from pins.model import PinKind

COSTS = Costs(10.0, 1.0)

Need = dict[str, int]
"""A failure that needs each of these pins at this version or later."""


_STANDINGS = {ReplicationVerdict.PASS: Standing.PASS, ReplicationVerdict.FAIL: Standing.FAIL}


@dataclass
class Simulation:
    """Pins with versions 0 to n - 1, and a script that errs at these rates.

    Attributes:
        axes: the pins.
        needs: what fails; a candidate that meets any of these is bad.
        fail_if_good, pass_if_bad: the script's rates.
        rng: decides each run.
        counts: fails and passes of each candidate that was built.
    """

    axes: tuple[Axis, ...]
    needs: list[Need]
    fail_if_good: float
    pass_if_bad: float
    rng: random.Random
    counts: dict[Candidate, list[int]] = field(default_factory=dict)
    runs: int = 0

    def run(self, candidate: Candidate) -> bool:
        """Build and run once; whether it fails."""
        bad = any(all(int(candidate[pin]) >= version for pin, version in need.items()) for need in self.needs)
        failed = self.rng.random() < (1.0 - self.pass_if_bad if bad else self.fail_if_good)
        self.counts.setdefault(candidate, [0, 0])[0 if failed else 1] += 1
        self.runs += 1
        return failed

    def tell(self, candidate: Candidate, record: Callable[[Observation], None]) -> None:
        """What the candidate's runs so far have shown, run by run."""
        fails, passes = self.counts.get(candidate, (0, 0))
        for observation in (Observation.FAIL,) * fails + (Observation.PASS,) * passes:
            record(observation)

    def search(self, chain: Chain) -> tuple[Conclusion, ChainSearch]:
        """The engine along a chain, told what is known of its candidates already."""
        search = ChainSearch(chain.steps)
        for index, candidate in enumerate(chain.candidates):
            self.tell(candidate, partial(search.record, index))
        while True:
            decision = search.next((), COSTS)
            if isinstance(decision, Conclusion):
                return decision, search
            assert isinstance(decision, Probe)
            failed = self.run(chain.candidates[decision.candidate])
            search.record(decision.candidate, Observation.FAIL if failed else Observation.PASS)

    def between(self, good: Candidate, bad: Candidate) -> tuple[Candidate, Candidate] | None:
        """The last good and the first bad candidate between two."""
        axes = tuple(
            Axis(axis.pin, axis.kind, axis.values[int(good[axis.pin]) : int(bad[axis.pin]) + 1]) for axis in self.axes
        )
        chain = chain_through(axes, [[axis] for axis in axes])
        found, _ = self.search(chain)
        if found.kind is not ConclusionKind.CULPRIT:
            return None
        return chain.candidates[found.lower], chain.candidates[found.upper]

    def stands(self, search: ChainSearch) -> Callable[[Candidate, str], Standing]:
        """How candidates off the chain stand, by the rates that a search has learned."""

        def measure(candidate: Candidate, _: str) -> Standing:
            replication = Replication(search)
            self.tell(candidate, replication.record)
            while replication.conclusion is None:
                replication.record(Observation.FAIL if self.run(candidate) else Observation.PASS)
            return _STANDINGS.get(replication.conclusion, Standing.NOT_RUN)

        return measure


@dataclass(frozen=True)
class Outcome:
    """What one trial came to: builds of the search, of the swap test, new pin versions, runs, and whether all is right.

    `named` is the culprit and its partners with their first versions, None where no step was named.
    """

    builds: int
    builds_of_swap: int
    versions: int
    runs: int
    named: Need | None
    certificate: Certificate | None


def trial(axes: tuple[Axis, ...], needs: list[Need], a: float, b: float, seed: str) -> Outcome:
    """One search with its swap test."""
    world = Simulation(axes, needs, a, b, random.Random(seed))
    chain = chain_through(axes, [[axis] for axis in axes])
    found, search = world.search(chain)
    builds = len(world.counts)
    ends = {pair for end in (0, -1) for pair in chain.candidates[end].pins}
    versions = len({pair for candidate in world.counts for pair in candidate.pins} - ends)
    if found.kind is not ConclusionKind.CULPRIT:
        return Outcome(builds, 0, versions, world.runs, None, None)
    certificate = certify(chain, found.lower, found.upper, world.stands(search), world.between)
    move = chain.moves(found.upper)[0]
    named = {move.pin: int(move.new)} | {pin: int(value) for pin, value in certificate.partners}
    return Outcome(builds, len(world.counts) - builds, versions, world.runs, named, certificate)


def pins_of(pins: int, versions: int) -> tuple[Axis, ...]:
    """So many pins with so many versions each."""
    values = tuple(AxisValue(str(version)) for version in range(versions))
    return tuple(Axis(f"pin{number}", PinKind.PACKAGE, values) for number in range(pins))


def one(axes: Sequence[Axis], rng: random.Random) -> list[Need]:
    """One culprit, any step of any pin."""
    axis = rng.choice(axes)
    return [{axis.pin: rng.randrange(1, len(axis.values))}]


def pair(axes: Sequence[Axis], rng: random.Random) -> list[Need]:
    """Bad only where two pins have both moved far enough."""
    return [{axis.pin: rng.randrange(1, len(axis.values)) for axis in rng.sample(list(axes), 2)}]


def three(axes: Sequence[Axis], rng: random.Random) -> list[Need]:
    """The same with three."""
    return [{axis.pin: rng.randrange(1, len(axis.values)) for axis in rng.sample(list(axes), 3)}]


def either(axes: Sequence[Axis], rng: random.Random) -> list[Need]:
    """Two pins, each of which fails on its own."""
    return [{axis.pin: rng.randrange(1, len(axis.values))} for axis in rng.sample(list(axes), 2)]


WORLDS = [
    ("one culprit", 6, 64, one, 0.0, 0.0),
    ("one culprit", 5, 50, one, 0.0, 0.0),
    ("one culprit", 10, 50, one, 0.0, 0.0),
    ("needs a partner", 5, 50, pair, 0.0, 0.0),
    ("needs two partners", 5, 50, three, 0.0, 0.0),
    ("either of two", 5, 50, either, 0.0, 0.0),
    ("one culprit", 5, 50, one, 0.1, 0.1),
    ("needs a partner", 5, 50, pair, 0.05, 0.05),
    ("needs a partner", 5, 50, pair, 0.1, 0.1),
]


def right(found: Outcome, needs: list[Need]) -> bool:
    """Whether what was named is a whole reason, at its first versions, and a second one was noticed."""
    if found.named not in needs or found.certificate is None:
        return False
    others = len(needs) > 1
    return found.certificate.removed_from_bad is (Standing.FAIL if others else Standing.PASS)


def print_pins(trials: int, seed: int) -> None:
    """Builds (both ends included), distinct pin versions built that no end has, and how often all of it is right."""
    print("Several pins; builds of the search (with both ends) and of the swap test, a build costs 10 runs")
    print(
        "case                 pins x versions   a    b   builds  most  swap test  most  new versions  most  runs right%"
    )
    for name, pins, width, draw, a, b in WORLDS:
        axes = pins_of(pins, width)
        rng = random.Random(f"{seed} {name} {pins} {width} {a} {b}")
        rows, hits = [], 0
        for number in range(trials):
            needs = draw(axes, rng)
            found = trial(axes, needs, a, b, f"{seed} {name} {pins} {a} {b} {number}")
            rows.append(found)
            hits += right(found, needs)
        means = [sum(values) / trials for values in zip(
            *((row.builds, row.builds_of_swap, row.versions, row.runs) for row in rows), strict=True)]  # fmt: skip
        most = [max(getattr(row, column) for row in rows) for column in ("builds", "builds_of_swap", "versions")]
        print(
            f"{name:22s} {pins:3d} x {width:<9d} {a:4.2f} {b:4.2f} {means[0]:8.1f} {most[0]:5d} {means[1]:10.1f}"
            f" {most[1]:5d} {means[2]:13.1f} {most[2]:5d} {means[3]:6.1f} {100 * hits / trials:7.2f}",
            flush=True,
        )
    print()
