"""Pins of a Dockerfile that no ARG carries (`--pin NAME=GOOD..BAD --dockerfile FILE`): set where they are written."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from bisector.environments.docker.arguments import pin_arguments
from bisector.environments.docker.instructions import read_dockerfile
from bisector.file_axes.slots import Difference, Slot, settable, slot_of
from bisector.file_axes.space import FilePart, FileSpace
from bisector.file_axes.versions import Reading, of_files
from bisector.request import RunRequest
from pins.errors import UsageError
from pins.files.select import select
from pins.model import Pin

if TYPE_CHECKING:
    from bisector.environments.docker.environment import DockerEnvironment
    from bisector.environments.docker.pins_inside import SettingsOf


def environment_with_written_pins(
    request: RunRequest,
    pins: Sequence[str],
    time: datetime,
    run_id: str,
    *,
    to_plan: bool = False,
    inside: "SettingsOf | None" = None,
) -> "tuple[DockerEnvironment, FileSpace] | None":
    """An environment that sets pins in the file itself; None where ARGs carry all of them, or the file has one nowhere.

    With it comes what its candidates are made of.

    Args:
        request: what was asked for.
        pins: names of the axes.
        time: package indexes are read as of then.
        run_id: labels all that is made.
        to_plan: whether nothing will be built.
        inside: what is set within the trees of a candidate's commits.
    """
    docker = request.docker
    names = (*pins, *dict(request.fixed))
    if (
        docker.dockerfile is None
        or not docker.dockerfile.is_file()
        or any("{" in value for _, value in docker.build_args)
    ):
        return None
    data = docker.dockerfile.read_bytes()
    try:
        text = read_dockerfile(data.decode("utf-8", "surrogateescape"))
        pin_arguments(text, str(docker.dockerfile), names, docker.build_args, docker.commit_pins)
    except UsageError:
        found = _written(request, names)
        return (
            None
            if found is None
            else _environment(request, *found, names, time, run_id, to_plan=to_plan, inside=inside)
        )
    return None


def _written(request: RunRequest, names: Sequence[str]) -> tuple[FilePart, list[str]] | None:
    """The file with a slot for each pin, and what is to be said of them; None where one is not written there."""
    assert request.docker.dockerfile is not None
    reading = Reading(dict(request.docker.build_args), request.docker.target)
    history = of_files(request.docker.dockerfile, request.docker.dockerfile, reading)
    held = history.bad.pins
    slots: list[Slot] = []
    notes: list[str] = []
    for name in names:
        try:
            every = [pin for pin in select(held, name) if settable(pin, held)]
        except UsageError:
            return None
        chosen = [pin for pin in every if pin.ships] or every
        if not chosen:
            return None
        slots += [replace(slot_of(pin, held), name=name) for pin in chosen]
        notes.append(f"{name} is set where it is written: {', '.join(map(_place, chosen))}")
        if left := [pin for pin in every if pin not in chosen]:
            notes.append(f"{name} stays as it is where it does not ship: {', '.join(map(_place, left))}")
    return FilePart(history, Difference(()), (), tuple(slots)), notes


def _place(pin: Pin) -> str:
    return f"line {pin.line}" + (f" ({pin.stage})" if pin.stage else "")


def _environment(
    request: RunRequest,
    part: FilePart,
    notes: Sequence[str],
    names: Sequence[str],
    time: datetime,
    run_id: str,
    *,
    to_plan: bool,
    inside: "SettingsOf | None",
) -> "tuple[DockerEnvironment, FileSpace]":
    from bisector.environments.docker.environment import DockerEnvironment
    from bisector.environments.docker.file_inputs import FileInputs

    space = FileSpace((part,))
    index_time = time if request.docker.index_time else None
    environment = DockerEnvironment(
        request.docker,
        names,
        time,
        run_id=run_id,
        build_timeout=request.build_timeout,
        files=lambda docker: FileInputs(docker, space, names, index_time, bases=not to_plan, inside=inside),
        to_plan=to_plan,
    )
    environment.notes += notes
    return environment, space
