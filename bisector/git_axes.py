"""Axes of git pins: the commits that lead from the good end to the bad one."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from bisector.model import Axis, AxisValue, short_text
from bisector.request import PinRange, RepositoryRequest, Suspect
from pins.errors import UsageError
from pins.model import PinKind
from pins.sources.git.address import parse_address
from pins.sources.git.clone import Clone, open_clone
from pins.sources.git.history import Commit, Way, brought, steps_that_change, way_between
from pins.sources.git.revisions import resolve_revision
from pins.sources.page_cache import cache_directory


def clone_of(repository: RepositoryRequest) -> Clone:
    """Our clone of a pin's repository.

    Raises:
        UsageError: there is no such repository.
        SourceError: it cannot be read.
    """
    return open_clone(parse_address(repository.location, Path.cwd()), cache_directory(os.environ))


def axis_value(commit: Commit) -> AxisValue:
    """A commit as the value of a pin."""
    return AxisValue(commit.id, commit.committed, commit.subject, commit.authored)


def git_axis(pin: PinRange, clone: Clone, *, may_go_back: bool = False) -> Axis:
    """The axis of a pin whose values are commits.

    First parents lead from end to end. Where the ends lie on different branches, the way goes back from the good end to
    the commit from which both come, and from there forward: the failure has come on the one side, or was mended on the
    other, and both are steps of it.

    Args:
        pin: the ends, as revisions.
        clone: the repository.
        may_go_back: whether the bad end may be older than the good one.

    Raises:
        UsageError: an end does not exist, or both are the same commit, unrelated, or in the wrong order.
        SourceError: the repository cannot be read.
    """
    good, bad = (resolve_revision(clone, end, name=pin.pin) for end in (pin.good, pin.bad))
    if good == bad:
        same = "" if pin.good == pin.bad else f": {short_text(good)}"
        raise UsageError(f"{pin.pin}: {pin.good} and {pin.bad} are the same commit{same}; there is nothing to search")
    way = way_between(clone, good, bad)
    if way.turn == len(way.commits) - 1 and not may_go_back:
        raise UsageError(
            f"{pin.pin}: the ends are in the wrong order: {pin.bad} is an ancestor of {pin.good}, and the good end goes"
            f" first. To look for the commit that mended something, give --pin {pin.pin}={pin.bad}..{pin.good} with"
            " --first-good"
        )
    counted = zip(way.commits, _brought_along(clone, way), strict=True)
    values = tuple(replace(axis_value(commit), commits=count) for commit, count in counted)
    return Axis(pin.pin, PinKind.GIT, values, way.turn, clone.link, clone.address.text)


def _brought_along(clone: Clone, way: Way) -> list[int]:
    """How many commits each step of a way brings or takes away, by the commit that it leads to; 1 for the first."""
    back = brought(clone, way.commits[way.turn :: -1]) if way.turn else []
    return [1, *back[::-1], *brought(clone, way.commits[way.turn :])]


def clones_of(axes: Sequence[Axis], known: Mapping[str, Clone]) -> dict[str, Clone]:
    """Our clones of the repositories of git axes, by pin; those that are `known` as they are."""
    return {
        axis.pin: known.get(axis.pin) or clone_of(RepositoryRequest(axis.pin, axis.repository))
        for axis in axes
        if axis.kind is PinKind.GIT and axis.repository
    }


def with_suspected_files(axes: tuple[Axis, ...], suspects: Sequence[Suspect]) -> tuple[Axis, ...]:
    """The axes, each commit with those of the suspected paths that the step to it changes.

    Raises:
        SourceError: a repository cannot be read.
    """
    patterns = {pin: [one.path for one in suspects if one.pin == pin and one.path] for pin in {s.pin for s in suspects}}
    marked = []
    for axis in axes:
        if axis.kind is PinKind.GIT and axis.repository and patterns.get(axis.pin):
            clone = clone_of(RepositoryRequest(axis.pin, axis.repository))
            steps = [(old.text, new.text) for old, new in pairwise(axis.values)]
            changing = {path: steps_that_change(clone, steps, path) for path in patterns[axis.pin]}
            values = tuple(
                replace(value, touches=tuple(path for path in changing if value.text in changing[path]))
                for value in axis.values
            )
            axis = replace(axis, values=values)  # noqa: PLW2901
        marked.append(axis)
    return tuple(marked)


def with_commits(pins: Sequence[tuple[str, str]], clones: Mapping[str, Clone]) -> tuple[tuple[str, str], ...]:
    """Pins with their values, revisions resolved to full hashes.

    Raises:
        UsageError: a revision does not exist.
        SourceError: a repository cannot be read.
    """
    return tuple(
        (pin, resolve_revision(clones[pin], value, name=pin) if pin in clones else value) for pin, value in pins
    )
