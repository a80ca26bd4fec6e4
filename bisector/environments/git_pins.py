"""Pins that are revisions of repositories, in whatever environment.

What an environment does with them is its own affair: `venv` installs the commit, `command` and `docker` are handed it.
Common to all is told here: a commit whose tree lacks what `--require-path` names is never tried, and the script finds
each pin's tree, checked out clean for every run. A pin that lies within the tree of another one (`--within`) is set
there: the environment is handed that tree as a commit of its own.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import BuildFailedError, Environment, InfeasibleError
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun, short_text
from bisector.request import RepositoryRequest
from pins.errors import UsageError
from pins.sources.git.clone import Clone
from pins.sources.git.contents import lacking
from pins.sources.git.replaced import with_replaced
from pins.sources.git.work_trees import UnusableCommitError, lent_tree


class GitPins(AroundEnvironment):
    """Another environment, for candidates with git pins; see `bisector.environments.base.Environment`.

    Args:
        environment: the one that does the work.
        repositories: of the pins.
        clones: our clone of each, by pin.
        cache: the user's cache directory.
        left_out: pins that the environment need not know, since they are only checked out.
        lent: pins whose trees are lent to each run; the environment has those of the others itself.
        nested: pins within the trees of others: (name, the other pin, path).
    """

    def __init__(
        self,
        environment: Environment,
        repositories: Sequence[RepositoryRequest],
        clones: Mapping[str, Clone],
        cache: Path,
        *,
        left_out: Sequence[str] = (),
        lent: Sequence[str] = (),
        nested: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        super().__init__(environment)
        self._repositories = tuple(repositories)
        self.clones = dict(clones)
        self._cache = cache
        self._left_out = frozenset(left_out)
        self._lent = tuple(lent)
        self._nested = tuple(nested)

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`."""
        for repository in self._repositories:
            commit = candidate[repository.pin]
            missing = lacking(self.clones[repository.pin], commit, repository.required_paths)
            if missing:
                raise InfeasibleError(f"{repository.pin} {short_text(commit)} has no {missing[0]} (--require-path)")
        try:
            known = self._known(candidate)
        except UsageError as error:
            raise InfeasibleError(str(error)) from error
        recipe = self._environment.resolve(known)
        if not self._left_out and not self._nested:
            return recipe
        return replace(recipe, candidate=candidate, input_hash=self._digest(recipe.input_hash, candidate))

    def _digest(self, of_environment: str, candidate: Candidate) -> str:
        inside = {name for name, _, _ in self._nested}
        commits = [(pin, candidate[pin]) for pin in candidate if pin in self._left_out or pin in inside]
        return hashlib.sha256(repr((of_environment, commits)).encode()).hexdigest()

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: Event) -> Build:
        """See `Environment.build`; a commit that cannot be checked out is found here."""
        try:
            with self._trees(recipe.candidate):
                pass
        except UnusableCommitError as error:
            raise BuildFailedError(str(error), Ended(1, errors=f"{error}\n")) from error
        build = self._environment.build(self._recipe(recipe), directory, log, cancel)
        if not (self._left_out or self._nested) or not build.content_identity:
            return build
        # What is only checked out belongs to the candidate as well.
        return replace(build, content_identity=self._digest(build.content_identity, recipe.candidate))

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`."""
        self._environment.forget(self._recipe(recipe))

    def run(self, build: Build, smoke: SmokeRun, cancel: Event) -> Ended:
        """See `Environment.run`; the trees are this run's own while it lasts."""
        with self._trees(smoke.candidate) as trees:
            return self._environment.run(build, replace(smoke, checkouts=trees), cancel)

    @contextmanager
    def _trees(self, candidate: Candidate) -> Iterator[tuple[tuple[str, Path], ...]]:
        with ExitStack() as stack:
            commits = self._with_nested(candidate)
            yield tuple(
                (pin, stack.enter_context(lent_tree(self.clones[pin], commits[pin], self._cache))) for pin in self._lent
            )

    def _known(self, candidate: Candidate) -> Candidate:
        """What the environment itself is to build."""
        with_nested = self._with_nested(candidate)
        return Candidate(tuple((pin, value) for pin, value in with_nested.pins if pin not in self._left_out))

    def _with_nested(self, candidate: Candidate) -> Candidate:
        """The candidate with the pins that lie within others' trees set there."""
        values: dict[str, dict[str, tuple[str, str]]] = {}
        for name, outer, path in self._nested:
            values.setdefault(outer, {})[path] = (name, candidate[name])
        for outer, inside in values.items():
            candidate = candidate.moved(outer, with_replaced(self.clones[outer], candidate[outer], inside))
        return candidate

    def _recipe(self, recipe: Recipe) -> Recipe:
        return replace(recipe, candidate=self._known(recipe.candidate))
