"""Versions that are each inside their windows and exclude each other: a window says nothing of pairs."""

from dataclasses import dataclass

from pins.resolve.runs import run_text
from pins.resolve.windows import Window, Windows

_MOST_VALUES = 400


@dataclass(frozen=True)
class Exclusion:
    """One name's version that leaves only a part of another's window.

    Attributes:
        name, version: what is chosen; the newest for which this is so.
        other: whose window becomes smaller.
        left: what of it is left, as text.
        count: how many versions of `name` leave only a part.
    """

    name: str
    version: str
    other: str
    left: str
    count: int


def exclusions(found: Windows) -> tuple[Exclusion, ...]:
    """For each pair of windows of which not every combination fits, the newest version that shows it.

    Found by propagation alone: what is reported does exclude; a combination that only a search would rule out is not
    found here, but by `--given`.
    """
    reported: dict[frozenset[str], Exclusion] = {}
    windows = [window for window in found.windows if window.inside.bit_count() > 1]
    for window in windows:
        others = [other for other in windows if other is not window]
        for (name, other), (version, left, count) in _narrowed(found, window, others).items():
            key = frozenset((name, other))
            known = reported.get(key)
            if known is None or known.count < count:
                reported[key] = Exclusion(name, version, other, left, count)
    return tuple(reported.values())


def _narrowed(found: Windows, window: Window, others: list[Window]) -> dict[tuple[str, str], tuple[str, str, int]]:
    """(name, other) -> (newest version that leaves only a part of the other, that part, how many do)."""
    universe = found.solver.universe
    node = universe.node(window.name)
    assert node is not None
    asking = 0
    for edge in universe.search.edges_from(node.variable):
        for values, _ in edge.rows:
            asking |= values
    narrowed: dict[tuple[str, str], tuple[str, str, int]] = {}
    tried = 0
    for i in reversed(range(window.inside.bit_length() - 1)):
        if not window.inside & asking & 2 << i or tried >= _MOST_VALUES:
            continue
        tried += 1
        domains = universe.search.consequences([(node.variable, 2 << i)])
        if domains is None:
            continue
        for other in others:
            theirs = universe.node(other.name)
            assert theirs is not None
            left = other.inside & domains[theirs.variable]
            if left == other.inside:
                continue
            key = (window.name, other.name)
            version, text, count = narrowed.get(
                key, (window.choices[i].label, run_text(other.choices, left, other.asked, open_ended=False), 0)
            )
            narrowed[key] = (version, text, count + 1)
    return narrowed
