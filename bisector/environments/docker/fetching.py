"""Images from a registry, by digest: fetched where they are to run, and put there by whoever has built them."""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from bisector.environments.base import BuildFailedError
from bisector.environments.docker.cli import cli_environment
from bisector.environments.docker.engine import engine
from bisector.model import Ended
from bisector.processes import run_process
from pins.errors import EnvironmentFailureError

GONE = re.compile(r"manifest unknown|manifest for .* not found|no matching manifest|not found: manifest", re.IGNORECASE)
"""What the engine says of an image that is not there, or not for this platform."""
_DISK_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_REFUSED = re.compile(r"unauthorized|authentication required|no basic auth credentials|denied", re.IGNORECASE)


def held(reference: str) -> str:
    """The engine's id of an image that it has, "" where it has none."""
    from docker.errors import ImageNotFound

    with engine() as client:
        try:
            return str(client.images.get(reference).id)
        except ImageNotFound:
            return ""


def fetch(
    program: str, reference: str, directory: Path, log: Path, marker: str, *, timeout: float | None, cancel: Event
) -> None:
    """Have the engine hold an image.

    Args:
        program: the docker command.
        reference: NAME@DIGEST.
        directory: where it is run; made where it is missing.
        log: takes what it prints.
        marker: marks its process.
        timeout: seconds that it may take.
        cancel: set where nobody needs it any more.

    Raises:
        BuildFailedError: the registry has it not, its time ran out, or it was cancelled.
        EnvironmentFailureError: anything else.
    """
    ended = _ask(program, ["pull", "--", reference], directory, log, marker, timeout, cancel)
    if ended.exit_status == 0 and not ended.timed_out and not ended.cancelled:
        return
    said = words_of(ended)
    if ended.timed_out:
        raise BuildFailedError(f"{reference} was not fetched within {ended.seconds:.0f} s", ended)
    if ended.cancelled or GONE.search(said):
        raise BuildFailedError("fetching was cancelled" if ended.cancelled else f"{reference} is gone: {said}", ended)
    raise _failed(f"{reference} could not be fetched", said, ended)


def push(
    program: str,
    image: str,
    name: str,
    directory: Path,
    log: Path,
    marker: str,
    *,
    timeout: float | None,
    cancel: Event,
) -> str:
    """Put an image that the engine holds into a registry, under a name with a tag; how anyone can get it, by digest.

    Raises:
        BuildFailedError: it was cancelled.
        EnvironmentFailureError: anything else.
    """
    repository, _, tag = name.rpartition(":")
    with engine() as client:
        client.api.tag(image, repository, tag)
    try:
        ended = _ask(program, ["push", "--", name], directory, log, marker, timeout, cancel)
        if ended.cancelled:
            raise BuildFailedError("handing the image on was cancelled", ended)
        if ended.exit_status != 0 or ended.timed_out:
            raise _failed(f"{name} could not be put into the registry", words_of(ended), ended)
        with engine() as client:
            digests: Sequence[str] = client.images.get(image).attrs.get("RepoDigests") or ()
    finally:
        from docker.errors import ImageNotFound

        with engine() as client, contextlib.suppress(ImageNotFound):
            client.api.remove_image(name)
    found = [digest for digest in digests if digest.rpartition("@")[0] == repository]
    if not found:
        raise EnvironmentFailureError(f"the engine does not say which digest {name} has in the registry")
    return found[-1]


def words_of(ended: Ended) -> str:
    """What the command said in the end, on one line."""
    return " ".join((ended.errors or ended.output or ended.not_started).split())[-600:]


def _ask(
    program: str, words: Sequence[str], directory: Path, log: Path, marker: str, timeout: float | None, cancel: Event
) -> Ended:
    directory.mkdir(parents=True, exist_ok=True)
    return run_process(
        [program, *words],
        environment=cli_environment(),
        directory=directory,
        log=log,
        marker=marker,
        timeout=timeout,
        cancel=cancel,
    )


def _failed(what: str, said: str, ended: Ended) -> EnvironmentFailureError:
    if ended.timed_out:
        return EnvironmentFailureError(f"{what} within {ended.seconds:.0f} s; nothing is concluded from this")
    with engine():  # where it has gone, that is what is to be said
        pass
    hint = ""
    if _DISK_FULL.search(said):
        hint = "; the engine's disk is full: `docker system df` shows what fills it"
    elif _REFUSED.search(said):
        hint = "; `docker login` on this machine renews the credentials, and `bisector resume` goes on"
    return EnvironmentFailureError(
        f"{what}: {said or f'exit status {ended.exit_status}'}{hint}; nothing is concluded from this"
    )
