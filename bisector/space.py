"""The space that is searched: axes, and a chain through the box between their ends.

A chain makes every search one-dimensional: it starts at the good end, ends at the bad end, and moves **one pin per
step** (or the pins that exclude one another otherwise, together). "First bad" is then well defined even where pins
interact: between a pass and a fail there is always a step that turns one into the other.

Order *pins*: one pin runs through all its versions, then the next. A search then builds few distinct versions
(DESIGN: the search). Which pin goes first is decided by what can be resolved at the corners of the box, where whole
pins have moved: an order whose corners all resolve leaves the most candidates testable.

Order *time*: the pins move as their values came to be. It builds more distinct versions, but only combinations that
once existed together; taken where the other order leaves a range of candidates that do not build.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from bisector.model import Axis, Candidate
from bisector.report.model import Move

MOST_CORNERS = 200
"""Corners asked of the resolver before the order is taken as it stands."""


@dataclass(frozen=True)
class Chain:
    """A path from the good end (first) to the bad end (last), one move a step."""

    candidates: tuple[Candidate, ...]

    @property
    def steps(self) -> int:
        """Candidates less one."""
        return len(self.candidates) - 1

    def moves(self, upper: int) -> tuple[Move, ...]:
        """What moves in the step that ends at candidate `upper` (1 to `steps`)."""
        return moves_between(self.candidates[upper - 1], self.candidates[upper])

    def index(self, candidate: Candidate) -> int | None:
        """Where a candidate stands on the chain, None where it does not."""
        try:
            return self.candidates.index(candidate)
        except ValueError:
            return None


def moves_between(lower: Candidate, upper: Candidate) -> tuple[Move, ...]:
    """The pins that differ between two candidates, the first of them as the one that the others move with."""
    moved = [(pin, lower[pin], upper[pin]) for pin in lower if lower[pin] != upper[pin]]
    first = moved[0][0] if moved else ""
    return tuple(Move(pin, old, new, forced_by="" if pin == first else first) for pin, old, new in moved)


def ends(axes: Sequence[Axis]) -> tuple[Candidate, Candidate]:
    """The good end and the bad end."""
    return (
        Candidate(tuple((axis.pin, axis.good) for axis in axes)),
        Candidate(tuple((axis.pin, axis.bad) for axis in axes)),
    )


def corner(axes: Sequence[Axis], moved: Iterable[str]) -> Candidate:
    """The good end with whole pins moved to their bad values."""
    at_bad = set(moved)
    return Candidate(tuple((axis.pin, axis.bad if axis.pin in at_bad else axis.good) for axis in axes))


def order_of_pins(axes: Sequence[Axis], feasible: Callable[[Candidate], bool]) -> tuple[tuple[Axis, ...], ...]:
    """Groups of axes in the order in which they move, so that every corner between them is feasible if possible.

    A group has one axis unless no remaining axis can move alone; then it is the smallest set that can, the earliest
    in the given order. `feasible` is asked at most `MOST_CORNERS` times; what remains then moves one by one as given.
    """
    remaining = list(axes)
    moved: list[str] = []
    groups: list[tuple[Axis, ...]] = []
    asked = 0
    while len(remaining) > 1:
        group: tuple[Axis, ...] = ()
        for size in range(1, len(remaining)):
            for choice in combinations(remaining, size):
                if asked >= MOST_CORNERS:
                    return (*groups, *((axis,) for axis in remaining))
                asked += 1
                if feasible(corner(axes, [*moved, *(axis.pin for axis in choice)])):
                    group = choice
                    break
            if group:
                break
        group = group or tuple(remaining)
        groups.append(group)
        moved += [axis.pin for axis in group]
        remaining = [axis for axis in remaining if axis not in group]
    if remaining:
        groups.append(tuple(remaining))
    return tuple(groups)


def chain_through(
    axes: Sequence[Axis],
    groups: Sequence[Sequence[Axis]],
    feasible: Callable[[Candidate], bool] | None = None,
) -> Chain:
    """The chain that moves the groups one after the other.

    A group of several axes moves by closure: its first axis goes up by one value, then the others by as little as
    makes the whole feasible. Where nothing does, the candidate is left out and its move joins the next one.
    """
    at, _ = ends(axes)
    path = [at]
    for group in groups:
        if len(group) == 1:
            for value in group[0].values[1:]:
                at = at.moved(group[0].pin, value.text)
                path.append(at)
        else:
            path += _closure(at, group, feasible)
            at = path[-1]
    return Chain(tuple(path))


def without_infeasible(chain: Chain, feasible: Callable[[Candidate], bool]) -> Chain:
    """The chain without the candidates between its ends that cannot be: what moves there moves in one step."""
    first, *between, last = chain.candidates
    return Chain((first, *(candidate for candidate in between if feasible(candidate)), last))


def chain_in_time(axes: Sequence[Axis]) -> Chain | None:
    """The chain that moves the pins as their values came to be: combinations that once were the newest together.

    None where that is not known of a value, or where one pin alone moves. A value older than the one before it on its
    axis (a maintenance release) counts as new as that one. Values of one moment move in the order of the axes.
    """
    if sum(axis.steps > 0 for axis in axes) < 2:
        return None
    moves: list[tuple[datetime, int, int]] = []
    for place, axis in enumerate(axes):
        reached: datetime | None = None
        for index, value in enumerate(axis.values[1:], start=1):
            if value.date is None:
                return None
            reached = value.date if reached is None else max(reached, value.date)
            moves.append((reached, place, index))
    at, _ = ends(axes)
    path = [at]
    for _, place, index in sorted(moves):
        at = at.moved(axes[place].pin, axes[place].values[index].text)
        path.append(at)
    return Chain(tuple(path))


def _closure(start: Candidate, group: Sequence[Axis], feasible: Callable[[Candidate], bool] | None) -> list[Candidate]:
    leader, *followers = group
    positions = {axis.pin: 0 for axis in group}
    path: list[Candidate] = []
    last = {axis.pin: axis.steps for axis in group}

    def at(where: dict[str, int]) -> Candidate:
        candidate = start
        for axis in group:
            candidate = candidate.moved(axis.pin, axis.values[where[axis.pin]].text)
        return candidate

    while positions[leader.pin] < last[leader.pin]:
        positions = {**positions, leader.pin: positions[leader.pin] + 1}
        found = _least_feasible(positions, followers, at, feasible)
        if found is not None:
            positions = found
            path.append(at(positions))
    for follower in followers:
        while positions[follower.pin] < last[follower.pin]:
            positions = {**positions, follower.pin: positions[follower.pin] + 1}
            if feasible is None or positions == last or feasible(at(positions)):
                path.append(at(positions))
    if not path or path[-1] != at(last):
        path.append(at(last))
    return path


def _least_feasible(
    positions: dict[str, int],
    followers: Sequence[Axis],
    at: Callable[[dict[str, int]], Candidate],
    feasible: Callable[[Candidate], bool] | None,
) -> dict[str, int] | None:
    """The positions with the followers raised as little as makes them feasible: first one of them, then all."""
    if feasible is None or feasible(at(positions)):
        return positions
    for follower in followers:
        for position in range(positions[follower.pin] + 1, follower.steps + 1):
            raised = {**positions, follower.pin: position}
            if feasible(at(raised)):
                return raised
    everything = {**positions, **{follower.pin: follower.steps for follower in followers}}
    return everything if feasible(at(everything)) else None
