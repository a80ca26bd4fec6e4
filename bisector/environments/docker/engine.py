"""The Docker engine: how it is found and talked to, and what its failures mean.

The SDK does what needs no BuildKit: it starts, watches and removes containers. Its errors that nobody expected are the
engine's or the machine's, never a candidate's: whoever talks to the engine does so within `engine()`.
"""

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.docker.contexts import client_arguments, current_context
from bisector.environments.docker.ssh import SCHEME, tunnel_to
from pins.errors import EnvironmentFailureError

if TYPE_CHECKING:
    import docker
    from docker.errors import APIError

RUN_LABEL = "bisector.run"
"""Label on every image, container and volume that is made: its value is the id of the run."""
PROBE_LABEL = "bisector.probe"
"""Label on every container: its value is the id of the probe."""

ANSWER_TIMEOUT = 60
"""Seconds in which the engine must answer."""


_ENDPOINT: ContextVar[str] = ContextVar("endpoint", default="")
"""Of the engine that this thread talks to, "" for the one that the user's docker command talks to."""


@contextlib.contextmanager
def at_endpoint(endpoint: str) -> Iterator[None]:
    """Within it, this thread talks to another engine.

    Args:
        endpoint: its address, or the name of a docker context.
    """
    token = _ENDPOINT.set(endpoint)
    try:
        yield
    finally:
        _ENDPOINT.reset(token)


def engine_variables() -> dict[str, str]:
    """The environment of whatever is to talk to the engine: the caller's, with the endpoint that is in force."""
    endpoint = _ENDPOINT.get()
    if not endpoint:
        return dict(os.environ)
    kept = {name: value for name, value in os.environ.items() if name not in {"DOCKER_HOST", "DOCKER_CONTEXT"}}
    return kept | {"DOCKER_HOST" if "://" in endpoint else "DOCKER_CONTEXT": endpoint}


def engine_address() -> str:
    """Where the engine is looked for, in words for a message."""
    variables = engine_variables()
    if host := variables.get("DOCKER_HOST"):
        return host if _ENDPOINT.get() else f"{host} (from DOCKER_HOST)"
    context = current_context(variables)
    return f"{context.host} (docker context {context.name!r})" if context else "its usual socket"


def on_this_machine(client: "docker.DockerClient") -> bool:
    """Whether the engine's containers run under this machine's kernel: not elsewhere, nor in a virtual machine here."""
    facts = client.info()
    return (
        str(client.api.base_url).startswith("http+docker://localhost")
        and facts.get("KernelVersion") == os.uname().release
        and facts.get("Name") == os.uname().nodename
    )


@contextlib.contextmanager
def engine() -> Iterator["docker.DockerClient"]:
    """A client of the engine that DOCKER_HOST or the current docker context names, for the time of one task.

    Raises:
        EnvironmentFailureError: the engine is not there, refuses us, goes away meanwhile, or fails.
    """
    import docker
    import requests
    import urllib3
    from docker.errors import APIError, DockerException

    variables = engine_variables()
    named = current_context(variables)
    address = variables.get("DOCKER_HOST") or (named.host if named else "")
    common = {"timeout": ANSWER_TIMEOUT, "version": "auto"}
    try:
        if address.startswith(f"{SCHEME}://"):
            client = docker.DockerClient(base_url=tunnel_to(address).url, **common)
        elif context := client_arguments(named):
            client = docker.DockerClient(**context, **common)
        else:
            client = docker.from_env(environment=variables, **common)
        client.ping()
    except (DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        raise EnvironmentFailureError(_unreachable(error, address)) from error
    try:
        yield client
    except APIError as error:
        raise EnvironmentFailureError(f"the Docker engine failed: {explanation(error)}{_way_out(error)}") from error
    except (DockerException, requests.RequestException, urllib3.exceptions.HTTPError, ConnectionError) as error:
        raise EnvironmentFailureError(
            f"the Docker engine at {engine_address()} stopped answering ({_innermost(error)}); start it again"
        ) from error
    finally:
        client.close()


def explanation(error: "APIError") -> str:
    """The engine's own words."""
    return str(error.explanation or error.response or error).strip()


def _way_out(error: "APIError") -> str:
    text = explanation(error).lower()
    if "no space left on device" in text:
        return "; its disk is full: `docker system df` shows what fills it"
    if "docker-init" in text or "catatonit" in text:
        return "; it lacks its init program (docker-init): install tini or the engine's complete package"
    if "could not select device driver" in text:
        return "; it cannot hand on NVIDIA devices: install the NVIDIA container toolkit and restart the engine"
    return ""


def _innermost(error: BaseException) -> str:
    while True:
        inner = error.__cause__ or error.__context__
        if inner is None:
            return str(error) or type(error).__name__
        error = inner


def _unreachable(error: BaseException, named: str = "") -> str:
    address = engine_address()
    if named.startswith(f"{SCHEME}://"):
        said = tunnel_to(named).said() or _innermost(error)
        return (
            f"no Docker engine answers at {address}: {said}. `docker -H {named} version` asks the same: it must work"
            " without a question, for a password or a key of the host, and the machine needs a docker command"
        )
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None:
        chain.append(current)
        current = current.__cause__ or current.__context__
    text = " ".join(str(link) for link in chain)
    if any(isinstance(link, PermissionError) for link in chain) or "Permission denied" in text:
        return (
            f"no permission to talk to the Docker engine at {address}; add yourself to the group of its socket"
            " (`sudo usermod -aG docker $USER`, then log in again), or run a rootless engine"
        )
    if any(isinstance(link, FileNotFoundError) for link in chain) or "No such file or directory" in text:
        reason = "there is no such socket"
    elif any(isinstance(link, ConnectionRefusedError) for link in chain) or "Connection refused" in text:
        reason = "nothing listens there"
    else:
        reason = _innermost(error)
    return (
        f"no Docker engine answers at {address}: {reason}. Start it (`sudo systemctl start docker`), or name another"
        " with DOCKER_HOST or `docker context use`; `--env venv` needs no engine"
    )


def memory_kills_here() -> int:
    """How many processes this machine's kernel has killed for lack of memory since it started, containers' included."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
