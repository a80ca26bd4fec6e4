"""Whether identical inputs gave different outcomes for a reason outside the pins: the time, or the host. Pure.

A flaky script mixes its outcomes in any order. Where all runs of one candidate up to some moment agree, and all runs
since agree on the opposite, something changed at that moment; likewise where the host decides. How likely independent
runs are to fall into exactly this order is, at the rate that fits them best, (k/n)^k (m/n)^m for k runs of the one
outcome and m of the other, and there are n - 1 places where the change may lie. Below the error that a verdict may
have, it is said; before that, a few more runs of the candidate (on the build that exists) tell. One candidate whose
outcomes are mixed otherwise shows that the script is flaky, and then nothing is made of the order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bisector.model import Outcome

MOST_RUNS = 14
"""Runs of one candidate after which a change that is still in doubt is left to the belief."""
LEAST_BEFORE = 2
"""Runs that must agree on either side before anything is suspected; a single one is a flake as likely as not."""


@dataclass(frozen=True)
class Told:
    """One run that passed or failed: its outcome, its number in the order of starting, and the host that ran it."""

    outcome: Outcome
    number: int
    host: str = ""


@dataclass(frozen=True)
class Change:
    """Outcomes of one candidate that fall apart by time, or by host.

    Attributes:
        before, after: the outcomes on the two sides; by host, of the one group of hosts and of the other.
        count_before, count_after: how many runs each.
        since: number of the first run after the change; 0 where the host decides.
        hosts: the hosts of either side, empty where the time decides.
    """

    before: Outcome
    after: Outcome
    count_before: int
    count_after: int
    since: int = 0
    hosts: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def chance(self) -> float:
        """Probability of such an order, for independent runs at the rate that fits them best; a bound from above."""
        total = self.count_before + self.count_after
        once = (self.count_before / total) ** self.count_before * (self.count_after / total) ** self.count_after
        return min(1.0, (total - 1) * once)

    def __str__(self) -> str:
        if self.hosts[0]:
            sides = zip(self.hosts, (self.before, self.after), (self.count_before, self.count_after), strict=True)
            return ", ".join(f"{outcome} in all {count} runs on {', '.join(hosts)}" for hosts, outcome, count in sides)
        return (
            f"{self.before} in each of its first {self.count_before} runs, and {self.after} in each of the"
            f" {self.count_after} since"
        )


def change_in(runs: Sequence[Told]) -> Change | None:
    """How one candidate's outcomes fall apart, by host or by time; None where they agree, or are mixed."""
    return _by_host(runs) or _by_time(runs)


def find_change(runs: Mapping[int, Sequence[Told]], error: float) -> tuple[int, Change, bool] | None:
    """The candidate whose outcomes fall apart most clearly, how, and whether that is certain up to this error.

    Args:
        runs: of each candidate, by its index.
        error: the probability of error that is allowed.
    """
    mixed = {index: change_in(told) for index, told in runs.items() if len({one.outcome for one in told}) > 1}
    changes = [(change.chance, index, change) for index, change in mixed.items() if change is not None]
    if not changes or len(changes) < len(mixed):
        return None
    chance, index, change = min(changes, key=lambda found: found[:2])
    return index, change, chance <= error


def hosts_disagree(runs: Sequence[Told]) -> bool:
    """Whether every host always gave one outcome, and not all the same."""
    seen = {(run.host, run.outcome) for run in runs}
    return len({host for host, _ in seen}) == len(seen) and len({outcome for _, outcome in seen}) > 1


def _by_time(runs: Sequence[Told]) -> Change | None:
    ordered = sorted(runs, key=lambda run: run.number)
    turns = [index for index in range(1, len(ordered)) if ordered[index].outcome is not ordered[index - 1].outcome]
    if len(turns) != 1:
        return None
    before, after = turns[0], len(ordered) - turns[0]
    if min(before, after) < LEAST_BEFORE:
        return None
    return Change(ordered[0].outcome, ordered[-1].outcome, before, after, since=ordered[turns[0]].number)


def _by_host(runs: Sequence[Told]) -> Change | None:
    outcomes: dict[str, set[Outcome]] = {}
    for run in runs:
        outcomes.setdefault(run.host, set()).add(run.outcome)
    if len(outcomes) < 2 or any(len(seen) > 1 for seen in outcomes.values()):
        return None
    sides: Mapping[Outcome, list[Told]] = {
        outcome: [run for run in runs if run.outcome is outcome] for outcome in (Outcome.PASS, Outcome.FAIL)
    }
    one, other = sides[Outcome.PASS], sides[Outcome.FAIL]
    if min(len(one), len(other)) < LEAST_BEFORE:
        return None
    hosts = tuple(sorted({run.host for run in one})), tuple(sorted({run.host for run in other}))
    return Change(Outcome.PASS, Outcome.FAIL, len(one), len(other), hosts=hosts)
