"""What moved between two pin sets."""

from collections.abc import Callable
from dataclasses import dataclass

from pins.model import Pin, PinKind, PinSet


@dataclass(frozen=True)
class Distance:
    """How far apart two commits are.

    Attributes:
        ahead: commits that the new one has and the old one has not.
        behind: commits that the old one has and the new one has not.
    """

    ahead: int
    behind: int


@dataclass(frozen=True)
class Change:
    """A pin that differs.

    Attributes:
        old: the pin before, None when it is new.
        new: the pin after, None when it is gone.
        distance: between the commits of a git pin, None when the repository is not at hand.
        apart: why the distance is not known although the repository is at hand, "" otherwise.
    """

    old: Pin | None
    new: Pin | None
    distance: Distance | None = None
    apart: str = ""

    @property
    def pin(self) -> Pin:
        """Whichever there is, the newer first."""
        found = self.new or self.old
        assert found is not None
        return found


Measure = Callable[[Pin, Pin], tuple[Distance | None, str]]
"""Says how far apart the commits of two git pins are, or why that is not known."""


def _unmeasured(_old: Pin, _new: Pin) -> tuple[Distance | None, str]:
    return None, ""


def changes(old: PinSet, new: PinSet, measure: Measure = _unmeasured) -> list[Change]:
    """What differs between two pin sets, in the order of the new one's lines, then what is gone.

    Pins are matched by name and kind, then by stage and variable, then in order.
    """
    pairs: list[tuple[Pin | None, Pin | None]] = []
    earlier = _by_name(old)
    later = _by_name(new)
    for key in dict.fromkeys((*later, *earlier)):
        pairs.extend(_matched(earlier.get(key, []), later.get(key, [])))
    result = [
        Change(
            before, after, *(measure(before, after) if before and after and after.kind is PinKind.GIT else (None, ""))
        )
        for before, after in pairs
        if before is None or after is None or _value(before) != _value(after)
    ]
    return sorted(result, key=lambda change: (change.new is None, change.pin.file, change.pin.line))


def _apart(old: Pin | None, new: Pin | None, measure: Measure) -> tuple[Distance | None, str]:
    return measure(old, new) if old and new and new.kind is PinKind.GIT else (None, "")


def _by_name(pins: PinSet) -> dict[tuple[str, PinKind], list[Pin]]:
    found: dict[tuple[str, PinKind], list[Pin]] = {}
    for pin in pins.pins:
        found.setdefault((pin.name, pin.kind), []).append(pin)
    return found


def _value(pin: Pin) -> tuple[str | None, str, str]:
    return pin.value, pin.form.value if pin.value is None else "", pin.unknown


def _matched(old: list[Pin], new: list[Pin]) -> list[tuple[Pin | None, Pin | None]]:
    pairs: list[tuple[Pin | None, Pin | None]] = []
    left = list(old)
    open_pins: list[Pin] = []
    for pin in new:
        found = next(
            (o for o in left if (o.stage, o.variable, _value(o)) == (pin.stage, pin.variable, _value(pin))), None
        )
        found = found or next((o for o in left if _value(o) == _value(pin)), None)
        if found is None:
            open_pins.append(pin)
        else:
            left.remove(found)
            pairs.append((found, pin))
    for pin in open_pins:
        found = next((o for o in left if (o.stage, o.variable) == (pin.stage, pin.variable)), left[0] if left else None)
        if found is not None:
            left.remove(found)
        pairs.append((found, pin))
    pairs.extend((pin, None) for pin in left)
    return pairs
