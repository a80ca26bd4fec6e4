"""Where the runs of a search go, and what runs that look for a first contradiction early are worth."""

from collections import Counter

from search_methods import World

from bisector.search import ChainSearch, Conclusion, ConclusionKind, Costs, Observation, Probe, SearchSettings, planning

STEPS = 1000
POINTS = ((0.1, 0.1), (0.3, 0.0), (0.5, 0.0), (0.3, 0.2))
PHASES = ("ends, no contradiction yet", "to 0.5", "to 0.9", "to 0.99", "after")
DEAR = Costs(100.0, 1.0)
EARLY = (2, 4, 6, 8, 10)


def phases(world: World, settings: SearchSettings) -> Counter[str]:
    """Runs by what the culprit's probability was before each of them; whether the answer was wrong."""
    chain, fails, found = ChainSearch(world.steps, settings), world.script(), Counter[str]()
    while True:
        decision = chain.next((), Costs(0.0, 1.0))
        if isinstance(decision, Conclusion):
            right = decision.kind is ConclusionKind.CULPRIT and decision.upper == world.culprit
            found["wrong"] = not right and decision.kind is not ConclusionKind.UNDETERMINED
            return found
        assert isinstance(decision, Probe)
        probability = chain.belief.step_probability(world.culprit)
        early = not settings.rates_known and chain.known.open_group is not None
        found[PHASES[0 if early else 1 + sum(probability >= limit for limit in (0.5, 0.9, 0.99))]] += 1
        failed = fails(decision.candidate)
        chain.record(decision.candidate, Observation.FAIL if failed else Observation.PASS)


def print_phases(trials: int, worlds: list[list[World]]) -> None:
    """Mean runs of each phase, with the rates unknown and with the rates given; one list of cases for each point."""
    print(f"Where the runs go, N = {STEPS}: mean runs until the true step reaches this probability")
    print("   a    b  rates    " + "  ".join(PHASES) + "  wrong%")
    for cases in worlds:
        a, b = cases[0].fail_if_good, cases[0].pass_if_bad
        for name, settings in (
            ("unknown", SearchSettings()),
            ("given", SearchSettings(fail_if_good=a, fail_if_bad=1.0 - b)),
        ):
            total = sum((phases(world, settings) for world in cases), Counter[str]())
            means = "  ".join(f"{total[phase] / trials:{len(phase)}.1f}" for phase in PHASES)
            print(f"{a:4.2f} {b:4.2f}  {name:7s}  {means}  {100 * total['wrong'] / trials:6.2f}", flush=True)
    print()


def print_early_repeats(trials: int, worlds: list[list[World]]) -> None:
    """A build costs 100 runs: builds and runs by how many early runs may look for a first contradiction."""
    print(f"Early repeated runs, N = {STEPS}, a build costs 100 runs: builds, and runs beyond them")
    print("   a    b" + "".join(f"{f'at most {most}':>16s}" for most in EARLY))
    kept = planning.FEW_REPEATS, planning.REPEAT_SHARE
    try:
        for cases in worlds:
            line = f"{cases[0].fail_if_good:4.2f} {cases[0].pass_if_bad:4.2f}"
            for most in EARLY:
                planning.FEW_REPEATS, planning.REPEAT_SHARE = most, 0.0
                rows = [_dear(world) for world in cases]
                builds, runs = (sum(column) / trials for column in zip(*rows, strict=True))
                line += f"{builds:10.1f}{runs - builds:6.1f}"
            print(line, flush=True)
    finally:
        planning.FEW_REPEATS, planning.REPEAT_SHARE = kept
    print()


def _dear(world: World) -> tuple[int, int]:
    chain, fails = ChainSearch(world.steps), world.script()
    while isinstance(decision := chain.next((), DEAR), Probe):
        failed = fails(decision.candidate)
        chain.record(decision.candidate, Observation.FAIL if failed else Observation.PASS)
    return len(chain.evidence.counts()), chain.evidence.runs
