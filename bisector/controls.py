"""What a search along the run's own chain does besides its own choices: measure the ends, and look for drift. Pure.

Each function answers with a probe that is due before anything else, or None.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bisector.bracket import CONTROL, Ending
from bisector.drift import MOST_RUNS, Change, Told, find_change, hosts_disagree
from bisector.metric import END_RUNS
from bisector.model import Outcome
from bisector.record import Shown, Tried
from bisector.report.model import Verdict
from bisector.request import RunRequest
from bisector.search import Conclusion, Costs, Probe, Wait
from bisector.space import Chain

CHEAP_RUN = 0.05
"""Share of a build up to which a run is cheap: then an end is run again after every so many runs."""
RUNS_BETWEEN_CONTROLS = 12

CHANGED = "again: did something outside the pins change?"
COMPARISON = "on the same host as its neighbour, before it is blamed"

Runs = Mapping[int, Sequence[Told]]
"""Every run on the chain that passed or failed, in order, by candidate."""


@dataclass(frozen=True)
class HostProbe(Probe):
    """A probe that is to be run on one host."""

    host: str = ""


def to_measure(
    request: RunRequest, chain: Chain, known: Callable[[int], Tried | None], flying: Sequence[int]
) -> Probe | Wait | None:
    """The ends come first, several times, where the limit of a metric is taken from them."""
    if request.metric is None or request.metric.regress is None:
        return None
    waiting = False
    for end, name in ((0, "good end"), (chain.steps, "bad end")):
        tried = known(end)
        done = len(tried.shown) if tried is not None else 0
        if done + flying.count(end) < END_RUNS:
            return Probe(end, name if tried is None else f"{name} again: its noise")
        waiting = waiting or done < END_RUNS
    return Wait() if waiting else None


def to_watch(chain: Chain, told: Runs, costs: Costs) -> Probe | None:
    """An end once more, now and then, where a run costs next to nothing beside a build: does it still hold?"""
    if costs.run > CHEAP_RUN * costs.build:
        return None
    last = {end: told[end][-1].number for end in (0, chain.steps) if told.get(end)}
    latest = max((runs[-1].number for runs in told.values() if runs), default=0)
    if len(last) < 2 or latest - max(last.values()) < RUNS_BETWEEN_CONTROLS:
        return None
    end = min(last, key=lambda each: last[each])
    return Probe(end, f"{'good' if end == 0 else 'bad'} end once more: is it as it was?")


def to_repeat_a_hang(runs: Mapping[int, Sequence[Shown]], bad_end: int, hosts: Sequence[str]) -> Probe | None:
    """A candidate whose time ran out, on another host: does the device hang, or the candidate?

    Args:
        runs: of each candidate, by its index.
        bad_end: index of the bad end: where that hangs on several hosts, a hang is the candidate's.
        hosts: those in use.
    """
    if len(hosts) < 2 or len(_hung(runs.get(bad_end, ()))) > 1:
        return None
    for index, shown in runs.items():
        if _hung(shown) and len({one.host for one in shown}) == 1 and (host := _another(shown, hosts)):
            return HostProbe(index, "on another host: its time ran out", host)
    return None


def hosts_that_hang(shown: Sequence[Shown]) -> set[str]:
    """The hosts on which the time of a candidate ran out that ended on another."""
    hung = _hung(shown)
    return hung if {one.host for one in shown if one.observation.kind in ("pass", "fail")} - hung else set()


def _hung(shown: Sequence[Shown]) -> set[str]:
    return {one.host for one in shown if one.observation.kind == "timeout"}


def to_settle_hosts(told: Runs, hosts: Sequence[str]) -> Probe | None:
    """A candidate on which hosts disagree, once more on the side that has run it less; before anything else is tried.

    Args:
        told: every run.
        hosts: those in use.
    """
    for index, runs in told.items():
        if not hosts_disagree(runs):
            continue
        sides = [[run for run in runs if run.outcome is outcome] for outcome in (Outcome.PASS, Outcome.FAIL)]
        fewer = min(sides, key=len)
        there = [host for host in hosts if any(run.host == host for run in fewer)]
        if there and len(fewer) < MOST_RUNS // 2:
            return HostProbe(index, CHANGED, there[0])
    return None


def to_look_into_a_change(request: RunRequest, told: Runs) -> Probe | None:
    """One more run of a candidate whose outcomes fall apart by time, to tell that from a flaky script."""
    found = find_change(told, 1.0 - request.confidence)
    if found is None or found[2] or len(told[found[0]]) >= MOST_RUNS:
        return None
    return Probe(found[0], CHANGED)


def changed(
    request: RunRequest, chain: Chain, told: Runs, differences: Callable[[Change], str] = lambda _: ""
) -> Ending | None:
    """The ending where identical inputs gave different outcomes for a reason outside the pins.

    Args:
        request: what was asked for.
        chain: the candidates.
        told: every run.
        differences: what is known to differ between the hosts of a change, "" for nothing.
    """
    found = find_change(told, 1.0 - request.confidence)
    if found is None or not found[2]:
        return None
    index, change, _ = found
    what = "something outside the pins changed during the run"
    if change.hosts[0]:
        differs = differences(change)
        what = f"hosts differ ({differs})" if differs else "hosts differ, in nothing that is recorded of them"
    return Ending(
        Verdict.ENVIRONMENT,
        reason=f"identical inputs, different outcomes: {chain.candidates[index]} was {change}; {what}",
    )


def to_control(
    request: RunRequest, chain: Chain, conclusion: Conclusion, told: Runs, hosts: Sequence[str] = ()
) -> Probe | None:
    """The bad end once more before anything is blamed (an A/A control), where its last run is not the latest.

    Where there are several hosts, it runs on one that it has not run on.
    """
    if conclusion.kind not in ("culprit", "range") or request.repeat == 1:
        return None
    last = max((run.number for run in told.get(chain.steps, ())), default=0)
    searched = [runs[0].number for index, runs in told.items() if index != chain.steps and runs]
    if not last or last > max(searched, default=0):
        return None
    return HostProbe(chain.steps, CONTROL, _another(told[chain.steps], hosts))


def to_compare(chain: Chain, conclusion: Conclusion, told: Runs, hosts: Sequence[str]) -> Probe | None:
    """What is to be run on a further host, before a conclusion rests on a difference between hosts.

    Culprit and predecessor must have run on one host; an end that shows what it should not, on two where there are two.
    """
    if len(hosts) < 2:
        return None
    if conclusion.kind in ("culprit", "range"):
        lower, upper = told.get(conclusion.lower, ()), told.get(conclusion.upper, ())
        good, bad = {run.host for run in lower}, {run.host for run in upper}
        if not good or not bad or good & bad:
            return None
        for index, there in ((conclusion.upper, good), (conclusion.lower, bad)):
            for host in hosts:
                if host in there:
                    return HostProbe(index, COMPARISON, host)
        return None
    strange = {"none": (chain.steps,), "all-bad": (0,), "swapped": (0, chain.steps)}.get(conclusion.kind, ())
    for end in strange:
        runs = told.get(end, ())
        if runs and len({run.host for run in runs}) == 1 and (host := _another(runs, hosts)):
            return HostProbe(end, "the same on another host", host)
    return None


def _another(runs: Sequence[Told | Shown], hosts: Sequence[str]) -> str:
    """A host that none of the runs was on, "" where there is none."""
    seen = {run.host for run in runs}
    return next((host for host in hosts if host not in seen), "")
