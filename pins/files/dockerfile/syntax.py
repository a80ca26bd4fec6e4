"""Split a Dockerfile into instructions with byte spans, the way BuildKit's parser does.

Rules: https://docs.docker.com/reference/dockerfile/ and BuildKit's own behaviour; a test holds this to an independent
parser. Continuation lines are joined without a newline; whole-line comments and blank lines between them are
dropped; a heredoc body follows the line that opens it.
"""

import json
import re
from dataclasses import dataclass, field

from pins.files.dockerfile.heredocs import heredocs_opened
from pins.files.joined import JoinedText, join

# What Go's unicode.IsSpace takes for a space, in UTF-8; BuildKit strips it from the start of an instruction.
_SPACE = rb"(?:[\t\n\v\f\r ]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)"
_LEADING_SPACE = re.compile(_SPACE + rb"*")
_TRAILING_SPACE = re.compile(_SPACE + rb"+\Z")
_DIRECTIVE = re.compile(rb"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*\Z")
_KEYWORD = re.compile(rb"([^\t\v\f\r ]*)([\t\v\f\r ]*)")
_BOM = b"\xef\xbb\xbf"

_WITH_HEREDOCS = frozenset({"ADD", "COPY", "RUN"})
KEYWORDS = frozenset(
    [
        "ADD",
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "RUN",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ]
)


@dataclass(frozen=True, slots=True)
class Comment:
    """A whole-line comment.

    Attributes:
        line: counted from 1.
        start: offset of its ``#``.
        end: offset behind its last byte, the line end left out.
        text: without the ``#`` and the blanks around.
    """

    line: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Heredoc:
    """The body of a heredoc.

    Attributes:
        name: the delimiter, such as "EOF".
        start: offset of the first byte of the body.
        end: offset behind the last byte of the body, before the closing delimiter's line.
        line: line of the first byte of the body.
        expand: whether variables in it are expanded (the delimiter is not quoted).
        strip_tabs: whether leading tabs are dropped (``<<-``).
    """

    name: str
    start: int
    end: int
    line: int
    expand: bool
    strip_tabs: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    Attributes:
        keyword: in upper case, such as "RUN".
        start: offset of its first byte.
        end: offset behind its last byte, heredocs included, the line end left out.
        line: line of `start`, counted from 1.
        end_line: line of its last byte.
        flags: the ``--flag`` words before the arguments, such as "--mount=type=cache,target=/c".
        body: what follows keyword and flags, joined, blanks around it left out.
        comments: whole-line comments directly above (no blank line between) and inside.
        heredocs: bodies that belong to it, in order.
        trigger: for ONBUILD, the instruction it carries.
    """

    keyword: str
    start: int
    end: int
    line: int
    end_line: int
    flags: tuple[JoinedText, ...]
    body: JoinedText
    comments: tuple[Comment, ...] = ()
    heredocs: tuple[Heredoc, ...] = ()
    trigger: "Instruction | None" = None


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why reading stopped.

    Attributes:
        line: counted from 1.
        message: a sentence.
    """

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class DockerfileSyntax:
    """A Dockerfile split into instructions.

    Attributes:
        data: the file.
        escape: the escape character, a backslash unless the directive says backtick.
        directives: parser directives by lower-case name ("syntax", "escape", "check").
        instructions: in file order, up to the first problem.
        problem: what ended the reading, None when the whole file was read.
    """

    data: bytes
    escape: str
    directives: dict[str, str]
    instructions: tuple[Instruction, ...]
    problem: SyntaxProblem | None


@dataclass(slots=True)
class _Lines:
    """The lines of a file, one after the other."""

    data: bytes
    offset: int = 0
    number: int = 0

    def next(self) -> tuple[int, int] | None:
        """(start, end) of the next line without its line end; None at the end of the file."""
        if self.offset >= len(self.data):
            return None
        start = self.offset
        newline = self.data.find(b"\n", start)
        end = len(self.data) if newline < 0 else newline
        self.offset = len(self.data) if newline < 0 else newline + 1
        self.number += 1
        while end > start and self.data[end - 1] == 0x0D:
            end -= 1
        return start, end


@dataclass(slots=True)
class _Splitter:
    data: bytes
    lines: _Lines
    escape: bytes = b"\\"
    directives: dict[str, str] = field(default_factory=dict)

    def read_directives(self) -> None:
        """Read the directives at the top; they end at the first line that is not one."""
        if self.data.startswith(_BOM):
            self.lines.offset = len(_BOM)
        while True:
            offset, number = self.lines.offset, self.lines.number
            line = self.lines.next()
            match = line and _DIRECTIVE.match(self.data, self._skip_space(*line), line[1])
            if not match:
                self.lines.offset, self.lines.number = offset, number
                return
            name = match[1].decode().lower()
            if name in {"syntax", "escape", "check"}:
                self.directives.setdefault(name, match[2].decode("utf-8", "replace"))
        # not reached

    def _skip_space(self, start: int, end: int) -> int:
        match = _LEADING_SPACE.match(self.data, start, end)
        return match.end() if match else start

    def split(self) -> tuple[list[Instruction], SyntaxProblem | None]:
        """All instructions, and what ended the reading."""
        if self.directives.get("escape") == "`":
            self.escape = b"`"
        instructions: list[Instruction] = []
        above: list[Comment] = []
        while (line := self.lines.next()) is not None:
            start, end = self._skip_space(*line), line[1]
            number = self.lines.number
            if self.data[start : start + 1] == b"#" and start < end:
                above.append(_comment(self.data, number, start, end))
                continue
            if start >= end:
                above = []
                continue
            spans: list[tuple[int, int]] = []
            comments = above
            above = []
            piece_start = start
            while True:
                text = self.data[piece_start:end].rstrip(b" \t")
                if not text.endswith(self.escape) or text.endswith(self.escape * 2):
                    spans.append((piece_start, end))
                    break
                spans.append((piece_start, piece_start + len(text) - 1))
                following = self._continued(comments)
                if following is None:
                    break
                piece_start, end = following
            instruction = self._instruction(join(self.data, spans), number, comments)
            if isinstance(instruction, SyntaxProblem):
                return instructions, instruction
            instructions.append(instruction)
        return instructions, None

    def _continued(self, comments: list[Comment]) -> tuple[int, int] | None:
        """The next line of a continued instruction, comments and blank lines skipped."""
        while (line := self.lines.next()) is not None:
            text_start = self._skip_space(*line)
            if text_start >= line[1]:
                continue
            if self.data[text_start] == 0x23:
                comments.append(_comment(self.data, self.lines.number, text_start, line[1]))
                continue
            return line
        return None

    def _instruction(self, joined: JoinedText, number: int, comments: list[Comment]) -> Instruction | SyntaxProblem:
        keyword, flags, body = _split_command(joined, self.escape)
        trigger: Instruction | None = None
        heredocs: list[Heredoc] = []
        line_end = joined.source_end(len(joined.text))
        end_line = self.lines.number
        if keyword == "ONBUILD":
            inner, inner_flags, inner_body = _split_command(body, self.escape)
            trigger = Instruction(inner, body.source(0), line_end, number, end_line, inner_flags, inner_body)
        carrier, carried = (trigger.keyword, trigger.body) if trigger else (keyword, body)
        if carrier in _WITH_HEREDOCS and b"<<" in joined.text and json_words(carried.text) is None:
            opened = heredocs_opened(carried.text, self.escape)
            if opened is None:
                return SyntaxProblem(number, "a quote is not closed on the line that opens a heredoc")
            for name, expand, strip_tabs in opened:
                body_start = self.lines.offset
                body_line = self.lines.number + 1
                closed = self._close_heredoc(name, strip_tabs)
                if closed is None:
                    return SyntaxProblem(number, f"the heredoc {name!r} is not terminated")
                heredocs.append(Heredoc(name, body_start, closed[0], body_line, expand, strip_tabs))
                line_end = closed[1]
            end_line = self.lines.number
        if trigger:
            trigger = Instruction(
                trigger.keyword,
                trigger.start,
                line_end,
                number,
                end_line,
                trigger.flags,
                trigger.body,
                tuple(comments),
                tuple(heredocs),
            )
        return Instruction(
            keyword,
            joined.source(0),
            line_end,
            number,
            end_line,
            flags,
            body,
            tuple(comments),
            tuple(heredocs),
            trigger,
        )

    def _close_heredoc(self, name: str, strip_tabs: bool) -> tuple[int, int] | None:
        """(offset where the closing line starts, offset where it ends)."""
        delimiter = name.encode("utf-8", "surrogateescape")
        while (line := self.lines.next()) is not None:
            text = self.data[line[0] : line[1]]
            if (text.lstrip(b"\t") if strip_tabs else text) == delimiter:
                return line
        return None


def json_words(text: bytes) -> list[str] | None:
    """The words of an instruction in exec form (a JSON array of strings); None for any other."""
    if not text.startswith(b"["):
        return None
    try:
        words = json.loads(text)
    except ValueError:
        return None
    return words if all(isinstance(word, str) for word in words) else None


def _comment(data: bytes, line: int, start: int, end: int) -> Comment:
    return Comment(line, start, end, data[start:end].decode("utf-8", "replace").lstrip("#").strip())


def _split_command(joined: JoinedText, escape: bytes) -> tuple[str, tuple[JoinedText, ...], JoinedText]:
    """Keyword in upper case, flags, and the rest without blanks around."""
    text = joined.text
    end = len(text)
    if trailing := _TRAILING_SPACE.search(text):
        end = trailing.start()
    match = _LEADING_SPACE.match(text)
    start = match.end() if match else 0
    found = _KEYWORD.match(text, start, end)
    if not found:
        return "", (), joined.part(end, end)
    position = found.end()
    flags: list[JoinedText] = []
    while text.startswith(b"--", position):
        flag_end = _flag_end(text, position, end, escape)
        if text[position:flag_end] == b"--":
            position = flag_end
            break
        flags.append(joined.part(position, flag_end))
        position = flag_end
        while position < end and text[position] in b"\t\v\f\r ":
            position += 1
    skipped = _LEADING_SPACE.match(text, position, end)
    position = skipped.end() if skipped else position
    return found[1].decode("utf-8", "replace").upper(), tuple(flags), joined.part(min(position, end), end)


def _flag_end(text: bytes, position: int, end: int, escape: bytes) -> int:
    quote = 0
    while position < end:
        byte = text[position]
        if byte == escape[0]:
            position += 2
            continue
        if quote:
            if byte == quote:
                quote = 0
        elif byte in b"\"'":
            quote = byte
        elif byte in b"\t\n\v\f\r ":
            break
        position += 1
    return min(position, end)


def split_dockerfile(data: bytes) -> DockerfileSyntax:
    """Split a Dockerfile into instructions; never raises for what stands in the file.

    Reading stops at the first instruction that BuildKit would not read (an unknown keyword, a heredoc that is not
    terminated); `problem` then names it.
    """
    splitter = _Splitter(data, _Lines(data))
    splitter.read_directives()
    instructions, problem = splitter.split()
    for index, instruction in enumerate(instructions):
        if instruction.keyword not in KEYWORDS:
            word = instruction.keyword[:40]
            problem = SyntaxProblem(instruction.line, f"unknown instruction {word!r}")
            instructions = instructions[:index]
            break
    escape = splitter.escape.decode()
    return DockerfileSyntax(data, escape, splitter.directives, tuple(instructions), problem)
