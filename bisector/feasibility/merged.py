"""Steps of a chain in which more moves than one pin by one value, since nothing that can be lies between."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bisector.model import Axis, Candidate, short_text
from bisector.report.model import Move
from bisector.space import Chain


@dataclass(frozen=True)
class MergedStep:
    """One step.

    Attributes:
        moves: what moves in it.
        passed_by: (pin, value) between its ends that no candidate of the chain has.
        reason: why a candidate in between cannot be, "" where nobody was asked.
    """

    moves: tuple[Move, ...]
    passed_by: tuple[tuple[str, str], ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        said = ", ".join(f"{move.pin} {short_text(move.old)} -> {short_text(move.new)}" for move in self.moves)
        if self.passed_by:
            values = [short_text(value) for _, value in self.passed_by]
            shown = [*values[:3], f"... {len(values) - 4} more ...", values[-1]] if len(values) > 5 else values
            said += f", past {', '.join(shown)}"
        return said + (f": {self.reason}" if self.reason else "")


def merged_steps(axes: Sequence[Axis], chain: Chain, reasons: Mapping[Candidate, str]) -> tuple[MergedStep, ...]:
    """The steps that are more than one pin by one value, with the reason of the first candidate that lies between.

    Args:
        axes: the pins, with all their values.
        chain: a chain through them.
        reasons: candidates that cannot be, and why.
    """
    places = {axis.pin: {value.text: place for place, value in enumerate(axis.values)} for axis in axes}
    found = []
    for upper in range(1, chain.steps + 1):
        low, high = chain.candidates[upper - 1], chain.candidates[upper]
        moves = chain.moves(upper)
        passed = tuple(
            (axis.pin, value.text)
            for axis in axes
            for value in axis.values[places[axis.pin][low[axis.pin]] + 1 : places[axis.pin][high[axis.pin]]]
        )
        if len(moves) > 1 or passed:
            alone = low.moved(moves[0].pin, moves[0].new)
            between = [alone, *(one for one in reasons if _lies_between(one, low, high, places))]
            reason = next((reasons[one] for one in between if one in reasons), "")
            found.append(MergedStep(moves, passed, reason))
    return tuple(found)


def _lies_between(one: Candidate, low: Candidate, high: Candidate, places: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether each pin of a candidate is between those of two others."""
    return one not in (low, high) and all(
        places[pin][low[pin]] <= places[pin].get(value, -1) <= places[pin][high[pin]] for pin, value in one.items()
    )
