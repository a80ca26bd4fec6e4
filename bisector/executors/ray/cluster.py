"""The cluster: how it is reached or started, which nodes fit, and whether it is of our kind."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bisector.executors.ray.address import LOCAL, check_answers, check_joined
from bisector.executors.ray.head import RECONNECT_SECONDS
from pins.errors import EnvironmentFailureError, UsageError

NAMESPACE = "bisector"
SHUTDOWN_PATIENCE = 20.0
"""Seconds in which leaving a cluster must be done."""
_MOST = 1e15
"""More than any machine has, of bytes of memory too."""
_PARTS = 10_000
"""Ray's smallest part of a resource is one of so many."""


@dataclass(frozen=True)
class Node:
    """A node that is alive.

    Attributes:
        id: Ray's.
        name: its address, and with several nodes at one address a part of the id.
        resources: what it has in all.
        labels: of the node.
    """

    id: str
    name: str
    resources: Mapping[str, float]
    labels: Mapping[str, str]


def connect(address: str) -> None:
    """Join a cluster, or start one.

    Args:
        address: "auto", "local" or HOST:PORT.

    Raises:
        EnvironmentFailureError: Ray is not installed, nothing answers there, or it is of another version.
        UsageError: the address in the environment is none.
    """
    ray = _imported(address)
    if ray.is_initialized():
        return
    check_answers(address)
    check_joined(address)
    options: dict[str, Any] = {"namespace": NAMESPACE, "log_to_driver": False, "logging_level": "error"}
    if address == LOCAL:
        options["include_dashboard"] = False
    else:
        options["address"] = address
    try:
        with _variable("RAY_gcs_rpc_server_reconnect_timeout_s", str(RECONNECT_SECONDS), address):
            ray.init(**options)
    except Exception as error:  # Ray raises of all sorts here
        raise EnvironmentFailureError(_why_not(address, error)) from error


@contextlib.contextmanager
def _variable(name: str, value: str, address: str) -> Iterator[None]:
    """Set a variable that Ray reads, where the user has not, and no cluster is started that would read it, too."""
    ours = address != LOCAL and name not in os.environ
    if ours:
        os.environ[name] = value
    try:
        yield
    finally:
        if ours:
            del os.environ[name]


def _imported(address: str) -> Any:
    """Ray, told to try once where it would try twenty times to reach a head that does not answer."""
    try:
        with _variable("RAY_NUM_REDIS_GET_RETRIES", "1", address):  # read when Ray is imported
            import ray
    except ImportError as error:
        raise EnvironmentFailureError(
            "--executor ray needs Ray, which is not installed here: pip install 'bisector[ray]', with Ray in the"
            " version that the cluster has"
        ) from error
    return ray


def disconnect() -> None:
    """Leave the cluster; one that was started for the run ends."""
    import ray

    if ray.is_initialized():
        leaving = threading.Thread(target=ray.shutdown, daemon=True)  # without a head it may wait for ever
        leaving.start()
        leaving.join(SHUTDOWN_PATIENCE)


def head_address() -> str:
    """HOST:PORT of the head of the cluster that this process is part of."""
    import ray

    return str(ray.get_runtime_context().gcs_address)


def _why_not(address: str, error: Exception) -> str:
    import ray

    said = " ".join(str(error).split())[:400].rstrip(".")
    here = f"here is Ray {ray.__version__} on Python {sys.version.split()[0]}"
    if "version mismatch" in said.lower():
        return f"the Ray cluster at {address} is of another version: {said}; {here}: use the cluster's versions here"
    return (
        f"no Ray cluster answers at {address}: {said}; {here}. `ray status` shows whether one runs;"
        f" --ray-address {LOCAL} starts one for the run"
    )


def nodes_that_fit(wanted: Mapping[str, float], labels: Mapping[str, str]) -> tuple[Node, ...]:
    """The nodes that have all that one run needs.

    Args:
        wanted: resources by Ray's names: "CPU", "GPU", or one of the cluster's own.
        labels: what a node must be labelled with.

    Raises:
        EnvironmentFailureError: none has; the message says what there is.
    """
    nodes = alive()
    wanted = {"CPU": 1.0, **wanted}  # as `as_options` has it
    fitting = tuple(
        node
        for node in nodes
        if all(node.resources.get(name, 0.0) >= amount for name, amount in wanted.items())
        and all(node.labels.get(key) == value for key, value in labels.items())
    )
    if not fitting:
        asked = ", ".join(
            [
                *(f"{name} {amount:g}" for name, amount in wanted.items()),
                *(f"the label {key}={value}" for key, value in labels.items()),
            ]
        )
        there = "".join(f"\n  {node.name}: {_listed(node, labels)}" for node in nodes) or " no node at all"
        raise EnvironmentFailureError(f"no node of the Ray cluster has what a run needs ({asked}); there is:{there}")
    return fitting


def alive() -> tuple[Node, ...]:
    """The nodes that are alive now."""
    import ray

    listed: list[dict[str, Any]] = ray.nodes()
    found = [node for node in listed if node.get("Alive", node.get("alive"))]
    addresses = [str(node["NodeManagerAddress"]) for node in found]
    return tuple(
        Node(
            str(node["NodeID"]),
            address if addresses.count(address) == 1 else f"{address}/{str(node['NodeID'])[:8]}",
            {name: amount for name, amount in node.get("Resources", {}).items() if not name.startswith("node:")},
            node.get("Labels", {}) or {},
        )
        for node, address in zip(found, addresses, strict=True)
    )


def _listed(node: Node, labels: Mapping[str, str]) -> str:
    shown = {name: amount for name, amount in node.resources.items() if "memory" not in name}
    has = [f"{name} {amount:g}" for name, amount in sorted(shown.items())]
    has += [f"{key}={node.labels[key]}" for key in labels if key in node.labels]
    return ", ".join(has) or "nothing"


def parse_labels(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`--ray-label KEY=VALUE`.

    Raises:
        UsageError: one is of another form.
    """
    found = []
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals or not value:
            raise UsageError(f"--ray-label {text!r} must be KEY=VALUE, such as ray.io/accelerator-type=H100")
        found.append((key, value))
    return tuple(found)


def parse_resources(texts: Sequence[str]) -> dict[str, float]:
    """`--ray-resource NAME=AMOUNT` by Ray's names; `num_cpus` and `num_gpus` are understood as well.

    Raises:
        UsageError: one is of another form, names one twice, or is none that Ray takes.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, equals, amount = text.partition("=")
        name = {"num_cpus": "CPU", "num_gpus": "GPU"}.get(name, name)
        try:
            value = float(amount)
        except ValueError:
            value = -1.0
        if not name or not equals or not 0 <= value < _MOST:
            raise UsageError(f"--ray-resource {text!r} must be NAME=AMOUNT, such as GPU=1 or docker=1")
        if name in found:
            raise UsageError(f"--ray-resource names {name} twice")
        if name == "object_store_memory" or name.startswith("bundle"):
            raise UsageError(f"--ray-resource {text}: Ray keeps that name for itself; a task cannot ask for it")
        if name in {"GPU", "memory"} and value > 1 and not value.is_integer():
            raise UsageError(f"--ray-resource {text}: Ray gives a part of one, or whole ones")
        if abs(value * _PARTS - round(value * _PARTS)) > 1e-6:
            raise UsageError(f"--ray-resource {text}: Ray counts in parts of {1 / _PARTS:g}, and no finer")
        found[name] = value
    return found


def as_options(resources: Mapping[str, float]) -> dict[str, Any]:
    """Resources as Ray's options of a task; one processor where none is named."""
    own = {name: amount for name, amount in resources.items() if name not in {"CPU", "GPU", "memory"}}
    options: dict[str, Any] = {"num_cpus": resources.get("CPU", 1.0), "num_gpus": resources.get("GPU", 0.0)}
    options |= {"memory": resources["memory"]} if "memory" in resources else {}
    return {**options, "resources": own} if own else options


def as_resources(options: Mapping[str, Any]) -> dict[str, float]:
    """A task's options as the resources that they stand for, by Ray's names: the inverse of `as_options`."""
    names = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}
    return {**{names[key]: amount for key, amount in options.items() if key in names}, **options.get("resources", {})}
