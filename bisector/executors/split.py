"""Builder and smoke machine apart: images are built on one machine, and run on others."""

import shlex
from collections.abc import Callable

from bisector.environments.base import Environment
from bisector.environments.docker.engine import at_endpoint
from bisector.environments.docker.passed_images import BuildingCommand, BuildingEngine, PassedImages, Source
from bisector.executors.docker_hosts import LOCAL, docker_hosts, parse_endpoints
from bisector.executors.spread import SpreadEnvironment
from bisector.request import RunRequest
from pins.errors import UsageError

COMMAND = "command:"


def split_environment(request: RunRequest, make: Callable[[], Environment], run_id: str) -> SpreadEnvironment:
    """The environment of a run whose images are built at `request.build_on` and run at `request.run_on`.

    Args:
        request: what was asked for.
        make: makes the environment that builds; called with the builder's engine in force.
        run_id: labels all that is made.

    Raises:
        UsageError: the machine of an engine cannot be asked how it is.
    """
    source = builder_of(request, make, run_id)
    hosts = docker_hosts(
        request.run_on,
        lambda: PassedImages(request.docker, source, run_id=run_id, timeout=request.build_timeout),
        request.health,
    )
    return SpreadEnvironment(hosts, slots=-(-request.workers // len(hosts)), heartbeat=request.heartbeat)


def builder_of(request: RunRequest, make: Callable[[], Environment], run_id: str) -> Source:
    """What builds the images of a run, and puts them into the registry; the arguments are as above."""
    if request.build_on.startswith(COMMAND):
        words = tuple(shlex.split(request.build_on.removeprefix(COMMAND)))
        return BuildingCommand(words, run_id, request.build_timeout)
    builder = "" if request.build_on == LOCAL else request.build_on
    with at_endpoint(builder):
        return BuildingEngine(make(), lambda: at_endpoint(builder), request.registry, run_id)


def parse_builder(text: str) -> str:
    """`--build-on`: `local`, one engine, or `command:CMD`.

    Raises:
        UsageError: none of them.
    """
    if text.startswith(COMMAND):
        try:
            words = shlex.split(text.removeprefix(COMMAND))
        except ValueError as error:
            raise UsageError(f"--build-on {text!r}: {error}; quote it as for a shell") from error
        if not words:
            raise UsageError("--build-on command: names no command; write, say, command:./build-in-ci")
        return text
    endpoints = parse_endpoints(text, "--build-on")
    if len(endpoints) > 1:
        raise UsageError("--build-on names one machine; its images go to as many as --run-on names")
    return endpoints[0]
