"""Windows as text: a specifier where one says exactly the same, else runs of versions."""

from collections.abc import Sequence

from packaging.specifiers import SpecifierSet

from pins.resolve.problem import Choice

_MOST_HOLES = 3
"""So many versions a specifier may leave out by name before runs are easier to read."""


def runs(mask: int, asked: int) -> list[tuple[int, int]]:
    """The runs of choices in `mask`, as (first, last): neighbours among those asked about belong together."""
    found: list[tuple[int, int]] = []
    previous_inside = False
    for i in range(max(mask, asked).bit_length() - 1):
        bit = 2 << i
        if not asked & bit:
            continue
        if mask & bit:
            found = [*found[:-1], (found[-1][0], i)] if previous_inside else [*found, (i, i)]
        previous_inside = bool(mask & bit)
    return found


def exact_specifier(choices: Sequence[Choice], mask: int, asked: int) -> str | None:
    """A specifier that takes exactly the choices in `mask` of those asked about; None where there is no short one.

    Above the newest there is no bound: what comes next is open. "" takes every version.
    """
    inside = [choice.version for i, choice in enumerate(choices) if mask & 2 << i]
    others = [choice.version for i, choice in enumerate(choices) if asked & ~mask & 2 << i]
    if not inside or None in inside or None in others:
        return None
    versions = [version for version in inside if version is not None]
    outside = [version for version in others if version is not None]
    lowest, highest = min(versions), max(versions)
    above = [version for version in outside if version > highest]
    holes = [version for version in outside if lowest < version < highest]
    if len(holes) > _MOST_HOLES:
        return None
    if lowest == highest and outside:
        candidate = f"=={lowest}"
    else:
        # Ordered comparisons take no local versions; whether the text is exact all the same is asked below.
        parts = [f">={lowest.public}"] if any(version < lowest for version in outside) else []
        parts += [f"<{min(above).public}"] if above else []
        parts += [f"!={version}" for version in sorted(holes)]
        candidate = ",".join(parts)
    specifiers = SpecifierSet(candidate)
    exact = all(specifiers.contains(version, prereleases=True) for version in versions) and not any(
        specifiers.contains(version, prereleases=True) for version in outside
    )
    return candidate if exact else None


def run_text(choices: Sequence[Choice], mask: int, asked: int, *, open_ended: bool = True) -> str:
    """Runs for a person: "2.4.0 to 2.10.0, 2.13.0 and newer"; "none" without any.

    Args:
        choices: of the name.
        mask: those to name.
        asked: those that exist for this purpose.
        open_ended: whether a run up to the newest is called "and newer".
    """
    newest = asked.bit_length() - 2
    parts = []
    for first, last in runs(mask, asked):
        begins, ends = choices[first].label, choices[last].label
        if open_ended and last == newest and first != last:
            parts.append(f"from {begins.partition('..')[0]} on" if ".." in begins else f"{begins} and newer")
        elif first == last:
            parts.append(begins)
        elif ".." in begins or ".." in ends:  # ranges of commits, of which one follows on the other
            parts.append(f"{begins.partition('..')[0]}..{ends.rpartition('..')[2]}")
        else:
            parts.append(f"{begins}{' and ' if _next(asked, first) == last else ' to '}{ends}")
    return ", ".join(parts) or "none"


def _next(asked: int, i: int) -> int:
    above = asked >> (i + 2)
    return i + 1 + ((above & -above).bit_length() - 1) if above else -1
