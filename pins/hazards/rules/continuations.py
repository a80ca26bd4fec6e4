"""Lines that belong to another instruction than they seem to."""

import re
from collections.abc import Iterator

from pins.files.dockerfile.close_reading import StepReading
from pins.files.dockerfile.syntax import KEYWORDS, json_words
from pins.files.edit import Edit
from pins.files.joined import JoinedText
from pins.files.shell.tokens import Tokenizer, TokenKind
from pins.hazards.model import Finding
from pins.hazards.subject import Subject

_INSTRUCTION = re.compile(rb"[ \t]*(" + b"|".join(sorted(k.encode() for k in KEYWORDS)) + rb")[ \t]+[\S]")
_CAN_SWALLOW = frozenset({"RUN", "COPY", "ADD", "CMD", "ENTRYPOINT", "LABEL", "ENV", "ARG", "EXPOSE"})


def swallowed_instruction(subject: Subject) -> Iterator[Finding]:
    """An instruction behind a dangling backslash, which belongs to the one above."""
    if subject.reading is None:
        return
    for instruction in subject.reading.stages.syntax.instructions:
        if instruction.keyword not in _CAN_SWALLOW or len(instruction.body.starts) < 2:
            continue
        body = instruction.body
        words = _word_starts(body)
        for position in body.starts[1:]:
            match = _INSTRUCTION.match(body.text, position)
            if not match or match.start(1) not in words or not _line_starts_there(subject, body.source(position)):
                continue
            start = body.source(match.start(1))
            keyword = match[1].decode()
            yield Finding(
                start,
                start + len(keyword),
                f"this {keyword} belongs to the {instruction.keyword} of line {instruction.line}: the backslash above"
                " continues it, over empty lines and comments too",
                fix="take away the backslash at the end of the line before",
                edits=_without_backslash(subject, body, position),
            )
            break  # what follows belongs to the same slip


def _word_starts(body: JoinedText) -> frozenset[int]:
    tokens = Tokenizer(body.text).tokens()
    return frozenset(token.start for token in tokens if token.kind is TokenKind.WORD)


def _line_starts_there(subject: Subject, offset: int) -> bool:
    line_start = subject.data.rfind(b"\n", 0, offset) + 1
    return not subject.data[line_start:offset].strip()


def _without_backslash(subject: Subject, body: JoinedText, position: int) -> tuple[Edit, ...]:
    """Take the backslash away, and a `&&` in front of it, where no command would be left hanging."""
    before = body.text[:position].rstrip()
    end = body.source_end(len(before))
    backslash = subject.data.find(b"\\", end)
    if backslash < 0 or subject.data[end:backslash].strip():
        return ()
    start = end
    if before.endswith((b"&&", b";")):
        start -= 2 if before.endswith(b"&&") else 1
        while start and subject.data[start - 1 : start] in (b" ", b"\t"):
            start -= 1
    elif before.endswith((b"|", b"&")):
        return ()
    if not subject.data[subject.data.rfind(b"\n", 0, start) + 1 : start].strip():
        return ()
    return (Edit(start, backslash + 1, b""),)


def comment_hides_commands(subject: Subject) -> Iterator[Finding]:
    """An inline ``#`` in a continued RUN: the shell reads one line, so all that follows is comment."""
    for step in subject.steps:
        comment = _shell_comment(step)
        if comment is None:
            continue
        body = step.instruction.body
        hidden = [start for start, _ in body.runs(comment, len(body.text))[1:] if body.text[start:].strip()]
        if not hidden:
            continue
        first = body.source(hidden[0])
        line = subject.line(first + len(body.text[hidden[0] :]) - len(body.text[hidden[0] :].lstrip()))
        start = body.source(comment)
        end = body.source_end(body.runs(comment, len(body.text))[0][1])
        last = subject.line(body.source(len(body.text) - 1))
        yield Finding(
            start,
            end,
            f"this # makes a comment of all that follows in the RUN, lines {line} to {last} included: the shell gets it"
            " as one line",
            fix="move the comment to a line of its own",
            edits=_comment_to_own_line(subject, start, end),
        )


def _shell_comment(step: StepReading) -> int | None:
    """Where a shell comment starts in the joined lines of a RUN, None where there is none."""
    if step.script is None or step.instruction.keyword != "RUN" or json_words(step.instruction.body.text) is not None:
        return None
    body = step.instruction.body
    if b"#" not in body.text:
        return None
    end = Tokenizer(body.text).tokens()
    last = max((token.end for token in end if token.kind is not TokenKind.END), default=0)
    rest = body.text[last:]
    blanks = len(rest) - len(rest.lstrip())
    return last + blanks if rest.lstrip().startswith(b"#") else None


def _comment_to_own_line(subject: Subject, start: int, end: int) -> tuple[Edit, ...]:
    line_start, line_end = subject.line_span(subject.line(start))
    before = subject.data[line_start:start]
    if not before.strip():
        return ()
    comment = subject.data[start:end].rstrip().removesuffix(b"\\").rstrip()
    indent = before[: len(before) - len(before.lstrip())]
    tail = subject.data[start:line_end].rstrip()
    kept = b" \\" if tail.endswith(b"\\") else b""
    blank = line_start + len(before.rstrip())
    return Edit(line_start, line_start, indent + comment + b"\n"), Edit(blank, start + len(tail), kept)
