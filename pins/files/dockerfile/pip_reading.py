"""What pip and uv install in a stage, requirements files included."""

import posixpath
import re

from pins.files.commands.pip import PipCall
from pins.files.dockerfile.stage_reading import StageReading, offset_of
from pins.files.dockerfile.written import use_written
from pins.files.requirement import ReadRequirement, RequirementKind, read_requirement
from pins.files.requirement_mentions import Blank, mentions_of, unquoted
from pins.files.requirements import RequirementsFile, read_requirements
from pins.files.shell.command import Command
from pins.files.values import Value, text_of, unknown_of, without_credentials
from pins.model import Installed


def take_pip(stage: StageReading, call: PipCall, command: Command) -> None:
    """Read a call of pip or uv."""
    line = stage.line(command.start)
    if call.action == "uninstall":
        for word in call.requirements:
            if read := read_requirement(word):
                stage.installs.append(Installed(read.name, "", stage.line(offset_of(word, command)), unknown="removed"))
        return
    for role, path in call.files:
        _requirements_file(stage, role, path, command)
    for word in (*call.editable, *call.requirements):
        text = text_of(word)
        read = read_requirement(word)
        if word in call.editable and (read is None or read.kind is RequirementKind.SPECIFIER):
            read = ReadRequirement(RequirementKind.PATH, "", url=text)
        if read is None:
            if not re.search(r"[*?{}]", text) and re.match(r"[A-Za-z0-9]", text):
                stage.problems.append(
                    (stage.line(offset_of(word, command)), f"not understood as a requirement: {text[:80]}")
                )
            continue
        _requirement(stage, read, word, command, f"pip {call.action} {text}", line)


def _requirement(
    stage: StageReading, read: ReadRequirement, word: Value, command: Command, said: str, line: int
) -> None:
    at = stage.line(offset_of(word, command)) or line

    found = mentions_of(read, _blank(stage, word, command, said))
    if lost := _lost_bound(word, command):
        for mention in found:
            mention.note = f"the shell takes '{lost}' for a redirection: the bound does not reach pip; quote it"
    stage.mentions.extend(unquoted(mention, stage.data) for mention in found)
    unknown = ""
    name = "" if read.unnamed else read.name
    if read.kind is RequirementKind.PATH:
        name = name or _name_of_path(stage, text_of(word), command)
        unknown = "a local file or directory decides"
    elif unknown_of(word):
        unknown = unknown_of(word)
    stage.installs.append(Installed(name, without_credentials(text_of(word)), at, unknown=unknown))


def _name_of_path(stage: StageReading, path: str, command: Command) -> str:
    base = posixpath.basename(path)
    if base.endswith(".whl"):
        return re.split(r"-|\*", base)[0].lower().replace("_", "-")
    directory = posixpath.normpath(posixpath.join(command.directory or ".", path.split("[")[0]))
    checkout = stage.checkouts.around(directory)
    return checkout.name if checkout and checkout.address else ""


def _requirements_file(stage: StageReading, role: str, path: Value, command: Command) -> None:
    text = text_of(path)
    line = stage.line(offset_of(path, command))
    option = "-c" if role == "constraint" else "-r"
    full = text if "://" in text else posixpath.normpath(posixpath.join(command.directory or ".", text))
    found = None if unknown_of(path) else stage.files.find(full)
    if use_written(stage, full, role, command) and found is None:
        return
    if found is None:
        reason = unknown_of(path) or stage.files.why_not(full)
        stage.problems.append((line, f"{option} {text} is not at hand: {reason}"))
        if role == "requirement":
            stage.installs.append(Installed("", f"{option} {text}", line, unknown=reason))
        return
    name, data = found
    base = posixpath.dirname(full)

    def nested(other: str) -> bytes | None:
        relative = posixpath.relpath(other, posixpath.dirname(name) or ".")
        more = stage.files.find(posixpath.normpath(posixpath.join(base, relative)))
        return more[1] if more else None

    if name.endswith((".toml", ".lock", ".cfg", ".py")):
        return
    read = read_requirements(data, name, nested, role)
    _take_file(stage, read, role, command, text, line, stage.edited.get(full, 0))


def _take_file(
    stage: StageReading, read: RequirementsFile, role: str, command: Command, path: str, line: int, edited: int
) -> None:
    stage.read.update(read.read)
    note = f"line {edited} edits this file before it is used" if edited else ""
    for mention in read.mentions:
        mention.stage, mention.conditions = stage.stage, command.conditions
        mention.note = note
        mention.command = f"pip install {'-c' if role == 'constraint' else '-r'} {path} (line {line})"
        stage.mentions.append(mention)
    for entry in read.lines:
        if entry.role == "requirement":
            stage.installs.append(
                Installed(entry.requirement.name, entry.text, entry.line, source=entry.file, unknown=note)
            )
    stage.problems.extend((line, f"{file}:{number}: {message}") for file, number, message in read.problems)


def _blank(stage: StageReading, word: Value, command: Command, said: str) -> Blank:
    return lambda kind, name: stage.blank(kind, name, word, command, said)


def _lost_bound(word: Value, command: Command) -> str:
    """The bound behind a requirement that the shell takes for a redirection: ``foo>=4`` without quotes."""
    if not word or not word[-1].written:
        return ""
    for redirected in command.outputs:
        first = redirected[0] if redirected else None
        if first is not None and 0 < first.start - word[-1].end <= 2 and text_of(redirected).startswith("="):
            return f">{text_of(redirected)}"
    return ""
