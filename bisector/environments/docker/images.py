"""Candidates that are images which exist already: they are fetched by digest, and nothing is built."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from threading import Event

from bisector.environments.base import BuildFailedError
from bisector.environments.docker.build import image_tag
from bisector.environments.docker.cli import docker_programs
from bisector.environments.docker.containers import ContainerEnvironment
from bisector.environments.docker.engine import engine
from bisector.environments.docker.fetching import fetch, held
from bisector.environments.docker.trial_container import empty_image, try_container
from bisector.file_axes.request import Inventory
from bisector.image_axes.request import ImagesRequest, TaggedImage
from bisector.model import Build, Candidate, Recipe
from bisector.request import DockerRequest
from pins.errors import EnvironmentFailureError, UsageError

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
        empty = empty_image(self._run_id)
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
        identity = held(reference)
        fetched = not identity
        if fetched:
            self._fetch(reference, image, directory, log, cancel)
        with engine() as client:
            identity = identity or held(reference)
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
        marker = f"{self._run_id}.{directory.name}"
        try:
            fetch(self._program, reference, directory, log, marker, timeout=self._build_timeout, cancel=cancel)
        except BuildFailedError as error:
            raise BuildFailedError(f"{self.images.repository}:{image.tag}: {error}", error.ended) from error
