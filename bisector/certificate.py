"""The swap test: does the culprit alone break the good set, and does taking it out mend the bad set?

A chain says where good turns into bad on one path. With several pins that is not yet a cause: the step may need
others that moved before it (partners), or a second, independent culprit may stand behind it. Both are asked by
candidates off the chain, each decided by the same belief as the search, not by one run.

**Partners.** Let R be the good set with the culprit's step; R passes, and the first bad candidate of the chain fails,
which has more moves than R. So between the two there is a step again that turns good into bad: it is searched for, as
any step is, and belongs to a partner, at the first version that the failure needs. It joins R, until R fails. That
takes the logarithm of all versions for each partner, whatever the number of pins.

Where R cannot be run (its pins exclude one another, or it does not build), the pins that had moved before the culprit
are taken back one at a time instead, as long as the failure stays; what cannot be taken back is needed, and each is
searched for its own first version.

Either way the set is 1-minimal: without any single one of its steps the failure is gone.
"""

from collections.abc import Callable, Sequence
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


Stands = Callable[[Candidate, str], Standing]
"""Measures a candidate, with the reason to show for it."""
FirstBad = Callable[[Candidate, Candidate], tuple[Candidate, Candidate] | None]
"""Searches between a passing and a failing candidate; gives the last good and the first bad one, None if it cannot."""


@dataclass(frozen=True)
class Certificate:
    """What the swap test found.

    Attributes:
        alone_on_good: the culprit's step alone on the good set; "fail" means that it needs nothing else.
        removed_from_bad: the bad set with the culprit's step taken out; "pass" means that nothing else breaks it.
        partners: pins with the first values that the culprit needs them at, when it is not enough alone.
        partners_certain: whether taking any partner away was seen to mend the set.
        first_values_certain: whether each partner was seen to be enough at its value, and not before.
    """

    alone_on_good: Standing
    removed_from_bad: Standing
    partners: tuple[tuple[str, str], ...] = ()
    partners_certain: bool = True
    first_values_certain: bool = True


def certify(chain: Chain, lower: int, upper: int, stands: Stands, first_bad: FirstBad) -> Certificate:
    """Run the swap test for the step between two candidates of a chain.

    Args:
        chain: the chain that was searched.
        lower: index of the last good candidate on it.
        upper: index of the first bad one.
        stands: measures a candidate.
        first_bad: searches between two.
    """
    good, bad = chain.candidates[0], chain.candidates[-1]
    failing = chain.candidates[upper]
    moves = moves_between(chain.candidates[lower], failing)
    alone = _with(good, [(move.pin, move.new) for move in moves])
    without = _with(bad, [(move.pin, move.old) for move in moves])
    alone_on_good = stands(alone, "swap test: culprit alone on the good set")
    removed_from_bad = stands(without, "swap test: culprit taken out of the bad set")
    if alone_on_good is Standing.FAIL:
        return Certificate(alone_on_good, removed_from_bad)
    partners: dict[str, str] | None = None
    if alone_on_good is Standing.PASS:
        partners = _grown(alone, failing, stands, first_bad)
    certain = first_certain = True
    if partners is None:
        values = _values_on(chain)
        partners, certain = _pruned(good, failing, moves, (alone, alone_on_good), stands)
        partners, first_certain = _first_values(good, failing, partners, values, moves, stands, first_bad)
    elif len(partners) > 1:
        partners, certain = _pruned(good, _with(alone, list(partners.items())), moves, (alone, alone_on_good), stands)
    return Certificate(alone_on_good, removed_from_bad, tuple(partners.items()), certain, first_certain)


def _grown(alone: Candidate, failing: Candidate, stands: Stands, first_bad: FirstBad) -> dict[str, str] | None:
    """The partners, found one after the other at the first values that are needed; None where a search fails."""
    partners: dict[str, str] = {}
    required = alone
    for _ in alone:
        found = first_bad(required, failing)
        if found is None:
            return None
        joining = [(move.pin, move.new) for move in moves_between(*found)]
        partners.update(joining)
        required = _with(required, joining)
        standing = stands(required, "partners: are they enough?")
        if standing is Standing.FAIL:
            return partners
        if standing is not Standing.PASS:
            return None
    return None


def _pruned(
    good: Candidate, failing: Candidate, moves: Sequence[Move], alone: tuple[Candidate, Standing], stands: Stands
) -> tuple[dict[str, str], bool]:
    """The moved pins of a failing candidate that the failure cannot do without, and whether that is certain."""
    culprits = {move.pin for move in moves}
    needed = [pin for pin in failing if failing[pin] != good[pin] and pin not in culprits]
    current = failing
    certain = True
    changed = True
    while changed:
        changed = False
        certain = True
        for pin in list(needed):
            fewer = current.moved(pin, good[pin])
            if fewer == alone[0]:
                certain = certain and alone[1] is not Standing.NOT_RUN
                continue  # the culprit alone, which did not fail
            standing = stands(fewer, f"partners: is {pin} needed?")
            if standing is Standing.FAIL:
                current = fewer
                needed.remove(pin)
                changed = True
            elif standing is not Standing.PASS:
                certain = False
    return {pin: current[pin] for pin in needed}, certain


def _first_values(
    good: Candidate,
    failing: Candidate,
    partners: dict[str, str],
    values: dict[str, list[str]],
    moves: Sequence[Move],
    stands: Stands,
    first_bad: FirstBad,
) -> tuple[dict[str, str], bool]:
    """Each partner at the first value that is enough, the others as far as they are known."""
    culprits = {move.pin for move in moves}
    current = _with(good, [(pin, failing[pin]) for pin in failing if pin in culprits or pin in partners])
    certain = True
    for pin in partners:
        between = values[pin]
        between = between[between.index(good[pin]) : between.index(current[pin]) + 1]
        found = _first_value(pin, between, current, stands, first_bad)
        if found is None:
            certain = False
        else:
            current = current.moved(pin, found)
    return {pin: current[pin] for pin in partners}, certain


def _first_value(
    pin: str, values: Sequence[str], failing: Candidate, stands: Stands, first_bad: FirstBad
) -> str | None:
    """The first value of a pin at which a candidate fails; what cannot be resolved is not enough."""
    for value in values[1:-1]:
        standing = stands(failing.moved(pin, value), f"partners: from which {pin} on?")
        if standing is Standing.FAIL:
            return value
        if standing is Standing.PASS:
            found = first_bad(failing.moved(pin, value), failing)
            return None if found is None else found[1][pin]
        if standing is not Standing.INFEASIBLE:
            return None
    return failing[pin]


def _values_on(chain: Chain) -> dict[str, list[str]]:
    """The values of each pin, in the order in which the chain takes them."""
    return {pin: list(dict.fromkeys(candidate[pin] for candidate in chain.candidates)) for pin in chain.candidates[0]}


def _with(candidate: Candidate, pins: Sequence[tuple[str, str]]) -> Candidate:
    for pin, value in pins:
        candidate = candidate.moved(pin, value)
    return candidate
