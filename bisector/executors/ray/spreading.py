"""A run over the nodes of a cluster that fit."""

from datetime import datetime
from typing import TYPE_CHECKING

from bisector.environments.base import Environment
from bisector.executors.ray.cluster import connect, disconnect, head_address, nodes_that_fit
from bisector.executors.ray.head import Head
from bisector.executors.ray.hosts import RayHost
from bisector.executors.ray.work import Setting
from bisector.executors.spread import SpreadEnvironment
from bisector.inputs import without_credentials
from bisector.request import RunRequest
from bisector.serial import to_json
from pins.errors import UsageError

if TYPE_CHECKING:
    from bisector.environments.docker.passed_images import Source
    from pins.sources.index_configuration import IndexConfiguration


class ClusterEnvironment(SpreadEnvironment):
    """Spreads candidates over nodes; Ray itself says when a node has room."""

    def __init__(self, hosts: tuple[RayHost, ...], *, slots: int, heartbeat: float) -> None:
        super().__init__(hosts, slots=slots, heartbeat=heartbeat)
        self._agents = hosts

    def close(self) -> None:
        """End the agents, and leave the cluster."""
        for host in self._agents:
            host.close(gone=host.name in self.aside)
        disconnect()


def over_cluster(
    request: RunRequest,
    local: Environment,
    pins: tuple[str, ...],
    index: "IndexConfiguration",
    exclude_newer: datetime,
    run_id: str,
    source: "Source | None" = None,
) -> ClusterEnvironment:
    """The environment of a run whose work is done on a cluster.

    Args:
        request: what was asked for.
        local: the environment as it is made here.
        pins: names of the axes.
        index: the package index as it is read here.
        exclude_newer: package indexes are read as of then (aware).
        run_id: marks all that is made.
        source: builds the images that nodes run; None where they build themselves.

    Raises:
        UsageError: the smoke script cannot be read, or an index is named with credentials: what nodes are told can
            be read in Ray's dashboard.
        EnvironmentFailureError: there is no such cluster, or no node that fits.
    """
    try:
        script = request.smoke.path.read_bytes()
    except OSError as error:
        raise UsageError(f"the smoke script {request.smoke.path} cannot be read: {error.strerror}") from error
    told = without_credentials(request, index)
    if told.index != request.index:
        raise UsageError(
            "--index-url, --extra-index-url: a password in an address would be told to every node, and Ray's"
            " dashboard shows it; leave it out here, and put it into each node's own configuration of pip or uv, or its"
            " netrc"
        )
    connect(request.ray_address)
    try:
        return _over_nodes(
            request,
            local,
            Setting(
                to_json(told),
                pins,
                exclude_newer.isoformat(),
                run_id,
                request.smoke.path.name,
                script,
                request.smoke.pass_environment,
            ),
            source,
        )
    except BaseException:
        disconnect()
        raise


def _over_nodes(
    request: RunRequest, local: Environment, setting: Setting, source: "Source | None"
) -> ClusterEnvironment:
    head = Head(head_address(), request.heartbeat)
    resources = dict(request.ray_resources)
    nodes = nodes_that_fit(resources, dict(request.ray_labels))
    if source is None:
        hosts = tuple(RayHost(node, local, setting, resources, head) for node in nodes)
    else:
        from bisector.executors.ray.passed import fetching_host

        hosts = tuple(fetching_host(node, local, setting, resources, head, source) for node in nodes)
    return ClusterEnvironment(hosts, slots=request.workers, heartbeat=request.heartbeat)
