"""Which variables an instruction names, as the builder or its shell would expand them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pins.files.dockerfile.close_reading import StepReading
from pins.files.dockerfile.syntax import Instruction
from pins.files.dockerfile.variables import Assignment, VariableError, assignments
from pins.files.joined import JoinedText
from pins.hazards.subject import Subject

_REFERENCE = re.compile(rb"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?P<operator>[^}]*)\}|(?P<bare>[A-Za-z_]\w*))")
_DEFAULTING = re.compile(rb":?[-+?=]")


@dataclass(frozen=True)
class NamedVariable:
    """One reference to a variable.

    Attributes:
        name: the variable.
        start: offset in the file of its ``$``.
        end: offset behind it.
        guarded: whether the text says what to do without a value (``${X:-y}``).
    """

    name: str
    start: int
    end: int
    guarded: bool


def named_variables(text: JoinedText) -> Iterator[NamedVariable]:
    """The references in the body of an instruction or in a script.

    Those are left out that stand behind a backslash or between single quotes, which the builder and its shell read
    alike.
    """
    raw = text.text
    if b"$" not in raw:
        return
    hidden = _single_quoted(raw)
    for match in _REFERENCE.finditer(raw):
        before = match.start() - 1
        backslashes = 0
        while before >= 0 and raw[before] == 0x5C:
            backslashes += 1
            before -= 1
        if backslashes % 2 or any(start < match.start() < end for start, end in hidden):
            continue
        if match.start() and raw[match.start() - 1] == 0x24:  # $$NAME is the process and a word
            continue
        name = (match["braced"] or match["bare"]).decode()
        guarded = bool(match["operator"] and _DEFAULTING.match(match["operator"]))
        yield NamedVariable(name, text.source(match.start()), text.source_end(match.end()), guarded)


def _single_quoted(raw: bytes) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    position = 0
    double = False
    while position < len(raw):
        byte = raw[position]
        if byte == 0x5C:
            position += 2
            continue
        if byte == 0x22:
            double = not double
        elif byte == 0x27 and not double:
            close = raw.find(b"'", position + 1)
            close = len(raw) if close < 0 else close
            found.append((position, close))
            position = close
        elif byte == 0x23 and not double and (position == 0 or raw[position - 1] in b" \t\n;"):
            newline = raw.find(b"\n", position)  # an apostrophe in a comment opens no quote
            position = len(raw) if newline < 0 else newline
            continue
        position += 1
    return found


def text_of_step(step: StepReading) -> JoinedText:
    """What an instruction expands: a RUN's script, or the body."""
    return step.script if step.script is not None and step.script.text else step.instruction.body


def assigned_in(text: bytes, name: str) -> bool:
    """Whether a script gives the variable a value itself."""
    word = re.escape(name.encode())
    pattern = rb"(?<![\w$])" + word + rb"\+?=(?!=)|\bfor\s+" + word + rb"\s+in\b|\bread\s+(?:-\w+\s+)*[\w\s]*\b" + word
    return re.search(pattern, text) is not None


def names_variable(instruction: Instruction, data: bytes, name: str) -> bool:
    """Whether an instruction's text refers to the variable in any way."""
    text = data[instruction.start : instruction.end]
    return re.search(rb"\$\{?" + re.escape(name.encode()) + rb"(?!\w)", text) is not None


def assigned_by(subject: Subject, instruction: Instruction) -> list[Assignment]:
    """What an ARG or ENV assigns; nothing where the builder refuses it, which `not-read` tells."""
    assert subject.reading is not None
    try:
        return assignments(instruction, subject.reading.stages.syntax.escape)
    except VariableError:
        return []


def word_of(instruction: Instruction, assignment: Assignment) -> tuple[int, int]:
    """Where an assignment stands, its name included."""
    body = instruction.body
    name = assignment.name.encode()
    if assignment.start < 0:
        position = body.text.find(name)
        return body.source(position), body.source_end(position + len(name))
    return body.source(assignment.start - len(name) - 1), body.source_end(assignment.end)
