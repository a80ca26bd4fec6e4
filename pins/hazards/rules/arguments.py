"""ARG and ENV: overrides that do not arrive, defaults that hide each other, words that are no comments."""

import re
from collections.abc import Iterator

from pins.files.dockerfile.instruction_words import docker_words
from pins.files.dockerfile.stages import Stage
from pins.files.dockerfile.syntax import Instruction
from pins.files.dockerfile.variables import Assignment
from pins.files.edit import Edit
from pins.files.naming import says_version
from pins.files.values import text_of
from pins.hazards.model import Finding
from pins.hazards.rules.references import (
    assigned_by,
    assigned_in,
    named_variables,
    names_variable,
    text_of_step,
    word_of,
)
from pins.hazards.subject import Subject

# What well-known images set themselves: a stage that reads these needs no ARG (their documentation says so).
_SET_BY_IMAGE = {
    "nvidia/cuda": re.compile(r"CUDA_VERSION|NV_\w+|NVIDIA_\w+|NVARCH"),
    "nvidia/pytorch": re.compile(r"CUDA_VERSION|PYTORCH_VERSION|NV\w*|TORCH_CUDA_ARCH_LIST"),
    "pytorch/pytorch": re.compile(r"PYTORCH_VERSION|CUDA_VERSION|NVIDIA_\w+"),
    "python": re.compile(r"PYTHON_VERSION|PYTHON_SHA256|GPG_KEY"),
    "golang": re.compile(r"GOLANG_VERSION|GOPATH|GOTOOLCHAIN"),
    "node": re.compile(r"NODE_VERSION|YARN_VERSION"),
    "rust": re.compile(r"RUST_VERSION|CARGO_HOME|RUSTUP_HOME"),
}
_NOT_A_PIN = frozenset({"DEBIAN_FRONTEND", "TZ", "LANG", "LC_ALL", "PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH"})


def stage_base(stage: Stage) -> str:
    """The image at the bottom of a stage."""
    return text_of(stage.ancestry[-1].base)


def _image_sets(stage: Stage, name: str) -> bool:
    image = stage_base(stage).partition("@")[0]
    repository = image.rpartition(":")[0] or image
    for known, names in _SET_BY_IMAGE.items():
        if (repository == known or repository.endswith("/" + known)) and names.fullmatch(name):
            return True
    return False


def undeclared_global_argument(subject: Subject) -> Iterator[Finding]:
    """A global ARG that a stage uses without declaring it."""
    if subject.reading is None:
        return
    known = subject.reading.stages.environment.global_values
    reported: set[tuple[int, str]] = set()
    for step in subject.steps:
        if step.instruction.keyword in {"ARG", "FROM", "CMD", "ENTRYPOINT", "HEALTHCHECK"}:
            continue
        text = text_of_step(step)
        for reference in named_variables(text):
            name = reference.name
            if name not in known or name in step.declared or name in step.values or reference.guarded:
                continue
            lineage = {(stage.index, name) for stage in step.stage.ancestry}
            if lineage & reported or assigned_in(text.text, name) or _image_sets(step.stage, name):
                continue
            reported.add((step.stage.index, name))
            reached = _reached_stages(subject, name)
            after = step.stage.opening.end
            newline = subject.data[after : after + 2] if subject.data[after : after + 1] == b"\r" else b"\n"
            yield Finding(
                reference.start,
                reference.end,
                f"{name} is declared before the first FROM only: in stage {step.stage.name} it is what the base image"
                f" has set, or empty; --build-arg {name} reaches {reached}",
                name,
                f"declare it in the stage: ARG {name}",
                (Edit(after, after, newline + f"ARG {name}".encode()),),
            )


def _reached_stages(subject: Subject, name: str) -> str:
    assert subject.reading is not None
    stages = [step.stage.name for step in subject.steps if step.instruction.keyword == "ARG" and name in step.declared]
    reached = list(dict.fromkeys(stages))
    if any(names_variable(stage.opening, subject.data, name) for stage in subject.reading.stages.stages):
        reached.insert(0, "FROM lines")
    return ", ".join(reached) or "no stage"


def unused_global_argument(subject: Subject) -> Iterator[Finding]:
    """A global ARG that reaches neither a FROM line nor any stage."""
    if subject.reading is None:
        return
    stages = subject.reading.stages
    for instruction in stages.syntax.instructions:
        if instruction.keyword == "FROM":
            break
        if instruction.keyword != "ARG":
            continue
        for assignment in assigned_by(subject, instruction):
            name = assignment.name
            value = text_of(stages.environment.global_values.get(name, ()))
            if not says_version(name, value) or _is_named(subject, instruction, name):
                continue
            span = word_of(instruction, assignment)
            yield Finding(
                *span,
                f"nothing uses {name}: no FROM line names it and no stage declares it, so --build-arg {name} changes"
                " nothing",
                name,
            )


def _is_named(subject: Subject, own: Instruction, name: str) -> bool:
    assert subject.reading is not None
    for instruction in subject.reading.stages.syntax.instructions:
        if instruction is own:
            continue
        if instruction.keyword == "ARG" and any(a.name == name for a in assigned_by(subject, instruction)):
            return True
        if names_variable(instruction, subject.data, name):
            return True
    return False


def environment_beats_argument(subject: Subject) -> Iterator[Finding]:
    """An ENV that gives an ARG's name a value of its own: the build argument is lost from there on."""
    declared: dict[int, dict[str, int]] = {}
    for step in subject.steps:
        here = declared.setdefault(step.stage.index, {})
        if step.instruction.keyword == "ARG":
            for assignment in assigned_by(subject, step.instruction):
                here.setdefault(assignment.name, step.instruction.line)
        elif step.instruction.keyword == "ENV":
            for assignment in assigned_by(subject, step.instruction):
                name = assignment.name
                line = next(
                    (declared[s.index][name] for s in step.stage.ancestry if name in declared.get(s.index, {})), 0
                )
                raw = step.instruction.body.text[assignment.start : assignment.end]
                if not line or b"$" in raw or name in _NOT_A_PIN or raw in (b"", b'""', b"''"):
                    continue
                yield Finding(
                    *word_of(step.instruction, assignment),
                    f"this ENV replaces the ARG of line {line}: --build-arg {name} has no effect from here on",
                    name,
                    f"write ENV {name}=${{{name}}}",
                    _reference_edit(step.instruction, assignment),
                )


def _reference_edit(instruction: Instruction, assignment: Assignment) -> tuple[Edit, ...]:
    body = instruction.body
    start, end = body.source(assignment.start), body.source_end(assignment.end)
    if end - start != assignment.end - assignment.start or end <= start:
        return ()
    return (Edit(start, end, b"${" + assignment.name.encode() + b"}"),)


def junk_arguments(subject: Subject) -> Iterator[Finding]:
    """Text behind ``#`` on an ARG line declares an argument a word."""
    if subject.reading is None:
        return
    escape = subject.reading.stages.syntax.escape
    for instruction in subject.reading.stages.syntax.instructions:
        if instruction.keyword != "ARG":
            continue
        body = instruction.body
        words = docker_words(body.text, escape)
        at = next((start for start, _ in words if body.text[start] == 0x23), None)
        if at is None:
            continue
        junk = [body.text[start:end].decode("utf-8", "replace") for start, end in words if start >= at]
        start, end = body.source(at), body.source_end(len(body.text))
        named = ", ".join(word.partition("=")[0] for word in junk[:6])
        yield Finding(
            start,
            end,
            f"# opens no comment on an ARG line: each of its words declares an argument ({named})",
            body.text.split(b"=")[0].decode("utf-8", "replace"),
            "move the comment to a line of its own, above",
            _comment_above(subject, instruction, start, end),
        )


def _comment_above(subject: Subject, instruction: Instruction, start: int, end: int) -> tuple[Edit, ...]:
    if instruction.line != instruction.end_line:
        return ()
    line_start, line_end = subject.line_span(instruction.line)
    blank = start
    while blank > line_start and subject.data[blank - 1] in b" \t":
        blank -= 1
    indent = subject.data[line_start : instruction.start]
    newline = b"\r\n" if subject.data[line_end : line_end + 2] == b"\r\n" else b"\n"
    comment = subject.data[start:end].rstrip()
    return Edit(line_start, line_start, indent + comment + newline), Edit(blank, max(end, line_end), b"")


def argument_used_before_declaration(subject: Subject) -> Iterator[Finding]:
    """A variable that is used above the ARG that declares it."""
    if subject.reading is None:
        return
    later: dict[tuple[int, str], int] = {}
    for step in subject.steps:
        if step.instruction.keyword == "ARG":
            for assignment in assigned_by(subject, step.instruction):
                later.setdefault((step.stage.index, assignment.name), step.instruction.line)
    reported: set[tuple[int, str]] = set()
    known = subject.reading.stages.environment.global_values
    for step in subject.steps:
        if step.instruction.keyword in {"ARG", "CMD", "ENTRYPOINT"}:
            continue
        text = text_of_step(step)
        for reference in named_variables(text):
            key = (step.stage.index, reference.name)
            if key not in later or key in reported or reference.name in step.declared or reference.name in step.values:
                continue
            if reference.guarded or reference.name in known or assigned_in(text.text, reference.name):
                continue
            if later[key] <= step.instruction.line or _image_sets(step.stage, reference.name):
                continue
            reported.add(key)
            yield Finding(
                reference.start,
                reference.end,
                f"{reference.name} is used here, and declared on line {later[key]} only: here it is what the base"
                " image has set, or empty",
                reference.name,
                f"move ARG {reference.name} above this line",
            )


def _set_by_base(subject: Subject, stage: str, name: str) -> bool:
    found = subject.reading.stages.find(stage) if subject.reading else None
    return found is not None and _image_sets(found, name)


def override_misses_stage(subject: Subject) -> Iterator[Finding]:
    """A build argument that reaches some uses of a pin, and not others."""
    explained = {
        (f.pin, "") for rule in (undeclared_global_argument, environment_beats_argument) for f in rule(subject)
    }
    for pin in subject.pins():
        if not pin.override.how or not pin.override.misses or not pin.places or (pin.variable, "") in explained:
            continue
        missed = [
            stage
            for stage in pin.override.misses
            if stage not in pin.override.reaches and not _set_by_base(subject, stage, pin.variable)
        ]
        if not missed:
            continue
        place = pin.places[0]
        reached = ", ".join(pin.override.reaches) or "no stage"
        yield Finding(
            place.start,
            place.end,
            f"{pin.override.how[0]} reaches {reached}, but not the use of {pin.variable} in {', '.join(missed)}",
            pin.name,
            f"declare it where it is used: ARG {pin.variable}",
        )
