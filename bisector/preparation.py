"""From what was asked for to what can be searched: the environment, the axes, the chain."""

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.base import Environment
from bisector.environments.fixed_pins import FixedPins
from bisector.model import Axis, AxisValue, Candidate
from bisector.request import IndexRequest, RunRequest
from pins.errors import UsageError
from pins.model import PinKind

if TYPE_CHECKING:
    from pins.sources.index_configuration import IndexConfiguration
    from pins.sources.package_index import PackageIndex


def read_index(request: IndexRequest, variables: Mapping[str, str], directory: Path) -> "IndexConfiguration":
    """The package index that this run reads."""
    from pins.sources.index_configuration import read_index_configuration

    return read_index_configuration(
        request.index_url, request.extra_index_urls, environment=variables, directory=directory
    )


def make_environment(
    request: RunRequest, pins: tuple[str, ...], index: "IndexConfiguration", exclude_newer: datetime, run_id: str
) -> Environment:
    """The environment that was asked for, for candidates with these pins; `request.fixed` is added to each of them.

    Raises:
        UsageError: there is none of that name, or it lacks an option.
    """
    environment = _make(request, pins, index, exclude_newer, run_id)
    return FixedPins(environment, request.fixed) if request.fixed else environment


def _make(
    request: RunRequest, pins: tuple[str, ...], index: "IndexConfiguration", exclude_newer: datetime, run_id: str
) -> Environment:
    match request.environment:
        case "venv":
            from bisector.environments.venv.environment import VenvEnvironment
            from pins.sources.page_cache import cache_directory

            return VenvEnvironment(
                request.requirements,
                index,
                exclude_newer,
                cache_directory=cache_directory(os.environ),
                build_timeout=request.build_timeout,
                pins=pins,
                held=dict(request.fixed),
            )
        case "command":
            from bisector.environments.command import CommandEnvironment

            if not request.build_command:
                raise UsageError("--env command needs --build-command: the command that builds a candidate")
            return CommandEnvironment(
                request.build_command, python=request.requirements.python, build_timeout=request.build_timeout
            )
        case "docker":
            from bisector.environments.docker.environment import DockerEnvironment

            return DockerEnvironment(
                request.docker,
                (*pins, *dict(request.fixed)),
                exclude_newer,
                run_id=run_id,
                build_timeout=request.build_timeout,
            )
    raise UsageError(f"no environment is called {request.environment!r}; there are venv, docker and command")


def pins_of(request: RunRequest) -> tuple[str, ...]:
    """The names of the pins that move."""
    return tuple(pin.pin for pin in request.pins)


def axes_of(
    request: RunRequest, environment: Environment, index: "IndexConfiguration", before: datetime
) -> tuple[Axis, ...]:
    """The axis of each `--pin`: the releases between its ends.

    Raises:
        UsageError: an unknown package or version, ends that are equal or in the wrong order.
        SourceError: the index cannot be read.
    """
    from pins.sources.releases import releases_between

    names = pins_of(request)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--pin names {', '.join(twice)} twice; give each pin one range")
    axes = []
    with _releases_of(environment, index) as source:
        for pin in request.pins:
            found = releases_between(source.releases(pin.pin, before=before), pin.good, pin.bad, name=pin.pin)
            values = tuple(AxisValue(str(release.version), release.upload_time) for release in found)
            axes.append(Axis(pin.pin, PinKind.PACKAGE, values))
    return tuple(axes)


def existing(
    request: RunRequest,
    candidate: Candidate,
    environment: Environment,
    index: "IndexConfiguration",
    before: datetime,
) -> Candidate:
    """A candidate with its versions as the index writes them; a build command may take values that no index knows.

    Raises:
        UsageError: an unknown package or version, or one that cannot be installed here.
        SourceError: the index cannot be read.
    """
    from pins.sources.releases import release_named

    if request.environment == "command":
        return candidate
    with _releases_of(environment, index) as source:
        releases = {pin: source.releases(pin, before=before) for pin in candidate}
    return Candidate(
        tuple((pin, str(release_named(releases[pin], text, name=pin).version)) for pin, text in candidate.pins)
    )


def _releases_of(environment: Environment, index: "IndexConfiguration") -> "PackageIndex":
    """The index, judged by what the interpreter of an environment can install."""
    from pins.sources.package_index import PackageIndex
    from pins.sources.page_cache import PageCache, cache_directory
    from pins.sources.target import target_of

    interpreter: Path | None = getattr(environment, "interpreter", None)  # None where candidates bring their own
    target = target_of(interpreter) if interpreter is not None else None
    index = getattr(environment, "index", index)  # with what requirement files add
    return PackageIndex(index, target, cache=PageCache(cache_directory(os.environ)))


_SECRET = re.compile(r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|API_?KEY|ACCESS_KEY|PRIVATE_KEY)(?:$|_)")
_NO_SECRET = re.compile(r"\d*|true|false|yes|no|on|off", re.IGNORECASE)


def refuse_secrets(request: RunRequest) -> None:
    """Refuse values that look like credentials where they would be recorded: in the journal, reports, an image.

    Raises:
        UsageError: with the option that passes them on without recording them.
    """
    places = [
        ("--smoke-env", request.smoke.variables, "set it in your shell and name it with --pass-env {name}"),
        (
            "--build-arg",
            request.docker.build_args,
            "a build argument is kept in the image; use --secret id={name},env={name}",
        ),
    ]
    for option, pairs, cure in places:
        for name, value in pairs:
            if _SECRET.search(name.upper()) and not _NO_SECRET.fullmatch(value):
                raise UsageError(
                    f"{option} {name}=... looks like a credential, and would be recorded with the run: "
                    + cure.format(name=name)
                )


def without_credentials(request: RunRequest, index: "IndexConfiguration") -> RunRequest:
    """The request as it may be recorded."""
    return replace(
        request,
        index=IndexRequest(
            index.redact(request.index.index_url),
            tuple(index.redact(url) for url in request.index.extra_index_urls),
        ),
        command_line=tuple(index.redact(word) for word in request.command_line),
    )


def host_facts() -> dict[str, str]:
    """What of this machine may matter to an outcome."""
    return {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
        "processors": str(os.cpu_count() or ""),
    }
