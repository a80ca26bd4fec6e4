"""The search engine in figures: wrong answers, runs and builds, beside the theoretical bound and other methods.

    scripts/bench/search [--trials 40] [--full] [--jobs 1] [--seed 1] [--sections accuracy others ...] [--store FILE]
                         [--markdown] [--sizes 1000 ...] [--methods bisector ...]
                         [--git-bayesect DIR] [--jax-toolbox DIR]

Everything is simulated and seeded: the same arguments print the same table. The default is a look at it in about a
minute. `--full --trials 2000 --jobs N` is the whole table; all but the sections `pins` and `others` run on a bare
Python 3.11 (`python3 scripts/bench/search.py`). With `--store` every finished point is kept in a file, so that a table
can be made in pieces: what is there already is printed and not computed again.

The bound is log2(N) / C(a, b), C the capacity of the binary asymmetric channel, a = P(FAIL | good), b = P(PASS | bad).
Our runs and builds, and JAX-Toolbox's, include both ends; those of the other methods do not, as they take the ends on
trust.
"""

import argparse
import json
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from search_methods import Method, Trial, World, facf, git_bisect, ours
from search_others import git_bayesect, jax_toolbox
from search_phases import POINTS, STEPS, print_early_repeats, print_phases
from search_scenarios import print_size, print_untestable, print_workers

from bisector.search import Costs
from bisector.search.outlook import capacity

RATES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
MOST_ERRORS = 0.55
GLANCE = ((0.0, 0.0), (0.05, 0.0), (0.1, 0.1), (0.2, 0.0), (0.05, 0.3))
METHODS: dict[str, Method] = {
    "bisector": ours(Costs(0.0, 1.0)),
    "bisector, build = run": ours(Costs(1.0, 1.0)),
    "bisector, rates given": ours(Costs(0.0, 1.0), rates_given=True),
    "bisector, build = 10 runs": ours(Costs(10.0, 1.0)),
    "bisector, build = 100 runs": ours(Costs(100.0, 1.0)),
    "git bisect": git_bisect(1),
    "git bisect, best of 3": git_bisect(3),
    "git bisect, best of 5": git_bisect(5),
    "git bisect, best of 7": git_bisect(7),
    "FACF": facf,
}
SECTIONS = {
    "accuracy": ["bisector"],
    "equal": ["bisector, build = run"],
    "known": ["bisector, rates given"],
    "costs": ["bisector, build = 10 runs", "bisector, build = 100 runs"],
    "others": [name for name in METHODS if not name.startswith("bisector")],
}
"""Which methods each section of the table has; the other sections have tables of their own."""

Map = Callable[[Callable[[tuple[str, World]], Trial], Sequence[tuple[str, World]]], Iterator[Trial]]


def add_others(arguments: argparse.Namespace) -> None:
    """Add the published tools of which a copy is at hand, and say which are left out."""
    for name, directory, method in (
        ("git_bayesect", arguments.git_bayesect, git_bayesect),
        ("JAX-Toolbox triage", arguments.jax_toolbox, jax_toolbox),
    ):
        try:
            if directory is None:
                raise ImportError("no copy of it was named")
            METHODS[name] = method(directory)
            SECTIONS["others"].append(name)
        except ImportError as error:
            print(f"{name} is left out: {error}")


def run(task: tuple[str, World]) -> Trial:
    """One trial of one method."""
    name, world = task
    return METHODS[name](world)


def worlds(steps: int, a: float, b: float, trials: int, seed: int) -> list[World]:
    """Cases with a culprit drawn evenly; every method meets the same ones."""
    rng = random.Random(f"{seed} {steps} {a} {b}")
    return [World(steps, rng.randrange(1, steps + 1), a, b, f"{seed} {steps} {a} {b} {n}") for n in range(trials)]


@dataclass(frozen=True)
class Point:
    """What the trials of one method at one point came to: shares of the trials, and means."""

    name: str
    steps: int
    a: float
    b: float
    trials: int
    seed: int
    wrong: float
    undetermined: float
    runs: float
    builds: float
    claimed: float
    if_flaky: float
    right: float


def measure(name: str, steps: int, a: float, b: float, arguments: argparse.Namespace, spread: Map) -> Point:
    """One method at one point."""
    cases = worlds(steps, a, b, arguments.trials, arguments.seed)
    found = list(spread(run, [(name, world) for world in cases]))
    trials = len(found)
    undetermined = sum(trial.undetermined for trial in found)
    right = sum(trial.answer == world.culprit for trial, world in zip(found, cases, strict=True))
    concluded = [trial for trial in found if not trial.undetermined] or found
    return Point(
        name,
        steps,
        a,
        b,
        trials,
        arguments.seed,
        (trials - undetermined - right) / trials,
        undetermined / trials,
        sum(trial.runs for trial in found) / trials,
        sum(trial.builds for trial in found) / trials,
        sum(trial.confidence for trial in concluded) / len(concluded),
        sum(trial.confidence_if_flaky for trial in concluded) / len(concluded),
        right / len(concluded),
    )


def print_point(point: Point) -> None:
    """One line of the table."""
    limit, bound = most_wrong(point.trials), bound_of(point)
    extra = point.builds - math.log2(point.steps) - (2.0 if point.name.startswith(("bisector", "JAX")) else 0.0)
    line = (
        f"{point.steps:6d} {point.a:4.2f} {point.b:4.2f}  {point.name:27s} {point.trials:6d}"
        f" {100 * point.wrong:6.2f}{'*' if point.wrong > limit else ' '}"
        f" {100 * point.undetermined:6.2f} {point.runs:7.1f} {point.runs / bound:6.2f} {point.builds:7.1f}"
        f" {100 * extra / math.log2(point.steps):+6.0f}%"
    )
    if point.name.startswith("bisector"):
        line += f"   {100 * point.claimed:7.3f} {100 * point.if_flaky:7.3f} {100 * point.right:7.3f}"
    print(line, flush=True)


class Store:
    """Points that were measured before, in a file of one JSON object a line; without a file, none."""

    def __init__(self, path: Path | None) -> None:
        """Read what is there."""
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        self._points = [Point(**json.loads(line)) for line in lines]

    def find(self, name: str, steps: int, a: float, b: float, arguments: argparse.Namespace) -> Point | None:
        """The same point, measured with at least as many trials."""
        for point in self._points:
            same = (point.name, point.steps, point.a, point.b, point.seed) == (name, steps, a, b, arguments.seed)
            if same and point.trials >= arguments.trials:
                return point
        return None

    def of(self, name: str) -> dict[tuple[int, float, float], Point]:
        """All points of a method, the one with the most trials of each."""
        found: dict[tuple[int, float, float], Point] = {}
        for point in sorted(self._points, key=lambda point: point.trials):
            if point.name == name:
                found[point.steps, point.a, point.b] = point
        return found

    def add(self, point: Point) -> None:
        """Keep one more."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(point)) + "\n")


def print_table(
    names: list[str],
    sizes: Sequence[int],
    rates: Sequence[tuple[float, float]],
    arguments: argparse.Namespace,
    spread: Map,
) -> None:
    """All methods at all points."""
    print(
        "     N    a    b  method                      trials wrong% undet.%    runs /bound  builds beyond"
        "   claimed  flaky%  right%"
    )
    store = Store(arguments.store)
    for steps in sizes:
        for a, b in rates:
            for name in names:
                point = store.find(name, steps, a, b, arguments)
                if point is None:
                    point = measure(name, steps, a, b, arguments, spread)
                    store.add(point)
                print_point(point)
    print("wrong*: above 1 % + 3 standard errors. claimed, flaky, right: mean confidence, the same if the script is")
    print("flaky, and the share that was right, of the searches that named something.\n")


def bound_of(point: Point) -> float:
    """Runs that any method needs on average."""
    return math.log2(point.steps) / capacity(point.a, 1.0 - point.b)


def print_markdown(store: Store) -> None:
    """Every kept point of our searches, as tables for a page: wrong %; runs, runs / bound (undetermined %)."""
    for name in (name for name in METHODS if name.startswith("bisector")):
        points = store.of(name)
        for steps in sorted({steps for steps, _, _ in points}):
            here = [point for (each, _, _), point in sorted(points.items()) if each == steps]
            trials = sorted({point.trials for point in here})
            print(f"{name}, N = {steps}, trials a point: {', '.join(map(str, trials))}")
            print("\n| a ↓, b → | " + " | ".join(f"{b:g}" for b in RATES) + " |\n|" + "---|" * (len(RATES) + 1))
            for a in RATES:
                cells = [cell(points.get((steps, a, b))) for b in RATES]
                print(f"| {a:g} | " + " | ".join(cells) + " |")
            concluded = sum(point.trials * (1.0 - point.undetermined) for point in here)
            claimed = sum(point.trials * (1.0 - point.undetermined) * point.claimed for point in here) / concluded
            right = sum(point.trials * (1.0 - point.undetermined) * point.right for point in here) / concluded
            above = [point for point in here if point.wrong > most_wrong(point.trials)]
            print(f"\nClaimed {100 * claimed:.2f} %, right {100 * right:.2f} % of those that named something;", end=" ")
            print(f"{len(above)} of {len(here)} points above 1 % + 3 standard errors;", end=" ")
            print(f"runs / bound at most {max(point.runs / bound_of(point) for point in here):.2f}\n")


def cell(point: Point | None) -> str:
    """One point in a table."""
    if point is None:
        return ""
    said = f"{100 * point.wrong:.2g}; {point.runs:.0f}, {point.runs / bound_of(point):.2f}"
    return said + (f" (u {100 * point.undetermined:.0f})" if point.undetermined >= 0.005 else "")


def most_wrong(trials: int) -> float:
    """The share of wrong answers that keeps the promise: 1 % and three standard errors."""
    return 0.01 + 3.0 * math.sqrt(0.01 * 0.99 / trials)


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=40, help="searches for each point (default 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--full", action="store_true", help="all sizes and all error rates")
    others = ["untestable", "pins", "workers", "size", "phases", "early"]
    parser.add_argument("--sections", nargs="+", choices=[*SECTIONS, *others], help="parts of the table (default: all)")
    parser.add_argument("--store", type=Path, metavar="FILE", help="keep finished points there")
    parser.add_argument("--markdown", action="store_true", help="print what --store holds as tables, and nothing else")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="steps of the chains")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--git-bayesect", type=Path, metavar="DIR", help="a checkout of hauntsaninja/git_bayesect")
    parser.add_argument("--jax-toolbox", type=Path, metavar="DIR", help="`.github/triage` of NVIDIA/JAX-Toolbox")
    arguments = parser.parse_args()
    if arguments.markdown:
        print_markdown(Store(arguments.store))
        return
    add_others(arguments)
    every = [(a, b) for a in RATES for b in RATES if a + b <= MOST_ERRORS + 1e-9]
    rates = every if arguments.full else GLANCE
    sizes = arguments.sizes or ((16, 100, 1000, 10_000) if arguments.full else (100, 1000))
    chosen = arguments.methods or list(METHODS)
    asked = arguments.sections or [*SECTIONS, *others]
    with ProcessPoolExecutor(arguments.jobs) if arguments.jobs > 1 else nullcontext() as pool:
        chunk = max(1, arguments.trials // (8 * arguments.jobs))

        def spread(
            function: Callable[[tuple[str, World]], Trial], tasks: Sequence[tuple[str, World]]
        ) -> Iterator[Trial]:
            return map(function, tasks) if pool is None else pool.map(function, tasks, chunksize=chunk)

        for section, names in SECTIONS.items():
            if section in asked:
                print_table([name for name in names if name in chosen], sizes, rates, arguments, spread)
    if "untestable" in asked:
        print_untestable(arguments.trials, arguments.seed)
    if "pins" in asked:
        from search_pins import print_pins  # needs what the project depends on; all else runs on a bare Python

        print_pins(arguments.trials, arguments.seed)
    if "workers" in asked:
        print_workers(arguments.trials, arguments.seed)
    if "size" in asked:
        print_size(arguments.seed)
    if "phases" in asked:
        print_phases(arguments.trials, [worlds(STEPS, *pair, arguments.trials, arguments.seed) for pair in POINTS])
    if "early" in asked:
        print_early_repeats(
            arguments.trials, [worlds(STEPS, *pair, arguments.trials, arguments.seed) for pair in GLANCE]
        )


if __name__ == "__main__":
    main()
