"""Candidates that are images, however they come to be: the script runs in containers of them."""

import contextlib
import shlex
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from bisector.environments.docker.aftermath import take_output, why_not_started, words_of
from bisector.environments.docker.build import image_tag
from bisector.environments.docker.cli import check_marker, cli_environment
from bisector.environments.docker.container import create, remove, run_container
from bisector.environments.docker.engine import engine, memory_kills_here, on_this_machine
from bisector.environments.docker.files import room_archive
from bisector.environments.docker.installed import PYTHONS, content_identity, installed
from bisector.environments.docker.refusals import lacks_user, to_blame, users_options
from bisector.environments.docker.run import (
    MODELS,
    ROOM,
    SCRIPT_ROOM,
    check_run_arguments,
    container_options,
    gpu_options,
    mounts,
    run_options,
)
from bisector.model import Build, Ended, SmokeRun
from bisector.request import DockerRequest
from bisector.smoke import fresh_directories
from pins.errors import EnvironmentFailureError, UsageError


class ContainerEnvironment(ABC):
    """What environments have in common whose candidates are images.

    Args:
        request: what the user asked for.
        run_id: labels all that is made.
        to_plan: nothing will be run: no engine is looked for.
    """

    def __init__(self, request: DockerRequest, run_id: str, *, to_plan: bool = False) -> None:
        self._request = request
        self._run_id = run_id
        self._to_plan = to_plan
        self.notes: list[str] = []
        self._python = PYTHONS[0]
        self._here = False

    @property
    @abstractmethod
    def _program(self) -> str:
        """The docker command that makes containers.

        Raises:
            EnvironmentFailureError: there is none that can.
        """

    @property
    def interpreter(self) -> None:
        """See `Environment.interpreter`: each image brings its own."""
        return

    @cached_property
    def _platform(self) -> str:
        if self._to_plan:
            return ""
        with engine() as client:
            version = client.version()
        return f"{version.get('Os')}/{version.get('Arch')}"

    def _check_containers(self) -> None:
        """Find out whether the user's arguments of containers can be, as far as that is seen without one.

        Raises:
            UsageError: they cannot.
        """
        check_run_arguments(self._request.docker_args)
        with engine() as client:
            self._here = on_this_machine(client)
        for mount in mounts(self._request) if self._here else ():
            if not Path(mount.source).exists():
                option = "--models" if mount.target == str(MODELS) else "--mount"
                raise UsageError(f"{option} {mount.source}: there is no such file or directory")

    @property
    def _options_of_trial(self) -> list[str]:
        return self._options(check_marker(self._run_id))

    def _kept(self, input_hash: str, image: str, directory: Path) -> Build:
        """An image that is there, with what it holds."""
        with engine() as client:
            identity = content_identity(client, image)
        directory.mkdir(parents=True, exist_ok=True)
        listed = installed(
            self._program,
            image,
            self._python,
            directory / "installed.log",
            run_id=self._run_id,
            probe=f"{self._run_id}.{directory.name}",
            environment=cli_environment(),
        )
        return Build(input_hash, image, identity, listed)

    def exists(self, build: Build) -> bool:
        """See `Environment.exists`."""
        from docker.errors import ImageNotFound

        with engine() as client:
            try:
                client.images.get(build.location)
            except ImageNotFound:
                return False
        return True

    def run(self, build: Build, smoke: SmokeRun, cancel: threading.Event) -> Ended:
        """See `Environment.run`."""
        script = smoke.script.path
        try:
            archive = room_archive(script)
            if smoke.script.share_cache:
                fresh_directories(smoke.scratch, smoke.script.share_cache)
        except OSError as error:
            raise UsageError(f"{error.filename} cannot be read or made: {error.strerror}") from error
        inside = [str(SCRIPT_ROOM / script.name), *smoke.script.arguments]
        if script.suffix != ".py":
            ended = self._run_command(build, smoke, cancel, archive, inside)
            return replace(ended, not_started=why_not_started(script, ended.not_started))
        for python in dict.fromkeys((self._python, *PYTHONS)):
            ended = self._run_command(build, smoke, cancel, archive, [python, *inside])
            if not ended.not_started:
                self._python = python
                return ended
        return ended

    def sizes_of(self, builds: Sequence[Build]) -> list[int]:
        """Bytes that each image takes for itself; layers that several share are no one's own."""
        with engine() as client:
            listed = {entry["Id"]: entry for entry in client.df()["Images"] or ()}
        own = {name: int(entry["Size"]) - max(0, int(entry.get("SharedSize", 0))) for name, entry in listed.items()}
        return [own.get(build.location, 0) for build in builds]

    def shell(self, build: Build) -> str:
        """The command line that gets into a candidate, as a person types it."""
        request = self._request
        options = [*gpu_options(request.gpu, here=self._here), *(mount.option for mount in mounts(request))]
        words = [self._program, "run", "--rm", "-it", *options, *request.docker_args, "--entrypoint=sh", build.location]
        return shlex.join(words)

    def remove(self, build: Build) -> None:
        """See `Environment.remove`."""
        self._untag(image_tag(self._run_id, build.input_hash))

    def _untag(self, name: str) -> None:
        from docker.errors import ImageNotFound

        with engine() as client:
            try:
                client.api.remove_image(name, force=True)
            except ImageNotFound:
                return

    def _options(self, probe: str) -> list[str]:
        return container_options(self._request, run_id=self._run_id, probe=probe, here=self._here)

    def _run_command(
        self, build: Build, smoke: SmokeRun, cancel: threading.Event, archive: bytes, command: Sequence[str]
    ) -> Ended:
        program = self._program
        if cancel.is_set():
            return Ended(None, cancelled=True)
        container = create(
            program,
            [*self._options(smoke.probe), *run_options(self._request, smoke)],
            build.location,
            command,
            environment=cli_environment(),
            marker=smoke.probe,
            typed=users_options(self._request),
        )
        kills = memory_kills_here()
        try:
            ended = run_container(
                container,
                archive,
                str(ROOM),
                smoke.log,
                smoke.script.timeout,
                cancel,
                killed_here=lambda: self._here and memory_kills_here() > kills,
            )
            if not ended.not_started:
                take_output(container.id, smoke)
            return ended
        except EnvironmentFailureError as error:
            if user := lacks_user(str(error)):
                blamed = to_blame(self._request.docker_args, str(error)) or f"user {user}"
                raise UsageError(f"{blamed}: no such user or group in the image: {words_of(error)}") from error
            raise
        finally:
            # What cannot be removed now is found by its label later; how the run ended stands without it.
            with contextlib.suppress(EnvironmentFailureError):
                remove(container.id)
