"""Docker engines of other machines, as hosts."""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from bisector.environments.base import Environment
from bisector.environments.docker.contexts import current_context
from bisector.environments.docker.engine import at_endpoint, engine, engine_variables
from bisector.executors.health import HealthyEnvironment, command_at
from pins.errors import EnvironmentFailureError, UsageError

LOCAL = "local"
"""The name of the machine whose engine the user's docker command talks to."""


class DockerHost:
    """A machine with a Docker engine; see `bisector.executors.host.Host`.

    Args:
        endpoint: its address ("ssh://user@node1", "tcp://node1:2376", "unix:///run/docker.sock"), or a docker context;
            "" for the engine that docker talks to.
        environment: builds and runs there, when it is asked inside of `at`.
    """

    def __init__(self, endpoint: str, environment: Environment) -> None:
        self._endpoint = endpoint
        self.environment = environment

    @property
    def name(self) -> str:
        """The endpoint."""
        return self._endpoint or LOCAL

    def at(self) -> AbstractContextManager[None]:
        """See `Host.at`."""
        return at_endpoint(self._endpoint)

    def why_gone(self) -> str:
        """See `Host.why_gone`."""
        try:
            with self.at(), engine():
                return ""
        except EnvironmentFailureError as error:
            return str(error)

    def facts(self) -> dict[str, str]:
        """See `Host.facts`: what the engine says of its machine."""
        with self.at(), engine() as client:
            told = client.info()
        labels = {
            "host": "Name",
            "system": "OperatingSystem",
            "kernel": "KernelVersion",
            "machine": "Architecture",
            "processors": "NCPU",
            "engine": "ServerVersion",
        }
        return {label: str(told[key]) for label, key in labels.items() if told.get(key)}


def docker_hosts(
    endpoints: Sequence[str], make: Callable[[], Environment], health: Sequence[str] = ()
) -> tuple[DockerHost, ...]:
    """The hosts at some endpoints.

    Args:
        endpoints: as `parse_endpoints` gives them; `LOCAL` for the engine that docker talks to.
        make: makes an environment; called once for each, with that engine in force.
        health: asks a machine whether it is well; () where nobody asks.

    Raises:
        UsageError: the machine of an endpoint cannot be asked.
    """
    hosts = []
    for named in endpoints:
        endpoint = "" if named == LOCAL else named
        with at_endpoint(endpoint):
            environment = make()
            if health:
                context = current_context(engine_variables())
                asked = command_at(context.host if context else endpoint, health) if endpoint else health
                environment = HealthyEnvironment(environment, asked)
            hosts.append(DockerHost(endpoint, environment))
    return tuple(hosts)


def parse_endpoints(text: str, option: str = "--hosts") -> tuple[str, ...]:
    """`--hosts URL,...` and the like: addresses of engines and names of docker contexts.

    Raises:
        UsageError: one is neither, holds a password, or is named twice.
    """
    found = tuple(part.strip() for part in text.split(","))
    for endpoint in found:
        if not re.fullmatch(r"(?:ssh|tcp|unix|npipe|http|https|fd)://\S+|[A-Za-z0-9][A-Za-z0-9_.+-]*", endpoint):
            raise UsageError(
                f"{option} {endpoint!r} is neither an engine's address, such as ssh://user@node1, nor the name of a"
                " docker context"
            )
        if re.search(r"://[^/@]*:[^/@]*@", endpoint):
            raise UsageError(f"{option}: an address holds a password; let ssh use a key, or name a docker context")
        if re.search(r"://(?:[^/]*@)?-", endpoint) or re.search(r"://-", endpoint):
            raise UsageError(f"{option} {endpoint!r}: neither a user nor a host begins with '-'")
        if found.count(endpoint) > 1:
            raise UsageError(f"{option} names {endpoint} twice")
    return found
