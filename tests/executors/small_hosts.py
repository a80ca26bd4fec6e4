"""Hosts that are directories of this machine, with the `command` environment, and whose failures a test provokes."""

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bisector import session
from bisector.environment_making import make_environment
from bisector.environments.around import AroundEnvironment
from bisector.environments.base import Environment
from bisector.executors.spread import SpreadEnvironment
from bisector.model import Build, Ended, Recipe, SmokeRun
from pins.errors import EnvironmentFailureError

Trouble = Callable[["SmallHost", str], None]
"""Is told of every piece of work before it is done ("build", "run") and may raise what goes wrong."""


@dataclass(eq=False)
class SmallHost:
    """See `bisector.executors.host.Host`.

    Attributes:
        name: the script sees it as MACHINE.
        room: a directory of its own.
        trouble: what goes wrong there.
        gone: why nothing can be done there any more, "" for all is well.
        falls_silent: it says nothing any more, and what is under way there goes on for ever.
        kernel: a fact of it.
        done: what was done there, in order: ("build", "widget=3").
    """

    name: str
    room: Path
    trouble: Trouble = lambda host, kind: None
    gone: str = ""
    falls_silent: bool = False
    kernel: str = "6.1"
    done: list[tuple[str, str]] = field(default_factory=list)
    environment: Environment = field(init=False)

    def at(self) -> nullcontext[None]:
        return nullcontext()

    def why_gone(self) -> str:
        return self.gone or ("it has fallen silent" if self.falls_silent else "")

    def facts(self) -> dict[str, str]:
        return {"kernel": self.kernel}

    def count(self, kind: str) -> int:
        return sum(done == kind for done, _ in self.done)


class SmallEnvironment(AroundEnvironment):
    """The work of a small host, in its room."""

    def __init__(self, environment: Environment, host: SmallHost) -> None:
        super().__init__(environment)
        self._host = host

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        self._begin("build", str(recipe.candidate))
        build = super().build(recipe, self._host.room / directory.name, log, cancel)
        self._still_there()
        return build

    def exists(self, build: Build) -> bool:
        self._still_there()
        return super().exists(build)

    def run(self, build: Build, smoke: SmokeRun, cancel: threading.Event) -> Ended:
        assert build.location.startswith(str(self._host.room)), "a build of another host"
        self._begin("run", str(smoke.candidate))
        variables = (*smoke.script.variables, ("MACHINE", self._host.name))
        ended = super().run(build, replace(smoke, script=replace(smoke.script, variables=variables)), cancel)
        self._still_there()
        return ended

    def _begin(self, kind: str, what: str) -> None:
        self._still_there()
        self._host.done.append((kind, what))
        self._host.trouble(self._host, kind)

    def _still_there(self) -> None:
        if self._host.gone:
            raise EnvironmentFailureError(self._host.gone)


def over(hosts: Sequence[SmallHost], monkeypatch: pytest.MonkeyPatch) -> list[SpreadEnvironment]:
    """Have runs of this test use these hosts: the environments that were made, as they are made."""
    made: list[SpreadEnvironment] = []

    def make(request, pins, index, before, run_id):  # type: ignore[no-untyped-def]
        for host in hosts:
            local = make_environment(request, pins, index, before, run_id)
            host.environment = SmallEnvironment(local, host)
        slots = -(-request.workers // len(hosts))
        made.append(SpreadEnvironment(hosts, slots=slots, heartbeat=request.heartbeat))
        return made[-1]

    monkeypatch.setattr(session, "place_environment", make)
    return made
