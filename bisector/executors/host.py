"""One machine on which candidates are built and run."""

from contextlib import AbstractContextManager
from typing import Protocol

from bisector.environments.base import Environment


class Host(Protocol):
    """A machine, with the environment that builds and runs there.

    The environment is asked inside of `at`, in the thread that asks.
    """

    @property
    def name(self) -> str:
        """What it is called in records and reports; no two hosts of a run share a name."""

    @property
    def environment(self) -> Environment:
        """Builds and runs candidates there."""

    def at(self) -> AbstractContextManager[None]:
        """Within it, what the environment does is done on this host."""

    def why_gone(self) -> str:
        """Why nothing can be done there now, as a phrase; "" where it answers. May take some seconds."""

    def facts(self) -> dict[str, str]:
        """What of the machine may matter to an outcome, label -> text.

        Raises:
            EnvironmentFailureError: it does not answer.
        """
