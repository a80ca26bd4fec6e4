"""What it means when uv fails: the candidate's pins, its build, or something of ours.

uv ends with 1 or 2 for all three, so what it prints decides. A message is a heading and a chain of causes; what a
build backend printed is quoted between them, indented. The two are taken apart first, since anything can be quoted.
Whatever is not known to speak of the candidate is ours: a failure of ours must never count as evidence.

The messages are those of uv 0.13; the older layout, with lines drawn before the causes, is read too.
"""

import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from bisector.model import Ended

LONGEST_REASON = 700
"""Characters of a reason; the whole is in the log."""


class Cause(Enum):
    """Whose failure it is."""

    INFEASIBLE = "infeasible"
    BUILD = "build"
    ENVIRONMENT = "environment"


@dataclass(frozen=True)
class Failure:
    """What a failed call of uv says.

    Attributes:
        cause: whose failure it is.
        reason: in uv's words, on one line.
        transient: it may go well the next time.
        missing: packages that uv says no index has. It says so too where an index let nobody in.
        undated: packages of which uv left files out, perhaps because their index gives no upload times.
        unbuilt: the package whose build failed, "spam==1.0", where uv names it.
        quoted: for a build: its end with what the backend printed, from which a signature can be taken.
    """

    cause: Cause
    reason: str
    transient: bool = False
    missing: frozenset[str] = frozenset()
    undated: frozenset[str] = frozenset()
    unbuilt: str = ""
    quoted: Ended | None = None


def explain(ended: Ended, head: str = "") -> Failure:
    """Say whose failure a call of uv that did not exit with 0 is.

    Args:
        ended: how it ended.
        head: the beginning of what it printed, for when `ended` holds only the end of a long quotation.
    """
    if ended.out_of_memory:
        return Failure(Cause.ENVIRONMENT, f"memory ran out: {ended.out_of_memory}")
    if ended.not_started:
        return Failure(Cause.ENVIRONMENT, f"uv could not be started: {ended.not_started}")
    if ended.signal is not None:
        return Failure(Cause.ENVIRONMENT, f"uv was ended by signal {ended.signal}", transient=ended.signal in _CRASHES)
    lines = ended.errors.splitlines()
    if not ended.errors.startswith(head[:200]):  # the middle is missing, and the lines at its edges are cut
        lines = head.splitlines()[:-1] + lines[1:]
    own, quoted_output, quoted_errors = _taken_apart(lines)
    chain = " ".join(own.split())
    reason = _shortened(chain)
    quotation = f"{quoted_output}\n{quoted_errors}"
    if match := _MACHINE.search(chain) or _MACHINE_QUOTED.search(quotation):
        return Failure(Cause.ENVIRONMENT, f"{_shortened(match[0])} ({reason})")
    missing = frozenset(match[1] for match in _MISSING.finditer(chain))
    unbuilt = _UNBUILT.search(chain)
    if unbuilt and not _NETWORK.search(chain):
        last = next((line.strip() for line in reversed(quotation.splitlines()) if line.strip()), "")
        return Failure(
            Cause.BUILD,
            _shortened(f"{_without_frame(chain)}{': ' if last else ''}{last}"),
            missing=missing,
            unbuilt=unbuilt["package"] or "",
            quoted=_quoted(ended, own, quoted_output, quoted_errors),
        )
    if "No solution found" in chain:
        if _NOT_ALLOWED.search(chain):
            return Failure(Cause.ENVIRONMENT, reason)
        undated = frozenset(match["name"] or match["filtered"] for match in _UNDATED.finditer(chain))
        return Failure(Cause.INFEASIBLE, _shortened(_resolution(chain)), missing=missing, undated=undated)
    if _NETWORK.search(chain):
        return Failure(Cause.ENVIRONMENT, reason, transient=_PERMANENT.search(chain) is None)
    if _BROKEN_PACKAGE.search(chain):
        return Failure(Cause.BUILD, reason, quoted=_quoted(ended, own, quoted_output, quoted_errors))
    return Failure(Cause.ENVIRONMENT, reason or f"uv failed with status {ended.exit_status} and said nothing")


def left_out(printed: str) -> frozenset[str]:
    """The packages of which uv, by its own warning, left files out since their upload time is not known."""
    return frozenset(re.split(r"-\d", match[1], maxsplit=1)[0] for match in _WITHOUT_DATE.finditer(printed))


_WITHOUT_DATE = re.compile(r"`([^`\s]+)` is missing an upload date")
_CRASHES = {signal.SIGABRT, signal.SIGBUS, signal.SIGSEGV}
"""Signals by which uv ends itself; by any other, somebody wanted it to end."""
_MACHINE = re.compile(
    r"[^:]*\(os error (?:5|12|13|23|24|28|30|122)\)"  # I/O, memory, permission, too many files, full, read-only, quota
    r"|Failed to acquire lock[^:]*"
    r"|Killed signal terminated program"
    r"|failed \(signal: 9 \(SIGKILL\)\)"
)
_MACHINE_QUOTED = re.compile(
    r"No space left on device|Disk quota exceeded|Cannot allocate memory|Read-only file system"
    r"|Killed signal terminated program|virtual memory exhausted|LLVM ERROR: out of memory"
    r"|^MemoryError\b",
    re.MULTILINE,
)
_NETWORK = re.compile(
    r"Request failed after|error sending request|operation timed out|error decoding response body|dns error"
    r"|tcp connect error|client error \(|HTTP status|Failed to fetch|invalid peer certificate|unexpected (?:JSON|HTML)"
    r"|Hash mismatch|request or response body error|connection (?:closed|reset)|Could not connect"
    r"|Failed to write to the|credentials|Network connectivity is disabled"
)
_PERMANENT = re.compile(r"certificate|\((?:401|403|404|407|410) |unexpected (?:JSON|HTML)|Hash mismatch|disabled")
_NOT_ALLOWED = re.compile(
    r"lack of valid authentication credentials|\b40[137] (?:Unauthorized|Forbidden)|network was disabled"
    r"|proxy authentication",
    re.IGNORECASE,
)
_UNBUILT = re.compile(
    r"Failed to (?:download and )?build (?:source distribution )?`(?P<package>[^`]*)`"
    r"|The build backend returned an error|Failed to resolve requirements from|Build backend failed"
    r"|hint: (?:Build failures usually indicate|This usually indicates a problem with the package)"
)
_MISSING = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])? was not found in the package registry")
_UNDATED = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?(?:[=<>!~]\S*)? has no publish time"
    r"|`(?P<filtered>[A-Za-z0-9._-]+)` was filtered by `exclude-newer`"
)
_BROKEN_PACKAGE = re.compile(
    r"metadata|invalid wheel|wheel is invalid|wheel filename|\.dist-info|RECORD|Failed to extract|unsupported archive"
    r"|Failed to read (?:from )?zip|not a valid (?:wheel|zip)|source distribution is missing",
    re.IGNORECASE,
)

_DRAWN = re.compile(r"^ {2}(×|├─▶|╰─▶|│)(?: |$)")
_DRAWN_MEANS = {"×": "error: ", "├─▶": "cause: ", "╰─▶": "cause: "}
_HEADING = re.compile(r"error: ")
_QUOTATION = re.compile(r"^\s+\[(stdout|stderr)\]\s*$")


def _taken_apart(lines: Iterable[str]) -> tuple[str, str, str]:
    """What uv says itself, and what it quotes of a build's standard output and standard error."""
    own: list[str] = []
    quoted: dict[str, list[str]] = {"stdout": [], "stderr": []}
    inside, indent = "", 0
    for line in lines:
        quotation = _QUOTATION.match(line)
        stripped = line.strip()
        if quotation:
            inside, indent = quotation[1], len(line) - len(line.lstrip())
        elif inside and stripped and len(line) - len(line.lstrip()) < indent:
            inside = ""
        if quotation:
            continue
        if inside:
            quoted[inside].append(line[indent:])
        elif stripped:
            own.append(_DRAWN.sub(lambda drawn: _DRAWN_MEANS.get(drawn[1], ""), line).strip())
    first = next((number for number, line in enumerate(own) if _HEADING.match(line)), 0)
    return "\n".join(own[first:]), "\n".join(quoted["stdout"]).strip(), "\n".join(quoted["stderr"]).strip()


def _quoted(ended: Ended, own: str, output: str, errors: str) -> Ended:
    """The end of the build itself: what the backend printed, or else what uv says of it."""
    errors = errors or own
    return replace(ended, output=f"{output}\n" if output else "", errors=f"{errors}\n")


def _resolution(chain: str) -> str:
    """The reason of a resolution that failed, without the frame around it."""
    reason = chain.partition("No solution found when resolving")[2]
    reason = re.sub(r"^ ?(?:dependencies)?:? ?(?:cause: )?", "", reason)
    reason = re.sub(r" Consider using `exclude-newer-package`[^.]*\.", "", reason)
    end = "your requirements cannot all be met."
    return re.sub(r"we can conclude that your requirements are unsatisfiable\.", end, reason)


def _without_frame(chain: str) -> str:
    """A chain of causes without what every build that fails has in common."""
    chain = chain.partition(" hint: ")[0].replace(" cause: The build backend returned an error", "")
    return chain.replace(" cause: ", ": ")


def _shortened(text: str) -> str:
    text = re.sub(r"^(?:error|warning): ", "", " ".join(text.split()))
    if len(text) <= LONGEST_REASON:
        return text
    half = LONGEST_REASON // 2
    return f"{text[:half].rstrip()} ... {text[-half:].lstrip()}"
