"""What a stage, or an image that another file builds, leaves behind for what is built from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pins.files.context import Copies
from pins.files.repositories import Checkouts
from pins.files.shell.command import Command
from pins.files.values import Value
from pins.model import Installed

Written = dict[str, list[tuple[Value, Command, bool]]]
"""By path, the requirements that were written there: the line, the command, and whether it is a pin already."""


@dataclass(slots=True)
class StageState:
    """Files and distributions of a stage.

    Attributes:
        checkouts: git checkouts in it.
        copies: what was copied where.
        installs: what happened to distributions, in order.
        written: requirements that commands have written into files.
    """

    checkouts: Checkouts = field(default_factory=Checkouts)
    copies: Copies = field(default_factory=Copies)
    installs: list[Installed] = field(default_factory=list)
    written: Written = field(default_factory=dict)

    def child(self) -> "StageState":
        """What a stage built from this one starts with."""
        written = {path: list(lines) for path, lines in self.written.items()}
        return StageState(self.checkouts.child(), self.copies.child(), list(self.installs), written)


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
