"""Which docker command can build here.

The SDK cannot do BuildKit, so images are built by the command. Several may be on PATH, and one that answers `docker
version` may still lack the buildx component without which it cannot build at all. A real build of two lines tells, and
the image that it leaves tells whether the engine takes the arguments of `docker run`.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bisector.environments.docker.engine import RUN_LABEL, engine, engine_variables
from bisector.model import Ended
from bisector.processes import run_process
from bisector.temporary import temporary_directory
from pins.errors import EnvironmentFailureError, UsageError

TRIAL_TIMEOUT = 300.0
"""Seconds for a trial build; it may fetch the frontend that a `# syntax=` line names."""


@dataclass(frozen=True)
class Builder:
    """A docker command that can build with BuildKit.

    Attributes:
        program: its absolute path.
        words: what comes before the options of a build.
    """

    program: str
    words: tuple[str, ...]

    def command(self, options: Sequence[str], dockerfile: Path, context: Path) -> list[str]:
        """The command line of a build."""
        return [self.program, *self.words, "--progress=plain", *options, f"--file={dockerfile}", "--", str(context)]


def cli_environment() -> dict[str, str]:
    """The environment of the docker command: the caller's, with BuildKit asked for."""
    return {**engine_variables(), "DOCKER_BUILDKIT": "1", "DOCKER_CLI_HINTS": "false"}


def docker_programs(path: str) -> tuple[str, ...]:
    """Every docker command on PATH, each once."""
    found: dict[str, str] = {}
    for directory in path.split(os.pathsep):
        program = Path(directory or ".", "docker").absolute()
        if program.is_file() and os.access(program, os.X_OK):
            found.setdefault(str(program.resolve()), str(program))
    return tuple(found.values())


@contextmanager
def trial(
    run_id: str, *, syntax: str, options: Sequence[str], variables: Mapping[str, str]
) -> Iterator[tuple[Builder, str]]:
    """Find a command that can build here, and lend the empty image that it built to find out.

    Args:
        run_id: labels the image.
        syntax: the frontend that the Dockerfile's `# syntax=` line names, "" without one.
        options: further options of every build, as the user gave them.
        variables: environment of the commands.

    Raises:
        EnvironmentFailureError: none can build, or the frontend cannot be fetched.
        UsageError: the user's options are refused.
    """
    with temporary_directory() as room:
        builder, image = _find(room, run_id, variables)
        images = [image]
        try:
            if syntax:
                failure, image = _build(builder, room, run_id, variables, syntax=syntax)
                images.append(image)
                if failure:
                    raise EnvironmentFailureError(_syntax_failure(syntax, failure))
            if options:
                require_values(
                    [builder.program, *builder.words], "--docker-build-option", options, room, variables, run_id
                )
                failure, image = _build(builder, room, run_id, variables, options=options)
                images.append(image)
                if failure:
                    raise UsageError(
                        f"{shlex.join([builder.program, *builder.words, *options])}: refused: {_last_words(failure)}"
                    )
            yield builder, images[0]
        finally:
            _remove(images)


def require_values(
    command: Sequence[str], option: str, typed: Sequence[str], room: Path, variables: Mapping[str, str], run_id: str
) -> None:
    """Refuse options of which the last one lacks its value: it would take the next word of ours for it.

    Args:
        command: the docker command with its subcommand.
        option: what the user hands them on with, for the message.
        typed: the user's options.
        room: a directory for the command's log.
        variables: environment of the command.
        run_id: marks its process.

    Raises:
        UsageError: a value is lacking.
    """
    # With --help nothing is done, but the options are read.
    said = _ask([*command, "--help", *typed], room, variables, run_id)
    if said.exit_status != 0 and "needs an argument" in said.errors + said.output:
        raise UsageError(
            f"{option}={typed[-1]}: it lacks its value; write it in one word where it can be, {option}=--name=value,"
            f" or follow it with {option}=VALUE"
        )


def _find(room: Path, run_id: str, variables: Mapping[str, str]) -> tuple[Builder, str]:
    programs = docker_programs(variables.get("PATH", os.defpath))
    if not programs:
        raise EnvironmentFailureError(
            "no docker command is on PATH, and images are built by it; install Docker, or use --env venv"
        )
    tried = []
    for program in programs:
        has_buildx = _ask([program, "buildx", "version"], room, variables, run_id).exit_status == 0
        builder = Builder(program, ("buildx", "build", "--load") if has_buildx else ("build",))
        failure, image = _build(builder, room, run_id, variables)
        if not failure:
            return builder, image
        tried.append(f"\n  {program}: {_last_words(failure)}")
    with engine():  # where the engine itself has gone, its own message is the better one
        pass
    raise EnvironmentFailureError(
        f"no docker command here can build with BuildKit:{''.join(tried)}\nInstall the buildx plugin"
        " (package docker-buildx or docker-buildx-plugin), or put a docker command that has BuildKit built in on PATH"
    )


def check_marker(run_id: str) -> str:
    """What marks the processes and containers of `check`; `bisector.runs.CHECK` is the piece that this is."""
    return f"{run_id}.check"


def _ask(arguments: Sequence[str], room: Path, variables: Mapping[str, str], run_id: str) -> Ended:
    return run_process(
        arguments,
        environment=variables,
        directory=room,
        log=room / "log",
        marker=check_marker(run_id),
        timeout=TRIAL_TIMEOUT,
    )


def _build(
    builder: Builder,
    room: Path,
    run_id: str,
    variables: Mapping[str, str],
    *,
    syntax: str = "",
    options: Sequence[str] = (),
) -> tuple[Ended | None, str]:
    """Build two lines: how that failed (None: it did not), and the id of the image."""
    (room / "context").mkdir(exist_ok=True)
    dockerfile = room / "Dockerfile"
    head = f"# syntax={syntax}\n" if syntax else ""
    dockerfile.write_text(f'{head}FROM scratch\nLABEL bisector.trial="1"\n', encoding="utf-8")
    identity = room / "image"
    identity.unlink(missing_ok=True)
    arguments = builder.command(
        [*options, f"--label={RUN_LABEL}={run_id}", f"--iidfile={identity}"], dockerfile, room / "context"
    )
    ended = _ask(arguments, room, variables, run_id)
    image = identity.read_text().strip() if identity.is_file() else ""
    # A command too old for BuildKit builds without it; only BuildKit numbers its steps so.
    with_buildkit = re.search(r"^#\d+ ", ended.errors + ended.output, re.MULTILINE) is not None
    return (None if ended.exit_status == 0 and with_buildkit and image else ended), image


def _last_words(ended: Ended) -> str:
    if ended.not_started:
        return ended.not_started
    if ended.timed_out:
        return f"no end after {ended.seconds:.0f} s"
    lines = [line.strip() for line in (ended.errors or ended.output).splitlines() if line.strip()]
    said = [line for line in lines if re.match(r"(?i)(error\b|failed to)", line)] or lines[:1]
    return " ".join(said[-2:]) or f"exit status {ended.exit_status}, without a word"


def _syntax_failure(syntax: str, ended: Ended) -> str:
    return (
        f"the Dockerfile's line `# syntax={syntax}` names a frontend that cannot be fetched or used:"
        f" {_last_words(ended)}\nRemove that line if the file needs nothing newer than the engine's own frontend;"
        f" or load the image {syntax} into the engine (`docker pull` where the registry is reachable, `docker save`,"
        " `docker load` here); or name another source with --build-arg BUILDKIT_SYNTAX=IMAGE"
    )


def _remove(images: Sequence[str]) -> None:
    from docker.errors import APIError

    with engine() as client:
        for image in dict.fromkeys(filter(None, images)):
            try:
                client.api.remove_image(image, force=True)
            except APIError as error:
                if error.status_code not in {404, 409}:  # gone already, or lent to another run
                    raise
