"""The ends of a window's runs, each with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pins.resolve.runs import exact_specifier, run_text, runs
from pins.resolve.sentences import Sentence
from pins.resolve.solver import Solver
from pins.resolve.why import explain, unknowns
from pins.resolve.windows import Window, Windows


class Side(StrEnum):
    """Which end of a run of versions."""

    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True)
class Bound:
    """An end of a run.

    Attributes:
        side: lower, or upper.
        version: the nearest version outside.
        because: why that is outside.
    """

    side: Side
    version: str
    because: tuple[Sentence, ...]


@dataclass(frozen=True)
class NotKnownVersion:
    """Versions of which cannot be told whether they are inside.

    Attributes:
        versions: labels, ascending.
        text: the same as runs.
        reason: what is not known.
    """

    versions: tuple[str, ...]
    text: str
    reason: str


@dataclass(frozen=True)
class PackageWindow:
    """A window as it is reported.

    Attributes:
        name: whose.
        kind: "package", or "git" where the versions are ranges of commits.
        current: what is pinned now, "" where nothing is.
        versions: inside, ascending.
        specifier: says exactly the window, where there is a short one; "" takes every version.
        text: runs of versions for a person.
        newest: the newest that is offered at all, "" without any.
        newest_inside: the newest in the window, "" where it is empty.
        bounds: the ends of its runs.
        unknown: what cannot be told.
        not_offered: why versions that exist were not asked about, as sentences.
        is_complete: whether everything that could bound it was counted; else the true window may be smaller.
        described: (label, what it is) of choices inside that say more of themselves: ranges of commits.
        notes: what a person should know of the requirements of some version, as sentences.
    """

    name: str
    kind: str
    current: str
    versions: tuple[str, ...]
    specifier: str | None
    text: str
    newest: str
    newest_inside: str
    bounds: tuple[Bound, ...]
    unknown: tuple[NotKnownVersion, ...]
    not_offered: tuple[str, ...]
    is_complete: bool = True
    described: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def package_windows(found: Windows) -> tuple[PackageWindow, ...]:
    """Every window with its bounds explained."""
    current = found.solver.universe.problem.current
    return tuple(_package_window(found.solver, window, current.get(window.name, "")) for window in found.windows)


def _package_window(solver: Solver, window: Window, current: str) -> PackageWindow:
    choices, asked, inside = window.choices, window.asked, window.inside
    labels = window.labels(inside)
    return PackageWindow(
        name=window.name,
        kind="git" if any(".." in choice.label for choice in choices) else "package",
        current=current,
        versions=labels,
        specifier=exact_specifier(choices, inside, asked & ~window.unknown) if inside else None,
        text=run_text(choices, inside, asked),
        newest=choices[asked.bit_length() - 2].label if asked else "",
        newest_inside=labels[-1] if labels else "",
        bounds=tuple(_bounds(solver, window)) if inside else (),
        unknown=_unknown(solver, window),
        not_offered=_not_offered(window),
        is_complete=not solver.universe.problem.not_counted,
        described=tuple(
            (choice.label, choice.detail) for i, choice in enumerate(choices) if inside & 2 << i and choice.detail
        ),
        notes=_notes(solver, window),
    )


def _notes(solver: Solver, window: Window) -> tuple[str, ...]:
    """What is remarkable in the requirements of versions inside, the same of several told once; newest first."""
    found: dict[str, list[str]] = {}
    for i in reversed(range(len(window.choices))):
        requires = solver.universe.requires(window.name, i) if window.inside & 2 << i else None
        if requires is not None and requires.note:
            found.setdefault(requires.note, []).append(window.choices[i].label)
    return tuple(f"{window.name} {', '.join(labels)}: {note}" for note, labels in found.items())


def _bounds(solver: Solver, window: Window) -> Sequence[Bound]:
    node = solver.universe.node(window.name)
    assert node is not None
    found = []
    outside = window.outside
    for first, last in runs(window.inside, window.asked):
        below = outside & ((2 << first) - 1)
        above = outside & ~((4 << last) - 1)
        if below and not window.inside & _between(below.bit_length() - 2, first):
            found.append(_bound(solver, node.variable, window, Side.LOWER, below.bit_length() - 2))
        if above:
            nearest = (above & -above).bit_length() - 2
            if not window.inside & _between(last, nearest):
                found.append(_bound(solver, node.variable, window, Side.UPPER, nearest))
    return found


def _between(low: int, high: int) -> int:
    """The mask of the choices strictly between two."""
    return ((2 << high) - 1) & ~((4 << low) - 1)


def _bound(solver: Solver, variable: int, window: Window, side: Side, choice: int) -> Bound:
    explanation = explain(solver, [(variable, 2 << choice)])
    return Bound(side, window.choices[choice].label, explanation.sentences)


def _unknown(solver: Solver, window: Window) -> tuple[NotKnownVersion, ...]:
    by_reason: dict[str, int] = {}
    for choice, model in sorted(window.guesses.items()):
        label = window.choices[choice].label
        reasons = unknowns(solver.universe, {**model.chosen, window.name: label})
        own = f"{window.name} {label}: "
        reason = next((text.removeprefix(own) for text in reasons if text.startswith(own)), reasons[0])
        by_reason[reason] = by_reason.get(reason, 0) | 2 << choice
    offered = window.asked
    return tuple(
        NotKnownVersion(window.labels(mask), run_text(window.choices, mask, offered, open_ended=False), reason)
        for reason, mask in by_reason.items()
    )


def _not_offered(window: Window) -> tuple[str, ...]:
    """Newer versions that were not asked about, and why: those are what a reader may look for."""
    by_reason: dict[str, int] = {}
    for i, choice in enumerate(window.choices):
        if window.asked >> (i + 1):
            continue
        if choice.unusable:
            reason = choice.unusable
        elif choice.yanked:
            reason = "yanked"
        else:
            reason = "a pre-release that nothing asks for"
        by_reason[reason] = by_reason.get(reason, 0) | 2 << i
    all_choices = ((1 << len(window.choices)) - 1) << 1
    return tuple(
        f"{run_text(window.choices, mask, all_choices, open_ended=False)}: {reason}"
        for reason, mask in by_reason.items()
    )
