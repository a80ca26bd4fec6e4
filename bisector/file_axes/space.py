"""What a candidate from files is made of: for each file its versions, the pins that are set in it, and its text."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from bisector.file_axes.floats import Float, floating, read_time
from bisector.file_axes.rendering import rendered
from bisector.file_axes.request import INDEX
from bisector.file_axes.slots import Difference, Slot
from bisector.file_axes.versions import History, Version
from bisector.model import AxisValue
from pins.model import Pin

TEXT = "text"
"""The axis of what remains of a file beside its pins."""


@dataclass(frozen=True)
class FilePart:
    """One file of a candidate.

    Attributes:
        history: its versions.
        difference: what differs between its ends.
        moving: slots of the pins that are axes, with their ends.
        fixed: slots of pins that are held still.
        floats: requirements that the file leaves open, as axes.
        texts: the versions of a text axis, good end first; fewer than two where there is no such axis.
        text: name of that axis.
        argument: the ARG of the next file that takes the image of this one, "" for the last file.
        target: the stage that is built, "" for the request's.
    """

    history: History
    difference: Difference
    moving: tuple[tuple[Slot, Pin, Pin], ...]
    fixed: tuple[Slot, ...] = ()
    floats: tuple[Float, ...] = ()
    texts: tuple[Version, ...] = ()
    text: str = TEXT
    argument: str = ""
    target: str = ""

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All slots that a candidate may set."""
        return (*(slot for slot, _, _ in self.moving), *(each.slot for each in self.floats), *self.fixed)

    @property
    def has_text_axis(self) -> bool:
        """Whether the rest of the file is an axis."""
        return len(self.texts) > 1

    def version(self, candidate: Mapping[str, str]) -> Version:
        """The version whose text a candidate has: the bad end's unless its text says otherwise."""
        name = candidate.get(self.text) if self.has_text_axis else None
        if name is None or name == self.texts[-1].name:  # the last one says what the bad end says
            return self.history.bad
        return self.history.by_name[name]

    def render(self, candidate: Mapping[str, str]) -> bytes:
        """The file of a candidate.

        Raises:
            InfeasibleError: it cannot be made.
        """
        return rendered(self.version(candidate), self.slots, candidate)


@dataclass(frozen=True)
class FileSpace:
    """All files of a candidate, those first that the others are built on.

    Attributes:
        parts: the files.
        notes: what the user should know of the ends.
        index: the times as of which package indexes are read, where that is an axis, too.
    """

    parts: tuple[FilePart, ...]
    notes: tuple[str, ...] = ()
    index: tuple[AxisValue, ...] = ()

    @cached_property
    def pins(self) -> tuple[str, ...]:
        """Names of the axes: the texts, the time of the index, then the pins."""
        texts = [part.text for part in self.parts if part.has_text_axis]
        pins = [slot.name for part in self.parts for slot in part.slots if slot not in part.fixed]
        return (*texts, *([INDEX] if self.index else []), *pins)

    @cached_property
    def floating(self) -> tuple[Pin, ...]:
        """The requirements that the files of the bad end leave open."""
        return tuple(pin for part in self.parts for pin in floating(part.history.bad.pins))

    def index_time(self, candidate: Mapping[str, str]) -> datetime | None:
        """The time as of which a candidate's build reads package indexes, None where that is no axis.

        A version that a requirement is set to must be there: where it was uploaded later, the index is read as of then.
        """
        if not self.index or INDEX not in candidate:
            return None
        chosen = [
            value.date + timedelta(seconds=1)
            for part in self.parts
            for each in part.floats
            for value in each.values
            if value.text == candidate.get(each.slot.name) and value.date is not None
        ]
        return max([read_time(candidate[INDEX]), *chosen])
