"""What the tests of virtual environments share: an environment against a local index, and one probe of it."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import Any

from bisector.environments.venv.environment import VenvEnvironment
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun, SmokeScript
from bisector.request import RequirementsRequest
from pins.sources.index_configuration import read_index_configuration

LATER = datetime(2026, 1, 1, tzinfo=UTC)


def candidate(**pins: str) -> Candidate:
    return Candidate(tuple((name.replace("_", "-"), value) for name, value in pins.items()))


@dataclass
class Setting:
    """A directory of a test's own, and the environment under test in it."""

    directory: Path
    environment: VenvEnvironment
    number: int = 0

    def build(self, recipe: Recipe, cancel: Event | None = None) -> Build:
        self.number += 1
        return self.environment.build(recipe, self.place, self.log, cancel or Event())

    @property
    def place(self) -> Path:
        return self.directory / "a run" / "builds" / f"p{self.number}"

    @property
    def log(self) -> Path:
        return self.directory / f"build-{self.number}.log"

    def make(self, **pins: str) -> Build:
        return self.build(self.environment.resolve(candidate(**pins)))

    def run(self, build: Build, text: str, name: str = "smoke.py", **script: Any) -> Ended:
        self.number += 1
        scratch = self.directory / f"scratch-{self.number}"
        output = self.directory / f"output-{self.number}"
        path = self.directory / name
        path.write_text(text)
        path.chmod(0o755)
        scratch.mkdir()
        smoke = SmokeRun(
            SmokeScript(path, **script),
            Candidate((("spam", "1.0"),)),
            f"test.{self.number}",
            scratch,
            output,
            self.directory / f"run-{self.number}.log",
        )
        return self.environment.run(build, smoke, Event())


def setting(
    directory: Path,
    index_url: str = "",
    *,
    when: datetime = LATER,
    cache: Path | None = None,
    build_timeout: float | None = None,
    variables: Mapping[str, str] | None = None,
    pins: Collection[str] = (),
    held: Mapping[str, str] = MappingProxyType({}),
    **request: Any,
) -> Setting:
    """A setting in `directory`, against the index at `index_url` (as configured where it is empty)."""
    environment = dict(os.environ if variables is None else variables)
    index = read_index_configuration(index_url, environment=environment if not index_url else {}, directory=directory)
    made = VenvEnvironment(
        RequirementsRequest(**request),
        index,
        when,
        cache_directory=cache or directory / "cache",
        build_timeout=build_timeout,
        variables=environment,
        pins=pins,
        held=held,
    )
    return Setting(directory, made)
