"""What a rule is, and what it finds: plain facts, no I/O."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pins.files.edit import Edit

if TYPE_CHECKING:
    from pins.hazards.subject import Subject


class Severity(StrEnum):
    """How bad a hazard is."""

    ERROR = "error"  # what is built is not what is written
    WARNING = "warning"  # what is built may change, or not follow an edit or an override
    NOTE = "note"  # it works, and will surprise somebody


@dataclass(frozen=True)
class Finding:
    """What a rule has to say of one place.

    Attributes:
        start: offset of the first byte of the place.
        end: offset behind it.
        summary: one sentence, without a full stop.
        pin: name of the pin that it is about, "" where it is about none.
        fix: what to do here, a sentence; "" for the rule's own advice.
        edits: the same as edits of the file, where it can be made without knowing more.
        evidence: further lines for a person, such as where the hunks of a patch land.
        file: the file, where it is another one than the subject's.
    """

    start: int
    end: int
    summary: str
    pin: str = ""
    fix: str = ""
    edits: tuple[Edit, ...] = ()
    evidence: tuple[str, ...] = ()
    file: str = ""


Find = Callable[["Subject"], Iterable[Finding]]
FindAcross = Callable[[Sequence["Subject"]], Iterable[tuple["Subject", Finding]]]


@dataclass(frozen=True)
class Example:
    """A file for documentation and tests.

    Attributes:
        text: its content.
        file: its name, which says what kind of file it is.
    """

    text: str
    file: str = "Dockerfile"


@dataclass(frozen=True)
class Rule:
    """One hazard.

    Attributes:
        name: how it is selected and ignored, such as "junk-arguments".
        severity: how bad it is.
        summary: one line.
        why: why it matters, a few sentences.
        case: where it has happened.
        advice: what to do.
        bad: a file that has it.
        good: a near miss that has not.
        find: looks at one file.
        across: looks at all files together, for what one file cannot tell.
        default: whether it is on unless it is asked for.
    """

    name: str
    severity: Severity
    summary: str
    why: str
    case: str
    advice: str
    bad: Example
    good: Example
    find: Find | None = None
    across: FindAcross | None = None
    default: bool = True


@dataclass(frozen=True)
class Hazard:
    """A finding in its place.

    Attributes:
        rule: the rule that found it.
        file: the file.
        line: counted from 1.
        column: in characters, counted from 1.
        end_line: line of its last byte.
        end_column: column behind its last byte.
        pin: name of the pin, "" for none.
        summary: one sentence.
        fix: what to do.
        edits: the same as edits, () where it takes a person.
        evidence: further lines.
        source: the line as it stands in the file.
        fingerprint: stays the same while the file changes elsewhere.
        ignored: why it does not count, "" where it does.
        identity: the file's path from the top of its repository, however it was named.
    """

    rule: Rule
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    pin: str
    summary: str
    fix: str
    edits: tuple[Edit, ...] = ()
    evidence: tuple[str, ...] = ()
    source: str = ""
    fingerprint: str = ""
    ignored: str = ""
    identity: str = ""
