"""A container in which there is nothing to run: the engine says what it thinks of the user's arguments.

Better before the first build, which may take an hour, than after it.
"""

import io
import tarfile
import threading
from collections.abc import Sequence
from pathlib import Path

from bisector.environments.docker.aftermath import words_of
from bisector.environments.docker.build import image_tag
from bisector.environments.docker.cli import check_marker, cli_environment, require_values
from bisector.environments.docker.container import Container, create, remove, run_container
from bisector.environments.docker.engine import RUN_LABEL, engine
from bisector.environments.docker.files import room_archive
from bisector.environments.docker.refusals import lacks_user, to_blame, users_options
from bisector.environments.docker.run import ROOM
from bisector.request import DockerRequest
from bisector.temporary import temporary_directory
from pins.errors import EnvironmentFailureError, UsageError

START_TIMEOUT = 60.0
"""Seconds in which a container with nothing in it must have started and ended."""


def try_container(
    program: str, image: str, request: DockerRequest, options: Sequence[str], run_id: str
) -> tuple[str, ...]:
    """Start such a container.

    Args:
        program: the docker command.
        image: an empty one.
        request: whose arguments are tried.
        options: of every container of the run, those of the user included.
        run_id: marks what is started.

    Returns:
        What the user should know, in sentences.

    Raises:
        UsageError: the engine refuses one of the user's arguments.
        EnvironmentFailureError: it cannot start containers at all.
    """
    with temporary_directory() as room:
        if typed := request.docker_args:
            require_values([program, "create"], "--docker-arg", typed, room, cli_environment(), run_id)
        container = create(
            program,
            options,
            image,
            ["/check"],
            environment=cli_environment(),
            marker=check_marker(run_id),
            typed=users_options(request),
        )
        try:
            return _start_empty(container, request, room / "log")
        finally:
            remove(container.id)


def empty_image(run_id: str) -> str:
    """Make an image without a file, with which the user's arguments are tried: its id."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w"):
        pass
    name = image_tag(run_id, check_marker(run_id).rpartition(".")[2])
    repository, _, tag = name.rpartition(":")
    with engine() as client:
        client.api.import_image_from_data(
            archive.getvalue(), repository=repository, tag=tag, changes=[f"LABEL {RUN_LABEL}={run_id}"]
        )
        return str(client.images.get(name).id)


def _start_empty(container: Container, request: DockerRequest, log: Path) -> tuple[str, ...]:
    try:
        run_container(
            container,
            room_archive(None),
            str(ROOM),
            log,
            START_TIMEOUT,
            threading.Event(),
            killed_here=lambda: False,
        )
    except EnvironmentFailureError as error:
        said = str(error)
        if user := lacks_user(said):  # an empty image knows no name, a candidate's may
            return (f"{user} is to be a user or group of each image; the first run tells whether it is",)
        if blamed := to_blame(request.docker_args, said):
            raise UsageError(f"{blamed}: the engine refuses it: {words_of(error)}") from error
        raise
    return ()
