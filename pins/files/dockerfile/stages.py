"""Stages: what each is built from, which end up in the target, and a walk over a stage's instructions."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pins.files.dockerfile.instruction_words import docker_words
from pins.files.dockerfile.stage_state import Inherited
from pins.files.dockerfile.syntax import DockerfileSyntax, Instruction, SyntaxProblem
from pins.files.dockerfile.variables import Environment, VariableError
from pins.files.values import Declaration, Value, display_of, text_of, unknown_of
from pins.files.words import expand


class Role(StrEnum):
    """What a stage has to do with the target."""

    TARGET = "target"
    SHIPS = "ships"
    FEEDS = "feeds"
    UNUSED = "unused"


@dataclass(slots=True)
class Stage:
    """One stage of a Dockerfile.

    Attributes:
        index: counted from 0.
        name: as written after AS, in lower case; the index where there is none.
        line: of its FROM.
        base: what it is built from.
        base_stage: the stage that `base` names, None when it is an image or not known.
        opening: the FROM instruction.
        instructions: the rest.
        sources: stages that it takes files from (COPY --from, RUN --mount from=).
        image_sources: images that it takes files from: name, offset of the name, instruction.
        final: environment behind its last instruction, None until it has been walked.
        workdir: working directory behind its last instruction, "" for the base image's.
        triggers: ONBUILD instructions for stages built from it.
    """

    index: int
    name: str
    line: int
    base: Value
    base_stage: "Stage | None"
    opening: Instruction
    instructions: list[Instruction] = field(default_factory=list)
    sources: "list[Stage]" = field(default_factory=list)
    image_sources: list[tuple[str, int, Instruction]] = field(default_factory=list)
    final: Environment | None = None
    workdir: str = ""
    shell: tuple[str, ...] = ()
    triggers: list[Instruction] = field(default_factory=list)

    @property
    def ancestry(self) -> "list[Stage]":
        """The stage itself and those it descends from, itself first."""
        result = [self]
        while (parent := result[-1].base_stage) is not None:
            result.append(parent)
        return result


@dataclass(slots=True)
class Stages:
    """A Dockerfile's stages with their variables.

    Attributes:
        syntax: what they were read from.
        file: name of the file.
        environment: the global environment.
        stages: in file order.
        problem: what ended the reading, None when all was read.
        inherited: by the ARG that names it, what an image built from another file brings along.
    """

    syntax: DockerfileSyntax
    file: str
    environment: Environment
    stages: list[Stage]
    problem: SyntaxProblem | None
    inherited: Mapping[str, Inherited] = field(default_factory=dict)

    def find(self, name: str) -> Stage | None:
        """The stage of that name or number; the last one where a name is used twice."""
        for stage in reversed(self.stages):
            if stage.name == name.lower():
                return stage
        if name.isdigit() and int(name) < len(self.stages):
            return self.stages[int(name)]
        return None

    def roles(self, target: Stage | None = None) -> dict[int, Role]:
        """By stage index, what each stage has to do with the target (the last stage by default)."""
        if not self.stages:
            return {}
        target = target or self.stages[-1]
        roles = {stage.index: Role.UNUSED for stage in self.stages}
        shipping = target.ancestry
        for stage in shipping:
            roles[stage.index] = Role.SHIPS
        roles[target.index] = Role.TARGET
        pending = [source for stage in shipping for source in stage.sources]
        while pending:
            stage = pending.pop()
            for member in stage.ancestry:
                if roles[member.index] is Role.UNUSED:
                    roles[member.index] = Role.FEEDS
                    pending.extend(member.sources)
        return roles

    def walk(self, stage: Stage) -> Iterator["Step"]:
        """Every instruction of a stage with the environment *before* it; ancestors must have been walked.

        ONBUILD instructions of the stage it is built from come first, as the builder runs them.
        """
        parent = stage.base_stage
        if parent is not None and parent.final is not None:
            environment, workdir, shell = parent.final.child(), parent.workdir, parent.shell
        else:
            environment, workdir, shell = self.environment.child(), "", ()
            brought = self.brought(stage)
            if brought is not None:
                environment.values.update(brought.values)
                workdir = brought.workdir
        pending = [*(parent.triggers if parent else ()), *stage.instructions]
        for instruction in pending:
            step = Step(stage, instruction, environment, workdir, shell)
            keyword = instruction.keyword
            if keyword in {"ARG", "ENV"}:
                try:
                    (environment.declare if keyword == "ARG" else environment.assign)(instruction, stage.name)
                except VariableError as error:
                    self._stop(instruction, str(error))
                    break
                except RecursionError:
                    self._stop(instruction, "nested too deeply to be read")
                    break
            yield step
            if keyword == "WORKDIR":
                path = display_of(self.expand(instruction, environment))
                workdir = posixpath.normpath(posixpath.join(workdir or ".", path))
            elif keyword == "SHELL":
                shell = tuple(re.findall(r'"((?:[^"\\]|\\.)*)"', instruction.body.text.decode("utf-8", "replace")))
            elif keyword == "ONBUILD" and instruction.trigger:
                stage.triggers.append(instruction.trigger)
        stage.final, stage.workdir, stage.shell = environment, workdir, shell

    def brought(self, stage: Stage) -> Inherited | None:
        """What the image that a stage is built from brings along, None when that is not known."""
        if stage.base_stage is not None:
            return None
        return next((self.inherited[d.name] for d in declared_in(stage.base) if d.name in self.inherited), None)

    def expand(self, instruction: Instruction, environment: Environment) -> Value:
        """The whole body of an instruction with its variables replaced."""
        body = instruction.body
        return expand(body, 0, len(body.text), environment.lookup, escape=self.syntax.escape)

    def _stop(self, instruction: Instruction, message: str) -> None:
        if self.problem is None or self.problem.line > instruction.line:
            self.problem = SyntaxProblem(instruction.line, message)


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of a stage as the builder meets it.

    Attributes:
        stage: the stage that runs it.
        instruction: what is run.
        environment: variables at that point, shared with later steps: read it at once.
        workdir: the working directory, "" for the base image's.
        shell: what SHELL has set, () for the default.
    """

    stage: Stage
    instruction: Instruction
    environment: Environment
    workdir: str
    shell: tuple[str, ...]


def read_stages(
    syntax: DockerfileSyntax,
    file: str = "Dockerfile",
    build_args: Mapping[str, str] | None = None,
    inherited: Mapping[str, Inherited] | None = None,
) -> Stages:
    """Sort instructions into stages and resolve what each is built from.

    Args:
        syntax: the split file.
        file: its name, for declarations.
        build_args: what `--build-arg` would give.
        inherited: by the ARG that names it, what an image that another file builds brings along.
    """
    environment = Environment(file, syntax.escape, dict(build_args or {}))
    result = Stages(syntax, file, environment, [], syntax.problem, inherited or {})
    for instruction in syntax.instructions:
        if instruction.keyword == "FROM":
            stage = _open_stage(result, instruction)
            if stage is None:
                return result
            result.stages.append(stage)
        elif result.stages:
            if instruction.keyword in {"ENV", "LABEL", "ARG"} and (problem := _check(instruction, syntax.escape)):
                result.problem = problem
                break
            result.stages[-1].instructions.append(instruction)
        elif instruction.keyword == "ARG":
            if problem := _check(instruction, syntax.escape):
                result.problem = problem
                break
            environment.declare_global(instruction)
        else:
            result.problem = SyntaxProblem(instruction.line, f"{instruction.keyword} before the first FROM")
            return result
    if not result.stages and result.problem is None:
        result.problem = SyntaxProblem(1, "there is no FROM")
    for stage in result.stages:
        _find_sources(result, stage)
    return result


def _check(instruction: Instruction, escape: str) -> SyntaxProblem | None:
    from pins.files.dockerfile.variables import assignments

    try:
        assignments(instruction, escape)
    except VariableError as error:
        return SyntaxProblem(instruction.line, str(error))
    return None


def _open_stage(stages: Stages, instruction: Instruction) -> Stage | None:
    body = instruction.body
    words = docker_words(body.text, stages.syntax.escape)
    texts = [body.text[start:end].decode("utf-8", "replace") for start, end in words]
    if len(words) not in (1, 3) or (len(words) == 3 and texts[1].lower() != "as"):
        stages.problem = SyntaxProblem(instruction.line, "FROM wants one image, and AS before a name")
        return None
    base = expand(body, *words[0], stages.environment.lookup_global, escape=stages.syntax.escape, unset_is_empty=True)
    index = len(stages.stages)
    parent = None if unknown_of(base) else _named_before(stages, text_of(base))
    name = texts[2].lower() if len(words) == 3 else str(index)
    return Stage(index, name, instruction.line, base, parent, instruction)


def _named_before(stages: Stages, name: str) -> Stage | None:
    for stage in reversed(stages.stages):
        if stage.name == name.lower() and not name.isdigit():
            return stage
    return None


_FROM_FLAG = re.compile(rb"--from=(.+)", re.DOTALL)
_MOUNT_FROM = re.compile(rb"(?:\A--mount=|,)from=([^,]+)")


def _find_sources(stages: Stages, stage: Stage) -> None:
    for instruction in stage.instructions:
        carried = instruction.trigger or instruction
        for flag in carried.flags:
            match = _FROM_FLAG.match(flag.text) or (
                _MOUNT_FROM.search(flag.text) if flag.text.startswith(b"--mount=") else None
            )
            if not match:
                continue
            name = match[1].decode("utf-8", "replace").strip("\"'")
            source = stages.find(name)
            if source is not None and source is not stage:
                stage.sources.append(source)
            elif source is None:
                offset = flag.source(match.start(1) + len(match[1]) - len(match[1].lstrip(b"\"'")))
                stage.image_sources.append((name, offset, instruction))


def declared_in(value: Value) -> list[Declaration]:
    """The declarations that a value came through, without repeats, the one holding the literal first."""
    return list(dict.fromkeys(d for fragment in value for d in fragment.variables))
