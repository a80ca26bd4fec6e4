"""Images that are built elsewhere, as a node of a cluster sees them: fetched by digest from a registry, and run."""

import threading
from collections.abc import Sequence
from pathlib import Path

from bisector.environments.docker.passed_images import PassedImages
from bisector.model import Candidate, Recipe
from bisector.request import RunRequest


class GivenImages:
    """On a node: images that the driver has had built; see `bisector.environments.docker.passed_images.Source`."""

    notes: Sequence[str] = ()

    def __init__(self) -> None:
        self._references: dict[str, str] = {}

    def give(self, recipe: Recipe, reference: str) -> None:
        """Say which image is a recipe's, as NAME@DIGEST."""
        self._references[recipe.input_hash] = reference

    def check(self) -> None:
        """See `Source`; the builder is the driver's to ask."""

    def fingerprint(self) -> dict[str, str]:
        """See `Source`."""
        return {}

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Source`: the driver's."""
        raise NotImplementedError("a node resolves nothing that is built elsewhere")

    def image(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> str:
        """See `Source`."""
        del directory, log, cancel
        return self._references[recipe.input_hash]

    def forget(self, recipe: Recipe) -> None:
        """See `Source`."""
        self._references.pop(recipe.input_hash, None)


class FetchingImages(PassedImages):
    """On a node: runs the images that it is given."""

    def __init__(self, request: RunRequest, run_id: str) -> None:
        self._given = GivenImages()
        super().__init__(request.docker, self._given, run_id=run_id, timeout=request.build_timeout)

    def give(self, recipe: Recipe, reference: str) -> None:
        """Say which image is a recipe's, as NAME@DIGEST."""
        self._given.give(recipe, reference)
