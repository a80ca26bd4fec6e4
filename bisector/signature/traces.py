"""Finds the exceptions that a program printed: Python's tracebacks in all the forms they take."""

import re
from dataclasses import dataclass

_HEADER = re.compile(r"^(?P<prefix>.*?)(?P<group>(?:\+ )?Exception Group )?Traceback \(most recent call last\):\s*$")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.*))?$')
_EXCEPTION = re.compile(r"^(?P<name>[A-Za-z_][\w.]*(?:\.<locals>\.[\w.]+)*)(?:: ?(?P<message>.*))?$")
_CARETS = re.compile(r"^\s*[~^]+\s*$")
_GROUP_EDGE = re.compile(r"^\s+(?:\||\+-[+-]*(?: (?:\d+|\.\.\.) -+)?$)")

_UNPARSED = ("SyntaxError", "IndentationError", "TabError")

# The interpreter says so of exceptions that do not end the program.
_ASIDE = re.compile(
    r"^(Exception ignored (in|on|while|when)\b|Error in atexit\.|--- Logging error ---|Call stack:"
    r"|(Task|Future) exception was never retrieved)"
)


@dataclass(frozen=True)
class Frame:
    """One call of a traceback: file, line number and the source text that it shows ("" without)."""

    file: str
    line: int
    text: str = ""


@dataclass(frozen=True)
class Trace:
    """One printed exception.

    Attributes:
        kind: unqualified class.
        message: first line of its message that is not blank, "" without one.
        frames: outermost first.
        group: it is an exception group, whose members follow.
        aside: the interpreter printed it and went on.
        first, last: indices of its lines.
    """

    kind: str
    message: str
    frames: tuple[Frame, ...]
    first: int
    last: int
    group: bool = False
    aside: bool = False


def _ungrouped(lines: list[str]) -> list[str]:
    """The lines without the rules that are drawn around the members of an exception group."""
    if not any("Exception Group Traceback" in line for line in lines):
        return lines
    return [re.sub(r"^\s+(?:\| ?|\+-[+-]* ?.*$)", "", line) if _GROUP_EDGE.match(line) else line for line in lines]


def read_traces(lines: list[str]) -> list[Trace]:
    """Every exception printed in these lines, in their order."""
    lines = _ungrouped(lines)
    traces = []
    at = 0
    while at < len(lines):
        trace = _read_from(lines, at)
        if trace is None:
            at += 1
            continue
        traces.append(trace)
        at = trace.last + 1
    return traces


def _read_from(lines: list[str], at: int) -> Trace | None:
    header = _HEADER.match(lines[at])
    if header:
        group = bool(header["group"])
        prefix = "" if group and not header["prefix"].strip() else header["prefix"]
        return _read_trace(lines, at, _prefix(prefix), group)
    frame = _FRAME.match(lines[at])
    if frame and frame["function"] is None:
        # A program that cannot even be parsed: no call was made, and there is no header.
        trace = _read_trace(lines, at - 1, _prefix(""), False)
        return trace if trace and trace.kind in _UNPARSED else None
    return None


def _read_trace(lines: list[str], first: int, prefix: re.Pattern[str], group: bool) -> Trace | None:
    frames: list[Frame] = []
    for at in range(first + 1, len(lines)):
        line, own = _without(prefix, lines[at])
        # Lines of others may come between those of a program whose lines are marked as its own.
        if not line.strip() or not own:
            continue
        found = _FRAME.match(line)
        if found:
            frames.append(Frame(found["file"], int(found["line"])))
        elif line[0] in " \t":
            # The first line below a frame is its source; carets and further lines of the statement follow.
            if frames and not frames[-1].text and not _CARETS.match(line) and "[Previous line repeated" not in line:
                frames[-1] = Frame(frames[-1].file, frames[-1].line, line.strip())
        else:
            return _finish(lines, first, at, prefix, line, frames, group)
    return None


def _prefix(text: str) -> re.Pattern[str]:
    """What stands before every line: programs mark the lines of their workers, with a time that goes on.

    "(worker pid=7) ERROR 08-20 10:02:11 [core.py:718] ", "[rank0]: ", or blanks.
    """
    return re.compile(re.sub(r"(?<=[:.,])\d+|\d+(?=[:.,]\d)", r"\\d+", re.escape(text)))


def _without(prefix: re.Pattern[str], line: str) -> tuple[str, bool]:
    """The line without the prefix, and whether it belongs to the program that prints with this prefix."""
    found = prefix.match(line)
    if found:
        return line[found.end() :], True
    return line, not prefix.pattern.replace("\\ ", " ").strip()


def _finish(
    lines: list[str], first: int, at: int, prefix: re.Pattern[str], line: str, frames: list[Frame], group: bool
) -> Trace | None:
    found = _EXCEPTION.match(line)
    if found is None:
        return None
    message = (found["message"] or "").strip()
    follow = at + 1
    while found["message"] is not None and not message and follow < min(len(lines), at + 4):
        text = _without(prefix, lines[follow])[0].strip()
        if _HEADER.match(lines[follow]) or _ASIDE.match(text):
            break
        message = text
        follow += 1
    before = next((text for text in reversed(lines[max(0, first - 2) : max(0, first)]) if text.strip()), "")
    return Trace(
        kind=found["name"].rsplit(".", 1)[-1],
        message=message,
        frames=tuple(frames),
        first=first,
        last=at,
        group=group,
        aside=bool(_ASIDE.match(_without(prefix, before)[0])),
    )
