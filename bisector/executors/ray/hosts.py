"""The driver's side: each node as a host, whose environment asks the agent there."""

import contextlib
import hashlib
import io
import os
import re
import tarfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import BuildFailedError, Environment, InfeasibleError, UnhealthyError
from bisector.executors.ray.agent import Agent, State
from bisector.executors.ray.cluster import NAMESPACE, Node, alive, as_options, as_resources
from bisector.executors.ray.head import Head
from bisector.executors.ray.work import Answer, Setting
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun
from bisector.serial import adapter, to_json
from pins.errors import EnvironmentFailureError, UsageError
from pins.report.characters import visible

T = TypeVar("T")

POLL_SECONDS = 2.0
"""How long an agent waits before it says that a piece is still under way."""
BUSY_SECONDS = 15.0
"""After so long a wait for resources, the user is told."""
PATIENCE = 1.5
"""Heartbeats in which an agent must answer: Ray itself waits for minutes where a link is cut."""
CLOSE_PATIENCE = 30.0
"""Seconds in which an agent must have ended what is under way."""
START_PATIENCE = 60.0
"""Seconds in which an agent must have started."""


class RayHost:
    """A node of a Ray cluster; see `bisector.executors.host.Host`.

    Args:
        node: which.
        local: the environment as it is made here; knows the axes, and builds nothing.
        setting: what all work has in common.
        resources: of one run of the script, by Ray's names. Builds take the same but for GPUs.
        head: of the cluster.
    """

    def __init__(
        self,
        node: Node,
        local: Environment,
        setting: Setting,
        resources: Mapping[str, float],
        head: Head,
    ) -> None:
        self.name = node.name
        self._node = node
        self._setting = setting
        self._head = head
        self.patience = PATIENCE * head.heartbeat
        self._agent: Any = None
        self.died = ""
        self.said: list[str] = []
        self.driver = os.urandom(6).hex()
        self.environment = NodeEnvironment(local, self, resources)

    def at(self) -> AbstractContextManager[None]:
        """See `Host.at`: the environment asks its own node."""
        return nullcontext()

    def why_gone(self) -> str:
        """See `Host.why_gone`."""
        if self.died:
            return self.died
        if why := self._head.why_silent():
            return why
        if self._node.id not in {node.id for node in alive()}:
            return "the cluster says that the node is dead"
        try:
            self.ask("hello")
        except EnvironmentFailureError as error:
            return error.message
        return ""

    def ask(self, method: str, *told: Any, patience: float | None = None) -> Any:
        """Ask the agent, and start it where there is none; it has `patience` seconds, its host's where none is given.

        Raises:
            EnvironmentFailureError: it does not answer in time, or is dead.
        """
        import ray

        if self._head.gone:
            raise EnvironmentFailureError(self._head.gone)
        patience = self.patience if patience is None else patience
        try:
            return ray.get(getattr(self._found(), method).remote(*told), timeout=patience)
        except ray.exceptions.GetTimeoutError as error:
            raise EnvironmentFailureError(f"it has not answered for {patience:g} s") from error
        except ray.exceptions.RayError as error:
            raise EnvironmentFailureError(reason_of(error)) from error

    def take_said(self) -> list[str]:
        """What there is to say since the last time."""
        said, self.said = self.said, []
        return said

    def facts(self) -> dict[str, str]:
        """See `Host.facts`."""
        found: dict[str, str] = self.ask("hello")
        return found

    def close(self, *, gone: bool = False) -> None:
        """End the agent and what it has under way; one that is `gone` is not waited for long."""
        import ray

        if self._agent is None:
            return
        with contextlib.suppress(EnvironmentFailureError):
            self.ask("close", patience=self.patience if gone else CLOSE_PATIENCE)
        with contextlib.suppress(ray.exceptions.RayError, ValueError):
            if not self._head.gone:
                ray.kill(self._agent)
        self._agent = None

    def _found(self) -> Any:
        """The agent, started if need be; one that an earlier driver of this run has left is taken up."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        if self._agent is None:
            named = f"{self._setting.run_id}.{self._node.id}"
            self._agent = (
                ray.remote(Agent)
                .options(
                    name=named,
                    namespace=NAMESPACE,
                    get_if_exists=True,
                    lifetime="detached",
                    max_restarts=0,
                    num_cpus=0,
                    max_concurrency=64,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(self._node.id, soft=False),
                )
                .remote(self._setting, self._node.id)
            )
            ray.get(self._agent.hello.remote(), timeout=START_PATIENCE)
        return self._agent


def reason_of(error: Exception) -> str:
    """What one of Ray's errors says, as a phrase: the failure of a task or an agent without its coloured traceback."""
    cause = getattr(error, "cause", None) or error
    lines = [line.strip() for line in visible(str(cause)).splitlines() if line.strip()]
    if found := re.search(r"No module named '(bisector|pins)\b", str(cause)):
        return f"the Python that Ray runs on there has no {found[1]}: install bisector there, in the version used here"
    if type(cause).__name__ == "ActorUnavailableError":  # of connections, in the words of the library below Ray
        return "its agent cannot be reached"
    said = lines[-1] if any(line.startswith("File ") for line in lines) else " ".join(lines)
    return f"{type(cause).__name__}: {said[:300]}"


class NodeEnvironment(AroundEnvironment):
    """An environment whose work is done on a node; see `bisector.environments.base.Environment`."""

    def __init__(self, local: Environment, host: RayHost, resources: Mapping[str, float]) -> None:
        super().__init__(local)
        self._host = host
        self._resources = resources
        self._notes: Sequence[str] = ()

    @property
    def notes(self) -> Sequence[str]:
        """See `Environment.notes`."""
        return (*dict.fromkeys((*super().notes, *self._notes)),)

    def check(self) -> None:
        """See `Environment.check`; also whether the node is of our kind and sees the same files.

        Raises:
            EnvironmentFailureError: it is not, or does not.
        """
        import json

        from pins.json_document import installed_version

        facts: dict[str, str] = self._host.ask("hello", patience=START_PATIENCE)
        here = installed_version()
        if facts.get("bisector") != here:
            raise EnvironmentFailureError(
                f"it has bisector {facts.get('bisector')}, and this is {here}: install the same there"
            )
        found = json.loads(self._value(self._done("check", "check", "", {}, {"num_cpus": 0})))
        self._notes = found["notes"]
        if unset := found["unset"]:
            self._host.said.append(
                f"{self._host.name}: {', '.join(unset)} (--pass-env) is not set there; nodes hand on variables of their"
                " own, those that `ray start` had, so that no credential passes through Ray"
            )
        self._fingerprint: dict[str, str] = found["fingerprint"]

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`: as the node sees it."""
        return self._fingerprint

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`."""
        key = hashlib.sha256(to_json(candidate.pins).encode()).hexdigest()[:16]
        told = {"candidate": candidate.pins}
        value = self._value(self._done(f"resolve-{key}", "resolve", key, told, {"num_cpus": 0}))
        recipe: Recipe = adapter(Recipe).validate_json(value)
        return recipe

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        """See `Environment.build`."""
        return self._built(recipe, directory, log, cancel)

    def _built(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event, reference: str = "") -> Build:
        """Have the node build it, or fetch an image that is built already, NAME@DIGEST."""
        told = {"recipe": to_json(recipe), "probe": directory.name, "reference": reference}
        resources = as_options({name: amount for name, amount in self._resources.items() if name != "GPU"})
        piece = f"{directory.name}-build"
        answer = self._done(piece, "build", recipe.input_hash, told, resources, log, cancel)
        build: Build = adapter(Build).validate_json(self._value(answer))
        return build

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""
        self._value(self._done("forget", "forget", os.urandom(4).hex(), {"recipe": to_json(recipe)}, {"num_cpus": 0}))

    def exists(self, build: Build) -> bool:
        """See `Environment.exists`."""
        told = {"build": to_json(build)}
        key = os.urandom(4).hex()
        return self._value(self._done(f"exists-{key}", "exists", key, told, {"num_cpus": 0})) == "true"

    def run(self, build: Build, smoke: SmokeRun, cancel: threading.Event) -> Ended:
        """See `Environment.run`; one that an earlier driver has begun and not fetched is taken up."""
        key = f"{build.input_hash}.{hashlib.sha256(self._host._setting.script).hexdigest()[:16]}"
        piece = self._host.ask("unclaimed", self._host.driver, "run", key) or smoke.probe.rpartition(".")[2]
        told = {"build": to_json(replace(build, host="")), "run": to_json(smoke)}
        answer = self._done(piece, "run", key, told, as_options(self._resources), smoke.log, cancel)
        ended: Ended = adapter(Ended).validate_json(self._value(answer))
        if answer.output:
            with tarfile.open(fileobj=io.BytesIO(answer.output), mode="r:gz") as archive:
                archive.extractall(smoke.output, filter="data")
        return ended

    def remove(self, build: Build) -> None:
        """See `Environment.remove`."""
        key = os.urandom(4).hex()
        told = {"build": to_json(replace(build, host=""))}
        self._value(self._done(f"remove-{key}", "remove", key, told, {"num_cpus": 0}))

    def _done(
        self,
        piece: str,
        kind: str,
        key: str,
        told: Mapping[str, Any],
        resources: Mapping[str, Any],
        log: Path | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Have a piece done on the node, and wait for it; what it prints goes to `log` meanwhile."""
        self._host.ask("start", self._host.driver, piece, kind, key, told, resources)
        offset = 0
        cancelled = waited = False
        since = time.monotonic()
        while True:
            state: State = self._host.ask(
                "poll", piece, offset, POLL_SECONDS, patience=POLL_SECONDS + self._host.patience
            )
            if state.log and log is not None:
                with log.open("ab") as file:
                    file.write(state.log)
            offset += len(state.log)
            if state.answer is not None and not (state.log and log is not None):
                break
            if not state.begun and not waited and time.monotonic() - since > BUSY_SECONDS:
                asked = ", ".join(f"{name} {amount:g}" for name, amount in as_resources(resources).items() if amount)
                self._host.said.append(f"{self._host.name} is busy: {kind} {piece} waits for {asked} there")
                waited = True
            if cancel is not None and cancel.is_set() and not cancelled:
                self._host.ask("cancel", piece)
                cancelled = True
        self._host.ask("done_with", piece)
        assert state.answer is not None
        return state.answer

    def _value(self, answer: Answer) -> str:
        match answer.failure:
            case "":
                return answer.value
            case "infeasible":
                raise InfeasibleError(answer.message)
            case "build-failed":
                ended: Ended = adapter(Ended).validate_json(answer.ended)
                raise BuildFailedError(answer.message, ended)
            case "usage":
                raise UsageError(f"{self._host.name}: {answer.message}")
            case "unhealthy":
                raise UnhealthyError(answer.message)
            case "fault":
                raise EnvironmentFailureError(f"a fault in this program:\n{answer.message}")
        if "NodeDied" in answer.message:  # its agent may answer a little longer
            self._host.died = answer.message
        raise EnvironmentFailureError(answer.message)
