"""Requirements and constraints files, as pip reads them."""

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pins.files.joined import JoinedText, join
from pins.files.mention import Mention
from pins.files.requirement import ReadRequirement, read_requirement
from pins.files.requirement_mentions import mentions_of
from pins.files.values import Fragment, Value
from pins.model import Form, PinKind, Quoting

_COMMENT = re.compile(rb"(?:^|\s)#.*$")
_OPTION = re.compile(rb"(-[rce](?=[^ \t=-])|--?[A-Za-z][A-Za-z-]*[ \t=]*)(.*)$", re.DOTALL)
_HASH = re.compile(rb"\s--(?:hash|config-settings|global-option|build-option|install-option)[= ]")
_NESTED = {b"-r": "requirement", b"--requirement": "requirement", b"-c": "constraint", b"--constraint": "constraint"}
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_DEEPEST = 10

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class Line:
    """One requirement of a file.

    Attributes:
        line: where, counted from 1.
        requirement: what it asks for.
        text: as written, without comments and hashes.
        file: the file.
        role: "requirement" or "constraint".
    """

    line: int
    requirement: ReadRequirement
    text: str
    file: str
    role: str


@dataclass(slots=True)
class RequirementsFile:
    """What a requirements file, and those it names, ask for.

    Attributes:
        mentions: pins, in order, those of nested files included.
        lines: requirements, in order.
        problems: (file, line, message).
        read: files that were read.
    """

    mentions: list[Mention] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    problems: list[tuple[str, int, str]] = field(default_factory=list)
    read: dict[str, bytes] = field(default_factory=dict)


def read_requirements(data: bytes, file: str, read: Read, role: str = "requirement") -> RequirementsFile:
    """Read a requirements or constraints file and the files it names.

    Args:
        data: the file.
        file: its path.
        read: gives another file by path, None when there is none.
        role: "requirement" or "constraint".
    """
    alone = _read_alone(data, file, role)
    if alone is not None:
        mentions = [replace(one, patches=list(one.patches)) for one in alone.mentions]  # whoever asked may change them
        return RequirementsFile(mentions, list(alone.lines), list(alone.problems), dict(alone.read))
    result = RequirementsFile()
    _read(data, file, read, role, result, 0)
    return result


class _NamesAnotherError(Exception):
    """A file names another, which may be a different one the next time."""


@lru_cache(maxsize=1024)
def _read_alone(data: bytes, file: str, role: str) -> RequirementsFile | None:
    """What a file says that names no other, None for one that does; several questions of one run read the same file."""

    def refuse(path: str) -> bytes | None:
        raise _NamesAnotherError(path)

    result = RequirementsFile()
    try:
        _read(data, file, refuse, role, result, 0)
    except _NamesAnotherError:
        return None
    return result


def _read(data: bytes, file: str, read: Read, role: str, result: RequirementsFile, depth: int) -> None:
    if file in result.read:
        return
    result.read[file] = data
    comment: list[str] = []
    for number, logical in _logical_lines(data):
        text = logical.text.strip()
        if not text:
            comment = []
            continue
        if text.startswith(b"#"):
            comment.append(text.lstrip(b"#").strip().decode("utf-8", "replace"))
            continue
        trailing = _COMMENT.search(logical.text)
        beside = trailing[0].strip().lstrip(b"#").strip().decode("utf-8", "replace") if trailing else ""
        end = trailing.start() if trailing else len(logical.text)
        start = len(logical.text) - len(logical.text.lstrip())
        end = len(logical.text[:end].rstrip())
        said = beside or " ".join(comment)
        comment = []
        body = logical.part(start, end)
        option = _OPTION.match(body.text)
        if option and body.text.startswith(b"-"):
            _option(option, body, number, file, read, result, said, depth)
            continue
        if hashes := _HASH.search(body.text):
            body = body.part(0, len(body.text[: hashes.start()].rstrip()))
        _requirement(_value(body), number, file, role, result, said)


def _option(
    option: "re.Match[bytes]",
    body: JoinedText,
    number: int,
    file: str,
    read: Read,
    result: RequirementsFile,
    said: str,
    depth: int,
) -> None:
    name = option[1].rstrip(b" \t=")
    argument = option[2].strip()
    if name in _NESTED:
        path = argument.decode("utf-8", "replace")
        nested = path if "://" in path else posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        data = None if "://" in path or depth >= _DEEPEST else read(nested)
        if data is None:
            result.problems.append(
                (file, number, f"{name.decode()} {path} is not at hand: what it asks for is not known")
            )
            return
        _read(data, nested, read, _NESTED[name], result, depth + 1)
    elif name in (b"-e", b"--editable") and argument:
        start = body.text.find(argument)
        _requirement(_value(body.part(start, start + len(argument))), number, file, "requirement", result, said)


def _requirement(value: Value, number: int, file: str, role: str, result: RequirementsFile, said: str) -> None:
    requirement = read_requirement(value)
    if requirement is None:
        if value:
            result.problems.append((file, number, f"not understood: {''.join(f.text for f in value)[:80]}"))
        return
    text = "".join(fragment.text for fragment in value)
    result.lines.append(Line(number, requirement, text, file, role))

    def blank(kind: PinKind, name: str) -> Mention:
        offset = value[0].start
        return Mention(kind, name, (), Form.VALUE, "", "", number, offset, text, file=file, comment=said)

    result.mentions.extend(mentions_of(requirement, blank))


def _value(body: JoinedText) -> Value:
    fragments: list[Fragment] = []
    for start, end in body.runs(0, len(body.text)):
        text = body.text[start:end].decode("utf-8", "surrogateescape")
        position = 0
        source = body.source(start)
        for match in _VARIABLE.finditer(text):
            if match.start() > position:
                fragments.append(_piece(text, position, match.start(), source))
            fragments.append(Fragment(match[0], unknown=f"{match[1]} is set where pip runs"))
            position = match.end()
        if position < len(text):
            fragments.append(_piece(text, position, len(text), source))
    return tuple(fragments)


def _piece(text: str, start: int, end: int, source: int) -> Fragment:
    before = len(text[:start].encode("utf-8", "surrogateescape"))
    inside = len(text[start:end].encode("utf-8", "surrogateescape"))
    return Fragment(text[start:end], source + before, source + before + inside, Quoting.PLAIN)


def _logical_lines(data: bytes) -> list[tuple[int, JoinedText]]:
    """Lines with continuations joined, as (line number, text)."""
    result: list[tuple[int, JoinedText]] = []
    spans: list[tuple[int, int]] = []
    first = 0
    position = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    number = 0
    while position < len(data):
        number += 1
        newline = data.find(b"\n", position)
        stop = len(data) if newline < 0 else newline
        end = stop - 1 if stop > position and data[stop - 1] == 0x0D else stop
        if not spans:
            first = number
        is_comment = data[position:end].lstrip().startswith(b"#")
        if end > position and data[end - 1] == 0x5C and not is_comment:
            spans.append((position, end - 1))
        else:
            spans.append((position, end))
            result.append((first, join(data, spans)))
            spans = []
        position = stop + 1
    if spans:
        result.append((first, join(data, spans)))
    return result
