"""The requirements of one choice on another name, as they were written, for sentences."""

from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from pins.resolve.nodes import Node
from pins.resolve.problem import Origin
from pins.resolve.universe import Universe


@dataclass(frozen=True)
class AskingLine:
    """One requirement of a choice on another name.

    Attributes:
        text: without its marker.
        origin: who says so; None for the metadata of the release.
        mask: the choices of the other that it takes.
    """

    text: str
    origin: Origin | None
    mask: int


def asking_lines(universe: Universe, source: Node, choice: int, target: Node) -> list[AskingLine]:
    """The requirements of a choice on a name (or an extra of it)."""
    found = []
    for line, origin in universe.counting_lines(source, choice):
        if line.name == target.name and (not target.extra or target.extra in line.extras):
            extras = f"[{','.join(line.extras)}]" if line.extras else ""
            mask = target.versions.taken_by(line.specifiers)
            found.append(AskingLine(f"{line.name}{extras}{_in_order(line.specifiers)}", origin, mask))
    return found


def _in_order(specifiers: SpecifierSet) -> str:
    """Specifiers as people write them: lower bounds before upper ones."""
    order = {"<": 1, "<=": 1, "!=": 2}
    return ",".join(str(one) for one in sorted(specifiers, key=lambda one: (order.get(one.operator, 0), str(one))))
