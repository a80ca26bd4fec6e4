"""How likely an untried candidate can be tested, judging by its neighbours.

Candidates that do not build, or whose runs tell nothing, come in ranges: something is broken at one step and mended at
a later one. So along the chain the status is taken for a two-state Markov process, a mixture over the mean length of a
broken range (`length`) and the broken share of the chain (`share`): from one candidate to the next a broken one is
mended with probability 1 / length, and a sound one breaks with probability share / (1 - share) / length. Over d
candidates the memory of the present status fades as m^d with m = 1 - 1/length - share / (1 - share) / length, and
between two known statuses the bridge of the process gives the probability of either. The known statuses weigh the
mixture's members, so a chain whose candidates alternate (length 1, m close to -1) is recognised as quickly as one long
broken range.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

LENGTHS = (1.5, 4.0, 12.0, 40.0, 120.0, 400.0, 1200.0, 4000.0, 12000.0)
SHARES = (0.05, 0.15, 0.3)
ALTERNATING = (1.02, 0.48)
NEGLIGIBLE = 1e-3


@dataclass(frozen=True)
class _Ranges:
    """One member of the mixture."""

    broken: float
    """Long-run share of broken candidates."""
    memory: float

    def stays_or_turns(self, broken_before: bool, broken_after: bool, distance: int) -> float:
        """P(status after `distance` candidates | status before)."""
        share = self.broken if broken_after else 1.0 - self.broken
        faded = self.memory**distance
        return share + (1.0 - share) * faded if broken_before == broken_after else share * (1.0 - faded)


def _members(steps: int) -> list[_Ranges]:
    pairs = [(length, share) for length in LENGTHS if length <= max(4.0, steps / 2.0) for share in SHARES]
    return [
        _Ranges(share, 1.0 - 1.0 / length - share / (1.0 - share) / length) for length, share in [*pairs, ALTERNATING]
    ]


class Prospects:
    """Probability that candidates can be tested; `statuses` is (candidate, whether it could), ascending."""

    def __init__(self, steps: int, statuses: Sequence[tuple[int, bool]]) -> None:
        """Weigh the mixture by what is known."""
        self._known = [candidate for candidate, _ in statuses]
        self._broken = [not sound for _, sound in statuses]
        self._mixture: list[tuple[float, _Ranges]] = []
        if any(self._broken):
            self._mixture = self._weigh(_members(steps))

    def _weigh(self, members: list[_Ranges]) -> list[tuple[float, _Ranges]]:
        logs = []
        for member in members:
            log = math.log(member.broken if self._broken[0] else 1.0 - member.broken)
            for index in range(1, len(self._known)):
                distance = self._known[index] - self._known[index - 1]
                chance = member.stays_or_turns(self._broken[index - 1], self._broken[index], distance)
                log += math.log(max(1e-300, chance))
            logs.append(log)
        highest = max(logs)
        kept = [
            (math.exp(log - highest), member)
            for log, member in zip(logs, members, strict=True)
            if log - highest > math.log(NEGLIGIBLE)
        ]
        total = math.fsum(weight for weight, _ in kept)
        return [(weight / total, member) for weight, member in kept]

    def __call__(self, candidate: int) -> float:
        """Probability that a run of this candidate will pass or fail."""
        if not self._mixture:
            return 1.0
        index = bisect_left(self._known, candidate)
        if index < len(self._known) and self._known[index] == candidate:
            return 0.0 if self._broken[index] else 1.0
        found = 0.0
        for weight, member in self._mixture:
            sound, broken = 1.0 - member.broken, member.broken
            if index > 0:
                before, distance = self._broken[index - 1], candidate - self._known[index - 1]
                sound = member.stays_or_turns(before, False, distance)
                broken = member.stays_or_turns(before, True, distance)
            if index < len(self._known):
                after, distance = self._broken[index], self._known[index] - candidate
                sound *= member.stays_or_turns(False, after, distance)
                broken *= member.stays_or_turns(True, after, distance)
            if sound + broken > 0.0:
                found += weight * sound / (sound + broken)
        return found
