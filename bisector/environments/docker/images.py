"""Candidates that are images which exist already: they are fetched by digest, and nothing is built."""

import hashlib
import io
import json
import os
import re
import tarfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from bisector.environments.base import BuildFailedError
from bisector.environments.docker.build import image_tag
from bisector.environments.docker.cli import check_marker, cli_environment, docker_programs
from bisector.environments.docker.containers import ContainerEnvironment
from bisector.environments.docker.engine import RUN_LABEL, engine
from bisector.environments.docker.trial_container import try_container
from bisector.file_axes.request import Inventory
from bisector.image_axes.request import ImagesRequest, TaggedImage
from bisector.model import Build, Candidate, Ended, Recipe
from bisector.processes import run_process
from bisector.request import DockerRequest
from pins.errors import EnvironmentFailureError, UsageError

if TYPE_CHECKING:
    import docker

_GONE = re.compile(
    r"manifest unknown|manifest for .* not found|no matching manifest|not found: manifest", re.IGNORECASE
)
"""What the engine says of an image that is not there, or not for this platform."""
_DISK_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)


class ImageEnvironment(ContainerEnvironment):
    """Fetches an image per candidate and runs the smoke script in containers of it.

    What the engine held before stays as it was; what was fetched is removed again, and goes by a name of the run's
    own until then.

    Args:
        request: how containers are made.
        images: the tags with their digests.
        run_id: labels all that is made.
        build_timeout: seconds that fetching one image may take, None for no limit.
        to_plan: nothing will be fetched: no engine is looked for.
    """

    name = "image"

    def __init__(
        self,
        request: DockerRequest,
        images: ImagesRequest,
        *,
        run_id: str,
        build_timeout: float | None = None,
        to_plan: bool = False,
    ) -> None:
        super().__init__(request, run_id, to_plan=to_plan)
        self.images = images
        self._build_timeout = build_timeout
        self.notes += images.said

    @cached_property
    def _program(self) -> str:
        programs = docker_programs(os.environ.get("PATH", os.defpath))
        if not programs:
            raise EnvironmentFailureError("no docker command is on PATH, and images are fetched and run by it")
        return programs[0]

    def check(self) -> None:
        """See `Environment.check`."""
        if self._to_plan:
            return
        self._check_containers()
        with engine() as client:
            empty = _empty_image(client, self._run_id)
        try:
            self.notes += try_container(self._program, empty, self._request, self._options_of_trial, self._run_id)
        finally:
            self._untag(empty)

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`: the digests are recorded with the request."""
        return {}

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`: tags of one digest are one candidate."""
        image = self._image(candidate)
        decisive = json.dumps([self.images.repository, image.digest, self._platform])
        digest = hashlib.sha256(decisive.encode()).hexdigest()
        return Recipe(candidate, digest, instructions={"image": self._reference(image)})

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: Event) -> Build:
        """See `Environment.build`: the image is fetched where the engine has it not."""
        image = self._image(recipe.candidate)
        reference = self._reference(image)
        with engine() as client:
            identity = _held(client, reference)
        fetched = not identity
        if fetched:
            self._fetch(reference, image, directory, log, cancel)
        with engine() as client:
            identity = identity or _held(client, reference)
            if not identity:
                raise EnvironmentFailureError(f"{reference} was fetched, and the engine has it not; it was removed")
            name, _, tag = image_tag(self._run_id, recipe.input_hash).rpartition(":")
            client.api.tag(identity, name, tag)
        if fetched:
            self._untag(reference)  # it goes by the run's own name now, and with that
        return self._kept(recipe.input_hash, identity, directory)

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`: there is one build of an image, which is the image."""

    def inventory_of(self, build: Build) -> Inventory:
        """What an image holds that is there.

        Raises:
            EnvironmentFailureError: it is not there any more, or the engine does not answer.
        """
        from bisector.environments.docker.inventory import read_inventory

        try:
            found = read_inventory(build.location, self._run_id, listed=build.installed)
        except UsageError as error:
            raise EnvironmentFailureError(str(error)) from error
        return found

    def reference_of(self, candidate: Mapping[str, str]) -> str:
        """How anyone can get the image of a candidate: by digest, or by tag where the engine alone has it."""
        image = self._image(candidate)
        return f"{self.images.repository}:{image.tag}" if image.local else self._reference(image)

    def _image(self, candidate: Mapping[str, str]) -> TaggedImage:
        return self.images.named(candidate[self.images.repository])

    def _reference(self, image: TaggedImage) -> str:
        """How the engine knows an image: by its digest, which no one can move."""
        return image.digest if image.local else f"{self.images.repository}@{image.digest}"

    def _fetch(self, reference: str, image: TaggedImage, directory: Path, log: Path, cancel: Event) -> None:
        if image.local:
            raise EnvironmentFailureError(
                f"the engine had {self.images.repository}:{image.tag} ({reference}) when the run began, and has it no"
                " more; no registry has it"
            )
        directory.mkdir(parents=True, exist_ok=True)
        ended = run_process(
            [self._program, "pull", "--", reference],
            environment=cli_environment(),
            directory=directory,
            log=log,
            marker=f"{self._run_id}.{directory.name}",
            timeout=self._build_timeout,
            cancel=cancel,
        )
        if ended.exit_status != 0 or ended.timed_out or ended.cancelled:
            self._not_fetched(f"{self.images.repository}:{image.tag}", ended)

    def _not_fetched(self, name: str, ended: Ended) -> None:
        if ended.cancelled:
            raise BuildFailedError("fetching was cancelled", ended)
        said = " ".join((ended.errors or ended.output or ended.not_started).split())
        if ended.timed_out:
            raise BuildFailedError(f"{name} was not fetched within {ended.seconds:.0f} s", ended)
        if _GONE.search(said):
            raise BuildFailedError(f"{name} is gone, or not for this platform: {said}", ended)
        with engine():  # where it has gone, that is what is to be said
            pass
        full = "; the engine's disk is full: `docker system df` shows what fills it" if _DISK_FULL.search(said) else ""
        raise EnvironmentFailureError(
            f"{name} could not be fetched: {said or f'exit status {ended.exit_status}'}{full}; nothing is concluded"
            " from this"
        )


def _held(client: "docker.DockerClient", reference: str) -> str:
    """The engine's id of an image that it has, "" where it has none."""
    from docker.errors import ImageNotFound

    try:
        return str(client.images.get(reference).id)
    except ImageNotFound:
        return ""


def _empty_image(client: "docker.DockerClient", run_id: str) -> str:
    """An image without a file, by its id, with which the user's arguments are tried."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w"):
        pass
    name = image_tag(run_id, check_marker(run_id).rpartition(".")[2])
    repository, _, tag = name.rpartition(":")
    client.api.import_image_from_data(
        archive.getvalue(), repository=repository, tag=tag, changes=[f"LABEL {RUN_LABEL}={run_id}"]
    )
    return str(client.images.get(name).id)
