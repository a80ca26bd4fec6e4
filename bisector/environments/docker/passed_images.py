"""Candidates whose images are built elsewhere, and pass by digest through a registry to where they run."""

import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bisector.environments.base import BuildFailedError, Environment
from bisector.environments.docker.build import image_tag
from bisector.environments.docker.cli import docker_programs
from bisector.environments.docker.containers import ContainerEnvironment
from bisector.environments.docker.engine import engine
from bisector.environments.docker.fetching import fetch, held, push, words_of
from bisector.environments.docker.trial_container import empty_image, try_container
from bisector.model import Build, Candidate, Recipe
from bisector.processes import run_process
from bisector.request import DockerRequest
from bisector.smoke import pin_variables
from pins.errors import EnvironmentFailureError, UsageError

if TYPE_CHECKING:
    from pins.sources.git.clone import Clone

_BY_DIGEST = re.compile(r"[a-z0-9][^\s@]*@sha256:[0-9a-f]{64}")


class Source(Protocol):
    """Where images come from. Asked by several threads at once."""

    @property
    def notes(self) -> Sequence[str]:
        """See `Environment.notes`."""

    def check(self) -> None:
        """See `Environment.check`."""

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`."""

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`."""

    def image(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> str:
        """Build it, and put it into the registry: NAME@DIGEST. Raises as `Environment.build`."""

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""


class BuildingEngine:
    """An engine that builds and pushes; see `Source`.

    Args:
        environment: builds there.
        at: within it, this thread talks to that engine.
        registry: the name of the images in the registry, without a tag.
        run_id: part of the tags.
    """

    def __init__(
        self, environment: Environment, at: Callable[[], AbstractContextManager[None]], registry: str, run_id: str
    ) -> None:
        self._environment = environment
        self._at = at
        self._registry = registry
        self._run_id = run_id
        self._turn = threading.Lock()
        self._in_turn: dict[str, threading.Lock] = {}
        self._pushed: dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    @property
    def notes(self) -> Sequence[str]:
        """See `Source`."""
        return self._environment.notes

    def check(self) -> None:
        """See `Source`."""
        with self._at():
            self._environment.check()

    def fingerprint(self) -> dict[str, str]:
        """See `Source`."""
        with self._at():
            return self._environment.fingerprint()

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Source`."""
        with self._at():
            return self._environment.resolve(candidate)

    def image(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> str:
        """See `Source`; the same recipe is built once, whoever asks."""
        with self._turn:
            lock = self._in_turn.setdefault(recipe.input_hash, threading.Lock())
        with lock:
            if recipe.input_hash not in self._pushed:
                with self._at():
                    self._pushed[recipe.input_hash] = self._built(recipe, directory, log, cancel)
            return self._pushed[recipe.input_hash]

    def forget(self, recipe: Recipe) -> None:
        """See `Source`."""
        self._pushed.pop(recipe.input_hash, None)
        with self._at():
            self._environment.forget(recipe)

    def _built(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> str:
        build = self._environment.build(recipe, directory, log, cancel)
        name = f"{self._registry}:{image_tag(self._run_id, recipe.input_hash).rpartition('/')[2].replace(':', '-')}"
        marker = f"{self._run_id}.{directory.name}"
        try:
            return push(program(), build.location, name, directory, log, marker, timeout=None, cancel=cancel)
        finally:
            self._environment.remove(build)


@dataclass(frozen=True)
class BuildingCommand:
    """A command, such as one that starts a CI job, whose last line of output is NAME@DIGEST; see `Source`.

    Attributes:
        words: of the command.
        run_id: marks its processes.
        timeout: seconds that it may take.
    """

    words: tuple[str, ...]
    run_id: str
    timeout: float | None = None
    notes: tuple[str, ...] = ()

    def check(self) -> None:
        """See `Source`; nothing is asked of the command before the first build."""

    def fingerprint(self) -> dict[str, str]:
        """See `Source`."""
        return {}

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Source`: what the command does is not known."""
        from hashlib import sha256

        decisive = json.dumps(["command image/1", self.words, candidate.pins])
        return Recipe(candidate, sha256(decisive.encode(errors="surrogateescape")).hexdigest())

    def image(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> str:
        """See `Source`."""
        directory.mkdir(parents=True, exist_ok=True)
        ended = run_process(
            self.words,
            environment={**os.environ, **pin_variables(recipe.candidate)},
            directory=directory,
            log=log,
            marker=f"{self.run_id}.{directory.name}",
            timeout=self.timeout,
            cancel=cancel,
        )
        if ended.not_started:
            raise EnvironmentFailureError(f"--build-on command: it cannot be started: {ended.not_started}")
        if ended.exit_status != 0 or ended.timed_out or ended.cancelled:
            raise BuildFailedError(f"the command that builds images failed: {words_of(ended)}", ended)
        lines = ended.output.strip().splitlines() or [""]
        if not _BY_DIGEST.fullmatch(lines[-1].strip()):
            raise EnvironmentFailureError(
                f"--build-on command: its last line is to be NAME@sha256:DIGEST, and it is {lines[-1]!r}; nothing is"
                " concluded from this"
            )
        return lines[-1].strip()

    def forget(self, recipe: Recipe) -> None:
        """See `Source`; what the command keeps is its own affair."""


class PassedImages(ContainerEnvironment):
    """Runs images that come from elsewhere; see `bisector.environments.base.Environment`.

    A build's location is its reference by digest, so that it is the same image whatever becomes of tags, and can be
    fetched again.

    Args:
        request: how containers are made.
        source: builds the images.
        run_id: labels all that is made.
        timeout: seconds that fetching one image may take.
    """

    name = "docker"

    def __init__(self, request: DockerRequest, source: Source, *, run_id: str, timeout: float | None) -> None:
        super().__init__(request, run_id)
        self._source = source
        self._timeout = timeout

    @property
    def space(self) -> Any:
        """What is searched, where the ends are files."""
        return getattr(self._source, "space", None)

    @property
    def clones(self) -> "Mapping[str, Clone]":
        """Of pins that are commits."""
        found: Mapping[str, Clone] = getattr(self._source, "clones", {})
        return found

    @cached_property
    def _program(self) -> str:
        return program()

    def check(self) -> None:
        """See `Environment.check`."""
        self._source.check()
        self.notes += self._source.notes
        self._check_containers()
        empty = empty_image(self._run_id)
        try:
            self.notes += try_container(self._program, empty, self._request, self._options_of_trial, self._run_id)
        finally:
            self._untag(empty)

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`."""
        return self._source.fingerprint()

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`."""
        return self._source.resolve(candidate)

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        """See `Environment.build`: built there, fetched here."""
        reference = self._source.image(recipe, directory, log, cancel)
        self._have(reference, directory, log, cancel)
        name, _, tag = image_tag(self._run_id, recipe.input_hash).rpartition(":")
        with engine() as client:  # by this name `bisector gc` knows it
            client.api.tag(reference, name, tag)
        return replace(self._kept(recipe.input_hash, reference, directory), location=reference)

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""
        self._source.forget(recipe)

    def exists(self, build: Build) -> bool:
        """See `Environment.exists`: here, or in the registry.

        Raises:
            EnvironmentFailureError: the registry cannot be asked.
        """
        from bisector.temporary import temporary_directory

        with temporary_directory() as room:
            try:
                self._have(build.location, room, room / "log", threading.Event())
            except BuildFailedError:
                return False
        return True

    def remove(self, build: Build) -> None:
        """See `Environment.remove`; what the registry has is its owner's."""
        super().remove(build)
        self._untag(build.location)

    def _have(self, reference: str, directory: Path, log: Path, cancel: threading.Event) -> None:
        if not held(reference):
            marker = f"{self._run_id}.{directory.name}"
            fetch(self._program, reference, directory, log, marker, timeout=self._timeout, cancel=cancel)


def program() -> str:
    """The docker command.

    Raises:
        EnvironmentFailureError: there is none.
    """
    programs = docker_programs(os.environ.get("PATH", os.defpath))
    if not programs:
        raise EnvironmentFailureError("no docker command is on PATH, and images are passed on and run by it")
    return programs[0]


def parse_registry(text: str) -> str:
    """`--registry NAME`: where images pass, HOST[:PORT]/NAME.

    Raises:
        UsageError: of another form, or with a tag or a digest.
    """
    if not re.fullmatch(r"[a-z0-9][A-Za-z0-9.-]*(:\d+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+", text):
        raise UsageError(
            f"--registry {text!r} must be the name of a repository of images, such as registry.example.org/team/probes,"
            " without a tag"
        )
    return text
