"""Pins that are held still (`--fix`), in whatever environment.

An environment knows one kind of pin: a name with a value, which is installed or handed to the build, and which the
script sees as `PIN_<NAME>`. Pins held still are added to every candidate on its way there, and nobody else need know.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from bisector.environments.base import Environment
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun


class FixedPins:
    """Another environment, with pins held still; see `bisector.environments.base.Environment`.

    Args:
        environment: the one that does the work; it knows the names of these pins, too.
        fixed: the pins and their values.
    """

    def __init__(self, environment: Environment, fixed: Sequence[tuple[str, str]]) -> None:
        self._environment = environment
        self._fixed = tuple(fixed)

    def __getattr__(self, name: str) -> Any:  # what only some have: `index`, `space`
        return getattr(self._environment, name)

    @property
    def name(self) -> str:
        """That of the environment itself."""
        return self._environment.name

    @property
    def notes(self) -> Sequence[str]:
        """See `Environment.notes`."""
        return self._environment.notes

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
        return replace(self._environment.resolve(self._with_fixed(candidate)), candidate=candidate)

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: Event) -> Build:
        """See `Environment.build`."""
        return self._environment.build(self._recipe(recipe), directory, log, cancel)

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""
        self._environment.forget(self._recipe(recipe))

    def exists(self, build: Build) -> bool:
        """See `Environment.exists`."""
        return self._environment.exists(build)

    def run(self, build: Build, smoke: SmokeRun, cancel: Event) -> Ended:
        """See `Environment.run`."""
        return self._environment.run(build, replace(smoke, candidate=self._with_fixed(smoke.candidate)), cancel)

    def remove(self, build: Build) -> None:
        """See `Environment.remove`."""
        self._environment.remove(build)

    def _with_fixed(self, candidate: Candidate) -> Candidate:
        return Candidate((*candidate.pins, *self._fixed))

    def _recipe(self, recipe: Recipe) -> Recipe:
        return replace(recipe, candidate=self._with_fixed(recipe.candidate))
