"""Everything that was seen while the pins of a Dockerfile were read, for those who look closer."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pins.files.dockerfile.stage_state import StageState
from pins.files.dockerfile.stages import Stage, Stages
from pins.files.dockerfile.syntax import Instruction
from pins.files.joined import JoinedText
from pins.files.shell.command import Command
from pins.files.values import Value
from pins.model import PinSet


@dataclass(frozen=True, slots=True)
class StepReading:
    """One instruction as it was read, for those who look closer than pins do.

    Attributes:
        stage: the stage that runs it.
        instruction: what is run; for ONBUILD the instruction that carries it.
        values: the variables it sees, and for ARG and ENV those that hold after it.
        declared: names that an ARG has declared by then.
        workdir: the working directory, "" for the base image's.
        shell: what SHELL has set, () for the default.
        script: what a RUN gives to the shell, None for anything else and for another kind of shell.
        commands: the commands of that script.
    """

    stage: Stage
    instruction: Instruction
    values: Mapping[str, Value]
    declared: Collection[str]
    workdir: str
    shell: tuple[str, ...]
    script: JoinedText | None = None
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class CloseReading:
    """A Dockerfile with everything that was found while reading its pins.

    Attributes:
        data: the file.
        pin_set: its pins.
        stages: its stages; `stages.syntax` has the instructions.
        steps: every instruction of every stage, in the order of stages.
        others: further files that were read, by path.
        left: by stage index, what each stage ends with.
    """

    data: bytes
    pin_set: PinSet
    stages: Stages
    steps: tuple[StepReading, ...]
    others: Mapping[str, bytes]
    left: Mapping[int, StageState]
