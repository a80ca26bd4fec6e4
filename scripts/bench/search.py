"""The search engine in figures: wrong answers, runs and builds, beside the theoretical bound and other methods.

    scripts/bench/search [--trials 40] [--full] [--jobs 1] [--seed 1] [--only accuracy|costs|untestable|workers|size]
                         [--sizes 1000 ...] [--methods bisector ...] [--git-bayesect DIR] [--jax-toolbox DIR]

Everything is simulated and seeded: the same arguments print the same table. The default is a look at it in about a
minute; `--full --trials 2000` is the whole table (hours; --jobs spreads it over processes). The bound is
log2(N) / C(a, b), C the capacity of the binary asymmetric channel, a = P(FAIL | good), b = P(PASS | bad). Our runs and
builds, and JAX-Toolbox's, include both ends; those of the other methods do not, as they take the ends on trust.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from search_methods import Method, Trial, World, facf, git_bisect, ours
from search_others import git_bayesect, jax_toolbox
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
COSTS = [name for name in METHODS if name.startswith("bisector, build = ")]

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


def print_point(name: str, steps: int, a: float, b: float, cases: list[World], spread: Map) -> None:
    """One line of the table."""
    found = list(spread(run, [(name, world) for world in cases]))
    trials = len(found)
    undetermined = sum(trial.undetermined for trial in found)
    pairs = list(zip(found, cases, strict=True))
    right = sum(trial.answer == world.culprit for trial, world in pairs)
    wrong = trials - undetermined - right
    limit = 0.01 + 3.0 * math.sqrt(0.01 * 0.99 / trials)
    runs, builds = (sum(values) / trials for values in zip(*((t.runs, t.builds) for t in found), strict=True))
    bound = math.log2(steps) / capacity(a, 1.0 - b)
    extra = builds - math.log2(steps) - (2.0 if name.startswith(("bisector", "JAX")) else 0.0)
    line = (
        f"{steps:6d} {a:4.2f} {b:4.2f}  {name:27s} {100 * wrong / trials:6.2f}{'*' if wrong / trials > limit else ' '}"
        f" {100 * undetermined / trials:6.2f} {runs:7.1f} {runs / bound:6.2f} {builds:7.1f}"
        f" {100 * extra / math.log2(steps):+6.0f}%"
    )
    concluded = [trial for trial in found if not trial.undetermined]
    if name.startswith("bisector") and concluded:
        claimed, if_flaky = (
            sum(values) / len(concluded)
            for values in zip(*((t.confidence, t.confidence_if_flaky) for t in concluded), strict=True)
        )
        line += f"   {100 * claimed:7.3f} {100 * if_flaky:7.3f} {100 * right / len(concluded):7.3f}"
    print(line, flush=True)


def print_table(
    names: list[str],
    sizes: Sequence[int],
    rates: Sequence[tuple[float, float]],
    arguments: argparse.Namespace,
    spread: Map,
) -> None:
    """All methods at all points."""
    print(
        "     N    a    b  method                       wrong% undet.%    runs /bound  builds beyond"
        "   claimed  flaky%  right%"
    )
    for steps in sizes:
        for a, b in rates:
            cases = worlds(steps, a, b, arguments.trials, arguments.seed)
            for name in names:
                print_point(name, steps, a, b, cases, spread)
    print("wrong*: above 1 % + 3 standard errors. claimed, flaky, right: mean confidence, the same if the script is")
    print("flaky, and the share that was right, of the searches that named something.\n")


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=40, help="searches for each point (default 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--full", action="store_true", help="all sizes and all error rates")
    parser.add_argument("--only", choices=["accuracy", "costs", "untestable", "workers", "size"])
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="steps of the chains")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--git-bayesect", type=Path, metavar="DIR", help="a checkout of hauntsaninja/git_bayesect")
    parser.add_argument("--jax-toolbox", type=Path, metavar="DIR", help="`.github/triage` of NVIDIA/JAX-Toolbox")
    arguments = parser.parse_args()
    add_others(arguments)
    every = [(a, b) for a in RATES for b in RATES if a + b <= MOST_ERRORS + 1e-9]
    rates = every if arguments.full else GLANCE
    sizes = arguments.sizes or ((16, 100, 1000, 10_000) if arguments.full else (100, 1000))
    chosen = arguments.methods or list(METHODS)
    with ProcessPoolExecutor(arguments.jobs) if arguments.jobs > 1 else nullcontext() as pool:
        chunk = max(1, arguments.trials // (8 * arguments.jobs))

        def spread(
            function: Callable[[tuple[str, World]], Trial], tasks: Sequence[tuple[str, World]]
        ) -> Iterator[Trial]:
            return map(function, tasks) if pool is None else pool.map(function, tasks, chunksize=chunk)

        if arguments.only in (None, "accuracy"):
            accuracy = [name for name in METHODS if name in chosen and "runs" not in name]
            print_table(accuracy, sizes, rates, arguments, spread)
        if arguments.only in (None, "costs"):
            print_table([name for name in COSTS if name in chosen], sizes, rates, arguments, spread)
    if arguments.only in (None, "untestable"):
        print_untestable(arguments.trials, arguments.seed)
    if arguments.only in (None, "workers"):
        print_workers(arguments.trials, arguments.seed)
    if arguments.only in (None, "size"):
        print_size(arguments.seed)


if __name__ == "__main__":
    main()
