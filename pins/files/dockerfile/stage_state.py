"""What a stage, or an image that another file builds, leaves behind for what is built from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pins.files.context import Copies
from pins.files.repositories import Checkouts
from pins.files.values import Value
from pins.model import Installed


@dataclass(slots=True)
class StageState:
    """Files and distributions of a stage.

    Attributes:
        checkouts: git checkouts in it.
        copies: what was copied where.
        installs: what happened to distributions, in order.
    """

    checkouts: Checkouts = field(default_factory=Checkouts)
    copies: Copies = field(default_factory=Copies)
    installs: list[Installed] = field(default_factory=list)

    def child(self) -> "StageState":
        """What a stage built from this one starts with."""
        return StageState(self.checkouts.child(), self.copies.child(), list(self.installs))


@dataclass(frozen=True, slots=True)
class Inherited:
    """What an image built from another file brings along.

    Attributes:
        values: its ENV.
        workdir: its working directory.
        state: its files and distributions.
        files: the files that its values are written in, by path.
    """

    values: Mapping[str, Value]
    workdir: str = ""
    state: StageState = field(default_factory=StageState)
    files: Mapping[str, bytes] = field(default_factory=dict)
