"""The user's own question to a machine: is it well? Asked where the script runs, before each run and after it."""

import shlex
import subprocess
import threading
from collections.abc import Sequence

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import Environment, UnhealthyError
from bisector.model import Build, Ended, SmokeRun
from pins.errors import UsageError

PATIENCE = 120.0
"""Seconds in which the command must have ended: a device that hangs may hang it, too."""
_SHOWN = 300


class HealthyEnvironment(AroundEnvironment):
    """An environment whose machine is asked how it is; see `bisector.environments.base.Environment`.

    What ran between two answers of which one is bad says nothing about a candidate.

    Args:
        environment: the one that does the work.
        command: the words of the question; its exit status 0 means that all is well.
    """

    def __init__(self, environment: Environment, command: Sequence[str]) -> None:
        super().__init__(environment)
        self._command = tuple(command)

    def check(self) -> None:
        """See `Environment.check`.

        Raises:
            UnhealthyError: the machine is sick from the start.
        """
        super().check()
        self._ask("at the start")

    def run(self, build: Build, smoke: SmokeRun, cancel: threading.Event) -> Ended:
        """See `Environment.run`.

        Raises:
            UnhealthyError: the machine is sick.
        """
        self._ask(f"before {smoke.candidate}")
        ended = super().run(build, smoke, cancel)
        if not ended.cancelled:
            self._ask(f"after {smoke.candidate}")
        return ended

    def _ask(self, when: str) -> None:
        asked = f"--health {shlex.join(self._command)}, {when}"
        try:
            answer = subprocess.run(
                self._command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise UnhealthyError(f"{asked}: no end within {PATIENCE:.0f} s") from error
        except OSError as error:
            raise UnhealthyError(f"{asked}: it cannot be started: {error.strerror}") from error
        if answer.returncode != 0:
            said = (answer.stderr.strip() or answer.stdout.strip()).decode(errors="replace")
            raise UnhealthyError(f"{asked}: exit status {answer.returncode}: {said[-_SHOWN:]}".rstrip(": "))


def command_at(address: str, command: Sequence[str]) -> tuple[str, ...]:
    """The words that ask the machine of an engine.

    Args:
        address: the engine's.
        command: the question.

    Raises:
        UsageError: programs cannot be run on that machine.
    """
    from bisector.environments.docker.ssh import ssh_words

    if address.startswith("unix://"):
        return tuple(command)
    words = ssh_words(address, command)
    if words is None:
        raise UsageError(
            f"--health: nothing but an engine answers at {address}; name the host by ssh://USER@HOST, so that the"
            " command can be run on its machine"
        )
    return words


def parse_health(text: str | None) -> tuple[str, ...]:
    """`--health CMD`: its words, as a shell would split them; () where none is asked for.

    Raises:
        UsageError: it cannot be split.
    """
    try:
        words = tuple(shlex.split(text or ""))
    except ValueError as error:
        raise UsageError(f"--health {text!r}: {error}; quote it as for a shell") from error
    if text is not None and not words:
        raise UsageError("--health is empty; give a command that exits with 0 where the machine is well")
    return words
