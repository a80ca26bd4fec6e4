"""What is on record about the candidates. The order in which it arrived leaves no trace."""

from bisector.search.settings import Observation


class Evidence:
    """Counts of outcomes, what is built, what cannot be tested, and which candidates are one build.

    Candidates of one build (`same_build`) share everything: each query answers for the build.
    """

    def __init__(self, steps: int) -> None:
        """Nothing is known about the candidates 0..steps."""
        self.steps = steps
        self.runs = 0
        self.version = 0
        """Grows with every change, so that what is computed from the evidence can be kept until then."""
        self._parent: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._fails: dict[int, int] = {}
        self._passes: dict[int, int] = {}
        self._built: set[int] = set()
        self._unbuildable: set[int] = set()
        self._unjudgeable: set[int] = set()

    def check(self, candidate: int) -> None:
        """Refuse a candidate that is not on the chain."""
        if not 0 <= candidate <= self.steps:
            raise ValueError(f"candidate {candidate} is not on the chain 0..{self.steps}")

    def build_of(self, candidate: int) -> int:
        """The lowest candidate that shares this one's build."""
        return self._parent.get(candidate, candidate)

    def members(self, candidate: int) -> list[int]:
        """All candidates of this one's build, ascending."""
        build = self.build_of(candidate)
        return self._members.get(build, [build])

    def record(self, candidate: int, observation: Observation) -> None:
        """Take the result of one run."""
        build = self.build_of(candidate)
        if observation is Observation.UNTESTABLE:
            self.mark_untestable(candidate, buildable=build in self._built)
            return
        counts = self._fails if observation is Observation.FAIL else self._passes
        counts[build] = counts.get(build, 0) + 1
        self._built.add(build)
        self.runs += 1
        self.version += 1

    def mark_built(self, candidate: int) -> None:
        """A build exists: only a run is needed."""
        self._built.add(self.build_of(candidate))
        self.version += 1

    def mark_untestable(self, candidate: int, *, buildable: bool) -> None:
        """It did not build (`buildable` false), or it was skipped or failed otherwise (true)."""
        build = self.build_of(candidate)
        (self._unjudgeable if buildable else self._unbuildable).add(build)
        self.version += 1

    def same_build(self, first: int, second: int) -> None:
        """These two candidates are one build: what is known of either holds for both."""
        one, other = sorted((self.build_of(first), self.build_of(second)))
        if one == other:
            return
        members = self._members.setdefault(one, [one])
        joining = self._members.pop(other, [other])
        for member in joining:
            self._parent[member] = one
        if members[-1] < joining[0]:
            members.extend(joining)
        else:
            members[:] = sorted(members + joining)
        for counts in (self._fails, self._passes):
            if other in counts:
                counts[one] = counts.get(one, 0) + counts.pop(other)
        for marked in (self._built, self._unbuildable, self._unjudgeable):
            if other in marked:
                marked.remove(other)
                marked.add(one)
        self.version += 1

    def fails(self, candidate: int) -> int:
        """How often it failed."""
        return self._fails.get(self.build_of(candidate), 0)

    def passes(self, candidate: int) -> int:
        """How often it passed."""
        return self._passes.get(self.build_of(candidate), 0)

    def tested(self, candidate: int) -> bool:
        """Whether it has ever passed or failed."""
        build = self.build_of(candidate)
        return build in self._fails or build in self._passes

    def built(self, candidate: int) -> bool:
        """Whether only a run is needed."""
        return self.build_of(candidate) in self._built

    def untestable(self, candidate: int) -> bool:
        """Whether it was tried and told nothing; it is not run again, what it told before stands."""
        build = self.build_of(candidate)
        return build in self._unbuildable or build in self._unjudgeable

    def counts(self) -> list[tuple[int, int, int]]:
        """(candidate, fails, passes) of every build that passed or failed, ascending."""
        builds = sorted(self._fails.keys() | self._passes.keys())
        return [(build, self._fails.get(build, 0), self._passes.get(build, 0)) for build in builds]

    def positions_built(self) -> list[int]:
        """Every candidate whose build exists, ascending."""
        return self._expand(self._built)

    def positions_untestable(self) -> list[int]:
        """Every candidate that was tried and told nothing, ascending."""
        return self._expand(self._unbuildable | self._unjudgeable)

    def build_statuses(self) -> list[tuple[int, bool]]:
        """(candidate, whether it builds) wherever that is known, ascending."""
        builds = [
            (candidate, True) for candidate in self._expand((self._built | self._unjudgeable) - self._unbuildable)
        ]
        return sorted(builds + [(candidate, False) for candidate in self._expand(self._unbuildable)])

    def judgement_statuses(self) -> list[tuple[int, bool]]:
        """(candidate, whether its runs pass or fail) wherever that is known, ascending."""
        told = (self._fails.keys() | self._passes.keys()) - self._unjudgeable
        judged = [(candidate, True) for candidate in self._expand(told)]
        return sorted(judged + [(candidate, False) for candidate in self._expand(self._unjudgeable)])

    def _expand(self, builds: set[int]) -> list[int]:
        if not self._members:
            return sorted(builds)
        return sorted(member for build in builds for member in self.members(build))
