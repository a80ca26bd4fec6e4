"""The variables of a search: what each stands for, and the facts that constraints belong to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pins.resolve.facts import Fact
from pins.resolve.matching import VersionList
from pins.resolve.problem import Choice
from pins.resolve.search import Search

_MOST_REASONS = 2
"""So many reasons of one kind are told apart; of more, what they have in common is told."""


@dataclass
class Node:
    """A variable that stands for a name.

    Attributes:
        name: of the distribution, or of the branch.
        extra: "" for the distribution itself.
        variable: its number.
        choices: what it can be.
        versions: what specifiers take of them.
        avoid: choices to try last: pre-releases, yanked ones, such with unknown requirements.
    """

    name: str
    extra: str
    variable: int
    choices: tuple[Choice, ...]
    versions: VersionList
    avoid: int = 0


class Variables:
    """Numbers variables and facts.

    Attributes:
        search: to which they belong.
        nodes: by variable; None for variables that are no name.
        facts: bit i of a mask of facts is `facts[i]`.
        names: those nodes that are no extras.
    """

    def __init__(self) -> None:
        self.search = Search()
        self.nodes: list[Node | None] = []
        self.facts: list[Fact] = []
        self.names: list[Node] = []

    def name(self, name: str, extra: str, choices: tuple[Choice, ...], versions: VersionList) -> Node:
        """A new variable for a name, or for an extra of it."""
        node = Node(name, extra, self.search.variable(len(choices)), choices, versions)
        self.nodes.append(node)
        if not extra:
            self.names.append(node)
        return node

    def bare(self) -> int:
        """A new variable with one value besides "absent", which stands for no name."""
        self.nodes.append(None)
        return self.search.variable(1)

    def fact(self, fact: Fact) -> int:
        """The bit of a new fact."""
        self.facts.append(fact)
        return 1 << (len(self.facts) - 1)


def reasons_of(choices: Sequence[Choice]) -> dict[str, int]:
    """Why choices cannot be installed: reason -> which; many reasons of one kind become one that holds of them all."""
    by_kind: dict[str, dict[str, int]] = {}
    for i, choice in enumerate(choices):
        if choice.unusable:
            reasons = by_kind.setdefault(_kind(choice.unusable), {})
            reasons[choice.unusable] = reasons.get(choice.unusable, 0) | 2 << i
    found: dict[str, int] = {}
    for kind, reasons in by_kind.items():
        told = reasons if len(reasons) <= _MOST_REASONS else {kind: sum(reasons.values())}
        for reason, mask in told.items():
            found[reason] = found.get(reason, 0) | mask
    return found


def _kind(reason: str) -> str:
    """A reason without what differs from release to release: which Pythons it wants, or what its wheels are for."""
    if reason.startswith("needs Python"):
        return "needs another Python"
    if reason.startswith("was uploaded"):
        return "was uploaded after the time as of which the index is read"
    return re.sub(r" \(only for [^()]*\)", "", reason)
