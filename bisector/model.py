"""The nouns of a bisection: axes, candidates, builds, runs and their outcomes. No I/O."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from pins.model import PinKind


class Outcome(StrEnum):
    """What one run, or one probe, says about its candidate."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    """Failed in the way that is sought."""
    OTHER = "OTHER"
    """Failed in another way: no evidence about the culprit."""
    UNBUILDABLE = "UNBUILDABLE"
    """The candidate could not be built, or its pins exclude one another: no evidence."""
    SKIP = "SKIP"
    """The script said that it cannot judge this candidate (exit status 125)."""
    INFRA = "INFRA"
    """Our side or the machine's broke: no evidence, to be run again."""


SHORT_HASH = 12
"""Characters of a full hash that people are shown: no two of a repository's commits are alike in so many."""
_FULL_HASH = re.compile(r"(?:sha256:)?(?:[0-9a-f]{40}|[0-9a-f]{64})")


def short_text(value: str) -> str:
    """A pin's value as people are shown it: a full hash by its beginning, anything else whole."""
    if not _FULL_HASH.fullmatch(value):
        return value
    return value[: len("sha256:") + SHORT_HASH] if value.startswith("sha256:") else value[:SHORT_HASH]


@dataclass(frozen=True)
class AxisValue:
    """One value that a pin may take.

    Attributes:
        text: the version or revision as it is handed to the environment; of a commit, the full hash.
        date: when it came to be (upload or commit time, aware); None where unknown.
        subject: of a commit, the first line of its message; "" where there is none.
        authored: of a commit, when its change was written (aware); None where unknown.
        touches: of the paths that `--suspect NAME:PATH` named, those that the step to this commit changes.
        commits: of a commit, how many the step to it brings: itself, and those that it merges. Where the axis goes
            back in history, those that the step takes away.
    """

    text: str
    date: datetime | None = None
    subject: str = ""
    authored: datetime | None = None
    touches: tuple[str, ...] = ()
    commits: int = 1


@dataclass(frozen=True)
class Axis:
    """The values of one pin, from its good end (first) to its bad end (last).

    Attributes:
        pin: its name.
        kind: what sort of values.
        values: each of them once. Of a git axis, commits of which each is a child of the one before it, or beyond
            `turn` reversed; where a merge was searched into, its side stands before it.
        turn: up to this index the values of a git axis go back in history, from a good end on another branch to the
            commit from which both branches come; 0 where the good end is an ancestor of the bad one.
        link: a web page on a value, with "{}" in place of its text; "" where none is known.
        repository: of a git axis, the path or URL of the repository; "" where it cannot be asked.
    """

    pin: str
    kind: PinKind
    values: tuple[AxisValue, ...]
    turn: int = 0
    link: str = ""
    repository: str = ""

    @property
    def good(self) -> str:
        """The value at the good end."""
        return self.values[0].text

    @property
    def bad(self) -> str:
        """The value at the bad end."""
        return self.values[-1].text

    @property
    def steps(self) -> int:
        """How many moves lie between the ends: the number of values less one."""
        return len(self.values) - 1

    def goes_back(self, new: str) -> bool:
        """Whether the step that ends at a value goes back in history."""
        return any(value.text == new for value in self.values[1 : self.turn + 1])

    def changed(self, old: str, new: str) -> AxisValue:
        """The value whose change a step is: that which it goes to or, back in history, that which it leaves."""
        text = old if self.goes_back(new) else new
        return next((value for value in self.values if value.text == text), AxisValue(text))


@dataclass(frozen=True, eq=False)
class Candidate(Mapping[str, str]):
    """A value for every pin; a mapping from pin name to value, in the order of the axes."""

    pins: tuple[tuple[str, str], ...]

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return dict(self.pins)

    def __getitem__(self, pin: str) -> str:
        return self._by_name[pin]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self.pins)

    def __str__(self) -> str:
        return " ".join(f"{pin}={short_text(value)}" for pin, value in self.pins)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Candidate) and self.pins == other.pins

    def __hash__(self) -> int:
        return hash(self.pins)

    def moved(self, pin: str, value: str) -> "Candidate":
        """This candidate with one pin at another value."""
        return Candidate(tuple((name, value if name == pin else old) for name, old in self.pins))


@dataclass(frozen=True)
class Recipe:
    """All that goes into the build of one candidate, known before anything is built.

    Attributes:
        candidate: the pins.
        input_hash: hex SHA-256 over everything that decides the build; equal hashes share build and verdict.
        resolved: every distribution that will be installed with its version, transitive ones included, by name;
            empty where the environment cannot know (a Dockerfile, a build command).
        instructions: what the environment needs to build it; JSON-able, and free of credentials.
    """

    candidate: Candidate
    input_hash: str
    resolved: tuple[tuple[str, str], ...] = ()
    instructions: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Build:
    """A candidate that was built.

    Attributes:
        input_hash: that of its recipe.
        location: where it is: a directory, or an image id.
        content_identity: hex digest of what came out (installed distributions and files); "" where not known.
        installed: the distributions found in it with their versions, by name; empty where not known.
        host: the host that it is on, "" for this machine.
    """

    input_hash: str
    location: str
    content_identity: str = ""
    installed: tuple[tuple[str, str], ...] = ()
    host: str = ""


@dataclass(frozen=True)
class Ended:
    """How one process ended.

    Attributes:
        exit_status: 0 to 255, or None where a signal ended it or it never started.
        signal: the signal's number, or None. A container's or shell's 128+n is left in `exit_status`.
        seconds: wall-clock time that it ran.
        timed_out: it was ended because its time was up.
        cancelled: it was ended because nobody needs its result any more.
        not_started: why it could not be started at all, "" otherwise.
        out_of_memory: the kernel's or engine's word that memory ran out, "" otherwise.
        output: the end of what it wrote to standard output (at most 64 KiB, decoded with replacement).
        errors: the same for standard error.
    """

    exit_status: int | None
    signal: int | None = None
    seconds: float = 0.0
    timed_out: bool = False
    cancelled: bool = False
    not_started: str = ""
    out_of_memory: str = ""
    output: str = ""
    errors: str = ""


@dataclass(frozen=True)
class Signature:
    """What a failure looks like (DESIGN: Outcomes).

    Attributes:
        exit: "exit 1", "signal SIGSEGV", "timeout" or "build".
        kind: the exception's unqualified class, or "" without one.
        message: the first line of its message, or the last line of output, with what varies masked.
        frame: source text of the innermost frame inside the smoke script (or the test of pytest that failed), or "".
    """

    exit: str
    kind: str = ""
    message: str = ""
    frame: str = ""


@dataclass(frozen=True)
class SmokeScript:
    """The user's script and how it is run.

    Attributes:
        path: the script, absolute.
        arguments: what follows it on its command line.
        variables: further environment variables (`--smoke-env`).
        timeout: seconds that one run may take; None for no limit.
        share_cache: a directory to use for caches in place of fresh ones (`--share-cache`).
        pass_environment: names of the caller's variables that are passed on (`--pass-env`).
    """

    path: Path
    arguments: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    timeout: float | None = None
    share_cache: Path | None = None
    pass_environment: tuple[str, ...] = ()


@dataclass(frozen=True)
class SmokeRun:
    """One run of the script on one build.

    Attributes:
        script: the script.
        candidate: gives the `PIN_<NAME>` variables.
        probe: the id that marks every process and container of this run.
        scratch: an empty directory of its own, removed afterwards: working directory, home and caches lie in it.
        output: an empty directory that is kept with the probe (`PROBE_OUTPUT`).
        log: the file that takes the output of the run.
        checkouts: git pins, each with the directory that holds its tree.
    """

    script: SmokeScript
    candidate: Candidate
    probe: str
    scratch: Path
    output: Path
    log: Path
    checkouts: tuple[tuple[str, Path], ...] = ()
