"""Which builds are given up where they take more room than they may (`--disk`)."""

from collections.abc import Collection, Sequence

from bisector.model import Candidate
from bisector.record import Tried


def given_up(tried: Sequence[Tried], needed: Collection[Candidate], excess: int, sizes: Sequence[int]) -> list[Tried]:
    """The builds to remove, so that at least `excess` bytes are freed where that can be.

    The oldest go first, for the search is near the newest; then the last that passed and the last that failed, between
    which it is; and the ends (the first two that were chosen) last. What is removed can be built again, from the
    builder's cache.

    Args:
        tried: those that have a build, in the order in which they were chosen.
        needed: candidates that something runs on now.
        excess: bytes too many.
        sizes: of the builds, bytes that are each one's own.
    """
    ends, others = tried[:2], tried[2:]
    around = [_last(others, kind) for kind in ("pass", "fail")]
    near = [one for one in around if one is not None]
    order = [*(one for one in others if one not in near), *near, *ends]
    size = {one.entry.id: number for one, number in zip(tried, sizes, strict=True)}
    found: list[Tried] = []
    for one in order:
        if excess <= 0:
            break
        if one.candidate not in needed:
            found.append(one)
            excess -= size[one.entry.id]
    return found


def _last(tried: Sequence[Tried], kind: str) -> Tried | None:
    """The candidate chosen last whose latest run showed this."""
    return next((one for one in reversed(tried) if one.shown and one.shown[-1].observation.kind == kind), None)
