"""The axes of a file space: its texts, the time of the index, then its pins in the order in which a build uses them.

While a pin moves, those before it on the chain have their bad values and those after it their good ones. So whatever a
build does before it comes to that pin is as at the bad end, and is in the builder's cache: a late layer is tried on
early layers that are there. In any other order an early pin that stays at its good value has them built once more.
"""

from collections.abc import Callable, Sequence

from bisector.file_axes.request import INDEX
from bisector.file_axes.slots import Slot, value_of
from bisector.file_axes.space import FilePart, FileSpace
from bisector.file_axes.values import Releases, package_values, values_in_history
from bisector.model import Axis, AxisValue
from pins.errors import PinsError
from pins.model import Pin, PinKind

GitAxis = Callable[[Sequence[str], str, str, str], Axis]
"""The commits between two revisions: (names of the pin, its axis' first; repository; good end; bad end)."""


def file_axes(
    space: FileSpace, releases: Releases, git_axis: GitAxis | None = None
) -> tuple[tuple[Axis, ...], list[str]]:
    """Every axis, with what the user should know of them.

    Args:
        space: the files.
        releases: of packages.
        git_axis: of repositories; None where none is read: then a git pin takes the values that the file has held.
    """
    notes: list[str] = []
    texts: list[Axis] = []
    pins: list[Axis] = []
    for part in space.parts:
        if part.has_text_axis:
            values = tuple(AxisValue(version.name, version.date, version.subject) for version in part.texts)
            texts.append(Axis(part.text, PinKind.TEXT, values))
        found = [
            (_first_use(bad), _pin_axis(part, slot, good, bad, releases, git_axis, notes))
            for slot, good, bad in part.moving
        ]
        found += [(_first_use(each.pin), Axis(each.slot.name, PinKind.FLOAT, each.values)) for each in part.floats]
        pins += [axis for _, axis in sorted(found, key=lambda entry: entry[0])]
    index = [Axis(INDEX, PinKind.FLOAT, space.index)] if space.index else []
    return (*texts, *index, *pins), notes


def _first_use(pin: Pin) -> tuple[int, int]:
    """The line of the first command that takes a pin, then the pin's own: a stage stands below those it builds on."""
    return min((use.line for use in pin.uses if use.runs is not False), default=pin.line), pin.line


def _pin_axis(
    part: FilePart,
    slot: Slot,
    good: Pin,
    bad: Pin,
    releases: Releases,
    git_axis: GitAxis | None,
    notes: list[str],
) -> Axis:
    history = part.history
    if slot.kind is PinKind.PACKAGE:
        found = package_values(slot, good, bad, history, releases)
        notes += [found.note] if found.note else []
        return Axis(slot.name, slot.kind, found.values)
    if slot.kind is PinKind.GIT and git_axis is not None and bad.repo:
        try:
            names = (slot.name, *slot.names, *filter(None, slot.variables))
            return git_axis(names, bad.repo, value_of(good), value_of(bad))
        except PinsError as error:
            notes.append(f"{slot.name}: only the revisions that the file has held, for {error}")
    return Axis(slot.name, slot.kind, values_in_history(slot, good, bad, history))
