"""Images that are built elsewhere and run by nodes of a cluster, as the driver sees them (a node: `given_images`)."""

import threading
from collections.abc import Mapping
from pathlib import Path

from bisector.environments.base import Environment
from bisector.environments.docker.passed_images import Source
from bisector.executors.ray.cluster import Node
from bisector.executors.ray.head import Head
from bisector.executors.ray.hosts import NodeEnvironment, RayHost
from bisector.executors.ray.work import Setting
from bisector.model import Build, Candidate, Recipe


class FetchingNode(NodeEnvironment):
    """On the driver's side: has an image built by a source, and run by a node; see `Environment`.

    Args:
        local: the environment as it is made here; knows the axes.
        host: the node.
        resources: of one run of the script, by Ray's names.
        source: builds the images.
    """

    def __init__(self, local: Environment, host: RayHost, resources: Mapping[str, float], source: Source) -> None:
        super().__init__(local, host, resources)
        self._source = source

    def check(self) -> None:
        """See `Environment.check`: of the builder, and of the node."""
        self._source.check()
        super().check()
        self._notes = (*self._source.notes, *self._notes)

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`: what images are built of is the builder's affair."""
        return self._source.fingerprint()

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`."""
        return self._source.resolve(candidate)

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        """See `Environment.build`: built there, fetched by the node."""
        reference = self._source.image(recipe, directory, log, cancel)
        return self._built(recipe, directory, log, cancel, reference)

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""
        self._source.forget(recipe)


def fetching_host(
    node: Node, local: Environment, setting: Setting, resources: Mapping[str, float], head: Head, source: Source
) -> RayHost:
    """A node that runs what a source builds."""
    host = RayHost(node, local, setting, resources, head)
    host.environment = FetchingNode(local, host, resources, source)
    return host
