"""A Dockerfile's pins: walk its stages, read their commands, and tie what was found together."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pins.errors import UsageError
from pins.files.assemble import Reference, assemble
from pins.files.context import Commit, Context, Copies, read_through
from pins.files.dockerfile.close_reading import CloseReading as CloseReading
from pins.files.dockerfile.close_reading import StepReading as StepReading
from pins.files.dockerfile.copying import take_copy, with_mounts
from pins.files.dockerfile.images import image_mentions
from pins.files.dockerfile.instruction_words import docker_words
from pins.files.dockerfile.run_reader import RunReader
from pins.files.dockerfile.run_script import json_values, script_of
from pins.files.dockerfile.stage_reading import FileReader
from pins.files.dockerfile.stage_state import Inherited, StageState
from pins.files.dockerfile.stages import Role, Stage, Stages, Step, read_stages
from pins.files.dockerfile.syntax import Instruction, json_words, split_dockerfile
from pins.files.dockerfile.variables import PLATFORM_ARGUMENTS, comment_of
from pins.files.joined import JoinedText
from pins.files.mention import Mention
from pins.files.repositories import Checkouts
from pins.files.shell.command import Command, Condition
from pins.files.shell.commands import ShellReader
from pins.files.values import (
    Declaration,
    Fragment,
    Value,
    display_of,
    is_unset,
    text_of,
    unknown_of,
    without_credentials,
)
from pins.model import FileProblem, PinSet, Quoting, StageSummary

_VARIABLE = re.compile(rb"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_POSIX = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})


@dataclass(frozen=True)
class ReadOptions:
    """What is known besides the file itself.

    Attributes:
        build_args: what `--build-arg` would give.
        target: the stage that is built, "" for the last.
        context: the build context.
        repositories: local clones, by pin name, for files that a pinned repository holds.
        inherited: by the ARG that names it, what an image built from another file brings along.
    """

    build_args: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    context: Context | None = None
    repositories: Mapping[str, Path] = field(default_factory=dict)
    inherited: Mapping[str, Inherited] = field(default_factory=dict)


@dataclass(slots=True)
class _Reading:
    stages: Stages
    data: bytes
    file: str
    options: ReadOptions
    newlines: list[int]
    mentions: list[Mention] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    declarations: dict[Declaration, Value] = field(default_factory=dict)
    missing: list[Declaration] = field(default_factory=list)
    argument_names: set[bytes] = field(default_factory=set)
    left: dict[int, StageState] = field(default_factory=dict)
    problems: list[FileProblem] = field(default_factory=list)
    others: dict[str, bytes] = field(default_factory=dict)
    closely: bool = False
    steps: list[StepReading] = field(default_factory=list)

    def pin_set(self) -> PinSet:
        """What was found, tied together."""
        stages = self.stages
        target = stages.find(self.options.target) if self.options.target else None
        roles = stages.roles(target)
        by_name = {stage.name: roles[stage.index] for stage in stages.stages}
        pins = assemble(
            self.mentions,
            self.declarations,
            self.references,
            self.file,
            self.data,
            stages.syntax.instructions,
            by_name,
            self.others,
            self._why_unset,
            self.missing,
        )
        problems = list(self.problems)
        if stages.problem is not None:
            problems.append(FileProblem(self.file, stages.problem.line, stages.problem.message))
        arguments = tuple(sorted(name.decode("utf-8", "replace") for name in self.argument_names))
        return PinSet(self.file, pins, tuple(_summaries(stages, self, roles)), tuple(problems), arguments)

    def _why_unset(self, name: str, stage: str) -> str:
        if name.encode() not in self.argument_names:
            return ""
        reader = self.stages.find(stage)
        if reader is not None and reader.final is not None and name in reader.final.declared:
            return f"{name} is an ARG without a default: whoever builds gives it"
        return f"{name} is no ARG of this stage: base image or empty"

    def stage(self, stage: Stage) -> None:
        """Read one stage; those it descends from have been read."""
        brought = self.stages.brought(stage)
        parent = self.left.get(stage.base_stage.index) if stage.base_stage else (brought.state if brought else None)
        state = parent.child() if parent else StageState()
        if brought:
            self.others.update(brought.files)
        self.left[stage.index] = state
        self._from(stage)
        reader = RunReader(
            self.data,
            stage.name,
            self.newlines,
            state.checkouts,
            FileReader(lambda _: None, lambda _: ""),
            self.mentions,
            state.installs,
            read=self.others,
            written=state.written,
        )
        for step in self.stages.walk(stage):
            keyword = step.instruction.keyword
            self._refer(step)
            script: tuple[JoinedText, tuple[Command, ...]] | None = None
            if keyword == "RUN":
                script = self._run_safely(step, reader, state)
            elif keyword in {"COPY", "ADD"}:
                take_copy(step, state, reader, self.stages.syntax.escape)
            elif keyword in {"ARG", "ENV"}:
                self._declared(step)
            elif keyword == "ONBUILD":
                self._trigger(step, reader, state)
            if self.closely:
                self._keep(step, script)
        for name, offset, instruction in stage.image_sources:
            self._image_source(stage, name, offset, instruction)
        for line, message in reader.problems:
            self.problems.append(FileProblem(self.file, line, without_credentials(message), fatal=False))

    def _keep(self, step: Step, script: tuple[JoinedText, tuple[Command, ...]] | None) -> None:
        last = self.steps[-1] if self.steps else None
        same = last is not None and last.stage is step.stage and step.instruction.keyword not in {"ARG", "ENV"}
        values = last.values if last is not None and same else dict(step.environment.values)
        declared = last.declared if last is not None and same else frozenset(step.environment.declared)
        text, commands = script or (None, ())
        kept = StepReading(step.stage, step.instruction, values, declared, step.workdir, step.shell, text, commands)
        self.steps.append(kept)

    # -- images --------------------------------------------------------------------------------------------------

    def _from(self, stage: Stage) -> None:
        self._refer_from(stage)
        if stage.base_stage is not None or text_of(stage.base).lower() == "scratch":
            return
        said = f"FROM {display_of(stage.base)}"
        self.mentions.extend(image_mentions(stage.base, stage.name, stage.opening, said))

    def _image_source(self, stage: Stage, name: str, start: int, instruction: Instruction) -> None:
        if name.isdigit():
            return
        base = (Fragment(name, start, start + len(name.encode()), Quoting.PLAIN),)
        said = f"{instruction.keyword} --from={name}"
        self.mentions.extend(image_mentions(base, stage.name, instruction, said))

    # -- ARG, ENV and who refers to them -------------------------------------------------------------------------

    def _declared(self, step: Step) -> None:
        start = step.instruction.start
        if step.instruction.keyword == "ARG":
            self._note_missing(step)
        for value in step.environment.values.values():
            if value and value[-1].variables:
                declaration = value[-1].variables[-1]
                if declaration.start == start and declaration not in self.declarations:
                    self.declarations[declaration] = value

    def _note_missing(self, step: Step) -> None:
        instruction = step.instruction
        values = step.environment.values
        text = instruction.body.text
        if b"=" in text and b" " not in text:  # as nearly always: a default
            return
        for word in text.split():
            name = word.decode("utf-8", "replace")
            if not name.isidentifier() or name in values or name in PLATFORM_ARGUMENTS:
                continue
            said = comment_of(instruction, self.stages.syntax.escape)
            given = Declaration(name, "ARG", step.stage.name, self.file, instruction.line, instruction.start, said)
            self.missing.append(given)

    def _refer(self, step: Step) -> None:
        """Note which ARGs the instruction names, and through which of their declarations a value reaches it."""
        instruction = step.instruction
        if instruction.keyword == "ARG":
            return
        self._refer_text(step.stage.name, instruction, step.environment.values, step.environment.declared)

    def _refer_text(
        self, stage: str, instruction: Instruction, values: Mapping[str, Value], declared: Collection[str]
    ) -> None:
        text = self.data[instruction.start : instruction.end]
        if b"$" not in text:
            return
        for raw in {match[1] for match in _VARIABLE.finditer(text)}:
            if raw not in self.argument_names or re.search(rb"(?<![\w$])" + raw + rb"=(?!=)", text):
                continue
            name = raw.decode()
            value = values.get(name)
            reached = (
                name in declared
                if value is None
                else any(d.form == "ARG" and d.name == name for f in value for d in f.variables)
            )
            self.references.append(Reference(name, stage, instruction.line, reached))

    def _refer_from(self, stage: Stage) -> None:
        names = {name.decode() for name in self.argument_names}
        self._refer_text(stage.name, stage.opening, self.stages.environment.global_values, names)

    # -- RUN -----------------------------------------------------------------------------------------------------

    def _run_safely(
        self, step: Step, reader: RunReader, state: StageState
    ) -> tuple[JoinedText, tuple[Command, ...]] | None:
        try:
            return self._run(step, reader, state)
        except RecursionError:
            reader.problems.append((step.instruction.line, "nested too deeply to be read; left out"))
            return None

    def _run(
        self, step: Step, reader: RunReader, state: StageState, conditions: tuple[Condition, ...] = ()
    ) -> tuple[JoinedText, tuple[Command, ...]] | None:
        """Read a RUN; gives its script and the script's commands, None for a shell of another kind."""
        instruction = step.instruction
        foreign = self._foreign_shell(step)
        if foreign:
            if not any(message.startswith("RUN is given to") for _, message in reader.problems):
                said = f"RUN is given to {foreign}: what it installs in this stage is not read"
                reader.problems.append((instruction.line, said))
            return None
        copies = with_mounts(state.copies, instruction, step.workdir)
        reader.files = FileReader(
            lambda path: self._find(path, copies, state.checkouts),
            lambda path: self._why_not(path, copies, state.checkouts),
        )
        environment = step.environment

        def declare(name: str, offset: int, form: str) -> Declaration:
            return Declaration(name, form, step.stage.name, self.file, reader.line(offset), offset)

        def undecided(name: str) -> bool:
            return name in environment.declared and name not in environment.values

        shell = ShellReader(environment.lookup, declare, undecided)
        directory = step.workdir or "."
        words = json_words(instruction.body.text)
        script = JoinedText(b"", (0,), (instruction.start,))
        if words is not None:
            values = json_values(instruction.body)
            shell.commands.append(
                Command(tuple(values), instruction.start, instruction.end, (), directory, lookup=environment.lookup)
            )
            if len(values) > 2 and posixpath.basename(words[0]) in _POSIX and re.fullmatch(r"-[a-z]*c", words[1]):
                fragment = values[2][0]
                raw = fragment.text.encode("utf-8", "surrogateescape")
                script = JoinedText(raw, (0,), (fragment.start,))
                shell.read(script, directory)
        else:
            script = script_of(instruction, self.data)
            shell.read(script, directory, docker=True)
        for command in shell.commands:
            reader.take(replace(command, conditions=(*conditions, *command.conditions)) if conditions else command)
        self.problems.extend(
            FileProblem(self.file, reader.line(offset), "not understood as shell; read around it", fatal=False)
            for offset in shell.problems
        )
        return script, tuple(shell.commands)

    def _foreign_shell(self, step: Step) -> str:
        """The shell that reads a RUN where it is no POSIX shell, "" where it is one or there is none (exec form)."""
        if json_words(step.instruction.body.text) is not None:
            return ""
        if step.shell:
            name = re.split(r"[/\\\\]", step.shell[0])[-1]
            return "" if name in _POSIX else name
        return "cmd" if self.stages.syntax.escape == "`" else ""  # the directive is for Windows, whose paths need it

    def _trigger(self, step: Step, reader: RunReader, state: StageState) -> None:
        """Read what ONBUILD would run, where no stage of the file is built from this one; else that stage reads it."""
        trigger = step.instruction.trigger
        if trigger is None or trigger.keyword != "RUN" or any(s.base_stage is step.stage for s in self.stages.stages):
            return
        name = step.stage.name
        never = Condition(step.instruction.start, 0, f"if a stage is built from {name}", holds=False)
        self._run(replace(step, instruction=trigger), reader, state, (never,))

    def _find(self, path: str, copies: Copies, checkouts: Checkouts) -> tuple[str, bytes] | None:
        checkout = checkouts.around(path)
        if checkout is not None and checkout.address and path.startswith(checkout.directory):
            clone = self.options.repositories.get(self._pin_name(checkout.name)) or self.options.repositories.get(
                checkout.name
            )
            revision = checkout.current.effective if checkout.current else "HEAD"
            if clone is not None and revision and not revision.startswith("-"):
                inside = posixpath.relpath(path, checkout.directory)
                data = Commit(clone, revision).read(inside)
                if data is not None:
                    return f"{checkout.name}@{revision}:{inside}", data
            return None
        return read_through(self.options.context, copies, path)

    def _pin_name(self, name: str) -> str:
        return name

    def _why_not(self, path: str, copies: Copies, checkouts: Checkouts) -> str:
        checkout = checkouts.around(path)
        if checkout is not None and checkout.address and path.startswith(checkout.directory):
            revision = checkout.current.effective if checkout.current else ""
            at = f" at {revision}" if revision else ""
            return f"it is in the repository {checkout.address}{at}, of which no clone is at hand"
        if "://" in path:
            return "it is downloaded when the image is built"
        if not copies.candidates(path):
            return "it comes with the base image, or a command makes it"
        if self.options.context is None:
            return "no build context is at hand"
        return "the build context does not have it"


def read_dockerfile(data: bytes, file: str = "Dockerfile", options: ReadOptions | None = None) -> PinSet:
    """Read all pins of a Dockerfile; never raises for what stands in it.

    Args:
        data: the file.
        file: its path, for reports.
        options: what is known besides the file.
    """
    return _read(data, file, options or ReadOptions()).pin_set()


def read_base(data: bytes, file: str, target: str, options: ReadOptions | None = None) -> tuple[PinSet, Inherited]:
    """Read a Dockerfile that builds the base image of another one.

    Args:
        data: the file.
        file: its path.
        target: the stage that becomes the base image, "" for the last.
        options: what is known besides.

    Raises:
        UsageError: there is no such stage.
    """
    reading = _read(data, file, options or ReadOptions())
    stages = reading.stages
    stage = stages.find(target) if target else (stages.stages[-1] if stages.stages else None)
    if stage is None or stage.final is None:
        names = ", ".join(stage.name for stage in stages.stages) or "none"
        raise UsageError(f"{file} has no stage {target!r}; it has {names}")
    values = dict(stage.final.exported)
    files = {file: data, **reading.others}
    left = reading.left[stage.index].child()
    left.installs = [replace(entry, source=entry.source or file) for entry in left.installs]
    return reading.pin_set(), Inherited(values, stage.workdir, left, files)


def read_closely(data: bytes, file: str = "Dockerfile", options: ReadOptions | None = None) -> CloseReading:
    """Read all pins of a Dockerfile, and keep what was seen on the way; never raises for what stands in it."""
    reading = _read(data, file, options or ReadOptions(), closely=True)
    pin_set = reading.pin_set()
    return CloseReading(data, pin_set, reading.stages, tuple(reading.steps), reading.others, reading.left)


def _read(data: bytes, file: str, options: ReadOptions, *, closely: bool = False) -> _Reading:
    stages = read_stages(split_dockerfile(data), file, options.build_args, options.inherited)
    newlines = [match.start() for match in re.finditer(b"\n", data)]
    reading = _Reading(stages, data, file, options, newlines, closely=closely)
    for instruction in stages.syntax.instructions:
        if instruction.keyword == "ARG":
            body = instruction.body.text
            for start, end in docker_words(body, stages.syntax.escape):
                reading.argument_names.add(body[start:end].split(b"=")[0])
    for value in stages.environment.global_values.values():
        if value and value[-1].variables:
            reading.declarations.setdefault(value[-1].variables[-1], value)
            if is_unset(value):
                reading.missing.append(value[-1].variables[-1])
    for stage in stages.stages:
        reading.stage(stage)
    return reading


def _summaries(stages: Stages, reading: _Reading, roles: Mapping[int, Role]) -> Iterator[StageSummary]:
    for stage in stages.stages:
        parent = stage.base_stage
        taken = tuple(dict.fromkeys(source.name for source in stage.sources))
        state = reading.left.get(stage.index)
        base = display_of(stage.base)
        if reason := unknown_of(stage.base):
            base = f"{base} ({reason})"
        yield StageSummary(
            stage.name,
            stage.line,
            base,
            parent.name if parent else "",
            roles[stage.index].value,
            taken,
            tuple(state.installs) if state else (),
        )
