"""An environment that stands around another one: all is the other's, but for what a subclass does itself."""

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from bisector.environments.base import Environment
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun


class AroundEnvironment:
    """Another environment; see `bisector.environments.base.Environment`.

    Args:
        environment: the one that does the work.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def __getattr__(self, name: str) -> Any:  # what only some have: `index`, `space`, `shell`
        return getattr(self._environment, name)

    @property
    def name(self) -> str:
        """That of the environment itself."""
        return self._environment.name

    @property
    def notes(self) -> Sequence[str]:
        """See `Environment.notes`."""
        return self._environment.notes

    def add_notes(self, notes: Sequence[str]) -> None:
        """Have the environment itself say more."""
        inner = self._environment
        if isinstance(inner.notes, list):
            inner.notes.extend(notes)
        else:
            getattr(inner, "add_notes")(notes)  # noqa: B009 - one that stands around another

    @property
    def interpreter(self) -> Path | None:
        """See `Environment.interpreter`."""
        return self._environment.interpreter

    def check(self) -> None:
        """See `Environment.check`."""
        self._environment.check()

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`."""
        return self._environment.fingerprint()

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`."""
        return self._environment.resolve(candidate)

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: Event) -> Build:
        """See `Environment.build`."""
        return self._environment.build(recipe, directory, log, cancel)

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""
        self._environment.forget(recipe)

    def exists(self, build: Build) -> bool:
        """See `Environment.exists`."""
        return self._environment.exists(build)

    def run(self, build: Build, smoke: SmokeRun, cancel: Event) -> Ended:
        """See `Environment.run`."""
        return self._environment.run(build, smoke, cancel)

    def remove(self, build: Build) -> None:
        """See `Environment.remove`."""
        self._environment.remove(build)
