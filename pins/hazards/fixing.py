"""Make the edits that rules propose, as far as they do not touch each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from pins.files.edit import Edit, apply
from pins.files.patch import unified_diff
from pins.hazards.model import Hazard
from pins.hazards.subject import Subject


@dataclass(frozen=True)
class Fixed:
    """A file with edits made.

    Attributes:
        file: the file.
        before: its bytes.
        after: what they would become.
        fixed: the findings whose edits were made.
        left: those whose edits touch others': a second run makes them.
    """

    file: str
    before: bytes
    after: bytes
    fixed: tuple[Hazard, ...]
    left: tuple[Hazard, ...]

    @property
    def patch(self) -> bytes:
        """The change, as a patch."""
        return unified_diff(self.before, self.after, self.file.lstrip("/"))


def fix(subject: Subject, hazards: Sequence[Hazard]) -> Fixed:
    """Make the edits of a file's findings, in the order of lines."""
    taken: list[Edit] = []
    fixed: list[Hazard] = []
    left: list[Hazard] = []
    for hazard in hazards:
        if hazard.file != subject.file or not hazard.edits or hazard.ignored:
            continue
        new = [edit for edit in hazard.edits if edit not in taken]
        if any(_touch(edit, other) for edit in new for other in taken):
            left.append(hazard)
            continue
        taken.extend(new)
        fixed.append(hazard)
    return Fixed(subject.file, subject.data, apply(subject.data, taken), tuple(fixed), tuple(left))


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two edits change the same bytes; two insertions in one place stand one after the other."""
    return one.start < other.end and other.start < one.end
