"""Where a shell stands between two commands, and where it stands behind a choice."""

from dataclasses import dataclass

from pins.files.shell.command import Condition
from pins.files.values import Value
from pins.files.words import Lookup


@dataclass(slots=True)
class ShellState:
    """Where a shell stands.

    Attributes:
        directory: its working directory.
        variables: what is set, by name.
        alternatives: for variables that an open choice sets, each value with its condition.
        previous: the directory before, for ``cd -``.
    """

    directory: str
    variables: dict[str, Value]
    alternatives: dict[str, list[tuple[Condition, Value]]]
    previous: str = ""

    def copy(self) -> "ShellState":
        """A state of its own, as a subshell has."""
        return ShellState(self.directory, dict(self.variables), dict(self.alternatives), self.previous)

    def become(self, other: "ShellState") -> None:
        """Go on where `other` stands."""
        self.directory, self.previous = other.directory, other.previous
        self.variables, self.alternatives = other.variables, other.alternatives


def merge(state: ShellState, before: ShellState, ends: list[tuple[Condition, ShellState]], outer: Lookup) -> None:
    """What holds behind a choice: the state of the arm that is taken, or every arm's value where that is open."""
    taken = next((inner for condition, inner in ends if condition.holds is True), None)
    if taken is not None:
        state.become(taken)
        return
    possible = [(condition, inner) for condition, inner in ends if condition.holds is not False]
    if len(possible) == 1:
        state.become(possible[0][1])
        return
    directory = before.directory
    state.become(possible[0][1].copy())
    names = {name for _, inner in possible for name in inner.variables}
    for name in names:
        values = [(condition, inner.variables.get(name)) for condition, inner in possible]
        distinct = {value for _, value in values}
        if len(distinct) == 1:
            continue
        known = [(condition, value) for condition, value in values if value is not None]
        known_outside = outer(name)
        known += [(c, known_outside) for c, value in values if value is None and known_outside is not None]
        if known:
            state.alternatives[name] = known
            state.variables[name] = known[0][1]
    state.directory = directory


def carry(state: ShellState, ends: list[tuple[Condition, ShellState]]) -> None:
    """What holds behind a command that ran once for each value of a variable: what it has set has as many values."""
    for name in {name for _, inner in ends for name, value in inner.variables.items()}:
        values = [(condition, inner.variables[name]) for condition, inner in ends if name in inner.variables]
        if name not in state.alternatives and any(value != state.variables.get(name) for _, value in values):
            state.alternatives[name] = values
            state.variables[name] = values[0][1]
