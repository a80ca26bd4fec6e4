"""What is to be said of a git axis whose ends lie on different branches."""

from collections.abc import Sequence

from bisector.model import Axis, short_text
from bisector.report.wording import count
from pins.model import PinKind


def divergences(axes: Sequence[Axis]) -> list[str]:
    """The same of every axis, as far as there is something to say."""
    return [said for said in map(divergence, axes) if said]


def divergence(axis: Axis, first_bad: str = "") -> str:
    """Which sides are searched, and on which one the culprit was found; "" where the ends lie on one branch.

    Args:
        axis: as it was searched.
        first_bad: the value that was found to be the first bad one, "" where none was.
    """
    if not axis.turn or axis.kind is not PinKind.GIT:
        return ""
    back, forward = axis.turn, axis.steps - axis.turn
    if not forward:
        return f"{axis.pin}: the bad end is older than the good one, so that the way from one to the other goes back"
    base = short_text(axis.values[axis.turn].text)
    said = (
        f"{axis.pin}: the ends are on different branches, which part at {base}; searched are the"
        f" {count(back, 'step')} by which the good end's branch goes back there, and the {count(forward, 'step')}"
        " from there to the bad end"
    )
    if not first_bad:
        return said
    side = "good" if axis.goes_back(first_bad) else "bad"
    return f"{said}. What was found is on the {side} end's side"
