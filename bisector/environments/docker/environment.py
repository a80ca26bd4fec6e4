"""Candidates as Docker images: built from a Dockerfile whose ARGs take the pins, run as containers."""

import contextlib
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.base import BuildFailedError
from bisector.environments.docker.aftermath import take_output, why_not_started, words_of
from bisector.environments.docker.build import (
    build_options,
    check_build_options,
    failure_of_ours,
    image_tag,
    index_time_advice,
    last_words,
)
from bisector.environments.docker.candidate_inputs import BuildStep, CandidateInputs
from bisector.environments.docker.cli import Builder, check_marker, cli_environment, trial
from bisector.environments.docker.container import create, remove, run_container
from bisector.environments.docker.credentials import masking, read_credentials, with_resolved
from bisector.environments.docker.engine import engine, memory_kills_here, on_this_machine
from bisector.environments.docker.files import room_archive
from bisector.environments.docker.inputs import BuildInputs
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
from bisector.environments.docker.trial_container import try_container
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun
from bisector.processes import run_process
from bisector.request import DockerRequest
from bisector.smoke import fresh_directories
from pins.errors import EnvironmentFailureError, UsageError

if TYPE_CHECKING:
    from bisector.file_axes.space import FileSpace


class DockerEnvironment:
    """Builds an image per candidate and runs the smoke script in containers of it.

    Args:
        request: what the user asked for.
        pins: names of the axes.
        exclude_newer: package indexes are read as of this time (aware).
        run_id: labels all that is made.
        build_timeout: seconds that one build may take, None for no limit.
        files: makes the inputs of candidates whose files differ in more than build arguments.
        to_plan: nothing will be built: no engine is looked for.

    Raises:
        UsageError: there is no Dockerfile, or `--secret` or `--ssh` is not of its form.
    """

    name = "docker"

    def __init__(
        self,
        request: DockerRequest,
        pins: Sequence[str],
        exclude_newer: datetime | None,
        *,
        run_id: str,
        build_timeout: float | None = None,
        files: Callable[[DockerRequest], CandidateInputs] | None = None,
        to_plan: bool = False,
    ) -> None:
        if request.dockerfile is None:
            raise UsageError("the docker environment needs a Dockerfile: --dockerfile FILE")
        self._credentials = read_credentials(request.secrets, request.ssh, Path.cwd())
        self._request = resolved = with_resolved(request, self._credentials)
        if request.reuse_stages and files is None:
            raise UsageError(
                "--reuse-stage needs ends that are read from files: --dockerfile FILE --good REV --bad REV"
            )
        time = exclude_newer if request.index_time else None
        self._inputs: CandidateInputs = (
            BuildInputs(resolved, request.dockerfile, pins, time) if files is None else files(resolved)
        )
        self.space: FileSpace | None = None
        self.notes: list[str] = []
        self._to_plan = to_plan
        self._run_id = run_id
        self._forgotten: set[str] = set()
        self._build_timeout = build_timeout
        self._checking = threading.Lock()
        self._sharing = threading.Lock()
        self._shared: Mapping[str, str] | None = None
        self._made_for_all: dict[str, str] = {}
        self._python = PYTHONS[0]
        self._builder: Builder | None = None
        self._here = False

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

    def check(self) -> None:
        """See `Environment.check`."""
        self._inputs.check()
        if self._to_plan:
            return
        check_build_options(self._request.build_options)
        check_run_arguments(self._request.docker_args)
        if lacking := self._credentials.lacking():
            raise UsageError(lacking)
        with engine() as client:
            self._here = on_this_machine(client)
        for mount in mounts(self._request) if self._here else ():
            if not Path(mount.source).exists():
                option = "--models" if mount.target == str(MODELS) else "--mount"
                raise UsageError(f"{option} {mount.source}: there is no such file or directory")
        with trial(
            self._run_id,
            syntax=self._inputs.syntax,
            options=self._request.build_options,
            variables=cli_environment(),
        ) as (builder, image):
            options = self._options(check_marker(self._run_id))
            self.notes += try_container(builder, image, self._request, options, self._run_id)
        self._builder = builder

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`."""
        return self._inputs.fingerprint()

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`."""
        return self._inputs.recipe(candidate, self._platform)

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        """See `Environment.build`."""
        builder = self._checked()
        self._inputs.require_unchanged()
        probe = f"{self._run_id}.{directory.name}"
        tag = image_tag(self._run_id, recipe.input_hash)
        full = recipe.input_hash in self._forgotten
        shared = None if full else self._shared_images(builder, recipe, directory, log, cancel, probe)
        steps = self._inputs.steps(recipe.candidate, directory, shared)
        self._build_in_turn(builder, steps, recipe, tag, log, cancel, probe)
        with engine() as client:
            image = str(client.images.get(tag).id)
            identity = content_identity(client, image)
        listed = installed(
            builder.program,
            image,
            self._python,
            directory / "installed.log",
            run_id=self._run_id,
            probe=probe,
            environment=cli_environment(),
        )
        return Build(recipe.input_hash, image, identity, listed)

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`; cache mounts are kept, as the Dockerfile asks for them."""
        self._forgotten.add(recipe.input_hash)

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
        program = self._checked().program
        words = [program, "run", "--rm", "-it", *options, *request.docker_args, "--entrypoint=sh", build.location]
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

    def _checked(self) -> Builder:
        with self._checking:
            if self._builder is None:
                self.check()
            assert self._builder is not None
            return self._builder

    def _build_in_turn(
        self,
        builder: Builder,
        steps: Sequence[BuildStep],
        recipe: Recipe,
        tag: str,
        log: Path,
        cancel: threading.Event,
        probe: str,
    ) -> None:
        """Build images that are each built on those before, and keep the last one alone, under this name."""
        below: dict[str, str] = {}
        try:
            for number, step in enumerate(steps):
                name = f"{tag}-base{number}" if step.argument else tag
                self._build_step(builder, step, recipe, below, name, log, cancel, probe)
                if step.argument:
                    below[step.argument] = name
        finally:
            for name in below.values():  # what they hold stays, in the image that is built on them
                self._untag(name)

    def _shared_images(
        self, builder: Builder, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event, probe: str
    ) -> Mapping[str, str]:
        """The images of stages that are built once for all candidates; the first build that needs them makes them."""
        if not self._request.reuse_stages:
            return {}
        with self._sharing:
            for stage, steps in self._inputs.shared_steps(directory).items() if self._shared is None else ():
                name = f"bisector/reused:{image_tag(self._run_id, stage).partition('/')[2].replace(':', '-')}"
                self._build_in_turn(builder, steps, recipe, name, log, cancel, probe)
                self._made_for_all[stage] = name
            self._shared = self._made_for_all
        return self._shared

    def remove_shared(self) -> None:
        """Remove what was built for all candidates."""
        for name in self._made_for_all.values():
            self._untag(name)

    def _build_step(
        self,
        builder: Builder,
        step: BuildStep,
        recipe: Recipe,
        below: Mapping[str, str],
        tag: str,
        log: Path,
        cancel: threading.Event,
        probe: str,
    ) -> None:
        """Build one image; `below` names those that it is built on, by ARG."""
        values = {**step.values, **below}
        options = build_options(self._request, values, target=step.target, run_id=self._run_id, tag=tag)
        if recipe.input_hash in self._forgotten and not self._request.reuse_stages:
            options.append("--no-cache")
        kills = memory_kills_here()
        ended = run_process(
            builder.command(options, step.dockerfile, step.context),
            environment=cli_environment(),
            directory=step.dockerfile.parent,
            log=log,
            marker=probe,
            timeout=self._build_timeout,
            cancel=cancel,
            redact=masking(self._credentials.values()),
        )
        if ended.exit_status != 0 or ended.timed_out or ended.cancelled:
            self._build_failed(ended, recipe.candidate, kernel_killed=self._here and memory_kills_here() > kills)

    def _options(self, probe: str) -> list[str]:
        return container_options(self._request, run_id=self._run_id, probe=probe, here=self._here)

    def _build_failed(self, ended: Ended, candidate: Candidate, *, kernel_killed: bool) -> None:
        if ended.cancelled:
            raise BuildFailedError("the build was cancelled", ended)
        if ended.timed_out:
            raise BuildFailedError(f"the build did not end within {ended.seconds:.0f} s", ended)
        if lacking := self._credentials.lacking():
            raise EnvironmentFailureError(
                f"what builds are handed went away: {lacking}; nothing is concluded from this build"
            )
        if reason := self._inputs.mistake(ended, candidate):
            raise UsageError(reason)
        if reason := failure_of_ours(ended, kernel_killed, self._inputs.pins):
            raise EnvironmentFailureError(f"{reason}; nothing is concluded from this build")
        with engine():  # one that went away between two words is no evidence either
            pass
        advice = index_time_advice(ended) if self._inputs.time else ""
        raise BuildFailedError(self._inputs.in_original_lines(last_words(ended), candidate) + advice, ended)

    def _run_command(
        self, build: Build, smoke: SmokeRun, cancel: threading.Event, archive: bytes, command: Sequence[str]
    ) -> Ended:
        builder = self._checked()
        if cancel.is_set():
            return Ended(None, cancelled=True)
        container = create(
            builder.program,
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
