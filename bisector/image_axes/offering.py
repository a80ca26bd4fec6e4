"""Reading two neighbouring images once the search among images is over, and going on among what they hold."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bisector.events import Note, Reporter, silent
from bisector.file_axes.request import FilesRequest, Inventory
from bisector.image_axes.between import BetweenImages, Moved, difference, next_command, overlay
from bisector.journal import Journal
from bisector.model import Build, Candidate
from bisector.report.model import Result, Verdict
from bisector.request import PinRange, RunRequest
from bisector.results import load_result
from bisector.runs import JOURNAL, driving
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


def go_on(request: RunRequest, result: Result, *, reporter: Reporter = silent) -> Result:
    """Search among what moved between two images (`--descend`), and say so in the run's own record.

    With the Dockerfile that they were built from its pins are the axes, as the images hold them; without one, the
    distributions that can be put over the bad image.

    Raises:
        InterruptedRunError: Ctrl-C; the run inside can be resumed.
    """
    directory = Path(result.run_directory)
    journal = Journal(directory / JOURNAL, writable=False)
    try:
        between = read_offer(journal)
    finally:
        journal.close()
    if result.verdict is not Verdict.CULPRIT or between is None or not between.good:
        return result
    if request.docker.dockerfile is None and not between.searchable:
        return result
    from bisector.session import bisect

    inner = _within(request, between)
    where = f"in {inner.docker.dockerfile}" if inner.files else f"{len(inner.pins)} distributions"
    reporter(Note(f"going on inside: what moved between the two images, {where}"))
    try:
        found = bisect(inner, reporter=reporter)
    except PinsError as error:
        if error.exit_code in (130, 143):
            raise
        said = f"a search among what moved came to nothing: {error}"
        between = replace(between, said=said)
    else:
        between = replace(between, run=found.run_id, said=_told(found, overlaid=inner.files is None))
    with driving(directory):
        journal = Journal(directory / JOURNAL)
        try:
            journal.decide(DECISION, between)
        finally:
            journal.close()
    return load_result(directory)


def _within(request: RunRequest, between: BetweenImages) -> RunRequest:
    """The request for the run inside."""
    inner = replace(
        request,
        environment="docker",
        images=None,
        run_directory=None,
        command_line=tuple(shlex.split(between.command)),
    )
    if request.docker.dockerfile is not None:
        files = FilesRequest(file=request.docker.dockerfile, good_image=between.good, bad_image=between.bad)
        return replace(inner, pins=(), files=files)
    pins = tuple(PinRange(moved.name, moved.old, moved.new) for moved in between.searchable)
    return replace(inner, pins=pins, docker=replace(request.docker, dockerfile=Path(between.dockerfile)))


def _told(found: Result, *, overlaid: bool) -> str:
    what = "the distributions that moved" if overlaid else "the pins that moved"
    over = "put over the bad image (approximate)" if overlaid else "built from the Dockerfile"
    if found.verdict is Verdict.CULPRIT and found.culprit is not None:
        steps = ", ".join(f"{move.pin} {move.old} -> {move.new}" for move in found.culprit.moves)
        with_ = "".join(f", together with {pin} {value}" for pin, value in found.culprit.partners)
        return f"among {what}, {over}, it is {steps}{with_}; run {found.run_id}"
    if found.verdict is Verdict.NO_BRACKET:
        return (
            f"{what} are not to blame, or not alone, or the file is not that of the images: {over}, the two ends do not"
            f" differ as the images do; run {found.run_id}"
        )
    return f"a search among {what}, {over}, gave no answer; run {found.run_id}"
