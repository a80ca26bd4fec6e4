"""Going on among what moved between two neighbouring images, once it is known (`offering`)."""

import shlex
from dataclasses import replace
from pathlib import Path

from bisector.events import Note, Reporter, silent
from bisector.file_axes.request import FilesRequest
from bisector.image_axes.between import BetweenImages
from bisector.image_axes.offering import DECISION, read_offer
from bisector.journal import Journal
from bisector.report.model import Result, Verdict
from bisector.request import PinRange, RunRequest
from bisector.results import load_result
from bisector.runs import JOURNAL, driving
from bisector.session import bisect
from pins.errors import PinsError


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
