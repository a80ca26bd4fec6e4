"""Reading two neighbouring images once the search among images is over."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bisector.file_axes.request import Inventory
from bisector.image_axes.between import BetweenImages, Moved, difference, next_command, overlay
from bisector.journal import Journal
from bisector.model import Build, Candidate
from bisector.request import RunRequest
from bisector.serial import adapter
from pins.errors import EnvironmentFailureError, PinsError, UsageError

if TYPE_CHECKING:
    from pins.sources.package_index import PackageIndex

DECISION = "between"
"""The kind of the journal's entry."""
ROOM = "between"
"""The directory of a run in which the file for the next one lies."""


class HoldsImages(Protocol):
    """An environment whose candidates are images."""

    def inventory_of(self, build: Build) -> Inventory:
        """What an image holds that is there."""

    def reference_of(self, candidate: Mapping[str, str]) -> str:
        """How anyone can get the image of a candidate."""


def offer(
    request: RunRequest,
    environment: HoldsImages,
    journal: Journal,
    run_directory: Path,
    witnesses: tuple[tuple[Candidate, Build], tuple[Candidate, Build]],
    index: Callable[[], "PackageIndex"],
) -> None:
    """Write down what moved between the last good and the first bad image, and how to search among it.

    Args:
        request: of the run.
        environment: knows the images.
        journal: takes the result.
        run_directory: of the run.
        witnesses: the two candidates with their builds.
        index: opens the package index, as of the run.
    """
    try:
        good, bad = (environment.inventory_of(build) for _, build in witnesses)
    except EnvironmentFailureError as error:
        journal.decide(DECISION, BetweenImages("", "", said=f"what the two images hold could not be read: {error}"))
        return
    last_good, first_bad = (environment.reference_of(candidate) for candidate, _ in witnesses)
    distributions, recorded = difference(good, bad)
    distributions = _with_index(distributions, index, datetime.fromisoformat(journal.meta("exclude_newer")))
    found = BetweenImages(last_good, first_bad, distributions, recorded)
    if request.docker.dockerfile is not None:
        words = next_command(request.command_line, ("--good-image", last_good, "--bad-image", first_bad))
        found = replace(found, command=shlex.join(words) if request.command_line else "")
    elif found.searchable:
        room = run_directory / ROOM
        path = room / "Dockerfile"
        room.mkdir(exist_ok=True)
        path.write_text(overlay(first_bad, [moved.name for moved in found.searchable]), encoding="utf-8")
        pins = [word for moved in found.searchable for word in ("--pin", f"{moved.name}={moved.old}..{moved.new}")]
        words = next_command(request.command_line, ("--dockerfile", str(path), *pins))
        found = replace(found, dockerfile=str(path), command=shlex.join(words) if request.command_line else "")
    journal.decide(DECISION, found)


def _with_index(
    distributions: tuple[Moved, ...], index: Callable[[], "PackageIndex"], before: datetime
) -> tuple[Moved, ...]:
    """The distributions, with those that the index does not have in both versions marked so."""
    from pins.sources.releases import releases_between

    if not any(not moved.why_not for moved in distributions):
        return distributions
    checked = []
    with index() as source:
        for moved in distributions:
            why_not = moved.why_not
            if not why_not:
                try:
                    releases_between(source.releases(moved.name, before=before), moved.old, moved.new, name=moved.name)
                except UsageError:
                    why_not = "the index has not both versions"
                except PinsError:
                    why_not = "the index could not be asked"
            checked.append(replace(moved, why_not=why_not))
    return tuple(checked)


def read_offer(journal: Journal) -> BetweenImages | None:
    """What was written down, None for nothing."""
    bodies = [decision.body for decision in journal.decisions(DECISION)]
    return adapter(BetweenImages).validate_json(bodies[-1]) if bodies else None
