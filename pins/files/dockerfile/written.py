"""Files that commands write out of the Dockerfile itself: requirements for pip, sources of packages for apt and dnf."""

import posixpath
import re
from collections.abc import Callable, Iterator

from pins.files.dockerfile.stage_reading import StageReading
from pins.files.joined import JoinedText
from pins.files.mention import part_of
from pins.files.requirement import read_requirement
from pins.files.requirement_mentions import mentions_of
from pins.files.shell.command import Command
from pins.files.values import Fragment, Value, cut, shape_of, text_of
from pins.files.words import Dialect, Lookup, expand, literal
from pins.model import Installed, PinKind

REQUIREMENT_FILE = re.compile(
    r"(?:requirement|constraint|override)s?[^/]*\.(?:txt|in|pip)\Z|constraints?[^/]*\Z", re.IGNORECASE
)
_REQUIREMENT = re.compile(r"\s*[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[^\]]*\])?\s*(?:(?:===?|[<>~!]=|[<>])|@\s|;|\Z)")
_BOUNDED = re.compile(r"\s*[A-Za-z0-9._-]+(?:\[[^\]]*\])?\s*(?:===?|[<>~!]=|[<>]|@\s)")
_SOURCE = re.compile(r"(?:\bdeb(?:-src)?\s+(?:\[[^\]]*\]\s+)?|\bbaseurl\s*=\s*|\bURIs:\s*)(https?://[^\s'\"\\]+)")
_BREAK = re.compile(r"\\n|\n")
_BLANK = (Fragment(" "),)

TakeAddress = Callable[[Value, Command], None]
"""Reads the version in an address."""


def lines_of(body: JoinedText, lookup: Lookup | None) -> list[Value]:
    """The lines of a heredoc, with its variables replaced where `lookup` is given."""
    lines: list[Value] = []
    start = 0
    for raw in body.text.splitlines(keepends=True):
        end = start + len(raw.rstrip(b"\r\n"))
        if end > start:
            plain = lookup is None or b"$" not in raw
            lines.append(
                literal(body, start, end, Dialect.HEREDOC)
                if plain or lookup is None
                else expand(body, start, end, lookup, Dialect.HEREDOC)
            )
        start += len(raw)
    return lines


def take_written(stage: StageReading, words: tuple[Value, ...], command: Command, address: TakeAddress) -> None:
    """Read what `echo`, `printf`, `cat` and `tee` write into a file, or into a pipe that ends in one."""
    lines = list(_written_lines(words, command))
    for line in lines:
        for match in _SOURCE.finditer(shape_of(line)):
            address(cut(line, *match.span(1)), command)
    _preferences(stage, lines, command)
    name = text_of(words[0]).rsplit("/", 1)[-1]
    outputs = [*command.outputs, *(w for w in words[1:] if name == "tee" and not text_of(w).startswith("-"))]
    for output in outputs:
        path = posixpath.normpath(posixpath.join(command.directory or ".", text_of(output)))
        write_lines(stage, path, lines, command)


def _preferences(stage: StageReading, lines: list[Value], command: Command) -> None:
    """Versions that apt is to prefer: ``Package:`` and ``Pin: version`` in a file of preferences."""
    package = ""
    for line in lines:
        shape = shape_of(line)
        if match := re.match(r"Package:\s*(\S+)", shape):
            package = match[1]
        elif package and (match := re.match(r"Pin:\s*version\s+(\S+)", shape)):
            mention = stage.blank(PinKind.APT, package, line, command, f"apt preference {package} {match[1]}")
            mention.parts, mention.effective = (part_of(cut(line, *match.span(1))),), match[1]
            stage.mentions.append(mention)


def write_lines(stage: StageReading, path: str, lines: list[Value], command: Command) -> None:
    """Keep the lines of a file; those of a requirements file are read at once, for nothing may name it later on."""
    found = [line for line in lines if _REQUIREMENT.match(shape_of(line))]
    if not found:
        return
    if REQUIREMENT_FILE.search(path):
        for line in found:
            if _BOUNDED.match(shape_of(line)) or len(found) > 1 or len(text_of(line).split()) == 1:
                _mention(stage, line, command, f"write {text_of(line)}")
        stage.written.setdefault(path, []).extend((line, command, True) for line in found)
    else:
        stage.written.setdefault(path, []).extend((line, command, False) for line in found)


def use_written(stage: StageReading, path: str, role: str, command: Command) -> bool:
    """Read a file that pip is given and that a command has written; whether there is one."""
    lines = stage.written.get(path)
    if lines is None:
        return False
    for index, (line, written, mentioned) in enumerate(lines):
        read = read_requirement(line)
        if read is None:
            continue
        if not mentioned:
            _mention(stage, line, written, f"pip install {'-c' if role == 'constraint' else '-r'} {path}")
            lines[index] = (line, written, True)
        if role == "requirement":
            at = next((f.start for f in line if f.written), command.start)
            stage.installs.append(Installed(read.name, text_of(line), stage.line(at)))
    return True


def _mention(stage: StageReading, line: Value, command: Command, said: str) -> None:
    if (read := read_requirement(line)) is not None:
        stage.mentions.extend(mentions_of(read, lambda kind, name: stage.blank(kind, name, line, command, said)))


def _written_lines(words: tuple[Value, ...], command: Command) -> Iterator[Value]:
    name = text_of(words[0]).rsplit("/", 1)[-1]
    if name in {"cat", "tee"}:
        if command.body is not None:
            yield from lines_of(command.body, command.lookup if command.body_expands else None)
        return
    arguments = [word for word in words[1:] if not re.fullmatch(r"-[neE]+|--", text_of(word))]
    if name == "printf":
        if arguments and "%" in text_of(arguments[0]):
            if re.fullmatch(r"(?:%[sb](?:\\n)*)+", text_of(arguments[0])):  # else the arguments are parts of lines
                yield from arguments[1:]
            return
        arguments = arguments[:1]
    whole: Value = ()
    for index, argument in enumerate(arguments):
        whole = (*whole, *_BLANK, *argument) if index else argument
    text = shape_of(whole)
    start = 0
    for match in _BREAK.finditer(text):
        yield cut(whole, start, match.start())
        start = match.end()
    if start < len(text):
        yield cut(whole, start, len(text))
