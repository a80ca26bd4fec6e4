"""What a built image holds: its distributions, the versions that its build has written down, and when it was made."""

import contextlib
import os
import re
import tarfile
import tempfile
from collections.abc import Iterable
from datetime import datetime
from io import BytesIO
from pathlib import Path

from bisector.environments.docker.cli import cli_environment, docker_programs
from bisector.environments.docker.engine import engine
from bisector.environments.docker.installed import PYTHONS, installed
from bisector.file_axes.request import Inventory
from bisector.processes import run_process
from pins.errors import EnvironmentFailureError, UsageError

RECORDS = ("/app/versions.txt", "/versions.txt", "/etc/versions.txt")
"""Files in which builds write down what they took, as `NAME: VALUE` or `NAME=VALUE`."""
LARGEST = 1024 * 1024
_RECORDED = re.compile(r"\s*([A-Za-z_]\w*)\s*[:=]\s*(\S+)\s*")


def read_inventory(reference: str, run_id: str, listed: tuple[tuple[str, str], ...] = ()) -> Inventory:
    """The inventory of an image. One that the engine lacks is fetched, and removed again.

    Args:
        reference: its name, tag, digest or id.
        run_id: labels the container that lists what is installed.
        listed: its distributions, where they are known.

    Raises:
        UsageError: the engine has no such image, and it cannot be fetched.
        EnvironmentFailureError: the engine does not answer.
    """
    from docker.errors import APIError, ImageNotFound

    with engine() as client:
        fetched = False
        try:
            image = client.images.get(reference)
        except ImageNotFound:
            _fetch(reference, run_id)
            fetched = True
            image = client.images.get(reference)
        identity, labels = str(image.id), dict(image.labels or {})
        created = datetime.fromisoformat(re.sub(r"\.\d+", "", str(image.attrs["Created"])))
        recorded = dict(_records(client, identity))
    distributions = listed or _distributions(identity, run_id)
    if fetched:
        with engine() as client, contextlib.suppress(APIError):
            client.api.remove_image(reference)
    recorded |= {name.rsplit(".", 1)[-1]: value for name, value in labels.items() if value}
    return Inventory(identity, created, distributions, tuple(sorted(recorded.items())))


def _fetch(reference: str, run_id: str) -> None:
    with tempfile.TemporaryDirectory(prefix="bisector-inventory-") as directory:
        ended = run_process(
            [_program(), "pull", "--quiet", "--", reference],
            environment=cli_environment(),
            directory=Path(directory),
            log=Path(directory) / "log",
            marker=f"{run_id}.inventory",
        )
    if ended.exit_status != 0:
        said = " ".join((ended.errors or ended.output or ended.not_started).split())
        raise UsageError(
            f"the engine has no image {reference}, and it cannot be fetched: {said}."
            f" Does `docker pull {reference}` work?"
        )


def _program() -> str:
    programs = docker_programs(os.environ.get("PATH", os.defpath))
    if not programs:
        raise EnvironmentFailureError("no docker command is on PATH, and it lists what an image holds")
    return programs[0]


def _records(client: object, image: str) -> Iterable[tuple[str, str]]:
    """What the files of `RECORDS` say, read from a container that never starts."""
    from docker.errors import APIError

    container = client.api.create_container(image, ["/nothing"])["Id"]  # type: ignore[attr-defined]
    try:
        for path in RECORDS:
            try:
                chunks, facts = client.api.get_archive(container, path)  # type: ignore[attr-defined]
            except APIError:
                continue
            if facts.get("size", 0) > LARGEST:
                continue
            with tarfile.open(fileobj=BytesIO(b"".join(chunks))) as archive:
                for member in archive.getmembers():
                    file = archive.extractfile(member)
                    text = file.read().decode("utf-8", "replace") if file else ""
                    yield from (match.groups() for line in text.splitlines() if (match := _RECORDED.fullmatch(line)))  # type: ignore[misc]
    finally:
        client.api.remove_container(container, v=True, force=True)  # type: ignore[attr-defined]


def _distributions(image: str, run_id: str) -> tuple[tuple[str, str], ...]:
    program = _program()
    with tempfile.TemporaryDirectory(prefix="bisector-inventory-") as directory:
        for python in PYTHONS:
            found = installed(
                program,
                image,
                python,
                Path(directory) / "log",
                run_id=run_id,
                probe=f"{run_id}.inventory",
                environment=cli_environment(),
            )
            if found:
                return found
    return ()
