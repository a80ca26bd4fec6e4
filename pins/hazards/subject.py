"""What a rule looks at: one file, with everything that reading its pins has seen."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from packaging.specifiers import SpecifierSet

from pins.files.commands.git import GitCall, read_git
from pins.files.commands.pip import PipCall, read_pip
from pins.files.commands.wrappers import unwrap
from pins.files.dockerfile.close_reading import CloseReading, StepReading
from pins.files.shell.command import Command
from pins.files.values import Value
from pins.model import Pin, PinSet


@dataclass(frozen=True)
class Ran:
    """A command in its place.

    Attributes:
        step: the RUN that holds it.
        command: the command.
        words: its words behind sudo, env, time and the like.
    """

    step: StepReading
    command: Command
    words: tuple[Value, ...]


@dataclass(frozen=True)
class Subject:
    """One file.

    Attributes:
        file: its path, as it is shown.
        data: its bytes.
        kind: what `pins.files.read.kind_of` says it is.
        pin_set: its pins.
        reading: of a Dockerfile, how it was read.
        read_file: reads a file of the build context; None for one that is not there.
        clones: local clones by the name of their repository, in lower case.
        identity: its path from the top of its repository, "" where that is how it is shown.
        requires: gives what a release (name, version) requires, as (line, name, specifiers) each; None where metadata
            is not asked for.
    """

    file: str
    data: bytes
    kind: str
    pin_set: PinSet
    reading: CloseReading | None = None
    read_file: Callable[[str], bytes | None] = lambda _: None
    clones: Mapping[str, Path] = field(default_factory=dict)
    identity: str = ""
    requires: Callable[[str, str], Iterable[tuple[str, str, SpecifierSet]]] | None = None

    @cached_property
    def newlines(self) -> list[int]:
        """Offsets of the line ends."""
        found: list[int] = []
        position = self.data.find(b"\n")
        while position >= 0:
            found.append(position)
            position = self.data.find(b"\n", position + 1)
        return found

    def line(self, offset: int) -> int:
        """The line of an offset, counted from 1."""
        return bisect_right(self.newlines, offset - 1) + 1

    def line_span(self, line: int) -> tuple[int, int]:
        """(start, end) of a line, without its line end."""
        start = self.newlines[line - 2] + 1 if line > 1 else 0
        end = self.newlines[line - 1] if line <= len(self.newlines) else len(self.data)
        if end > start and self.data[end - 1 : end] == b"\r":
            end -= 1
        return start, end

    @property
    def steps(self) -> tuple[StepReading, ...]:
        """Every instruction of every stage."""
        return self.reading.steps if self.reading else ()

    @cached_property
    def ran(self) -> tuple[Ran, ...]:
        """Every command of every RUN, in the order of stages."""
        return tuple(Ran(step, c, unwrap(c.words)) for step in self.steps for c in step.commands if c.words)

    @cached_property
    def pip_calls(self) -> tuple[tuple[Ran, PipCall], ...]:
        """Every call of pip or uv."""
        return tuple((ran, call) for ran in self.ran if ran.words and (call := read_pip(ran.words)))

    @cached_property
    def git_calls(self) -> tuple[tuple[Ran, GitCall], ...]:
        """Every call of git."""
        return tuple((ran, call) for ran in self.ran if ran.words and (call := read_git(ran.words)))

    @cached_property
    def ran_by_step(self) -> dict[int, list[Ran]]:
        """The commands of each RUN, by the `id` of its step."""
        found: dict[int, list[Ran]] = {}
        for ran in self.ran:
            found.setdefault(id(ran.step), []).append(ran)
        return found

    @cached_property
    def pip_calls_by_stage(self) -> dict[int, list[tuple[Ran, PipCall]]]:
        """The calls of pip or uv of each stage, by its index."""
        found: dict[int, list[tuple[Ran, PipCall]]] = {}
        for ran, call in self.pip_calls:
            found.setdefault(ran.step.stage.index, []).append((ran, call))
        return found

    @cached_property
    def ran_by_stage(self) -> dict[int, list[Ran]]:
        """The commands of each stage, by its index."""
        found: dict[int, list[Ran]] = {}
        for ran in self.ran:
            found.setdefault(ran.step.stage.index, []).append(ran)
        return found

    @cached_property
    def kept(self) -> dict[object, object]:
        """What rules have worked out and share, by a key of their own."""
        return {}

    def pins(self) -> Iterator[Pin]:
        """The pins that are written in this very file."""
        return (pin for pin in self.pin_set.pins if pin.file == self.file)
