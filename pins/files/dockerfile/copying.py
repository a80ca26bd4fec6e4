"""COPY, ADD and bind mounts: which files of the build context lie where in a stage, and what ADD fetches."""

import posixpath
import re

from pins.files.commands.download import versions_in
from pins.files.context import Copies
from pins.files.dockerfile.instruction_words import docker_words
from pins.files.dockerfile.stage_reading import StageReading
from pins.files.dockerfile.stage_state import StageState
from pins.files.dockerfile.stages import Step
from pins.files.dockerfile.syntax import Instruction, json_words
from pins.files.dockerfile.written import lines_of, write_lines
from pins.files.joined import JoinedText
from pins.files.mention import Part, part_of
from pins.files.requirement import repository_name
from pins.files.shell.command import Command
from pins.files.values import Value, cut, text_of
from pins.files.words import expand
from pins.model import Form, PinKind


def take_copy(step: Step, state: StageState, reader: StageReading, escape: str) -> None:
    """Read a COPY or ADD: what lies where afterwards, and what ADD downloads or clones."""
    instruction = step.instruction
    body = instruction.body
    words = [body.text[start:end] for start, end in docker_words(body.text, escape)]
    values = [
        expand(body, start, end, step.environment.lookup, escape=escape)
        for start, end in docker_words(body.text, escape)
    ]
    if len(values) < 2 or json_words(body.text) is not None:
        return
    destination = text_of(values[-1])
    path = posixpath.normpath(posixpath.join(step.workdir or ".", destination))
    from_elsewhere = any(flag.text.startswith(b"--from=") for flag in instruction.flags)
    for word, value in zip(words[:-1], values[:-1], strict=True):
        text = text_of(value)
        if word.startswith(b"<<"):
            _take_heredoc(step, reader, path)
            continue
        if instruction.keyword == "ADD" and re.match(r"https?://|git@", text):
            _added(value, step, reader, path)
        elif not from_elsewhere:
            directory = destination.endswith("/") or destination in {".", "./"} or len(values) > 2
            state.copies.entries.append(
                (path, posixpath.normpath(text.lstrip("/") or "."), directory or _is_directory(text))
            )


def _take_heredoc(step: Step, reader: StageReading, path: str) -> None:
    """Keep the lines of a file that COPY writes out of the Dockerfile itself."""
    for heredoc in step.instruction.heredocs:
        body = JoinedText(reader.data[heredoc.start : heredoc.end], (0,), (heredoc.start,))
        lookup = step.environment.lookup if heredoc.expand else None
        command = Command((), step.instruction.start, step.instruction.end, (), step.workdir)
        write_lines(reader, path, lines_of(body, lookup), command)


def _added(value: Value, step: Step, reader: StageReading, path: str) -> None:
    text = text_of(value)
    command = Command((value,), step.instruction.start, step.instruction.end, (), step.workdir)
    if re.match(r"git@|https?://[^#]+\.git(?:#|\Z)", text) or ("#" in text and "github.com" in text):
        mark = text.find("#")
        ref: Value = ()
        if mark >= 0:
            colon = text.find(":", mark)
            ref = cut(value, mark + 1, colon if colon > 0 else len(text))
        mention = reader.blank(PinKind.GIT, repository_name(text), value, command, f"ADD {text}")
        mention.repo, mention.name_from_variable, mention.directory = text.split("#")[0], True, path
        mention.effective = text_of(ref)
        mention.parts = (part_of(ref),)
        if not ref:
            mention.form = Form.OPEN
            mention.parts = (Part(None, None),)
        reader.mentions.append(mention)
        return
    for found in versions_in(value):
        mention = reader.blank(PinKind.URL, found.name, value, command, f"ADD {text}")
        mention.parts = tuple(part_of(version) for version in found.versions)
        mention.effective, mention.repo, mention.name_from_variable = text, found.repository, not found.name
        mention.note = found.note
        reader.mentions.append(mention)


def _is_directory(source: str) -> bool:
    return source in {".", "./", "/"} or source.endswith("/") or "." not in posixpath.basename(source)


def with_mounts(copies: Copies, instruction: Instruction, workdir: str) -> Copies:
    """The stage's copies with what this RUN mounts from the build context."""
    result = copies
    for flag in instruction.flags:
        text = flag.text.decode("utf-8", "replace")
        if not text.startswith("--mount=") or "from=" in text:
            continue
        options = dict(part.partition("=")[::2] for part in text[8:].split(","))
        if options.get("type", "bind") != "bind":
            continue
        source = options.get("source", options.get("src", "."))
        target = options.get("target", options.get("dst", options.get("destination", "")))
        if target:
            result = result.child() if result is copies else result
            path = posixpath.normpath(posixpath.join(workdir or ".", target))
            result.entries.append((path, posixpath.normpath(source.lstrip("/") or "."), True))
    return result
