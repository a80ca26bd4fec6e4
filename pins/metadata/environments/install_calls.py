"""The pip and uv calls of a Dockerfile that must succeed for its build to succeed, with all that each asks for.

A call resolves what it is given itself, and nothing else: it may replace what an earlier one has installed. So a file
whose calls each have a solution builds, even if what it ends with does not fit together. Of a call that could find
packages elsewhere than on the configured indexes, or whose failure the build would not notice, nothing is told; nor
where distributions that no index has may be installed already, which are as good as any: in an image that is no plain
system, behind wheels that the file has built.
"""

import re
from dataclasses import dataclass

from pins.files.commands.pip import PipCall
from pins.files.dockerfile.read import CloseReading, StepReading
from pins.files.dockerfile.stages import Role
from pins.files.shell.command import Command
from pins.files.shell.status import decisive
from pins.files.values import Value, text_of, unknown_of
from pins.metadata.environments.dockerfile import ReadFile, StageReader
from pins.metadata.environments.model import StageContents
from pins.resolve.problem import Constraint, Origin
from pins.sources.target import Installer

_HARMLESS = frozenset({
    "--break-system-packages", "--build-constraint", "--build-constraints", "--cache-dir", "--compile",
    "--compile-bytecode", "--constraint", "--constraints", "--default-timeout", "--disable-pip-version-check",
    "--force-reinstall", "--ignore-installed", "--link-mode", "--no-build-isolation", "--no-cache",
    "--no-cache-dir", "--no-compile", "--no-input", "--no-python-version-warning", "--no-warn-conflicts",
    "--no-warn-script-location", "--override", "--overrides", "--prefer-binary", "--progress-bar", "--quiet",
    "--reinstall", "--requirement", "--requirements", "--retries", "--root-user-action", "--system", "--timeout",
    "--trusted-host", "--upgrade", "--upgrade-strategy", "--user", "--verbose", "-E", "-I", "-U", "-b", "-c", "-m",
    "-q", "-r", "-s", "-u", "-v", "-vv", "-vvv",
})  # fmt: skip
"""Options that decide nothing about which versions there are, or are read themselves."""
_ELSEWHERE = re.compile(
    rb"(?i)pip\.conf|pip3?\s+config\b|uv\.toml|\bpip\.ini|"
    rb"\b(?:PIP|UV)_(?:[A-Z_]*INDEX[A-Z_]*|[A-Z_]*FIND_LINKS|CONFIG_FILE|NO_INDEX|PRE|PRERELEASE|RESOLUTION|TORCH_BACKEND"
    rb"|EXCLUDE_NEWER|UPLOADED_PRIOR_TO|CONSTRAINT|OVERRIDE|PYTHON|TARGET|PREFIX|PLATFORM|NO_DEPS)\b|--platform[= ]"
    rb"|\b(?:conda|mamba|micromamba)\b|(?:site|dist)-packages|setup\.py\s+(?:install|develop)"
    rb"|\bpython3-(?!apt|config|dev|distutils|full|lib2to3|minimal|pip|setuptools|venv|wheel)[a-z]"
)
"""What gives pip or uv other indexes, rules or targets than the command line says, or installs beside them."""
_PLAIN = re.compile(
    r"(?i)(?:^|/)(?:python|ubuntu|debian|almalinux|rockylinux|fedora|amazonlinux|ubi\d*(?:-minimal)?|cuda|uv"
    r"|dev-[a-z]+-[\d.]+(?:-complete)?)(?:[:@]|$)"
)
"""Images of a system, perhaps with its compilers, that hold no distributions of their own."""
_LENIENT = re.compile(
    r"(?i)ubuntu[-_:]?(?:16|18|20)\.04|xenial|bionic|focal|debian[-_:]?(?:8|9|10)\b|jessie|stretch|buster"
    r"|(?:centos|ubi|rhel)[-_:/]?[678]\b|manylinux|python[-_:]?(?:2|3\.[0-7])\b"
)
"""Images whose own pip may be older than 20.3: it installs what does not fit together, and warns."""
_OPTIONS_IN_FILES = re.compile(rb"(?m)^\s*-(?!-?(?:r|requirement|c|constraint)\b)")


@dataclass(frozen=True)
class InstallCall:
    """One call that must succeed.

    Attributes:
        stage: its name.
        line: where it stands, from 1.
        requirements, bounds, overrides: what it asks for, and what limits that.
        installer: whose rules hold.
        upgrades: whether it takes the newest, whatever is installed.
    """

    stage: str
    line: int
    requirements: tuple[Constraint, ...]
    bounds: tuple[Constraint, ...]
    overrides: tuple[Constraint, ...]
    installer: Installer
    upgrades: bool = False


def install_calls(reading: CloseReading, file: str, read_file: ReadFile) -> tuple[InstallCall, ...]:
    """The calls, in the order of stages; () where the file changes what pip or uv read everywhere.

    Of an image with a pip that is too old to refuse anything, only calls of uv are among them.

    Args:
        reading: the Dockerfile.
        file: its path, for people.
        read_file: gives a file of the build context, None when there is none.
    """
    if _ELSEWHERE.search(reading.data):
        return ()
    target = next((stage.name for stage in reading.pin_set.stages if stage.role == "target"), "")
    roles = reading.stages.roles(reading.stages.find(target) if target else None)
    reader = _CallReader(reading, file, read_file)
    for step in reading.steps:
        reader.step(step)
    return tuple(call for stage, call in reader.calls if roles[stage] is not Role.UNUSED)


class _CallReader(StageReader):
    """Reads stages, and beside them each call by itself."""

    def __init__(self, reading: CloseReading, file: str, read_file: ReadFile) -> None:
        super().__init__(reading, file, self._noticed)
        self._read_quietly = read_file
        self._odd_files = False
        self._decisive: dict[int, frozenset[tuple[int, int]]] = {}
        self._mixed: set[int] = set()
        self.calls: list[tuple[int, InstallCall]] = []

    def _noticed(self, path: str) -> bytes | None:
        found = self._read_quietly(path)
        if found is not None and _OPTIONS_IN_FILES.search(found):
            self._odd_files = True
        return found

    def _pip(
        self,
        call: PipCall,
        words: tuple[Value, ...],
        command: Command,
        step: StepReading,
        before: tuple[Command, ...],
        contents: StageContents,
    ) -> None:
        self._odd_files = False
        alone = StageContents(
            contents.name, wheels=dict(contents.wheels), requirement_files=dict(contents.requirement_files)
        )
        super()._pip(call, words, command, step, before, alone)
        local = alone.built or alone.installed or alone.requirement_files != contents.requirement_files
        if local or alone.notes or call.indexes or call.editable:
            self._mixed.add(step.stage.index)
        elif alone.requested and self._is_plain(call, words, command, step):
            made = self._call(words, command, alone)
            if self._starts_plain(step, made.installer) and not contents.built and not contents.installed:
                self.calls.append((step.stage.index, made))
        super()._pip(call, words, command, step, before, contents)

    def _starts_plain(self, step: StepReading, installer: Installer) -> bool:
        """Whether nothing is installed yet but what indexes have, by an installer that refuses what does not fit."""
        base = step.stage.ancestry[-1].base
        plain = not unknown_of(base) and _PLAIN.search(text_of(base)) is not None
        lenient = installer is Installer.PIP and _LENIENT.search(text_of(base)) is not None
        return plain and not lenient and not any(stage.index in self._mixed for stage in step.stage.ancestry)

    def _is_plain(self, call: PipCall, words: tuple[Value, ...], command: Command, step: StepReading) -> bool:
        if call.action != "install" or self._odd_files or command.conditions:
            return False
        if command.tolerated or command.pipeline or step.script is None or command.environment:
            return False
        if text_of(words[0]).rpartition("/")[2] == "uv" and text_of(words[1]) != "pip":
            return False
        options = {text_of(word).partition("=")[0] for word in words if text_of(word).startswith("-")}
        if not {_short(option) for option in options} <= _HARMLESS:
            return False
        if id(step) not in self._decisive:
            self._decisive[id(step)] = decisive(step.script, step.shell)
        return (command.start, command.end) in self._decisive[id(step)]

    def _call(self, words: tuple[Value, ...], command: Command, alone: StageContents) -> InstallCall:
        name = text_of(words[0]).rpartition("/")[2]
        requested = alone.requested
        return InstallCall(
            alone.name,
            self._line(command),
            tuple(Constraint(one.text, Origin(file=one.file, line=one.line)) for one in requested),
            tuple(alone.bounds),
            tuple(alone.overrides),
            Installer.UV if name == "uv" else Installer.PIP,
            upgrades=any(one.upgrade for one in requested),
        )


def _short(option: str) -> str:
    """`-rfile` as `-r`: the option without what is written together with it."""
    return option[:2] if option[:2] in {"-r", "-c"} and not option.startswith("--") else option
