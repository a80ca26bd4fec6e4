"""Reads the signature of a failure from what was printed."""

import re
import signal

from bisector.model import Ended, Signature
from bisector.signature.build_log import error_line
from bisector.signature.masking import mask, plain
from bisector.signature.traces import Frame, Trace, read_traces

# A class or a message that only says that something else failed, which was printed before.
_WRAPPERS = re.compile(
    r"^(CalledProcessError|ChildFailedError|ProcessRaisedException|CompileError|LinkError|DistutilsExecError)$"
)
_WRAPPING = re.compile(
    r"returned non-zero exit status|[Ss]ee (the )?(root cause|error|stack ?trace|traceback|log)s?\b.* (above|below)"
    r"|Error compiling objects for extension|Error building extension|failed with exit (code|status)"
    r"|Engine core initialization failed|command .* failed",
)

# What is printed after the last words of a failure, and says nothing of it.
_NOISE = re.compile(
    r"^(?:\S*:\d+: )?\w*Warning: |^\s*warnings\.warn\(|resource_tracker:|^\[W\d|^sys:1: |RUST_BACKTRACE"
    r"|^\[notice\]|A new release of pip|^(?:I|W)\d{4} |^\s*$|^[-=~^_*. ]+$|^Aborted|^Segmentation fault"
)
_GENERIC = re.compile(
    r"^g?make(\[\d+\])?: \*\*\* |^ninja: build stopped|errors? generated\.?$|^-- Configuring incomplete"
    r"|^error: command .* failed|^Or, add |^(?:To find|For) (?:more|further|details) |^(?:note|hint|help): "
    r"|^See also |^\S+Error: Command .* returned non-zero|^subprocess\.CalledProcessError"
)

_FATAL = re.compile(r"^Fatal Python error: (?P<message>.*)$")
_FAULT_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+) in .*$')
_TERMINATE = re.compile(
    r"^terminate called (?:after throwing an instance of '(?P<kind>[^']+)'|without an active exception)"
)
_PYTEST = re.compile(
    r"^(?:FAILED|ERROR) (?P<test>\S.*?)"
    r"(?: - (?:(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Failed)): ?)?(?P<message>.*))?$"
)


def _exit(ended: Ended) -> str:
    number = ended.signal
    if number is None and ended.exit_status is not None and 128 < ended.exit_status < 160:
        # How a shell and a container say that a signal ended their program.
        number = ended.exit_status - 128
    if number is not None:
        try:
            return f"signal {signal.Signals(number).name}"
        except ValueError:
            return f"signal {number}"
    return f"exit {ended.exit_status}"


def _lines(text: str) -> list[str]:
    """Lines as a terminal would show them at the end: of a line that was drawn over, the last state."""
    return [line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").split("\n")]


def _plain_lines(text: str) -> list[str]:
    return [plain(line) for line in _lines(text)]


def _in_script(frame: Frame, source: list[str], name: str) -> str:
    """The source text of a frame that lies in the smoke script, "" for any other."""
    if re.split(r"[/\\]", frame.file)[-1] != name:
        return ""
    shown = frame.text
    written = source[frame.line - 1].strip() if 0 < frame.line <= len(source) else ""
    # A file of the same name elsewhere shows other text.
    if shown and any(source) and (not written or (shown not in written and written not in shown)):
        return ""
    return written or shown


def _innermost(frames: tuple[Frame, ...], source: list[str], name: str) -> str:
    return next((text for frame in reversed(frames) if (text := _in_script(frame, source, name))), "")


def _frame_of(trace: Trace, traces: list[Trace], source: list[str], name: str) -> str:
    """Of the exception itself, else of the one that it is a part or the cause of."""
    own = _innermost(trace.frames, source, name)
    if own:
        return own
    others = [other for other in traces if not other.aside and other is not trace]
    return next((text for other in reversed(others) if (text := _innermost(other.frames, source, name))), "")


def _wraps(trace: Trace) -> bool:
    return bool(_WRAPPERS.match(trace.kind) or _WRAPPING.search(trace.message))


def _telling(traces: list[Trace]) -> Trace | None:
    """The exception that says what went wrong: the last, unless it only points at an earlier one."""
    candidates = [trace for trace in traces if not trace.aside]
    if not candidates:
        return None
    last = candidates[-1]
    groups = [trace for trace in candidates if trace.group]
    if groups:
        after = candidates[candidates.index(groups[-1]) + 1 :]
        if after:
            last = after[0]
    if _wraps(last):
        before = candidates[: candidates.index(last)]
        return next((trace for trace in reversed(before) if not _wraps(trace)), last)
    return last


def _last_line(lines: list[str]) -> str:
    for line in reversed(lines):
        if not _NOISE.search(line):
            return line.strip()
    return ""


def _said(errors: list[str], output: list[str]) -> str:
    """The last words; where they only say that something failed, the error that was meant."""
    for lines in (errors, output):
        last = _last_line(lines)
        if last:
            return (error_line(errors + output) or last) if _GENERIC.search(last) else last
    return ""


def _pytest(output: list[str]) -> Signature | None:
    """The first failure in pytest's summary; its place is the test."""
    if not any(re.search(r"\b\d+ (failed|errors?)\b.* in \d", line) for line in output[-5:]):
        return None
    for line in output:
        found = _PYTEST.match(line)
        if found:
            kind = (found["kind"] or _at_the_end_of_a_report(output)).rsplit(".", 1)[-1]
            return Signature("", kind, mask(found["message"] or ""), found["test"])
    return None


def _at_the_end_of_a_report(output: list[str]) -> str:
    """The class that pytest names under the first failure: "test_x.py:6: AssertionError"."""
    return next((found[1] for line in output if (found := re.match(r"^\S+\.py:\d+: (\w+)$", line))), "")


def _fault(lines: list[str], source: list[str], name: str) -> Signature | None:
    """What faulthandler or the C++ runtime printed when the program crashed."""
    for at, line in enumerate(lines):
        fatal = _FATAL.match(line)
        if fatal:
            frames = [
                Frame(found["file"], int(found["line"])) for text in lines[at:] if (found := _FAULT_FRAME.match(text))
            ]
            frame = next((text for one in frames if (text := _in_script(one, source, name))), "")
            return Signature("", "", mask(line), frame)
        terminate = _TERMINATE.match(line)
        if terminate:
            what = next(
                (text.strip()[7:].strip() for text in lines[at + 1 : at + 3] if text.strip().startswith("what():")), ""
            )
            kind = re.split(r"::", (terminate["kind"] or "").split("<", 1)[0])[-1]
            return Signature("", kind, mask(what or ("" if kind else line)))
    return None


def read_signature(ended: Ended, script_source: str, script_name: str) -> Signature:
    """The signature of a smoke run that failed.

    Args:
        ended: how it ended.
        script_source: the text of the smoke script, "" where it cannot be read.
        script_name: the file name of the script; in a container it lies elsewhere under the same name.
    """
    if ended.timed_out:
        return Signature("timeout")
    exit_ = _exit(ended)
    source = script_source.split("\n")
    errors, output = _plain_lines(ended.errors), _plain_lines(ended.output)
    if exit_.startswith("signal "):
        fault = _fault(errors, source, script_name)
        if fault:
            return Signature(exit_, fault.kind, fault.message, fault.frame)
    raised = _raised(errors, errors + output, source, script_name) or _pytest(output)
    raised = raised or _raised(output, errors + output, source, script_name)
    if raised:
        return Signature(exit_, raised.kind, raised.message, raised.frame)
    return Signature(exit_, message=mask(_said(errors, output)))


def _raised(lines: list[str], everything: list[str], source: list[str], name: str) -> Signature | None:
    """The exception that these lines end with, if any."""
    traces = read_traces(lines)
    trace = _telling(traces)
    if trace is None:
        return None
    message = (error_line(everything) if _wraps(trace) else "") or trace.message
    return Signature("", trace.kind, mask(message), _frame_of(trace, traces, source, name))


def read_build_signature(ended: Ended) -> Signature:
    """The signature of a build that failed, from its log: the error that stands in the middle."""
    if ended.timed_out:
        return Signature("timeout")
    lines = [unprefixed(line) for line in _plain_lines(ended.output) + _plain_lines(ended.errors)]
    trace = _telling(read_traces(lines))
    if trace is not None and not _wraps(trace):
        return Signature("build", trace.kind, mask(trace.message))
    found = error_line(lines)
    if not found and trace is not None:
        return Signature("build", trace.kind, mask(trace.message))
    return Signature("build", message=mask(found or _last_line(lines)))


_DOCKER_PREFIX = re.compile(r"^(?:#\d+ )?(?:\d+\.\d{1,4} )?")


def unprefixed(line: str) -> str:
    """A line of a build log without the step number and time that BuildKit puts before it."""
    return _DOCKER_PREFIX.sub("", line, count=1)
