"""What has been read of a stage so far, and what every reader of its commands needs."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from pins.files.dockerfile.stage_state import Written
from pins.files.mention import Mention
from pins.files.repositories import Checkouts
from pins.files.shell.command import Command
from pins.files.values import Value, text_of
from pins.model import Form, Installed, PinKind


@dataclass(slots=True)
class FileReader:
    """Reads files as a stage sees them.

    Attributes:
        find: gives (path for reports, bytes) of a path in the image, None when it is not at hand.
        why_not: says why it is not.
    """

    find: Callable[[str], tuple[str, bytes] | None]
    why_not: Callable[[str], str]


@dataclass(slots=True)
class StageReading:
    """What has been read of one stage so far.

    Attributes:
        data: the Dockerfile.
        stage: name of the stage.
        newlines: offsets of the file's line ends.
        checkouts: the stage's.
        files: reads files as the stage sees them.
        mentions: what was found.
        installs: what happened to distributions.
        problems: (line, message) of what could not be known.
        edited: paths that a command has rewritten, with its line.
        read: further files that were read, by path.
        downloads: by pipeline, the address that its first command downloads.
        written: requirements that commands have written into files.
    """

    data: bytes
    stage: str
    newlines: list[int]
    checkouts: Checkouts
    files: FileReader
    mentions: list[Mention] = field(default_factory=list)
    installs: list[Installed] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    edited: dict[str, int] = field(default_factory=dict)
    read: dict[str, bytes] = field(default_factory=dict)
    downloads: dict[int, str] = field(default_factory=dict)
    written: Written = field(default_factory=dict)

    def line(self, offset: int) -> int:
        """The line of an offset."""
        return bisect_right(self.newlines, offset - 1) + 1

    def blank(self, kind: PinKind, name: str, value: Value, command: Command, said: str) -> Mention:
        """A mention with what the command says."""
        offset = command.start
        for fragment in value:
            if command.start <= fragment.start < command.end:
                offset = fragment.start
                break
        return Mention(
            kind,
            name,
            (),
            Form.VALUE,
            text_of(value),
            self.stage,
            self.line(offset),
            offset,
            said[:160],
            command.conditions,
        )


def offset_of(value: Value, command: Command) -> int:
    """Where a word stands in its command, the command's own place where it comes from elsewhere."""
    for fragment in value:
        if command.start <= fragment.start < command.end:
            return fragment.start
    return command.start
