"""What a RUN gives to its shell, or to the program itself in exec form."""

import re

from pins.files.dockerfile.syntax import Instruction
from pins.files.joined import JoinedText
from pins.files.values import Fragment, Value
from pins.model import Quoting

_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')


def script_of(instruction: Instruction, data: bytes) -> JoinedText:
    """A RUN's command line, with the heredocs that follow it."""
    body = instruction.body
    if not instruction.heredocs:
        return body
    start = instruction.heredocs[0].start
    length = len(body.text)
    return JoinedText(
        body.text + b"\n" + data[start : instruction.end],
        (*body.starts, length, length + 1),
        (*body.sources, start - 1, start),
    )


def json_values(body: JoinedText) -> list[Value]:
    """The words of an exec form, each with its place as far as it holds no escape."""
    values: list[Value] = []
    for match in _STRING.finditer(body.text):
        start, end = match.span(1)
        text = match[1].decode("utf-8", "surrogateescape")
        if "\\" in text:
            text = text.encode("latin-1", "backslashreplace").decode("unicode_escape", "replace")
            values.append((Fragment(text),))
        else:
            values.append((Fragment(text, body.source(start), body.source_end(end), Quoting.JSON),))
    return values
