"""Axes in the order in which a search goes along them, and what is suspected of them."""

from collections.abc import Sequence
from dataclasses import replace

from bisector.file_axes.request import INDEX
from bisector.model import Axis, AxisValue
from bisector.request import RunRequest, Suspect
from bisector.space import Chain
from pins.errors import UsageError
from pins.model import PinKind


def in_search_order(axes: tuple[Axis, ...], request: RunRequest) -> tuple[Axis, ...]:
    """The axes from good to bad: as they were named, or turned round where the fix is sought (`--first-good`).

    Then the end named first fails and the other one passes, and a search from the passing end finds, as the first bad
    step, the way back over the fix.

    Raises:
        UsageError: a suspect that is not among the pins, or not among a pin's values.
        SourceError: a repository of which changed files are suspected cannot be read.
    """
    axes = with_changed_files(axes, request.suspects)
    for suspect in request.suspects:
        _check(suspect, axes)
    if not request.first_good:
        return axes
    return tuple(replace(axis, values=axis.values[::-1], turn=axis.steps - axis.turn) for axis in axes)


def with_changed_files(axes: tuple[Axis, ...], suspects: Sequence[Suspect]) -> tuple[Axis, ...]:
    """The axes, with what commits change of the suspected paths.

    Raises:
        SourceError: a repository cannot be read.
    """
    if not any(suspect.path for suspect in suspects):
        return axes
    from bisector.git_axes import with_suspected_files

    return with_suspected_files(axes, suspects)


def _check(suspect: Suspect, axes: Sequence[Axis]) -> None:
    axis = next((axis for axis in axes if axis.pin == suspect.pin), None)
    if axis is None:
        pins = ", ".join(axis.pin for axis in axes)
        raise UsageError(f"--suspect {suspect}: {suspect.pin} is not among the pins that move: {pins}")
    if not any(_is(suspect, axis, value) for value in axis.values):
        if suspect.path:
            raise UsageError(
                f"--suspect {suspect}: no commit of {axis.pin} between its ends changes a file that {suspect.path}"
                " matches; it counts from the top of the repository, and ** stands for any directories"
            )
        shown = ", ".join(value.text for value in axis.values[:20])
        raise UsageError(
            f"--suspect {suspect}: no value of {axis.pin} between its ends is meant by that; there are {shown}"
            + (", ..." if len(axis.values) > 20 else "")
        )


def _is(suspect: Suspect, axis: Axis, value: AxisValue) -> bool:
    if suspect.path:
        return suspect.path in value.touches
    if suspect.word:
        return suspect.word.lower() in value.subject.lower()
    if not suspect.value:
        return True
    return value.text == suspect.value or (axis.kind is PinKind.GIT and value.text.startswith(suspect.value))


def weights_of(
    chain: Chain, axes: Sequence[Axis], suspects: Sequence[Suspect], *, first_good: bool = False
) -> list[float] | None:
    """A weight for each step of a chain: 1 where it moves a suspect to the suspected value, else 0.

    With `first_good` a step is known by the value that it leaves, which is the newer one. Where nobody suspects
    anything, a step onto a merge weighs as much as the commits that it brings: what lies behind a merge is a search of
    its own, and this way both together take about the logarithm of all commits. Every axis keeps the weight of its
    steps. And where named requirements move beside the time of the index, that one weighs nothing: the index stands for
    what nobody names, and each of its days is a full build. None where all steps weigh the same.
    """
    if not suspects:
        weights = _by_commits(chain, axes, first_good=first_good)
        return None if len(set(weights)) == 1 else weights
    by_pin = {axis.pin: axis for axis in axes}
    values = {(axis.pin, value.text): value for axis in axes for value in axis.values}

    def suspected(pin: str, text: str) -> bool:
        value = values.get((pin, text), AxisValue(text))
        return any(one.pin == pin and _is(one, by_pin[pin], value) for one in suspects)

    return [
        float(any(suspected(move.pin, move.old if first_good else move.new) for move in chain.moves(upper)))
        for upper in range(1, chain.steps + 1)
    ]


def _by_commits(chain: Chain, axes: Sequence[Axis], *, first_good: bool) -> list[float]:
    """A weight for each step where nobody suspects anything; of one that moves several pins the greatest."""
    weights: dict[tuple[str, str], float] = {}
    for axis in axes:
        each = axis.steps / max(1, sum(value.commits for value in axis.values) - 1)
        dated = axis.kind is PinKind.FLOAT and axis.pin == INDEX and len(axes) > 1
        for value in axis.values:
            weights[axis.pin, value.text] = 0.0 if dated else value.commits * each
    return [
        max(weights.get((move.pin, move.old if first_good else move.new), 1.0) for move in chain.moves(upper))
        for upper in range(1, chain.steps + 1)
    ]
