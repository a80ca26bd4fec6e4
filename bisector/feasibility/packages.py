"""For a plan of virtual environments: candidates that fit by what the index tells, without asking uv for each.

What the index tells takes milliseconds for a candidate, where uv takes a tenth of a second or more. A candidate that
does not fit by it is asked of uv all the same, whose word counts.
"""

from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import InfeasibleError
from bisector.model import Candidate, Recipe
from pins.errors import PinsError

if TYPE_CHECKING:
    from datetime import datetime

    from bisector.environments.venv.environment import VenvEnvironment
    from pins.resolve.search import Literal
    from pins.resolve.solver import Solver

MOST_ASKED = 64
"""Candidates that uv is asked about; for more the index's word counts."""


class PlannedPackages(AroundEnvironment):
    """Virtual environments that are only planned; see `bisector.environments.base.Environment`.

    Args:
        environment: the one that would do the work.
        pins: names of the pins that are packages, those held still included.
        commits: names of those that are commits: what they require is known once they are built, and not asked for.
        exclude_newer: the index is read as of then.
        cache: the user's cache directory.
    """

    def __init__(
        self,
        environment: "VenvEnvironment",
        pins: Collection[str],
        commits: Collection[str],
        exclude_newer: "datetime",
        cache: Path,
    ) -> None:
        super().__init__(environment)
        self._venv = environment
        self._pins = tuple(pins)
        self._commits = frozenset(commits)
        self._exclude_newer = exclude_newer
        self._cache = cache
        self._asked = 0

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`; of the recipe nothing but its existence counts."""
        reason = self._why_not(candidate)
        if self._commits or reason == "":
            return Recipe(candidate, "")
        if reason and self._asked >= MOST_ASKED:
            raise InfeasibleError(reason)
        self._asked += 1
        try:
            return self._environment.resolve(candidate)
        except InfeasibleError as error:
            raise InfeasibleError(reason or str(error)) from error  # ours is said in fewer words

    def _why_not(self, candidate: Candidate) -> str | None:
        """Why it does not fit, "" where it does or may, None where the index alone cannot tell."""
        if self._solver is None:
            return None if self._asked < MOST_ASKED else ""
        universe = self._solver.universe
        assumed: list[Literal] = []
        for pin in self._pins:
            node = universe.node(canonicalize_name(pin))
            labels = [choice.label for choice in node.choices] if node else []
            if node is None or candidate[pin] not in labels:
                return None
            assumed.append((node.variable, 2 << labels.index(candidate[pin])))
        try:
            if self._solver.solve(assumed, certain=False) is not None:
                return ""
            from pins.resolve.why import explain

            return "; ".join(sentence.text for sentence in explain(self._solver, assumed).sentences)
        except PinsError:
            return None

    @cached_property
    def _solver(self) -> "Solver | None":
        """Solves what all candidates have in common; None where that names more than packages of the index."""
        from pins.metadata.index_requirements import IndexRequirements
        from pins.resolve.problem import Constraint, Origin, Problem
        from pins.resolve.requirement_line import read_line
        from pins.resolve.solver import Solver
        from pins.resolve.universe import Universe
        from pins.sources.metadata_cache import MetadataCache
        from pins.sources.package_index import PackageIndex
        from pins.sources.page_cache import PageCache
        from pins.sources.target import target_of

        base = self._venv.base
        own = {canonicalize_name(pin) for pin in self._pins}
        lines = [line for line in base.requirements if not (line.exact and line.name in own)]
        bounds = [line for line in base.constraints if not (line.exact and line.name in own)]
        read = [read_line(line.text) for line in (*lines, *bounds)]
        if self._commits or base.options or base.no_index or any(one.problem or one.url for one in read):
            return None
        target = target_of(self._venv.interpreter)
        problem = Problem(
            (
                *(Constraint(pin, Origin(file="--pin")) for pin in self._pins),
                *(Constraint(line.text, Origin(file=line.origin)) for line in lines),
            ),
            bounds=tuple(Constraint(line.text, Origin(file=line.origin)) for line in bounds),
            markers=dict(target.markers),
        )
        index = PackageIndex(self._venv.index, target, cache=PageCache(self._cache))
        kept = MetadataCache(self._cache / "metadata.sqlite")
        try:
            return Solver(Universe(problem, IndexRequirements(index, before=self._exclude_newer, cache=kept)))
        except PinsError:
            return None
