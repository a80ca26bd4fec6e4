"""The protocol of an environment: how a candidate becomes something that can be run."""

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Protocol

from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun
from pins.errors import EnvironmentFailureError, PinsError


class InfeasibleError(PinsError):
    """The pins of a candidate exclude one another, or a requirement: it cannot be built, and is never tried.

    The message is the resolver's reason.
    """

    exit_code = 5


class BuildFailedError(PinsError):
    """The build ran and failed: the candidate is unbuildable.

    Attributes:
        ended: how the build ended, with the end of its output, from which a signature can be taken.
    """

    exit_code = 3

    def __init__(self, message: str, ended: Ended) -> None:
        super().__init__(message)
        self.ended = ended


class UnhealthyError(EnvironmentFailureError):
    """The machine, or a device of it, is sick: what was run there says nothing, and nothing more is run there."""


class LostError(EnvironmentFailureError):
    """What was done with a candidate on a host came to nothing: nothing is known of it, and it is tried again.

    Attributes:
        host: its name.
        gone: whether it is used no more, and with it what was built there.
    """

    def __init__(self, message: str, host: str, *, gone: bool = True) -> None:
        super().__init__(message)
        self.host = host
        self.gone = gone


class Environment(Protocol):
    """Makes candidates runnable. One instance serves a whole run, and several threads at once.

    Every method may raise `EnvironmentFailureError` when our side or the machine fails (engine gone, disk full, index
    unreachable, out of memory while building): never evidence about the candidate.
    """

    @property
    def name(self) -> str:
        """`venv`, `docker` or `command`."""

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know of the request before anything is built, in sentences; known after `check`."""

    @property
    def interpreter(self) -> Path | None:
        """The Python that candidates are installed for; None where they bring their own."""

    def check(self) -> None:
        """Find out before the first build whether this environment can work here at all.

        Raises:
            UsageError: what the user asked for cannot be (no such Python, no such file, no ARG for a pin).
            EnvironmentFailureError: the machine lacks something (no engine, no BuildKit), with the way out.
        """

    def fingerprint(self) -> dict[str, str]:
        """The inputs of every build that must not change while a run lasts: label -> hex digest.

        A label names the input for the user ("requirements base.txt", "Dockerfile"). Compared on resume.
        """

    def resolve(self, candidate: Candidate) -> Recipe:
        """Everything that decides the candidate's build, without building it.

        Raises:
            InfeasibleError: the pins exclude one another.
            BuildFailedError: reading what a candidate requires needed a build, and that failed.
        """

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: Event) -> Build:
        """Build it, writing what the builder prints to `log`.

        Args:
            recipe: from `resolve`.
            directory: a path of the build's own; it does not exist yet, or holds what a killed build left there.
            log: the file to append to.
            cancel: set by the caller when the result is not wanted any more.

        Raises:
            BuildFailedError: the build failed (`ended.cancelled` where it was cancelled).
        """

    def forget(self, recipe: Recipe) -> None:
        """Have the next build of this recipe start from nothing: what earlier builds left in caches is not used."""

    def exists(self, build: Build) -> bool:
        """Whether a build made earlier (before an interruption, say) can still be run."""

    def run(self, build: Build, smoke: SmokeRun, cancel: Event) -> Ended:
        """Run the smoke script once, and leave nothing running."""

    def remove(self, build: Build) -> None:
        """Remove a build. Removing what is gone is not an error."""
