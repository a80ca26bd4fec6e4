"""Where the hunks of a patch go in a file: pure.

A hunk with context goes where its lines stand, as `git apply` and `patch` have it: at the line it names, else at the
nearest place that has the same lines. Without context it goes where its line number says, and nothing can tell whether
that is the right place but what stood there when the patch was made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pins.hazards.hunks import Hunk

_MOST_FUZZ = 2
_NEIGHBOURS = 3
"""Lines on each side that must be the same for a place to be the one that a patch was made for."""


class Fit(StrEnum):
    """How a hunk fits, from good to bad."""

    EXACT = "exact"
    OFFSET = "offset"
    FUZZ = "fuzz"  # only with lines of context left out, which `patch` does and git does not
    APPLIED = "applied"  # what it makes is there already
    NOWHERE = "nowhere"


@dataclass(frozen=True)
class Placed:
    """A hunk in a file.

    Attributes:
        hunk: the hunk.
        fit: how it fits.
        line: where it goes, counted from 1, in the file as it is before the patch; 0 for nowhere.
        moved: by how many lines that differs from what it says.
        places: how many places have its lines.
    """

    hunk: Hunk
    fit: Fit
    line: int = 0
    moved: int = 0
    places: int = 1


def place_hunks(hunks: Sequence[Hunk], content: bytes) -> tuple[list[Placed], bytes]:
    """Place the hunks of one file, one after the other.

    Args:
        hunks: in the order of the patch.
        content: the file as it is before.

    Returns:
        Each hunk's place, and the file with those applied that fit.
    """
    lines = split(content)
    placed: list[Placed] = []
    grown = 0  # lines that the hunks before have added
    for hunk in hunks:
        found = place(hunk, lines, expected=hunk.old - 1 + grown if hunk.old else 0)
        if found.fit in (Fit.EXACT, Fit.OFFSET, Fit.FUZZ):
            start = found.line - 1
            before, after = _sides(hunk, 0)
            if found.fit is Fit.FUZZ:
                before, after = _fuzzy(hunk, lines, start)
            lines[start : start + len(before)] = after
            placed.append(Placed(hunk, found.fit, max(found.line - grown, 1), found.moved, found.places))
            grown += len(after) - len(before)
        else:
            placed.append(found)
    return placed, "\n".join(lines).encode()


def place(hunk: Hunk, lines: Sequence[str], expected: int) -> Placed:
    """Place one hunk.

    Args:
        hunk: the hunk.
        lines: of the file.
        expected: index of the line where it should begin.
    """
    before, after = _sides(hunk, 0)
    if hunk.old == 0:  # a file that it makes
        whole = list(lines)
        if not whole or whole == [""]:
            return Placed(hunk, Fit.EXACT, 1)
        return Placed(hunk, Fit.APPLIED if whole in (after, [*after, ""]) else Fit.NOWHERE)
    if not before:
        position = min(expected + 1, len(lines))  # behind the line that it names
        return Placed(hunk, Fit.EXACT if expected < len(lines) else Fit.NOWHERE, position + 1)
    for fuzz in range(_MOST_FUZZ + 1):
        shorter, _ = _sides(hunk, fuzz)
        cut = _cut(hunk, fuzz)[0]
        if not shorter or (fuzz and len(shorter) == len(before)):
            break
        places = _places(shorter, lines)
        if places:
            start = min((place - cut for place in places), key=lambda one: abs(one - expected))
            fit = Fit.FUZZ if fuzz else Fit.EXACT if start == expected else Fit.OFFSET
            if fuzz and after and _places(after, lines):
                return Placed(hunk, Fit.APPLIED)
            return Placed(hunk, fit, start + cut + 1, start - expected, len(places))
        if not fuzz and after and len(after) >= len(before) and _places(after, lines):
            return Placed(hunk, Fit.APPLIED)
    if after and _places(after, lines):
        return Placed(hunk, Fit.APPLIED)
    return Placed(hunk, Fit.NOWHERE)


def place_at_end(hunk: Hunk, content: bytes) -> Placed:
    """Place a hunk without context as git does that is not told of it: at the end of the file, or nowhere."""
    lines = split(content)
    count = len(lines) - (lines[-1:] == [""])
    before, _ = _sides(hunk, 0)
    if before and lines[count - len(before) : count] != before:
        return Placed(hunk, Fit.NOWHERE)
    return Placed(hunk, Fit.EXACT, count - len(before) + 1)


def as_it_was_made_for(hunk: Hunk, content: bytes, made_for: bytes) -> bool:
    """Whether a hunk without context lands, in a file, where it was meant to: between the lines that were there.

    Args:
        hunk: of an insertion, without context.
        content: the file that it is applied to.
        made_for: the file that it was made for.
    """
    here, there = split(content), split(made_for)
    if hunk.old > len(here):
        return False
    start, end = max(hunk.old - _NEIGHBOURS, 0), hunk.old + _NEIGHBOURS
    return [line.strip() for line in here[start:end]] == [line.strip() for line in there[start:end]]


def split(content: bytes) -> list[str]:
    """The lines of a file; a last line that is empty says that it ends with a line end."""
    return content.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")


def _sides(hunk: Hunk, fuzz: int) -> tuple[list[str], list[str]]:
    """The lines of a hunk before and after, with `fuzz` lines of context left out at each end."""
    start, end = _cut(hunk, fuzz)
    kept = hunk.lines[start : len(hunk.lines) - end]
    before = [line[1:] for line in kept if not line.startswith("+")]
    return before, [line[1:] for line in kept if not line.startswith("-")]


def _cut(hunk: Hunk, fuzz: int) -> tuple[int, int]:
    leading = next((i for i, line in enumerate(hunk.lines) if not line.startswith(" ")), len(hunk.lines))
    trailing = next((i for i, line in enumerate(reversed(hunk.lines)) if not line.startswith(" ")), len(hunk.lines))
    return min(fuzz, leading), min(fuzz, trailing)


def _fuzzy(hunk: Hunk, lines: Sequence[str], start: int) -> tuple[list[str], list[str]]:
    """The sides of a hunk with as little context left out as it takes to stand at a place."""
    for fuzz in range(1, _MOST_FUZZ + 1):
        before, after = _sides(hunk, fuzz)
        if list(lines[start : start + len(before)]) == before:
            return before, after
    return _sides(hunk, _MOST_FUZZ)


def _places(wanted: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Indices at which lines stand."""
    first, count = wanted[0], len(wanted)
    return [i for i in range(len(lines) - count + 1) if lines[i] == first and lines[i : i + count] == list(wanted)]
