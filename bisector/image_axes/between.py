"""What moved between two neighbouring images, of which the one is good and the other bad. Pure.

An image is a step of many pins. What both images hold, and what their builds wrote down, says which of them moved; the
distributions among them can be searched at once: they are put over the bad image in the good one's versions, without a
Dockerfile and without a build of the whole. What was compiled otherwise, or lies outside Python, stays as it is in the
bad image, so that the answer is approximate.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from bisector.file_axes.request import Inventory
from bisector.model import short_text

SHOWN = 12
"""Names that a sentence lists."""


@dataclass(frozen=True)
class Moved:
    """Something that two images hold otherwise ("" where the one has it not).

    Attributes:
        name: of a distribution, or as a build wrote it down.
        old: in the good image.
        new: in the bad one.
        why_not: why it cannot be searched, "" where it can.
    """

    name: str
    old: str
    new: str
    why_not: str = ""

    def __str__(self) -> str:
        return f"{self.name} {short_text(self.old) or 'absent'} -> {short_text(self.new) or 'absent'}"


@dataclass(frozen=True)
class BetweenImages:
    """The difference of two images.

    Attributes:
        good: reference of the last good image.
        bad: of the first bad one.
        distributions: Python distributions that moved.
        recorded: versions that moved of those that the builds wrote down, in labels or a file.
        dockerfile: a file that puts distributions over the bad image, "" where none can be searched, or where the user
            has named the file that the images are built from.
        command: the command that searches among what moved, "" where nothing can be searched.
        run: the run that did so, "" where none did.
        said: what came of it, in a sentence.
    """

    good: str
    bad: str
    distributions: tuple[Moved, ...] = ()
    recorded: tuple[Moved, ...] = ()
    dockerfile: str = ""
    command: str = ""
    run: str = ""
    said: str = ""

    @property
    def searchable(self) -> tuple[Moved, ...]:
        """The distributions that can be axes of a run."""
        return tuple(moved for moved in self.distributions if not moved.why_not)


def difference(good: Inventory, bad: Inventory) -> tuple[tuple[Moved, ...], tuple[Moved, ...]]:
    """The distributions and the recorded versions that differ between two inventories."""
    distributions = [
        Moved(moved.name, moved.old, moved.new, _why_no_axis(moved))
        for moved in _moved(dict(good.installed), dict(bad.installed))
    ]
    return tuple(distributions), tuple(_moved(dict(good.recorded), dict(bad.recorded)))


def _moved(good: Mapping[str, str], bad: Mapping[str, str]) -> list[Moved]:
    names = sorted(good.keys() | bad.keys())
    return [Moved(name, good.get(name, ""), bad.get(name, "")) for name in names if good.get(name) != bad.get(name)]


def _why_no_axis(moved: Moved) -> str:
    if not moved.old or not moved.new:
        return "one of the images has it not"
    try:
        old, new = Version(moved.old), Version(moved.new)
    except InvalidVersion:
        return "its version is none that an index could have"
    if old.local or new.local:
        return "it was built for the image"
    return "it went back to an older version" if new < old else ""


def overlay(base: str, names: Sequence[str]) -> str:
    """A Dockerfile that puts distributions over an image, each in a version that an ARG says."""
    lines = ["# Distributions of another version over a finished image.", f"FROM {base}"]
    for name in names:
        argument = argument_of(name)
        lines += [f"ARG {argument}", f'RUN python3 -m pip install --no-deps "{name}==${{{argument}}}"']
    return "\n".join(lines) + "\n"


def argument_of(name: str) -> str:
    """The ARG of such a file that takes the version of a distribution."""
    return f"{name.upper().replace('-', '_')}_VERSION"


def next_command(typed: Sequence[str], further: Sequence[str]) -> tuple[str, ...]:
    """The words that search within an image, from those that searched among images and what they need beside."""
    end = list(typed).index("--") if "--" in typed else len(typed)
    kept: list[str] = []
    words = iter(typed[:end])
    for word in words:
        option, equals, _ = word.partition("=")
        if option in _OF_IMAGES:
            if not equals:
                next(words, "")
        elif word != "--descend":
            kept.append(word)
    return (*kept, *further, *typed[end:])


_OF_IMAGES = frozenset({"--env", "--pin", "--good", "--bad", "--only", "--exclude"})


def sentences(between: BetweenImages) -> list[str]:
    """What a report says of the difference, and how to go on."""
    found = []
    if between.distributions:
        found.append(f"between the two images these distributions moved: {_listed(between.distributions)}")
    if between.recorded:
        found.append(f"of what their builds wrote down these moved: {_listed(between.recorded)}")
    if not found and between.good:
        return ["the two images hold the same distributions, as far as their Python tells"]
    if between.said:
        found.append(between.said)
    elif between.command and not between.dockerfile:
        found.append(f"to search among all pins of the Dockerfile: {between.command}; --descend does so")
        return found
    elif between.command:
        left = [moved for moved in between.distributions if moved.why_not]
        but = f" ({_listed(left)} left as in the bad image: {left[0].why_not})" if left else ""
        found.append(
            f"to search among these distributions, put over the bad image{but}: {between.command}; --descend does so"
        )
    if not between.good:
        return found
    found.append(
        "with the Dockerfile that they were built from, to search among all: bisector run --dockerfile FILE"
        f" --good-image {shlex.quote(between.good)} --bad-image {shlex.quote(between.bad)} --smoke SCRIPT"
    )
    return found


def _listed(moved: Sequence[Moved]) -> str:
    shown = ", ".join(str(each) for each in moved[:SHOWN])
    return shown + (f" and {len(moved) - SHOWN} more" if len(moved) > SHOWN else "")
