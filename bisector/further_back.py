"""Looking for a good end, where the user knows a bad one alone: 1, 2, 4, 8, ... values back, until one passes.

That takes about as many probes as a search between two ends that lie as far apart, and never builds what is much older
than it must be. What fails on the way back is evidence of the search that follows.
"""

from collections.abc import Callable, Sequence

from bisector.model import Candidate, Outcome

FirstOutcome = Callable[[Candidate, str], Outcome]
"""Tries a candidate once, with the reason to show for it."""


def places_back(last: int) -> list[int]:
    """The indices that are tried, the newest first: 1, 2, 4, ... before `last`, and in the end the oldest, 0."""
    found = []
    step = 1
    while step < last:
        found.append(last - step)
        step *= 2
    return [*found, 0] if last > 0 else found


def good_end(candidates: Sequence[Candidate], outcome: FirstOutcome) -> int:
    """Where a good end lies among candidates of which the last one is the bad end; the oldest where none passes.

    A bad end that does not fail is left to the search, which says so of the last step.
    """
    last = len(candidates) - 1
    if outcome(candidates[last], "bad end") is not Outcome.FAIL:
        return last - 1
    for place in places_back(last):
        back = last - place
        if outcome(candidates[place], f"looking for a good end, {back} back") is Outcome.PASS:
            return place
    return 0
