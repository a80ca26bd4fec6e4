"""The comment that a hold leaves beside its pin, in the style of the file: a line of its own above it."""

import re
import textwrap
from datetime import date

from pins.files.edit import Edit

_WIDTH = 90
_KINDS = frozenset({"dockerfile", "requirements", "pyproject"})


def comment_text(requirement: str, reason: str, until: str, review: date | None, today: date) -> str:
    """What the comment says, on one line."""
    ends = f"; until {until}" if until else ""
    again = f", look again {review.isoformat()}" if review else ""
    word = "hold" if until else "bound"
    return f"{word} {requirement}: {reason}{ends} (as of {today.isoformat()}{again})".replace("\n", " ")


def comment_edit(data: bytes, kind: str, offset: int, name: str, text: str) -> Edit | None:
    """Put the comment above the line of a pin, in the place of one that is there for the same pin.

    Args:
        data: the file.
        kind: what kind of file it is.
        offset: where the pin stands.
        name: the pin.
        text: what the comment says.

    Returns:
        The edit; None where a comment cannot stand there.
    """
    if kind not in _KINDS:
        return None
    start = data.rfind(b"\n", 0, offset) + 1
    if kind == "requirements":
        start = _logical_start(data, start)
    line = data[start : data.find(b"\n", start) if b"\n" in data[start:] else len(data)]
    indent = line[: len(line) - len(line.lstrip())]
    newline = b"\r\n" if line.endswith(b"\r") else b"\n"
    first, *rest = textwrap.wrap(text, _WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    lines = [f"# {first}", *(f"#   {more}" for more in rest)]
    comment = b"".join(indent + entry.encode() + newline for entry in lines)
    return Edit(_existing(data, start, name), start, comment)


def _logical_start(data: bytes, start: int) -> int:
    """The first line of a requirement that is continued with backslashes."""
    while start > 0:
        before = data.rfind(b"\n", 0, start - 1) + 1
        if not data[before : start - 1].rstrip(b"\r").endswith(b"\\"):
            break
        start = before
    return start


def _existing(data: bytes, start: int, name: str) -> int:
    """Where a comment of ours for the pin starts, directly above `start`; `start` where there is none."""
    opening = re.compile(rb"\s*# (?:hold|bound) " + re.escape(name.encode()) + rb"(?![\w.-])", re.IGNORECASE)
    position = start
    while position > 0:
        before = data.rfind(b"\n", 0, position - 1) + 1
        line = data[before:position]
        if opening.match(line):
            return before
        if not line.lstrip().startswith(b"#   "):
            return start
        position = before
    return start
