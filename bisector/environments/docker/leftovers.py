"""What runs have left with the engine: containers outlive a client that is killed."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisector.environments.docker.build import OWN_NAMES, image_repository
from bisector.environments.docker.engine import PROBE_LABEL, RUN_LABEL, engine, explanation
from pins.errors import EnvironmentFailureError

if TYPE_CHECKING:
    import docker


@dataclass(frozen=True)
class Leftover:
    """One thing of a run's.

    Attributes:
        kind: "container", "volume" or "image".
        id: the engine's name for it.
        run: id of the run; of an image that was fetched, and so has no label of ours, the name that the run gave it.
        probe: id of the probe, "" where it has none.
        names: the names of an image.
    """

    kind: str
    id: str
    run: str
    probe: str = ""
    names: tuple[str, ...] = ()


def list_leftovers(runs: Collection[str] | None = None) -> tuple[Leftover, ...]:
    """What the engine holds of these runs (None: of any), in the order in which it can be removed.

    Raises:
        EnvironmentFailureError: the engine does not answer.
    """
    with engine() as client:
        named = None if runs is None else {*runs, *map(image_repository, runs)}
        return tuple(found for found in _held(client) if named is None or found.run in named)


def _held(client: "docker.DockerClient") -> Iterator[Leftover]:
    labelled = {"label": RUN_LABEL}
    for entry in client.api.containers(all=True, filters=labelled):
        labels = entry["Labels"]
        yield Leftover("container", entry["Id"], labels[RUN_LABEL], labels.get(PROBE_LABEL, ""))
    for entry in client.api.volumes(filters=labelled)["Volumes"] or ():
        yield Leftover("volume", entry["Name"], entry["Labels"][RUN_LABEL])
    for entry in client.api.images(filters=labelled):
        names = tuple(name for name in entry["RepoTags"] or () if name != "<none>:<none>")
        yield Leftover("image", entry["Id"], entry["Labels"][RUN_LABEL], names=names)
    for entry in client.api.images(name=f"{OWN_NAMES}*"):
        if RUN_LABEL not in (entry["Labels"] or {}):
            for name in entry["RepoTags"] or ():
                repository = name.rpartition(":")[0]
                if repository.startswith(OWN_NAMES):
                    yield Leftover("image", entry["Id"], repository, names=(name,))


def remove_leftovers(runs: Collection[str], *, images: bool = True, dry_run: bool = False) -> list[str]:
    """Remove what runs that nobody drives have left with the engine.

    Args:
        runs: their ids.
        images: also the images of their candidates, which `bisector resume` would use again.
        dry_run: only say what would be removed.

    Returns:
        What was removed, each in words.

    Raises:
        EnvironmentFailureError: the engine does not answer, or refuses.
    """
    from docker.errors import APIError

    removed = []
    for found in list_leftovers(runs):
        if found.kind == "image" and not images:
            continue
        if not dry_run:
            try:
                with engine() as client:
                    _remove(client, found)
            except EnvironmentFailureError as error:
                cause = error.__cause__
                if isinstance(cause, APIError) and cause.status_code == 404:
                    continue
                if isinstance(cause, APIError) and cause.status_code == 409 and found.kind == "image":
                    # Another image was built on it: it is the user's now.
                    removed.append(f"image {_shown(found)} was left, it is in use: {explanation(cause)}")
                    continue
                raise
        removed.append(f"{found.kind} {_shown(found)}")
    return removed


def strangers(known: Collection[str]) -> list[tuple[str, str]]:
    """What the engine holds of runs that are not among these: in words, with the run's id.

    Raises:
        EnvironmentFailureError: the engine does not answer.
    """
    named = {*known, *map(image_repository, known)}
    return [(f"{found.kind} {_shown(found)}", found.run) for found in list_leftovers() if found.run not in named]


def kept_images(runs: Collection[str]) -> list[str]:
    """The images of these runs, in words.

    Raises:
        EnvironmentFailureError: the engine does not answer.
    """
    return [f"image {_shown(found)}" for found in list_leftovers(runs) if found.kind == "image"]


def _remove(client: "docker.DockerClient", found: Leftover) -> None:
    if found.kind == "container":
        client.api.remove_container(found.id, v=True, force=True)
    elif found.kind == "volume":
        client.api.remove_volume(found.id)
    else:
        # By name where it has one: an image with names of other runs stays under those.
        for name in found.names or (found.id,):
            client.api.remove_image(name, force=True)


def _shown(found: Leftover) -> str:
    return ", ".join(found.names) or found.id.removeprefix("sha256:")[:12]
