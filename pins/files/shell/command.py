"""A command that a script runs, and what must hold for it to run."""

import posixpath
from dataclasses import dataclass, field

from pins.files.joined import JoinedText
from pins.files.values import Value, text_of
from pins.files.words import Lookup


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold for a command to run.

    Attributes:
        choice: offset in the file of the `if`, `case`, `&&` or `||` that decides: two conditions with one `choice` and
            different `arm` exclude each other.
        arm: which way it goes.
        text: for a person, such as 'if [ "$USE_X" = "1" ]'.
        holds: whether it does with the values known, None when that cannot be told.
    """

    choice: int
    arm: int
    text: str
    holds: bool | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command that runs.

    Attributes:
        words: its name and arguments, each with the places it was written in.
        start: offset of its first byte in the file.
        end: offset behind its last byte.
        conditions: what must hold, outermost first.
        directory: where it runs; relative when the image's working directory is not known.
        environment: assignments in front of it.
        inputs: words of ``<``, and of ``<<<``.
        outputs: words of ``>`` and ``>>``.
        body: the heredoc that it reads, None when there is none.
        body_expands: whether variables in that heredoc are expanded.
        tolerated: whether its failure is ignored (``|| true``).
        pipeline: a number shared by the commands of one pipeline.
        lookup: the variables it sees.
    """

    words: tuple[Value, ...]
    start: int
    end: int
    conditions: tuple[Condition, ...]
    directory: str
    environment: tuple[tuple[str, Value], ...] = ()
    inputs: tuple[Value, ...] = ()
    outputs: tuple[Value, ...] = ()
    body: JoinedText | None = None
    tolerated: bool = False
    pipeline: int = 0
    body_expands: bool = True
    lookup: Lookup = field(default=lambda _: None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The program's name without its directory."""
        return posixpath.basename(text_of(self.words[0])) if self.words else ""
