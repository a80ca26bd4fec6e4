"""The swap test: does the culprit alone break the good set, and does taking it out mend the bad set?

A chain says where good turns into bad on one path. With several pins that is not yet a cause: the step may need
others that moved before it (partners), or a second, independent culprit may stand behind it. Both are asked by
candidates off the chain, each decided by the same belief as the search, not by one run.

Partners: the pins that had moved before the culprit are taken back one at a time, as long as the failure stays; what
cannot be taken back is needed. The set is 1-minimal: without any single one of them the failure is gone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bisector.model import Candidate
from bisector.report.model import Move
from bisector.space import Chain, moves_between


class Standing(StrEnum):
    """How a candidate of the swap test stands."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    INFEASIBLE = "infeasible"
    NOT_RUN = "not-run"
    """It could not be told: it does not build, fails in another way, or its runs contradict one another."""


@dataclass(frozen=True)
class Certificate:
    """What the swap test found.

    Attributes:
        alone_on_good: the culprit's step alone on the good set; "fail" means that it needs nothing else.
        removed_from_bad: the bad set with the culprit's step taken out; "pass" means that nothing else breaks it.
        partners: pins with the values that the culprit needs them at, when it is not enough alone.
        partners_certain: whether taking any partner away was seen to mend the set.
    """

    alone_on_good: Standing
    removed_from_bad: Standing
    partners: tuple[tuple[str, str], ...] = ()
    partners_certain: bool = True


def certify(chain: Chain, lower: int, upper: int, stands: Callable[[Candidate, str], Standing]) -> Certificate:
    """Run the swap test for the step between two candidates of a chain.

    Args:
        chain: the chain that was searched.
        lower: index of the last good candidate on it.
        upper: index of the first bad one.
        stands: measures a candidate (with the reason to show for it).
    """
    good, bad = chain.candidates[0], chain.candidates[-1]
    moves = moves_between(chain.candidates[lower], chain.candidates[upper])
    alone = _with(good, [(move.pin, move.new) for move in moves])
    without = _with(bad, [(move.pin, move.old) for move in moves])
    alone_on_good = stands(alone, "swap test: culprit alone on the good set")
    removed_from_bad = stands(without, "swap test: culprit taken out of the bad set")
    if alone_on_good is Standing.FAIL:
        return Certificate(alone_on_good, removed_from_bad)
    partners, certain = _partners(good, chain.candidates[upper], moves, stands)
    return Certificate(alone_on_good, removed_from_bad, partners, certain)


def _partners(
    good: Candidate, failing: Candidate, moves: tuple[Move, ...], stands: Callable[[Candidate, str], Standing]
) -> tuple[tuple[tuple[str, str], ...], bool]:
    """The moved pins that the failure cannot do without."""
    culprits = {move.pin for move in moves}
    needed = [pin for pin in failing if failing[pin] != good[pin] and pin not in culprits]
    current = failing
    certain = True
    changed = True
    while changed:
        changed = False
        certain = True
        for pin in list(needed):
            if len(needed) == 1 and _with(current, [(pin, good[pin])]) == _with(good, [(m.pin, m.new) for m in moves]):
                continue  # that is the culprit alone, which did not fail
            fewer = current.moved(pin, good[pin])
            standing = stands(fewer, f"partners: is {pin} needed?")
            if standing is Standing.FAIL:
                current = fewer
                needed.remove(pin)
                changed = True
            elif standing is not Standing.PASS:
                certain = False
    return tuple((pin, current[pin]) for pin in needed), certain


def _with(candidate: Candidate, pins: list[tuple[str, str]]) -> Candidate:
    for pin, value in pins:
        candidate = candidate.moved(pin, value)
    return candidate
