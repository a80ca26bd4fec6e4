"""Pins that are held still (`--fix`), in whatever environment.

An environment knows one kind of pin: a name with a value, which is installed or handed to the build, and which the
script sees as `PIN_<NAME>`. Pins held still are added to every candidate on its way there, and nobody else need know.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import Environment
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun


class FixedPins(AroundEnvironment):
    """Another environment, with pins held still; see `bisector.environments.base.Environment`.

    Args:
        environment: the one that does the work; it knows the names of these pins, too.
        fixed: the pins and their values.
    """

    def __init__(self, environment: Environment, fixed: Sequence[tuple[str, str]]) -> None:
        super().__init__(environment)
        self._fixed = tuple(fixed)

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`."""
        return replace(self._environment.resolve(self._with_fixed(candidate)), candidate=candidate)

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: Event) -> Build:
        """See `Environment.build`."""
        return self._environment.build(self._recipe(recipe), directory, log, cancel)

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""
        self._environment.forget(self._recipe(recipe))

    def run(self, build: Build, smoke: SmokeRun, cancel: Event) -> Ended:
        """See `Environment.run`."""
        return self._environment.run(build, replace(smoke, candidate=self._with_fixed(smoke.candidate)), cancel)

    def _with_fixed(self, candidate: Candidate) -> Candidate:
        return Candidate((*candidate.pins, *self._fixed))

    def _recipe(self, recipe: Recipe) -> Recipe:
        return replace(recipe, candidate=self._with_fixed(recipe.candidate))
