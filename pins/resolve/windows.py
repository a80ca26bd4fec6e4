"""Windows: for each name all the choices of which a solution exists. The projection of all solutions to one name.

Each solution shows one choice of every name, and more where a choice can be exchanged for another without touching
anything else. So the question is put for all choices that are still open at once: a solution takes at least one of them
off, and where there is none, all that are left are outside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pins.errors import PinsError
from pins.resolve.check import SolutionCheck
from pins.resolve.nodes import Node
from pins.resolve.problem import Choice, Problem, RequirementSource
from pins.resolve.requirement_line import read_line
from pins.resolve.solver import Model, Solver, choices_in
from pins.resolve.universe import Universe

_MOST_MODELS = 50
"""Solutions that are kept to try choices in whose requirements are not known."""


@dataclass(frozen=True)
class Window:
    """The choices of one name for which everything still resolves.

    Attributes:
        name: whose.
        choices: all there are, ascending.
        asked: which of them were asked about, as a mask (bit i + 1 is choice i): not those that cannot be installed
            here, nor yanked ones and pre-releases that nobody asked for.
        inside: those for which a solution exists.
        unknown: those for which that cannot be told, since something on the way is not known.
        witnesses: choice -> a solution that has it, or holds as well with it in the place of what it has (`witness`).
        guesses: choice in `unknown` -> the same, if what is not known allowed it.
    """

    name: str
    choices: tuple[Choice, ...]
    asked: int
    inside: int
    unknown: int
    witnesses: Mapping[int, Model]
    guesses: Mapping[int, Model]

    def witness(self, choice: int) -> Mapping[str, str]:
        """Name -> label of a solution with this choice, which must be inside."""
        return {**self.witnesses[choice].chosen, self.name: self.choices[choice].label}

    def labels(self, mask: int) -> tuple[str, ...]:
        """The labels of the choices in a mask, ascending."""
        return tuple(choice.label for i, choice in enumerate(self.choices) if mask & 2 << i)

    @property
    def outside(self) -> int:
        """Those asked about for which no solution exists."""
        return self.asked & ~self.inside & ~self.unknown


@dataclass(frozen=True)
class Windows:
    """What fits, in one environment.

    Attributes:
        solver: knows all that was read, for explanations.
        windows: by name, in the order asked for.
        possible: whether there is any solution that is certain.
        perhaps: whether there is one if what is not known allows it.
        solves: how many searches it took.
        example: the first solution that was found, newest versions first; None where there is none.
        stands_on: a mask of the facts on which it stands that versions are outside.
    """

    solver: Solver
    windows: tuple[Window, ...]
    possible: bool
    perhaps: bool
    solves: int
    example: Model | None = None
    stands_on: int = 0


class UncheckedError(PinsError):
    """A solution breaks a rule that it should keep: a fault of ours."""


def windows_of(problem: Problem, source: RequirementSource) -> Windows:
    """The windows of a problem's targets.

    Raises:
        UsageError: a requirement of the problem cannot be parsed.
        SourceError: something could not be read.
    """
    universe = Universe(problem, source)
    return _Projection(universe, _targets(universe)).run()


def _targets(universe: Universe) -> list[Node]:
    problem = universe.problem
    asked = problem.targets or [read_line(constraint.requirement).name for constraint in problem.requirements]
    if not problem.targets:
        asked = [name for name in dict.fromkeys(asked) if universe.node(name)]  # those whose markers hold
    return universe.mentioned(asked)


class _Projection:
    """Marks choices until none is left."""

    def __init__(self, universe: Universe, targets: Sequence[Node]) -> None:
        self.universe = universe
        self.solver = Solver(universe)
        self.check = SolutionCheck(universe.problem, universe.source)
        self.targets = targets
        self.asked = {node.variable: universe.admissions.offered(node) for node in targets}
        self.open = dict(self.asked)
        self.witnesses: dict[int, dict[int, Model]] = {node.variable: {} for node in targets}
        self.guesses: dict[int, dict[int, Model]] = {node.variable: {} for node in targets}
        self.models: list[Model] = []
        self.stands_on = 0

    def run(self) -> Windows:
        self.solver.read_ahead(self.targets)
        first = self.solver.solve()
        perhaps = first is not None
        if first is not None:
            self._mark(first)
        elif self.universe.guess_is_possible:
            perhaps = self.solver.solve(certain=False) is not None
        if first is not None:
            for node in self.targets:
                self._settle_target(node, certain=True)
        if perhaps and self.universe.guess_is_possible:
            self._mark_unknown_by_themselves()
            for node in self.targets:
                self._settle_target(node, certain=False)
        found = tuple(self._window(node) for node in self.targets)
        return Windows(self.solver, found, first is not None, perhaps, self.solver.questions, first, self.stands_on)

    def _settle_target(self, node: Node, *, certain: bool) -> None:
        """Ask for all open choices of a target at once, until none of them has a solution."""
        search = self.universe.search
        while self.open[node.variable]:
            search.settle()
            left = self.open[node.variable] & search.domains[node.variable]
            if left != self.open[node.variable]:
                self.stands_on |= search.facts_against(node.variable, self.open[node.variable] & ~left)
            if not left:
                return
            model = self.solver.solve([(node.variable, left)], certain=certain)
            if model is None:
                self.stands_on |= self.solver.failed_on
                return
            self._mark(model)

    def _mark_unknown_by_themselves(self) -> None:
        """Choices that would fit a solution that is certain, if only what they require were known."""
        for node in self.targets:
            for model in self.models:
                for choice in self._exchangeable(node, model, guessing=True):
                    self.open[node.variable] &= ~(2 << choice)
                    self.guesses[node.variable][choice] = model

    def _mark(self, model: Model) -> None:
        self._check(model)
        self.solver.prefer(model)
        kept = self.guesses if model.is_guess else self.witnesses
        if not model.is_guess and len(self.models) < _MOST_MODELS:
            self.models.append(model)
        for node in self.targets:
            choice = model.values.get(node.variable)
            if choice is None or not self.solver.is_founded_for(model, node.variable):
                continue
            for other in [choice, *self._exchangeable(node, model)]:
                if self.open[node.variable] & 2 << other:
                    self.open[node.variable] &= ~(2 << other)
                    kept[node.variable][other] = model

    def _check(self, model: Model) -> None:
        broken = self.check.broken(model.chosen, guessing=model.is_guess)
        if broken:
            raise UncheckedError(f"a solution that was found does not hold: {broken[0]}")

    def _exchangeable(self, node: Node, model: Model, *, guessing: bool = False) -> list[int]:
        """The open choices that can take the place of the chosen one while all else stays as it is.

        With `guessing` what is not known about them counts as allowed.
        """
        if node.variable not in model.values:
            return []
        search = self.universe.search
        possible = (
            self.open[node.variable]
            & search.domains[node.variable]
            & ~self.universe.admissions.delicate(node, model.values)
        )
        mine = [node, *(extra for extra in self.universe.extras(node) if extra.variable in model.values)]
        own = {one.variable for one in mine}
        for one in mine:
            for edge in search.edges_into(one.variable):
                value = model.values.get(edge.source)
                if value is not None and edge.source not in own:
                    for values, allowed in edge.rows:
                        if values & 2 << value:
                            possible &= allowed
        for one in mine:
            for edge in search.edges_from(one.variable):
                held = model.values.get(edge.target)
                if guessing and edge.target == self.universe.guess:
                    continue
                for values, allowed in edge.rows:
                    if edge.target in own:
                        possible &= ~values | allowed
                    elif held is None or not allowed & 2 << held:
                        possible &= ~values
        return [choice for choice in choices_in(possible) if self.universe.is_read(node, choice)]

    def _window(self, node: Node) -> Window:
        variable = node.variable
        inside = sum(2 << choice for choice in self.witnesses[variable])
        unknown = sum(2 << choice for choice in self.guesses[variable])
        return Window(
            node.name,
            node.choices,
            self.asked[variable],
            inside,
            unknown,
            self.witnesses[variable],
            self.guesses[variable],
        )
