"""Defaults of ARGs that hide each other."""

from collections.abc import Iterator

from pins.files.dockerfile.stages import Stage
from pins.files.dockerfile.syntax import Instruction
from pins.files.dockerfile.variables import Assignment
from pins.hazards.model import Finding
from pins.hazards.rules.references import assigned_by, word_of
from pins.hazards.subject import Subject


def _defaults(subject: Subject) -> Iterator[tuple[Stage | None, Instruction, Assignment, str]]:
    """Every ARG with a literal default: stage (None: before the first FROM), instruction, assignment, default."""
    assert subject.reading is not None
    syntax = subject.reading.stages.syntax
    for instruction in syntax.instructions:
        if instruction.keyword == "FROM":
            break
        if instruction.keyword == "ARG":
            yield from ((None, instruction, a, d) for a, d in _literals(subject, instruction))
    for stage in subject.reading.stages.stages:
        for instruction in stage.instructions:
            if instruction.keyword == "ARG":
                yield from ((stage, instruction, a, d) for a, d in _literals(subject, instruction))


def _literals(subject: Subject, instruction: Instruction) -> Iterator[tuple[Assignment, str]]:
    for assignment in assigned_by(subject, instruction):
        if assignment.start >= 0:
            raw = instruction.body.text[assignment.start : assignment.end].decode("utf-8", "replace")
            default = raw.strip("\"'")
            if "$" not in default and not assignment.name.startswith("#"):
                yield assignment, default


def shadowed_default(subject: Subject) -> Iterator[Finding]:
    """An ARG of a stage whose default differs from that of the global ARG of the same name."""
    if subject.reading is None:
        return
    outer: dict[str, tuple[str, int]] = {}
    for stage, instruction, assignment, default in _defaults(subject):
        name = assignment.name
        if stage is None:
            outer[name] = (default, instruction.line)
        elif name in outer and outer[name][0] != default and default and outer[name][0]:
            other, line = outer[name]
            yield Finding(
                *word_of(instruction, assignment),
                f"{name} is {default} in stage {stage.name}, but {other} on line {line}: an edit of line {line} does"
                f" not arrive in {stage.name}",
                name,
                f"write ARG {name} without a default here, or give the two different names",
            )


def doubled_default(subject: Subject) -> Iterator[Finding]:
    """Two defaults for one ARG in one stage: the later one counts for what follows."""
    if subject.reading is None:
        return
    seen: dict[tuple[int, str], tuple[str, Instruction]] = {}
    for stage, instruction, assignment, default in _defaults(subject):
        key = (-1 if stage is None else stage.index, assignment.name)
        if key in seen and seen[key][0] != default and default:
            earlier, first = seen[key]
            where = "before the first FROM" if stage is None else f"in stage {stage.name}"
            yield Finding(
                *word_of(instruction, assignment),
                f"{assignment.name} has two defaults {where}: {earlier} on line {first.line} and {default} here; an"
                f" edit of line {first.line} has no effect from here on",
                assignment.name,
            )
        if default:
            seen[key] = (default, instruction)
