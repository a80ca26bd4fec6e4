"""Candidates as Docker images: built from a Dockerfile whose ARGs take the pins, run as containers."""

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.base import BuildFailedError
from bisector.environments.docker.build import (
    build_options,
    check_build_options,
    failure_of_ours,
    image_tag,
    index_time_advice,
    last_words,
)
from bisector.environments.docker.candidate_inputs import BuildStep, CandidateInputs
from bisector.environments.docker.cli import Builder, cli_environment, trial
from bisector.environments.docker.containers import ContainerEnvironment
from bisector.environments.docker.credentials import masking, read_credentials, with_resolved
from bisector.environments.docker.engine import engine, memory_kills_here
from bisector.environments.docker.inputs import BuildInputs
from bisector.environments.docker.pins_inside import SettingsOf
from bisector.environments.docker.stamp import FRESH, freshened
from bisector.environments.docker.trial_container import try_container
from bisector.model import Build, Candidate, Ended, Recipe
from bisector.processes import run_process
from bisector.request import DockerRequest
from pins.errors import EnvironmentFailureError, UsageError

if TYPE_CHECKING:
    from bisector.file_axes.space import FileSpace
    from pins.sources.git.clone import Clone


class DockerEnvironment(ContainerEnvironment):
    """Builds an image per candidate and runs the smoke script in containers of it.

    Args:
        request: what the user asked for.
        pins: names of the axes.
        exclude_newer: package indexes are read as of this time (aware).
        run_id: labels all that is made.
        build_timeout: seconds that one build may take, None for no limit.
        files: makes the inputs of candidates whose files differ in more than build arguments.
        to_plan: nothing will be built: no engine is looked for.
        inside: what is set within the trees of a candidate's commits, without `files`; None where nothing is.

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
        inside: SettingsOf | None = None,
    ) -> None:
        if request.dockerfile is None:
            raise UsageError("the docker environment needs a Dockerfile: --dockerfile FILE")
        self._credentials = read_credentials(request.secrets, request.ssh, Path.cwd())
        resolved = with_resolved(request, self._credentials)
        super().__init__(resolved, run_id, to_plan=to_plan)
        if request.reuse_stages and files is None:
            raise UsageError(
                "--reuse-stage needs ends that are read from files: --dockerfile FILE --good REV --bad REV"
            )
        time = exclude_newer if request.index_time else None
        self._inputs: CandidateInputs = (
            BuildInputs(resolved, request.dockerfile, pins, time, bases=not to_plan, inside=inside)
            if files is None
            else files(resolved)
        )
        self.space: FileSpace | None = None
        self.clones: Mapping[str, Clone] = {}
        self._forgotten: dict[str, str] = {}
        self._build_timeout = build_timeout
        self._checking = threading.Lock()
        self._sharing = threading.Lock()
        self._shared: Mapping[str, str] | None = None
        self._made_for_all: dict[str, str] = {}
        self._builder: Builder | None = None

    def check(self) -> None:
        """See `Environment.check`."""
        self._inputs.check()
        if self._to_plan:
            return
        check_build_options(self._request.build_options)
        if lacking := self._credentials.lacking():
            raise UsageError(lacking)
        self._check_containers()
        with trial(
            self._run_id,
            syntax=self._inputs.syntax,
            options=self._request.build_options,
            variables=cli_environment(),
        ) as (builder, image):
            self.notes += try_container(builder.program, image, self._request, self._options_of_trial, self._run_id)
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
        return self._kept(recipe.input_hash, image, directory)

    def reusable_stages(self) -> dict[str, bool]:
        """The stages that `--reuse-stage` could take, with whether packages would be put over them."""
        return dict(self._inputs.reusable_stages())

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`; cache mounts are kept, as the Dockerfile asks for them."""
        self._forgotten[recipe.input_hash] = secrets.token_hex(8)

    @property
    def _program(self) -> str:
        return self._checked().program

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
        if recipe.input_hash in self._forgotten and not self._request.reuse_stages:
            _freshen(step.dockerfile)
            values[FRESH] = self._forgotten[recipe.input_hash]
        options = build_options(self._request, values, target=step.target, run_id=self._run_id, tag=tag)
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


def _freshen(copy: Path) -> None:
    """Have every command of a copy run again, whatever the builder's cache holds.

    Raises:
        EnvironmentFailureError: the copy cannot be written.
    """
    try:
        text = copy.read_bytes().decode("utf-8", "surrogateescape")
        copy.write_bytes(freshened(text).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise EnvironmentFailureError(f"cannot write to {copy}: {error.strerror}") from error
