"""Finds the exceptions that a program printed: Python's tracebacks in all the forms they take."""

import re
from dataclasses import dataclass

_HEADER = re.compile(r"^(?P<prefix>.*?)(?P<group>(?:\+ )?Exception Group )?Traceback \(most recent call last\):\s*$")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.*))?$')
_EXCEPTION = re.compile(r"^(?P<name>[A-Za-z_][\w.]*(?:\.<locals>\.[\w.]+)*)(?:: ?(?P<message>.*))?$")
_CARETS = re.compile(r"^\s*[~^]+\s*$")
_GROUP_EDGE = re.compile(r"^\s+(?:\||\+-[+-]*(?: (?:\d+|\.\.\.) -+)?$)")

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
        header = _HEADER.match(lines[at])
        if header is None:
            at += 1
            continue
        trace = _read_trace(lines, at, header)
        if trace is None:
            at += 1
            continue
        traces.append(trace)
        at = trace.last + 1
    return traces


def _read_trace(lines: list[str], first: int, header: re.Match[str]) -> Trace | None:
    # Some programs put a prefix before every line of their workers ("(worker pid=7) ", "[rank0]: ", blanks).
    prefix = "" if header["group"] and not header["prefix"].strip() else header["prefix"]
    frames: list[Frame] = []
    for at in range(first + 1, len(lines)):
        line = lines[at]
        line = line[len(prefix) :] if line.startswith(prefix) else line
        if not line.strip():
            continue
        found = _FRAME.match(line)
        if found:
            frames.append(Frame(found["file"], int(found["line"])))
        elif line[0] in " \t":
            # The first line below a frame is its source; carets and further lines of the statement follow.
            if frames and not frames[-1].text and not _CARETS.match(line):
                frames[-1] = Frame(frames[-1].file, frames[-1].line, line.strip())
        else:
            return _finish(lines, first, at, prefix, line, frames, bool(header["group"]))
    return None


def _finish(
    lines: list[str], first: int, at: int, prefix: str, line: str, frames: list[Frame], group: bool
) -> Trace | None:
    found = _EXCEPTION.match(line)
    if found is None:
        return None
    message = (found["message"] or "").strip()
    follow = at + 1
    while found["message"] is not None and not message and follow < min(len(lines), at + 4):
        text = lines[follow].removeprefix(prefix).strip()
        if _HEADER.match(lines[follow]) or _ASIDE.match(text):
            break
        message = text
        follow += 1
    before = next((text for text in reversed(lines[max(0, first - 2) : first]) if text.strip()), "")
    return Trace(
        kind=found["name"].rsplit(".", 1)[-1],
        message=message,
        frames=tuple(frames),
        first=first,
        last=at,
        group=group,
        aside=bool(_ASIDE.match(before.removeprefix(prefix))),
    )
