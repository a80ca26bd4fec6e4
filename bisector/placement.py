"""Where a run's environment lies: on this machine, on others' engines, or on the nodes of a cluster."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from bisector.environment_making import make_environment
from bisector.environments.base import Environment
from bisector.request import RunRequest

if TYPE_CHECKING:
    from pins.sources.index_configuration import IndexConfiguration


def place_environment(
    request: RunRequest,
    pins: tuple[str, ...],
    index: "IndexConfiguration",
    exclude_newer: datetime,
    run_id: str,
) -> Environment:
    """The environment that was asked for, on the machines that it is to be on.

    Args:
        request: what was asked for.
        pins: names of the axes; those of files are found in the files.
        index: the package index.
        exclude_newer: it is read as of then.
        run_id: labels all that is made.

    Raises:
        UsageError, SourceError: as `make_environment`; or a machine, or the cluster, is named that cannot be.
    """
    make = partial(make_environment, request, pins, index, exclude_newer, run_id)
    if request.hosts:
        from bisector.executors.docker_hosts import docker_hosts
        from bisector.executors.spread import SpreadEnvironment

        return SpreadEnvironment(
            docker_hosts(request.hosts, make, request.health),
            slots=-(-request.workers // len(request.hosts)),
            heartbeat=request.heartbeat,
        )
    if request.build_on and request.executor != "ray":
        from bisector.executors.split import split_environment

        return split_environment(request, make, run_id)
    if request.executor == "ray":
        from bisector.executors.ray.spreading import over_cluster

        if request.build_on:
            from bisector.environments.docker.passed_images import PassedImages
            from bisector.executors.split import builder_of

            source = builder_of(request, make, run_id)
            images = PassedImages(request.docker, source, run_id=run_id, timeout=request.build_timeout)
            return over_cluster(request, images, pins, index, exclude_newer, run_id, source)

        local = make(to_plan=request.environment == "docker")
        return over_cluster(request, local, pins, index, exclude_newer, run_id)
    environment = make()
    if request.health:
        from bisector.executors.health import HealthyEnvironment

        environment = HealthyEnvironment(environment, request.health)
    if not request.ask:
        return environment
    from bisector.environments.asking import AskingEnvironment

    asking: Environment = AskingEnvironment(environment, script=request.smoke.path.is_file())
    return asking
