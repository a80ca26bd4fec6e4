"""From the options that name machines to the part of a request that says where work is done."""

from dataclasses import replace
from typing import Any

from bisector.cli import arguments
from bisector.cli.options import RunOptions, key_of
from pins.errors import UsageError

RAY = "ray"
"""`--run-on ray`: the nodes of a cluster run what is built elsewhere."""

_SOONEST, _LATEST = 1.0, 600.0


def where_work_is_done(options: RunOptions, environment: str) -> dict[str, Any]:
    """The fields of a request that say where candidates are built and run.

    Args:
        options: as typed.
        environment: how candidates are built.

    Raises:
        UsageError: an option is wrong, or of no use together with another one.
    """
    if (options.run_on or "").strip() == RAY:
        _check_run_on_ray(options)
        options = replace(options, executor=RAY, run_on=None, build_on=options.build_on or "local")
    return {
        "hosts": _hosts(options, environment),
        **_executor(options),
        **_apart(options, environment),
        "health": _health(options),
        **_heartbeat(options),
        "workers": _workers(options),
    }


def _check_run_on_ray(options: RunOptions) -> None:
    if options.executor not in (None, RAY):
        raise UsageError(f"--executor {options.executor} beside --run-on ray, which is --executor ray; leave it out")


def _hosts(options: RunOptions, environment: str) -> tuple[str, ...]:
    if not options.hosts:
        return ()
    from bisector.executors.docker_hosts import parse_endpoints

    if environment not in {"docker", "image"}:
        raise UsageError(f"--hosts: engines build images, and this run has --env {environment}")
    if options.ask:
        raise UsageError("--hosts beside --ask: a person looks at candidates on one machine; leave one of them out")
    return parse_endpoints(options.hosts)


def _apart(options: RunOptions, environment: str) -> dict[str, Any]:
    """The fields of a request that have images built on one machine and run on another."""
    if not (options.build_on or options.run_on):
        if options.registry:
            raise UsageError("--registry: of use with --build-on and --run-on alone; leave it out")
        return {}
    from bisector.environments.docker.passed_images import parse_registry
    from bisector.executors.docker_hosts import parse_endpoints
    from bisector.executors.split import COMMAND, parse_builder

    if environment != "docker":
        raise UsageError(f"--build-on, --run-on: images alone are passed on, and this run has --env {environment}")
    on_ray = options.executor == RAY
    if on_ray and options.run_on:
        raise UsageError("--run-on beside --executor ray: Ray chooses the machine; leave it out, or say --run-on ray")
    other = next((name for name in ("hosts", "ask", "reuse_stage") if getattr(options, name)), "")
    if other:
        raise UsageError(f"--{key_of(other)} beside --build-on and --run-on; leave it out")
    builder = parse_builder(options.build_on or "local")
    by_command = builder.startswith(COMMAND)
    if by_command and (options.repo or options.dockerfile or options.bad_file):
        raise UsageError("--build-on command: the command alone builds, so that no Dockerfile and no --repo is of use")
    if not by_command and not options.registry:
        raise UsageError(
            "--build-on, --run-on: images pass through a registry; name a repository in yours, for example"
            " --registry registry.example.org/team/probes"
        )
    return {
        "build_on": builder,
        "run_on": () if on_ray else parse_endpoints(options.run_on or "local", "--run-on"),
        "registry": parse_registry(options.registry) if options.registry else "",
    }


def _health(options: RunOptions) -> tuple[str, ...]:
    if options.health is None:
        return ()
    from bisector.executors.health import parse_health

    return parse_health(options.health)


def _heartbeat(options: RunOptions) -> dict[str, float]:
    if options.heartbeat is None:
        return {}
    if not (options.hosts or options.build_on or options.run_on or options.executor == RAY):
        raise UsageError("--heartbeat: of use with other machines alone; leave it out")
    seconds = arguments.parse_duration(options.heartbeat, "--heartbeat")
    if not _SOONEST <= seconds <= _LATEST:
        raise UsageError(f"--heartbeat {options.heartbeat} must lie between {_SOONEST:g} and {_LATEST:g} seconds")
    return {"heartbeat": seconds}


def _executor(options: RunOptions) -> dict[str, Any]:
    """The fields of a request that say where work is done."""
    chosen = arguments.parse_choice(options.executor or "local", "--executor", ("local", "ray"))
    given = [name for name in ("ray_address", "ray_resource", "ray_label") if getattr(options, name)]
    if chosen == "local":
        if given:
            raise UsageError(f"--{key_of(given[0])}: of use with --executor ray alone")
        return {}
    if options.hosts or options.ask:
        other = "--hosts" if options.hosts else "--ask"
        raise UsageError(f"{other} beside --executor ray: Ray chooses the machine; leave one of them out")
    from bisector.executors.ray.address import parse_address
    from bisector.executors.ray.cluster import parse_labels, parse_resources

    address = parse_address(options.ray_address)
    resources = tuple(parse_resources(options.ray_resource).items())
    labels = parse_labels(options.ray_label)
    return {"executor": chosen, "ray_address": address, "ray_resources": resources, "ray_labels": labels}


def _workers(options: RunOptions) -> int:
    """As many as there are hosts, where nothing else is asked for."""
    hosts = max((named.count(",") + 1 for named in (options.hosts, options.run_on) if named), default=1)
    return arguments.parse_count(options.workers or str(hosts), "--workers", 2)
