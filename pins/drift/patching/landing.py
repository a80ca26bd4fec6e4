"""Since when the hunks of a patch that have no context land elsewhere than they were made for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pins.drift.model import Observations, WatchedFile
from pins.drift.patching.applied import AppliedPatch, Target
from pins.drift.patching.fit import as_it_was_made_for, split
from pins.drift.readings.history import Told
from pins.drift.readings.sources import SourceVersions, Version
from pins.hazards.hunks import Hunk, moved_by

_DOES = re.compile(rb"@@ |\+(?!\+\+ )|-(?!-- )")
"""How lines of a patch begin that say what it does."""


@dataclass(frozen=True)
class Landing:
    """Where the hunks without context of one file land.

    Attributes:
        wrong: those that land elsewhere than they were made for.
        since: the commit from which they do, None where that is not known.
        by: how that is known, for a person.
        made: when the patch was made, where they have landed so from its first day; None where they have not.
    """

    wrong: tuple[Hunk, ...] = ()
    since: Told | None = None
    by: str = ""
    made: datetime | None = None


async def landing_of(
    file: WatchedFile,
    patch: AppliedPatch,
    path: str,
    hunks: Sequence[Hunk],
    target: Target,
    observations: Observations,
) -> Landing:
    """Where the hunks without context of one file land, and since when they do.

    Args:
        file: that has the patch applied.
        patch: the patch.
        path: of the file in the tree.
        hunks: those without context.
        target: where the patch goes.
        observations: where to look.
    """
    every = [hunk for hunk in patch.hunks if patch.path(hunk) == path]
    versions, made_for = await observations.get(
        SourceVersions(target.address, target.revision, target.pin, path, next((h.blob for h in every if h.blob), ""))
    )
    if not versions:
        return Landing()
    if patch.three_way and any(
        version.blob.startswith(hunk.blob) for version in versions for hunk in every if hunk.blob
    ):
        return Landing()  # git has the file that it was made for, and merges
    if not patch.by_number:
        return Landing(tuple(h for h in hunks if not _ends(h, made_for)), by="where git puts what has no context")
    wrong = _wrong(hunks, every, versions[0].content, made_for)
    if not wrong:
        return Landing()
    made = await _made(file, patch, observations)
    by = "the file that the patch names as the one it was made for" if made_for is not None else "lines that it removes"
    if made is not None and versions[0].commit.date < made:
        return Landing(tuple(wrong), by=by, made=made)
    since: Version = versions[0]
    for version in versions:
        if (made is not None and version.commit.date < made) or not _wrong(hunks, every, version.content, made_for):
            break
        since = version
    return Landing(tuple(wrong), since.commit, by)


def _wrong(hunks: Sequence[Hunk], every: Sequence[Hunk], content: bytes, made_for: bytes | None) -> list[Hunk]:
    """The insertions that land elsewhere than they were made for.

    Where the file that they were made for is not at hand, the lines that other hunks remove tell: when those have
    moved, an insertion by number has not moved with them.
    """
    inserting = [hunk for hunk in hunks if not hunk.removed]
    if made_for is not None:
        return [hunk for hunk in inserting if not as_it_was_made_for(hunk, content, made_for)]
    moved = [by for hunk in every if hunk.removed and (by := moved_by(hunk, content)) is not None]
    return inserting if any(moved) else []


def _ends(hunk: Hunk, made_for: bytes | None) -> bool:
    """Whether a hunk was made for the end of a file, as far as that is known."""
    if made_for is None:
        return False
    lines = split(made_for)
    return hunk.old + max(len(hunk.removed) - 1, 0) >= len(lines) - (lines[-1:] == [""])


async def _made(file: WatchedFile, patch: AppliedPatch, observations: Observations) -> datetime | None:
    """When what the patch does was last changed, the names of its files apart; None where that is not known."""
    if file.line_dates is None or not patch.place:
        return None
    dates = await observations.get(replace(file.line_dates, path=patch.place))
    does = [number for number, line in enumerate((patch.data or b"").split(b"\n"), 1) if _DOES.match(line)]
    return max((dates[number] for number in does if number in dates), default=None)
