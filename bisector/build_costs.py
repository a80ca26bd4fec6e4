"""What a build takes, learned from the builds so far, by what changed. Pure.

A build that is like an earlier one but for some pins repeats the work from the first of their layers on. So it takes as
long as the most expensive of the changed pins, each with all that comes after it: a set of pins S takes the greatest
c(p) with p in S. From builds with the changes S_i that took t_i seconds, every c(p) is at most the least t_i with p in
S_i, and these bounds are the greatest solution (residuation in the max-plus algebra: Cuninghame-Green, *Minimax
algebra*, 1979). An early layer thus comes out dearer than a late one, and where all builds take alike, all come out so.
"""

from collections.abc import Sequence
from statistics import median

from bisector.model import Candidate


class BuildCosts:
    """What was learned from builds, told in their order."""

    def __init__(self) -> None:
        """Nothing was built."""
        self._built: list[Candidate] = []
        self._samples: list[tuple[frozenset[str], float]] = []
        self._least: dict[str, float] = {}
        self._seconds: dict[str, float] | None = None

    def tell(self, candidate: Candidate, seconds: float) -> None:
        """A build has ended."""
        changed = self._changed(candidate)
        for pin in changed:
            self._least[pin] = min(seconds, self._least.get(pin, seconds))
        self._built.append(candidate)
        self._samples.append((changed, seconds))
        self._seconds = None

    def __call__(self, candidate: Candidate) -> float:
        """Expected seconds of building a candidate, by what would change."""
        return max((self.seconds.get(pin, 0.0) for pin in self._changed(candidate)), default=0.0)

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of a build in which this pin changes, with all that is made after it.

        The bound says which pin a build's time is due to; of all builds that are due to a pin, the median counts.
        """
        if self._seconds is None:
            due: dict[str, list[float]] = {}
            for changed, seconds in self._samples:
                if changed:
                    due.setdefault(max(sorted(changed), key=self._least.__getitem__), []).append(seconds)
            self._seconds = {pin: median(due[pin]) if pin in due else least for pin, least in self._least.items()}
        return self._seconds

    def _changed(self, candidate: Candidate) -> frozenset[str]:
        """The pins in which a candidate differs from the earlier build that it costs the least to start from."""
        if not self._built:
            return frozenset(candidate)
        different = [
            frozenset(pin for pin in candidate if earlier.get(pin) != candidate[pin]) for earlier in self._built
        ]
        return min(
            different, key=lambda pins: (max((self._least.get(pin, 0.0) for pin in pins), default=0.0), len(pins))
        )


def turns_of(candidates: Sequence[Candidate]) -> tuple[int, ...]:
    """The candidates of a chain up to which one pin moves, and from which on another does."""
    moved = ""
    turns = []
    for upper in range(1, len(candidates)):
        lower, now = candidates[upper - 1], candidates[upper]
        pin = next((pin for pin in now if now[pin] != lower[pin]), "")
        if moved and pin != moved:
            turns.append(upper - 1)
        moved = pin
    return tuple(turns)
