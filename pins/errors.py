"""Errors for the person at the terminal.

Each message says what was tried, on what, and what to do next. The exit codes are those of both commands; `cli` maps
an error that reaches it to its `exit_code` and prints the message, never a traceback.
"""


class PinsError(Exception):
    """Base of every error that a user may meet.

    Attributes:
        exit_code: what the command exits with when this error ends it.
    """

    exit_code = 70

    @property
    def message(self) -> str:
        """The text for the terminal, without the class name."""
        return str(self)


class UsageError(PinsError):
    """A wrong option or configuration; a script, file, package, version or revision that does not exist."""

    exit_code = 2


class UndeterminedError(PinsError):
    """The question could not be answered: flaky beyond the budget, a source that could not be read."""

    exit_code = 3


class NoSolutionError(PinsError):
    """No compatible set of versions exists."""

    exit_code = 5


class EnvironmentFailureError(PinsError):
    """Our side or the machine's failed: engine, disk, network, index, device. Nothing is concluded from it."""

    exit_code = 6


class SourceError(EnvironmentFailureError):
    """A package index, repository or registry could not be read."""
