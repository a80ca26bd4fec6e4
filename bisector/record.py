"""What has been tried so far, read from the journal."""

from dataclasses import dataclass, field
from functools import lru_cache

from bisector.entries import BuildStatus, ProbeEntry
from bisector.journal import Journal
from bisector.model import Build, Candidate, Ended, Recipe, Signature
from bisector.smoke import Observation, observe


@dataclass(frozen=True)
class Shown:
    """One finished run: how it ended, what that showed, its number in the journal, and the host that ran it."""

    ended: Ended
    observation: Observation
    number: int
    host: str = ""


@dataclass
class Tried:
    """What is known of one candidate.

    Attributes:
        entry: its probe.
        recipe: what it is built from, None before it was resolved.
        build: the build, None before or where there is none.
        elsewhere: further builds of the same, by the host that each is on.
        same_as: an earlier candidate with the same input hash, which has the build and the runs.
        unbuildable: why it cannot be built, "" otherwise; `feasible` is False where it was not even tried.
        build_ended: how a failed build ended.
        shown: its finished runs, in order.
        builds: how many times it was built.
        begun: how many runs were begun, those that were cut off included, or asked for where it cannot be built.
        build_seconds: what building took.
        lost: why work on it came to nothing, once for each time that it was begun again (of this process alone).
    """

    entry: ProbeEntry
    recipe: Recipe | None = None
    build: Build | None = None
    elsewhere: dict[str, Build] = field(default_factory=dict)
    same_as: "Tried | None" = None
    unbuildable: str = ""
    feasible: bool = True
    build_ended: Ended | None = None
    shown: list[Shown] = field(default_factory=list)
    builds: int = 0
    begun: int = 0
    build_seconds: float = 0.0
    lost: list[str] = field(default_factory=list)

    @property
    def all_builds(self) -> "tuple[Build, ...]":
        """Its builds, on whatever host."""
        return (*((self.build,) if self.build is not None else ()), *self.elsewhere.values())

    def lose(self, build: Build) -> None:
        """Take it that a build is there no more."""
        self.elsewhere.pop(build.host, None)
        if self.build == build:
            self.build = self.elsewhere.pop(next(iter(self.elsewhere)), None) if self.elsewhere else None

    @property
    def candidate(self) -> Candidate:
        """Its pins."""
        return self.entry.candidate


def tried_so_far(journal: Journal) -> dict[Candidate, Tried]:
    """Every candidate that was chosen, in order, with all that was committed about it."""
    tried_by_probe = {entry.id: Tried(entry) for entry in journal.probes()}
    first_by_hash: dict[str, Tried] = {}
    recipes = journal.recipes()
    for probe, tried in tried_by_probe.items():
        tried.recipe = recipes.get(probe)
        if tried.recipe is not None:
            twin = first_by_hash.setdefault(tried.recipe.input_hash, tried)
            tried.same_as = None if twin is tried else twin
    for build in journal.builds():
        tried = tried_by_probe[build.probe]
        tried.build_seconds = build.seconds
        if tried.build is not None and tried.build.host:
            tried.elsewhere[tried.build.host] = tried.build
        tried.build = build.build
        if tried.build is not None:
            tried.elsewhere.pop(tried.build.host, None)
        tried.builds += build.status is BuildStatus.BUILT
        if build.status in (BuildStatus.FAILED, BuildStatus.INFEASIBLE):
            tried.unbuildable = build.reason
            tried.feasible = build.status is BuildStatus.FAILED
            tried.build_ended = build.ended
    for tried in tried_by_probe.values():
        if tried.build is None and tried.elsewhere:
            tried.build = tried.elsewhere.pop(next(iter(tried.elsewhere)))
    for run in journal.runs():
        tried_by_probe[run.probe].begun += 1
        if run.ended is not None and run.observation is not None:
            tried_by_probe[run.probe].shown.append(Shown(run.ended, run.observation, run.number, run.host))
    return {tried.candidate: tried for tried in tried_by_probe.values()}


def build_signature(tried: Tried) -> Signature | None:
    """What a failed build looks like, None where it did not fail or could not even be tried."""
    return None if tried.build_ended is None else _signature_of_build(tried.build_ended)


@lru_cache(maxsize=256)
def _signature_of_build(ended: Ended) -> Signature | None:
    return observe(ended, None).signature
