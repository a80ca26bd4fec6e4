"""ARG and ENV: which variables a stage sees at each line, with the place each value was written in.

The rules, as BuildKit evaluates them. A global ARG is visible to FROM lines only, and to a stage that declares it
again. In a stage an ARG's value is the build argument, else the stage's own default, else the global's value, else
whatever is there already. ARG and ENV take effect in file order in one environment; the later statement wins. A stage
built from another inherits all of it, but there ENV comes first: a later ARG of the same name is forgotten.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pins.files.dockerfile.instruction_words import closes_quotes, docker_words
from pins.files.dockerfile.syntax import Instruction
from pins.files.values import Declaration, Fragment, Value, is_unset, through
from pins.files.words import expand
from pins.model import Quoting

PLATFORM_ARGUMENTS = frozenset(
    [
        "TARGETPLATFORM",
        "TARGETOS",
        "TARGETARCH",
        "TARGETVARIANT",
        "TARGETSTAGE",
        "BUILDPLATFORM",
        "BUILDOS",
        "BUILDARCH",
        "BUILDVARIANT",
    ]
)
_RULER = re.compile(r"={4,}|-{6,}|#{3,}|\*{5,}")
_NAME = re.compile(rb"[^=]*")


class VariableError(ValueError):
    """An ARG, ENV or LABEL that BuildKit refuses."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One `NAME=VALUE` of an ARG, ENV or LABEL.

    Attributes:
        name: left of the equals sign.
        start: offset of the value in the body, -1 when there is none.
        end: offset behind it.
    """

    name: str
    start: int
    end: int


def assignments(instruction: Instruction, escape: str) -> list[Assignment]:
    """The assignments of an ARG, ENV or LABEL.

    Raises:
        VariableError: a word without an equals sign where one must be.
    """
    body = instruction.body.text
    words = docker_words(body, escape)
    is_arg = instruction.keyword == "ARG"
    if words and not is_arg and b"=" not in body[slice(*words[0])]:
        parts = re.match(rb"([^\t\v\f\r ]+)[\t\v\f\r ]+", body)
        if not parts:
            raise VariableError(f"{instruction.keyword} must have two arguments")
        return [Assignment(parts[1].decode("utf-8", "replace"), parts.end(), len(body))]
    result: list[Assignment] = []
    for start, end in words:
        match = _NAME.match(body, start, end)
        equals = match.end() if match else end
        if equals < end:
            result.append(Assignment(body[start:equals].decode("utf-8", "replace"), equals + 1, end))
        elif is_arg:
            result.append(Assignment(body[start:end].decode("utf-8", "replace"), -1, -1))
        else:
            word = body[start:end].decode("utf-8", "replace")
            raise VariableError(f"no '=' in {word!r}: {instruction.keyword} wants name=value")
    for assignment in result:
        if assignment.start >= 0 and not closes_quotes(body[assignment.start : assignment.end], escape):
            raise VariableError(f"a quote is not closed in the value of {assignment.name}")
    return result


def comment_of(instruction: Instruction, escape: str) -> str:
    """What stands beside an instruction (text after ``#`` on an ARG line), or directly above it."""
    if instruction.keyword == "ARG":
        body = instruction.body.text
        for start, _ in docker_words(body, escape):
            if body[start] == 0x23:
                return body[start:].decode("utf-8", "replace").lstrip("#").strip()
    return plain_comment(comment.text for comment in instruction.comments if comment.line < instruction.line)


def plain_comment(lines: Iterable[str]) -> str:
    """Comment lines as one text, without rulers and headings drawn with them."""
    return " ".join(line for line in lines if line and not _RULER.search(line))


@dataclass(slots=True)
class Environment:
    """Variables at one point of a file.

    Attributes:
        file: name of the file, for declarations.
        escape: the escape character.
        build_args: what `--build-arg` gives.
        global_values: what global ARGs hold.
        values: what is set, by name.
        exported: what ENV has set, which an image keeps.
        declared: names that an ARG has declared, with or without a value.
    """

    file: str
    escape: str = "\\"
    build_args: Mapping[str, str] = field(default_factory=dict)
    global_values: dict[str, Value] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    exported: dict[str, Value] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)

    def child(self) -> "Environment":
        """What a stage built from this one starts with."""
        return Environment(
            self.file,
            self.escape,
            self.build_args,
            self.global_values,
            {**self.values, **self.exported},
            dict(self.exported),
            set(self.declared),
        )

    def lookup(self, name: str) -> Value | None:
        """The value of a variable in a stage, None when nothing in the file sets it."""
        return self.values.get(name)

    def lookup_global(self, name: str) -> Value | None:
        """The value of a variable on a FROM line."""
        value = self.global_values.get(name)
        if value is None and name in PLATFORM_ARGUMENTS:
            return _set_by_builder(name)
        return value

    def declare_global(self, instruction: Instruction) -> None:
        """Take in an ARG that stands before the first FROM."""
        comment = comment_of(instruction, self.escape)
        for assignment in assignments(instruction, self.escape):
            declaration = self._declaration("ARG", assignment.name, "", instruction, comment)
            value = self._given(assignment.name)
            if value is None and assignment.start >= 0:
                value = expand(
                    instruction.body,
                    assignment.start,
                    assignment.end,
                    self.lookup_global,
                    escape=self.escape,
                    unset_is_empty=True,
                )
                value = value or _nothing_at(instruction, assignment)
            if value is None and assignment.name not in self.global_values:
                reason = f"{assignment.name} has no default: the builder must be given it"
                value = (Fragment("", unknown=reason, unset="${" + assignment.name + "}"),)
            if value is not None:
                self.global_values[assignment.name] = through(value, declaration)

    def declare(self, instruction: Instruction, stage: str) -> None:
        """Take in an ARG of a stage."""
        comment = comment_of(instruction, self.escape)
        for assignment in assignments(instruction, self.escape):
            name = assignment.name
            value = self._given(name)
            if value is None and assignment.start >= 0:
                value = expand(instruction.body, assignment.start, assignment.end, self.lookup, escape=self.escape)
                value = value or _nothing_at(instruction, assignment)
            if value is None:
                value = self.lookup_global(name)
                if value is not None and is_unset(value):
                    value = None
            self.declared.add(name)
            if value is not None:
                declaration = self._declaration("ARG", name, stage, instruction, comment)
                self.values[name] = through(value, declaration)

    def assign(self, instruction: Instruction, stage: str) -> None:
        """Take in an ENV; all its values see the environment as it was before the instruction."""
        comment = comment_of(instruction, self.escape)
        pending: list[tuple[str, Value]] = []
        for assignment in assignments(instruction, self.escape):
            value = expand(instruction.body, assignment.start, assignment.end, self.lookup, escape=self.escape)
            declaration = self._declaration("ENV", assignment.name, stage, instruction, comment)
            pending.append((assignment.name, through(value or _nothing_at(instruction, assignment), declaration)))
        self.values.update(pending)
        self.exported.update(pending)

    def _given(self, name: str) -> Value | None:
        text = self.build_args.get(name)
        return None if text is None else (Fragment(text),)

    def _declaration(self, form: str, name: str, stage: str, instruction: Instruction, comment: str) -> Declaration:
        return Declaration(name, form, stage, self.file, instruction.line, instruction.start, comment)


def _nothing_at(instruction: Instruction, assignment: Assignment) -> Value:
    """An empty value, written in the place behind the equals sign."""
    body = instruction.body
    place = body.source_end(assignment.start) if assignment.start else body.source(0)
    if assignment.end - assignment.start >= 2 and body.text[assignment.start] in b"\"'":
        quoting = Quoting.DOCKER_DOUBLE if body.text[assignment.start] == 0x22 else Quoting.DOCKER_SINGLE
        return (Fragment("", place + 1, place + 1, quoting),)
    return (Fragment("", place, place, Quoting.DOCKER_BARE),)


def _set_by_builder(name: str) -> Value:
    return (Fragment("${" + name + "}", unknown=f"{name} is set by the builder"),)
