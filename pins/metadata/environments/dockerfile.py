"""What the stages of a Dockerfile install and build, read command by command."""

import posixpath
import re
from collections.abc import Callable, Iterator

from pins.files.commands.pip import PipCall, read_pip
from pins.files.commands.wrappers import unwrap
from pins.files.dockerfile.read import CloseReading, StepReading
from pins.files.dockerfile.stages import Role
from pins.files.repositories import Checkout
from pins.files.requirement import RequirementKind, read_requirement
from pins.files.requirements import read_requirements
from pins.files.shell.command import Command
from pins.files.values import Fragment, Value, text_of, unknown_of
from pins.metadata.environments.build_commands import read_build, read_copy, wheel_directory
from pins.metadata.environments.model import InstalledProject, Project, Requested, StageContents
from pins.metadata.environments.wheel_places import add_wheels, joined, moved, names_wheels, rooted, without_wildcard
from pins.model import Pin, PinKind
from pins.resolve.problem import Constraint, Origin

_MOUNT = re.compile(r"--mount=(.*)", re.DOTALL)
_UPGRADE = frozenset({"-U", "--upgrade", "--force-reinstall", "--reinstall"})
ReadFile = Callable[[str], bytes | None]


def stage_contents(reading: CloseReading, file: str, read_file: ReadFile) -> list[StageContents]:
    """Every stage that ends up in the target or helps to build it, in the file's order.

    Args:
        reading: the Dockerfile.
        file: its path, for people.
        read_file: gives a file of the build context, None when there is none.
    """
    reader = StageReader(reading, file, read_file)
    for step in reading.steps:
        reader.step(step)
    target = next((stage.name for stage in reading.pin_set.stages if stage.role == "target"), "")
    roles = reading.stages.roles(reading.stages.find(target) if target else None)
    used = [stage for stage in reading.stages.stages if roles[stage.index] is not Role.UNUSED]
    return [reader.contents[stage.index] for stage in used if stage.index in reader.contents]


class StageReader:
    """Goes through the steps of all stages, those of a stage after those of the stages that it descends from."""

    def __init__(self, reading: CloseReading, file: str, read_file: ReadFile) -> None:
        self.reading = reading
        self.file = file
        self.read_file = read_file
        self.contents: dict[int, StageContents] = {}
        self.newlines = [match.start() for match in re.finditer(b"\n", reading.data)]

    def step(self, step: StepReading) -> None:
        """Read one instruction; its stage's contents are in `contents` afterwards."""
        stage = step.stage
        if stage.index not in self.contents:
            parent = self.contents.get(stage.base_stage.index) if stage.base_stage else None
            self.contents[stage.index] = parent.child(stage.name) if parent else StageContents(stage.name)
        contents = self.contents[stage.index]
        keyword = step.instruction.keyword
        if keyword == "COPY":
            self._copied(step, contents)
        elif keyword == "RUN":
            mounted = self._mounted(step)
            before = {directory: contents.wheels.get(directory) for directory in mounted}
            contents.wheels.update(mounted)
            for index, command in enumerate(step.commands):
                if any(condition.holds is False for condition in command.conditions):
                    continue
                self._command(command, step, step.commands[:index], contents)
            for directory, projects in before.items():  # a mount is gone behind its RUN
                contents.wheels.pop(directory, None)
                if projects is not None:
                    contents.wheels[directory] = projects

    # -- files that move between stages --------------------------------------------------------------------------

    def _mounted(self, step: StepReading) -> dict[str, list[Project]]:
        found: dict[str, list[Project]] = {}
        for flag in step.instruction.flags:
            match = _MOUNT.match(flag.text.decode("utf-8", "replace"))
            parts = match[1].split(",") if match else []
            options: dict[str, str] = {part.partition("=")[0]: part.partition("=")[2] for part in parts}
            source = self._stage_contents(options.get("from", ""))
            if source is not None:
                start = options.get("source", options.get("src", "/"))
                target = options.get("target", options.get("dst", options.get("destination", "/")))
                found.update(moved(source.wheels, start, posixpath.join(step.workdir or "/", target)))
        return found

    def _copied(self, step: StepReading, contents: StageContents) -> None:
        origin = next(
            (
                flag.text[7:].decode("utf-8", "replace")
                for flag in step.instruction.flags
                if flag.text.startswith(b"--from=")
            ),
            "",
        )
        source = self._stage_contents(origin)
        words = step.instruction.body.text.decode("utf-8", "replace").split()
        if source is None or len(words) < 2:
            return
        target = posixpath.join(step.workdir or "/", words[-1])
        for word in words[:-1]:
            add_wheels(contents, moved(source.wheels, without_wildcard(word), target))

    def _stage_contents(self, name: str) -> StageContents | None:
        stage = self.reading.stages.find(name) if name else None
        return self.contents.get(stage.index) if stage is not None else None

    # -- commands ------------------------------------------------------------------------------------------------

    def _command(
        self, command: Command, step: StepReading, before: tuple[Command, ...], contents: StageContents
    ) -> None:
        words = unwrap(command.words)
        if not words:
            return
        if call := read_pip(words):
            self._pip(call, words, command, step, before, contents)
        elif build := read_build(words):
            directory = joined(command.directory, build.source)
            project = self._project(directory, command, step, before, contents, isolated=build.isolated)
            if project is not None:
                contents.built.append(project)
                contents.does_something = True
                if build.makes == "wheel":
                    output = joined(directory if build.source == "." else command.directory, build.output)
                    contents.wheels.setdefault(rooted(output), []).append(project)
                elif build.makes == "install":
                    contents.installed.append(InstalledProject(project, project.line))
        elif copy := read_copy(words):
            for source in copy.sources:
                if names_wheels(source):
                    start = joined(command.directory, posixpath.dirname(source) or ".")
                    add_wheels(contents, moved(contents.wheels, start, joined(command.directory, copy.target)))

    def _pip(
        self,
        call: PipCall,
        words: tuple[Value, ...],
        command: Command,
        step: StepReading,
        before: tuple[Command, ...],
        contents: StageContents,
    ) -> None:
        line = self._line(command)
        if call.action == "uninstall":
            contents.removed += [text_of(word).lower() for word in call.requirements]
            return
        installs = call.action == "install"
        upgrade = bool(_UPGRADE & call.flags)
        alone = "--no-deps" in call.flags or "--no-dependencies" in call.flags
        isolated = "--no-build-isolation" not in call.flags and text_of(words[0]).rpartition("/")[2] != "conda"
        contents.does_something = True
        leave_out = contents.leave_out if installs else contents.notes.append
        for word in (*call.requirements, *call.editable):
            text = text_of(word)
            if unknown_of(word):
                leave_out(f"{self.file}:{line}: {text}: {unknown_of(word)}")
                continue
            read = read_requirement(word)
            editable = any(word is one for one in call.editable)  # a path or a repository, never a name
            if read is not None and read.kind is RequirementKind.SPECIFIER and not editable:
                if installs:
                    at = self._line_of(word, command)
                    contents.requested.append(Requested(text.strip(), self.file, at, upgrade, alone))
                continue
            if read is not None and read.kind not in (RequirementKind.PATH, RequirementKind.SPECIFIER):
                name = f"{read.name} from " if read.name else ""
                leave_out(f"{self.file}:{line}: what {name}{read.url} requires is not counted")
                continue
            self._path(text, call, words, command, step, before, contents, isolated=isolated, alone=alone)
        for role, path in (*call.files, *_files_of_variables(text_of(words[0]), step, command)):
            self._requirements(role, path, command, contents, upgrade=upgrade, alone=alone, installs=installs)

    def _path(
        self,
        text: str,
        call: PipCall,
        words: tuple[Value, ...],
        command: Command,
        step: StepReading,
        before: tuple[Command, ...],
        contents: StageContents,
        *,
        isolated: bool,
        alone: bool,
    ) -> None:
        """A path that pip is given: wheels that another command has made, or a directory to build."""
        line = self._line(command)
        bracket = re.search(r"\[([^\]]*)\]\Z", text)
        path = text[: bracket.start()] if bracket else text
        extras = tuple(part.strip() for part in bracket[1].split(",") if part.strip()) if bracket else ()
        if names_wheels(path):
            directory = rooted(joined(command.directory, posixpath.dirname(path) or "."))
            projects = contents.wheels.get(directory, [])
            if not projects:
                contents.leave_out(f"{self.file}:{line}: {text}: what lies there is not known, and not counted")
            contents.installed += [InstalledProject(project, line, alone, extras) for project in projects]
            return
        project = self._project(joined(command.directory, path), command, step, before, contents, isolated=isolated)
        if project is None:
            contents.leave_out(f"{self.file}:{line}: {text}: a local directory that is not at hand, not counted")
            return
        contents.built.append(project)
        if call.action == "wheel":
            output = rooted(joined(command.directory, wheel_directory(words)))
            contents.wheels.setdefault(output, []).append(project)
        else:
            contents.installed.append(InstalledProject(project, line, alone, extras))

    def _requirements(
        self,
        role: str,
        path: Value,
        command: Command,
        contents: StageContents,
        *,
        upgrade: bool,
        alone: bool,
        installs: bool,
    ) -> None:
        text, line = text_of(path), self._line(command)
        full = joined(command.directory, text)
        checkout = self._checkout(full, contents)
        if checkout is not None and role == "requirement":
            inside = posixpath.relpath(full, checkout.directory)
            contents.requirement_files.setdefault(checkout.directory, []).append(inside)
            return
        found = self._context_file(full, contents)
        if found is None or unknown_of(path):
            contents.leave_out(f"{self.file}:{line}: {text} is not at hand: what it asks for is not counted")
            return
        name, content = found
        parsed = read_requirements(content, name, self.read_file, "constraint" if role != "requirement" else role)
        for entry in parsed.lines:
            stated = Constraint(entry.text.strip(), Origin(file=entry.file, line=entry.line))
            if entry.requirement.kind is not RequirementKind.SPECIFIER:
                contents.leave_out(f"{entry.file}:{entry.line}: what {entry.text[:80]} requires is not counted")
            elif role == "override":
                contents.overrides.append(stated)
            elif role == "constraint" or (role == "requirement" and entry.role == "constraint"):
                contents.bounds.append(stated)
            elif role == "requirement" and installs:
                contents.requested.append(Requested(entry.text.strip(), entry.file, entry.line, upgrade, alone))
        contents.notes += [f"{where}:{number}: {message}" for where, number, message in parsed.problems]

    # -- checkouts -----------------------------------------------------------------------------------------------

    def _project(
        self,
        directory: str,
        command: Command,
        step: StepReading,
        before: tuple[Command, ...],
        contents: StageContents,
        *,
        isolated: bool,
    ) -> Project | None:
        checkout = self._checkout(directory, contents)
        if checkout is None:
            return None
        pin = self._pin(checkout, contents.name)
        inside = posixpath.relpath(directory, checkout.directory)
        first = "" if inside == "." else inside
        others = [
            posixpath.normpath(posixpath.join(first, text_of(one.words[1]))) for one in before if _may_lead_into(one)
        ]
        variables = {name: text_of(value) for name, value in step.values.items() if not unknown_of(value)}
        variables.update({name: text_of(value) for name, value in command.environment if not unknown_of(value)})
        revision = checkout.current.effective if checkout.current else ""
        return Project(
            pin=pin.name if pin else checkout.name,
            address=checkout.address,
            revision=revision or (pin.effective or pin.value or "" if pin else ""),
            pin_line=pin.line if pin else self._line(command),
            comment=pin.comment if pin else "",
            stage=contents.name,
            line=self._line(command),
            directory=checkout.directory,
            subdirectories=tuple(dict.fromkeys([first, *others])),
            requirement_files=tuple(contents.requirement_files.get(checkout.directory, ())),
            variables=tuple(sorted(variables.items())),
            isolated=isolated,
        )

    def _checkout(self, directory: str, contents: StageContents) -> Checkout | None:
        stage = self.reading.stages.find(contents.name)
        state = self.reading.left.get(stage.index) if stage else None
        checkout = state.checkouts.around(directory) if state else None
        inside = checkout is not None and (directory + "/").startswith(checkout.directory.rstrip("/") + "/")
        return checkout if checkout is not None and checkout.address and inside else None

    def _pin(self, checkout: Checkout, stage: str) -> Pin | None:
        pins = [pin for pin in self.reading.pin_set.pins if pin.kind is PinKind.GIT]
        here = [pin for pin in pins if pin.directory == checkout.directory and pin.repo == checkout.address]
        used = [pin for pin in here if any(use.stage == stage for use in pin.uses)]
        return next(iter([*used, *here]), None)

    def _context_file(self, path: str, contents: StageContents) -> tuple[str, bytes] | None:
        stage = self.reading.stages.find(contents.name)
        state = self.reading.left.get(stage.index) if stage else None
        for candidate in state.copies.candidates(path) if state else []:
            content = self.read_file(candidate)
            if content is not None:
                return candidate, content
        return None

    def _line(self, command: Command) -> int:
        from bisect import bisect_left

        return bisect_left(self.newlines, command.start) + 1

    def _line_of(self, word: Value, command: Command) -> int:
        from bisect import bisect_left

        start = next((one.start for one in word if command.start <= one.start < command.end), command.start)
        return bisect_left(self.newlines, start) + 1


_VARIABLES = {
    "pip": {"PIP_CONSTRAINT": "constraint", "PIP_REQUIREMENT": "requirement"},
    "uv": {"UV_CONSTRAINT": "constraint", "UV_OVERRIDE": "override"},
}
"""Variables that name files as options do."""


def _files_of_variables(program: str, step: StepReading, command: Command) -> Iterator[tuple[str, Value]]:
    """Files that the environment names for pip or uv: (role, path)."""
    values = {**step.values, **dict(command.environment)}
    known = _VARIABLES["uv" if posixpath.basename(program) == "uv" else "pip"]
    for name, role in known.items():
        value = values.get(name, ())
        if text_of(value).strip() and not unknown_of(value):
            for part in text_of(value).split():
                yield role, (Fragment(part),)


def _may_lead_into(command: Command) -> bool:
    """Whether a command changes into a directory under a condition that looks for a project's files."""
    undecided = [condition for condition in command.conditions if condition.holds is None]
    looks = any("setup.py" in condition.text or "pyproject.toml" in condition.text for condition in undecided)
    return command.name == "cd" and len(command.words) == 2 and looks
