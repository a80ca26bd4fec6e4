"""From what was asked for to what can be searched: the axes, and the chain through them."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environment_making import read_index
from bisector.environments.base import BuildFailedError, Environment, InfeasibleError
from bisector.feasibility.known_bad import NOTHING_KNOWN, KnownBad
from bisector.model import Axis, AxisValue, Candidate
from bisector.request import RunRequest
from bisector.space import Chain, chain_through, ends, order_of_pins, without_infeasible
from pins.errors import NoSolutionError, UsageError
from pins.model import PinKind

if TYPE_CHECKING:
    from pins.sources.git.clone import Clone
    from pins.sources.index_configuration import IndexConfiguration
    from pins.sources.package_index import PackageIndex


MOST_SECONDS = 20.0
"""So long the candidates of a chain are asked for before a search; what is left is asked for when it is built."""


def with_settled_revisions(request: RunRequest) -> RunRequest:
    """The request with revisions as commits, and tags as digests, so that a resume finds what the start found.

    Raises:
        UsageError: there is no such revision, or tag.
        SourceError: a registry cannot be read.
    """
    if request.images is not None:
        from bisector.image_axes.settling import settled_images

        return replace(request, images=settled_images(request.images))
    request = _with_fixed_commits(request)
    if request.files is None and request.environment != "docker":
        return request
    from bisector.file_axes.preparation import settled

    return settled(request)


def _with_fixed_commits(request: RunRequest) -> RunRequest:
    """The request with pins that are held at a revision held at its commit."""
    git = {repository.pin: repository for repository in request.repositories}
    if request.files is not None or not any(pin in git for pin, _ in request.fixed):
        return request
    from bisector.git_axes import clone_of, with_commits

    clones = {pin: clone_of(git[pin]) for pin, _ in request.fixed if pin in git}
    return replace(request, fixed=with_commits(request.fixed, clones))


def pins_of(request: RunRequest) -> tuple[str, ...]:
    """The names of the pins that move."""
    return tuple(pin.pin for pin in request.pins)


def axes_of(
    request: RunRequest, environment: Environment, index: "IndexConfiguration", before: datetime
) -> tuple[Axis, ...]:
    """The axis of each `--pin`: the releases, or the commits, between its ends.

    Raises:
        UsageError: an unknown package, version or revision, ends that are equal or in the wrong order.
        SourceError: the index or a repository cannot be read.
    """
    from pins.sources.releases import releases_between

    if request.images is not None:
        from bisector.image_axes.settling import image_axis

        return (image_axis(request.images),)
    if (floats := getattr(environment, "floats", None)) is not None:
        return tuple(floats)
    if (space := getattr(environment, "space", None)) is not None and not request.pins:
        from bisector.file_axes.preparation import axes_from_files

        with _releases_of(environment, index) as source:
            axes_of_files, notes = axes_from_files(request, space, source, before)
        if isinstance(environment.notes, list):
            environment.notes.extend(notes)
        else:
            getattr(environment, "add_notes")(notes)  # noqa: B009 - one that stands around another
        return axes_of_files
    names = pins_of(request)
    if not names:
        raise UsageError("nothing to search: name a pin and its two ends")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--pin names {', '.join(twice)} twice; give each pin one range")
    axes = []
    clones: Mapping[str, Clone] = getattr(environment, "clones", {})
    with _releases_of(environment, index) as source:
        for pin in request.pins:
            if pin.pin in clones:
                from bisector.git_axes import git_axis

                axes.append(git_axis(pin, clones[pin.pin]))
                continue
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

    if request.images is not None:
        return candidate
    clones: Mapping[str, Clone] = getattr(environment, "clones", {})
    if clones:
        from bisector.git_axes import with_commits

        candidate = Candidate(with_commits(candidate.pins, clones))
    if request.environment == "command":
        return candidate
    with _releases_of(environment, index) as source:
        releases = {pin: source.releases(pin, before=before) for pin in candidate if pin not in clones}
    return Candidate(
        tuple(
            (pin, str(release_named(releases[pin], text, name=pin).version) if pin in releases else text)
            for pin, text in candidate.pins
        )
    )


def opened_index(request: RunRequest) -> "PackageIndex":
    """The package index of a run, whatever can be installed from it."""
    from pins.sources.package_index import PackageIndex
    from pins.sources.page_cache import PageCache, cache_directory

    index = read_index(request.index, os.environ, Path.cwd())
    return PackageIndex(index, None, cache=PageCache(cache_directory(os.environ)))


def _releases_of(environment: Environment, index: "IndexConfiguration") -> "PackageIndex":
    """The index, judged by what the interpreter of an environment can install."""
    from pins.sources.package_index import PackageIndex
    from pins.sources.page_cache import PageCache, cache_directory
    from pins.sources.target import target_of

    interpreter = environment.interpreter
    target = target_of(interpreter) if interpreter is not None else None
    index = getattr(environment, "index", index)  # with what requirement files add
    return PackageIndex(index, target, cache=PageCache(cache_directory(os.environ)))


def lay_chain(
    axes: tuple[Axis, ...],
    environment: Environment,
    reasons: dict[Candidate, str] | None = None,
    *,
    known: KnownBad = NOTHING_KNOWN,
    whole: bool | None = None,
) -> Chain:
    """The chain through the box, without candidates that cannot be: their moves join those of the next one.

    Where several pins move, the environment's resolver is asked which of them can go first, and where that is cheap,
    of every candidate. Elsewhere each is asked for when it is about to be built: the first build begins at once.

    Args:
        axes: the pins.
        environment: knows what can be resolved.
        reasons: takes the candidates that cannot be, with the reasons.
        known: what people know of versions.
        whole: whether every candidate is asked for; None: as the environment says.

    Raises:
        NoSolutionError: an end cannot be resolved.
    """
    reasons = {} if reasons is None else reasons

    def can_be(candidate: Candidate) -> bool:
        return feasible(environment, candidate, reasons)

    if len(axes) == 1:
        chain = chain_through(axes, [axes])
    else:
        for name, end in zip(("good", "bad"), ends(axes), strict=True):
            if not can_be(end):
                raise NoSolutionError(f"the pins of the {name} end exclude one another, {end}: {reasons[end]}")
        chain = chain_through(axes, order_of_pins(axes, can_be), can_be)
    for candidate in chain.candidates[1:-1]:
        if reason := known.why_not(candidate):
            reasons.setdefault(candidate, reason)
    asked = whole if whole is not None else len(axes) > 1 and getattr(environment, "is_foreseeing", False)
    if whole:
        for end in (chain.candidates[0], chain.candidates[-1]):
            can_be(end)  # said, and left where it is
    until = time.monotonic() + MOST_SECONDS

    def stays(candidate: Candidate) -> bool:
        return candidate not in reasons and (not asked or time.monotonic() > until or can_be(candidate))

    return without_infeasible(chain, stays)


def feasible(environment: Environment, candidate: Candidate, reasons: dict[Candidate, str]) -> bool:
    """Whether a candidate can be resolved; `reasons` takes the resolver's reason where not."""
    try:
        environment.resolve(candidate)
    except InfeasibleError as error:
        reasons[candidate] = str(error)
        return False
    except BuildFailedError:
        return True  # what a build shows is for the search
    return True
