"""Several hosts as one environment: a candidate is built on whichever has room, and run where it was built.

A host that is gone is set aside, and what was under way there is lost (`LostError`): the prober starts it again, and it
goes to another host. Nothing is concluded from it. What a host that still answers could not do, for a reason of its
own, is lost as well; one that fails so repeatedly, or that is sick, is set aside as long as there is another.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import BuildFailedError, Environment, LostError, UnhealthyError
from bisector.executors.host import Host
from bisector.executors.watch import watched
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun
from bisector.request import HEARTBEAT
from pins.errors import EnvironmentFailureError

T = TypeVar("T")

HOST_TRIES = 2
"""Failures of its own in a row after which a host is used no more, as long as there is another."""


class SpreadEnvironment(AroundEnvironment):
    """Builds and runs on several hosts, `slots` pieces of work at once on each; see `Environment`.

    Args:
        hosts: those that are used, the preferred first.
        slots: how much each does at once.
        heartbeat: seconds between questions to a host, while work is under way there, whether it still is.
    """

    def __init__(self, hosts: Sequence[Host], *, slots: int = 1, heartbeat: float = HEARTBEAT) -> None:
        super().__init__(hosts[0].environment)
        self._hosts = {host.name: host for host in hosts}
        self._heartbeat = heartbeat
        self._free = dict.fromkeys(self._hosts, slots)
        self._aside: dict[str, str] = {}
        self._failures: dict[str, int] = {}
        self._building: dict[str, str] = {}
        self._has_built: set[str] = set()
        self._changed = threading.Condition()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of those that are in use."""
        return tuple(name for name in self._hosts if name not in self._aside)

    @property
    def aside(self) -> dict[str, str]:
        """Those that were set aside, and why."""
        return dict(self._aside)

    @property
    def notes(self) -> Sequence[str]:
        """See `Environment.notes`: also which hosts cannot be used."""
        return (*super().notes, *(f"the host {name} is not used: {why}" for name, why in self._aside.items()))

    def check(self) -> None:
        """See `Environment.check`; a host that cannot be used at all is set aside, as long as there is another.

        So is one whose inputs are not those of the first: a base image that goes by the same name and is another one.

        Raises:
            UsageError: what was asked for cannot be.
            EnvironmentFailureError: no host can be used.
        """
        inputs: dict[str, str] | None = None
        for host in self._hosts.values():
            try:
                with host.at():
                    host.environment.check()
                    found = host.environment.fingerprint()
            except EnvironmentFailureError as error:
                self._set_aside(host.name, str(error))
                continue
            inputs = found if inputs is None else inputs
            if others := [label for label in {**inputs, **found} if inputs.get(label) != found.get(label)]:
                first = self.hosts[0]
                self._set_aside(host.name, f"{', '.join(others)}: another there than on {first}; use one and the same")
        if not self.hosts:
            raise EnvironmentFailureError(self._all_gone())

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`; that of all hosts in use."""
        return self._ask_any(lambda environment: environment.fingerprint())

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`; the first host that can say."""
        return self._ask_any(lambda environment: environment.resolve(candidate))

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        """See `Environment.build`; waits for a host that has room.

        A host that has built nothing so far is not believed where its build fails: another one tries the same.

        Raises:
            LostError: the host went away meanwhile.
        """
        try:
            with self._room(cancel=cancel) as host, self._or_lost(host), host.at():
                return self._built(host, recipe, directory, log, cancel)
        except BuildFailedError as error:
            another = next((name for name in self.hosts if name != host.name), "")
            if error.ended.cancelled or host.name in self._has_built or not another:
                raise
            failure = error
        build = self.build_on(another, recipe, directory, log, cancel)
        self._set_aside(
            host.name, f"{recipe.candidate} could not be built there, and was built on {another}: {failure}"
        )
        return build

    def build_on(self, name: str, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        """The same on one host.

        Raises:
            LostError: as `build`.
        """
        with self._room(only=name, cancel=cancel) as host, self._or_lost(host), host.at():
            return self._built(host, recipe, directory, log, cancel)

    def _built(self, host: Host, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        self._building[directory.name] = host.name
        try:
            with watched(host, cancel, self._heartbeat) as stop:
                build = host.environment.build(recipe, directory, log, stop)
            self._has_built.add(host.name)
            return replace(build, host=host.name)
        finally:
            self._building.pop(directory.name, None)

    def building(self) -> dict[str, str]:
        """What is being built now, and on which host."""
        return dict(self._building)

    def take_said(self) -> list[str]:
        """What hosts have to say since the last time, in sentences: that work waits for room, say."""
        return [said for host in self._hosts.values() for said in getattr(host, "take_said", list)()]

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""
        for name in self.hosts:
            host = self._hosts[name]
            with contextlib.suppress(LostError), self._or_lost(host), host.at():
                host.environment.forget(recipe)

    def exists(self, build: Build) -> bool:
        """See `Environment.exists`; what a host has that is gone does not exist."""
        host = self._hosts.get(build.host)
        if host is None or build.host in self._aside:
            return False
        with contextlib.suppress(LostError), self._or_lost(host), host.at():
            return host.environment.exists(build)
        return False

    def run(self, build: Build, smoke: SmokeRun, cancel: threading.Event) -> Ended:
        """See `Environment.run`; waits until the host that has the build has room.

        Raises:
            LostError: the host went away.
        """
        with (
            self._room(only=build.host, cancel=cancel) as host,
            self._or_lost(host),
            host.at(),
            watched(host, cancel, self._heartbeat) as stop,
        ):
            return host.environment.run(build, smoke, stop)

    def remove(self, build: Build) -> None:
        """See `Environment.remove`; what a host has that is gone is left to `bisector gc`."""
        host = self._hosts.get(build.host)
        if host is None or build.host in self._aside:
            return
        with contextlib.suppress(LostError), self._or_lost(host), host.at():
            host.environment.remove(build)

    def sizes_of(self, builds: Sequence[Build]) -> list[int]:
        """Bytes that each build takes for itself on its host; 0 where that is not known."""
        sizes = dict.fromkeys(range(len(builds)), 0)
        for name in self.hosts:
            there = [number for number, build in enumerate(builds) if build.host == name]
            host = self._hosts[name]
            if not there or not hasattr(host.environment, "sizes_of"):
                continue
            with contextlib.suppress(LostError), self._or_lost(host), host.at():
                found = host.environment.sizes_of([builds[number] for number in there])
                sizes |= dict(zip(there, found, strict=True))
        return list(sizes.values())

    def remove_shared(self) -> None:
        """Remove what was built for several candidates, on every host that answers."""
        for name in self.hosts:
            host = self._hosts[name]
            with contextlib.suppress(LostError), self._or_lost(host), host.at():
                getattr(host.environment, "remove_shared", lambda: None)()

    def set_aside(self, name: str, why: str) -> None:
        """Use a host no more, as long as this process drives the run: its device is sick, say."""
        self._set_aside(name, why)

    def host_facts(self) -> dict[str, dict[str, str]]:
        """What is known of each host that is in use: label -> text."""
        found: dict[str, dict[str, str]] = {}
        for name in self.hosts:
            host = self._hosts[name]
            with contextlib.suppress(LostError), self._or_lost(host), host.at():
                found[name] = host.facts()
        return found

    def inventory_of(self, build: Build) -> Any:
        """What an image holds, of environments whose builds are images."""
        host = self._hosts[build.host]
        with self._or_lost(host), host.at():
            return getattr(host.environment, "inventory_of")(build)  # noqa: B009

    # Whose turn it is.

    def _ask_any(self, ask: Callable[[Environment], T]) -> T:
        """Ask the first host that can say."""
        tries = 0
        while True:
            host = self._first()
            try:
                with self._or_lost(host), host.at():
                    return ask(host.environment)
            except LostError as error:
                tries += not error.gone
                if tries > HOST_TRIES:
                    raise EnvironmentFailureError(error.message) from error

    def _first(self) -> Host:
        if not self.hosts:
            raise EnvironmentFailureError(self._all_gone())
        return self._hosts[self.hosts[0]]

    @contextmanager
    def _room(self, *, only: str = "", cancel: threading.Event) -> Iterator[Host]:
        """A host, as soon as one has room; the one with the most room first."""
        with self._changed:
            while True:
                wanted = [name for name in self.hosts if not only or name == only]
                if not wanted:
                    raise self._none(only)
                chosen = max(wanted, key=lambda name: self._free[name])
                if self._free[chosen] > 0 or cancel.is_set():  # what is cancelled ends at once, wherever
                    break
                self._changed.wait(0.5)
            self._free[chosen] -= 1
        try:
            yield self._hosts[chosen]
        finally:
            with self._changed:
                self._free[chosen] += 1
                self._changed.notify_all()

    def _none(self, only: str) -> EnvironmentFailureError:
        if self.hosts:
            why = self._aside.get(only, "it is none of this run's")
            return LostError(f"the host {only} is not used any more: {why}", only)
        return EnvironmentFailureError(self._all_gone())

    @contextmanager
    def _or_lost(self, host: Host) -> Iterator[None]:
        """Turns a failure of a host into the loss of what was under way there."""
        try:
            yield
        except UnhealthyError as error:
            raise self._without(host, error.message, f"the host {host.name} is sick") from error
        except EnvironmentFailureError as error:
            why = host.why_gone()
            if why:
                raise self._without(host, why, f"the host {host.name} is gone") from error
            with self._changed:
                self._failures[host.name] = tries = self._failures.get(host.name, 0) + 1
            if tries >= HOST_TRIES and len(self.hosts) > 1:
                said = f"it failed {tries} times in a row, at last: {error.message}"
                raise self._without(host, said, f"the host {host.name} fails") from error
            raise LostError(f"the host {host.name} failed: {error.message}", host.name, gone=False) from error
        else:
            self._failures.pop(host.name, None)

    def _without(self, host: Host, why: str, what: str) -> EnvironmentFailureError:
        """Set a host aside: what that means for whatever was under way there."""
        self._set_aside(host.name, why)
        if not self.hosts:
            return EnvironmentFailureError(self._all_gone())
        return LostError(f"{what}, and set aside: {why}", host.name)

    def _set_aside(self, name: str, why: str) -> None:
        with self._changed:
            self._aside.setdefault(name, why)
            self._changed.notify_all()

    def _all_gone(self) -> str:
        listed = "".join(f"\n  {name}: {why}" for name, why in self._aside.items())
        return f"no host is left to build and run on:{listed}"
