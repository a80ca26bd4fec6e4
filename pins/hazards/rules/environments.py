"""Requirements that meet in one environment: pins that a later install undoes, bounds apart."""

from bisect import bisect_left
from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from pins.files.values import text_of
from pins.hazards.model import Finding
from pins.hazards.rules.asked import Asked, asked_in
from pins.hazards.subject import Subject


def pin_undone(subject: Subject) -> Iterator[Finding]:
    """A later install that brings another version than an earlier one pinned."""
    for earlier, later, how in undone(subject):
        line = subject.line(earlier.start)
        yield Finding(
            later.start,
            later.end,
            f"{later.text} {how} {earlier.text} of line {line}: what is built does not have what that line says",
            later.name,
            f"write the version in one place, or take away line {line}'s",
        )


def undone(subject: Subject) -> Iterator[tuple[Asked, Asked, str]]:
    """Pairs of installs of which the later undoes the earlier, once each."""
    if subject.reading is None:
        return
    seen: set[tuple[int, int]] = set()
    for stage in subject.reading.stages.stages:
        asked, removed = asked_in(subject, stage)
        removals = _Removals(removed)
        before: dict[str, list[Asked]] = {}
        in_this_call: list[Asked] = []
        for later in asked:
            if in_this_call and in_this_call[0].order != later.order:
                for one in in_this_call:
                    before.setdefault(one.name, []).append(one)
                in_this_call = []
            in_this_call.append(later)
            for earlier in reversed(before.get(later.name, ())):
                if (earlier.start, later.start) in seen or not (earlier.runs and later.certain):
                    break
                if earlier.excludes(later) or _program(earlier) != _program(later):
                    continue
                if removals.between(earlier, later):
                    break
                how = _how(earlier, later)
                if how:
                    seen.add((earlier.start, later.start))
                    yield earlier, later, how
                break


class _Removals:
    """What is uninstalled when: asked for by name, since a long file has many."""

    def __init__(self, removed: list[tuple[str, int]]) -> None:
        self._orders: dict[str, list[int]] = {}
        for name, order in removed:
            self._orders.setdefault(name, []).append(order)

    def between(self, earlier: Asked, later: Asked) -> bool:
        """Whether what both ask for is taken away between them."""
        orders = self._orders.get(later.name, [])
        at = bisect_left(orders, earlier.order)
        return at < len(orders) and orders[at] <= later.order


def _program(asked: Asked) -> str:
    first = text_of(asked.ran.command.words[0]) if asked.ran.command.words else ""
    return first.rpartition("/")[0]


def _how(earlier: Asked, later: Asked) -> str:
    if not earlier.capped:
        return ""
    version = later.exact
    if version is not None:
        return "" if earlier.specifier.contains(version, prereleases=True) else "replaces"
    pinned = earlier.exact
    if pinned is not None:
        if not later.specifier.contains(pinned, prereleases=True):
            return "does not admit"
        return "upgrades" if later.upgrades and not later.capped else ""
    if later.upgrades and not later.capped:
        return "upgrades beyond"
    lowest = [c.version for c in later.specifier if c.operator in {">=", ">", "~="}]
    if any(not earlier.specifier.contains(v, prereleases=True) for v in lowest):
        return "contradicts"
    return ""


_Kind = tuple[SpecifierSet, str, tuple[tuple[int, int], ...]]


def _kind(asked: Asked) -> _Kind:
    """What decides whether two requirements contradict each other: the first of a kind stands for all."""
    conditions = asked.ran.command.conditions
    return asked.specifier, _program(asked), tuple((c.choice, c.arm) for c in conditions)


def two_requirements(subject: Subject) -> Iterator[Finding]:
    """Two bounds on one distribution in one environment, in calls that do not know of each other."""
    if subject.reading is None:
        return
    told = {later.start for _, later, _ in undone(subject)}
    seen: set[int] = set()
    for stage in subject.reading.stages.stages:
        asked, removed = asked_in(subject, stage)
        removals = _Removals(removed)
        known: dict[str, dict[_Kind, Asked]] = {}
        for later in (a for a in asked if a.specifier and a.runs):
            kinds = known.setdefault(later.name, {})
            for kind in [kind for kind, earlier in kinds.items() if removals.between(earlier, later)]:
                del kinds[kind]
            earlier_ones = list(kinds.values())
            kinds.setdefault(_kind(later), later)
            if later.start in seen or later.start in told:
                continue
            for earlier in earlier_ones:
                if earlier.specifier == later.specifier or earlier.order == later.order:
                    continue
                if earlier.excludes(later) or _program(earlier) != _program(later) or earlier.start == later.start:
                    continue
                seen.add(later.start)
                line = subject.line(earlier.start)
                yield Finding(
                    later.start,
                    later.end,
                    f"{later.name} is bound twice in one environment: {earlier.text} on line {line}, {later.text} here;"
                    " each install looks at its own bound only",
                    later.name,
                    "write one bound, or give both calls the same constraints file",
                )
                break
