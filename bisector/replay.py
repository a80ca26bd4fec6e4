"""From what is on record to what the search believes: after each run, after a resume, and for `--replay`.

The search is told everything anew each time, in the order in which it became known, since a further signature (or a
further value) at an end changes what earlier runs mean. The same record gives the same belief, to the last bit.
"""

from collections.abc import Iterable, Sequence

from bisector.bracket import judge_build
from bisector.build_costs import BuildCosts
from bisector.judgement import Judge
from bisector.model import Candidate, Outcome, short_text
from bisector.record import Tried
from bisector.request import BuildFailureIs, RunRequest
from bisector.search import ChainSearch, Costs, Observation, SearchSettings
from bisector.space import Chain

OTHER_TRIES = 2
"""Runs of one candidate that fail otherwise than sought, and never as sought, before it is held untestable."""
LONG_RUN = 600.0
"""Seconds from which one run is long: two confirming runs then do where nothing contradicted (`--repeat auto`)."""


def settings_of(request: RunRequest, tried: Iterable[Tried]) -> SearchSettings:
    """How sure to be, as asked for; less often repeated where one run takes long."""
    confirmations = request.repeat
    if confirmations is None:
        long = _median(run_seconds(tried))
        confirmations = 2 if long is not None and long > LONG_RUN else None
    return SearchSettings(confidence=request.confidence, confirmations=confirmations, max_runs=request.max_runs)


def costs_of(tried: Sequence[Tried], chain: Chain, turns: tuple[int, ...] = ()) -> Costs:
    """What a build and a run are expected to take, from those so far; of a build by the pins that would change.

    Args:
        tried: everything on record, in order.
        chain: the candidates that are searched.
        turns: of the chain, where another pin begins to move.
    """
    builds = [one for one in tried if one.build is not None and one.same_as is None]
    build = _median([one.build_seconds for one in builds])
    run = _median(run_seconds(tried))
    learned = BuildCosts()
    for one in builds:
        learned.tell(one.candidate, one.build_seconds)
    return Costs(
        build=max(1.0 if build is None else build, 1e-3),
        run=max(1.0 if run is None else run, 1e-3),
        building=(lambda index: max(learned(chain.candidates[index]), 1e-3)) if builds else None,
        turns=turns if builds else (),
    )


def run_seconds(tried: Iterable[Tried]) -> list[float]:
    """What every run so far took."""
    return [shown.ended.seconds for one in tried for shown in one.shown]


def _median(seconds: Sequence[float]) -> float | None:
    return sorted(seconds)[len(seconds) // 2] if seconds else None


class Replay:
    """Tells a search over one chain what is on record.

    Args:
        request: what was asked for.
        chain: the candidates, good end first.
        judge: knows what is sought.
        tried: everything on record, in order.
        weights: of the chain's steps, where something speaks for some of them.
        tell: False where the caller will tell what is on record, entry by entry.
    """

    def __init__(
        self,
        request: RunRequest,
        chain: Chain,
        judge: Judge,
        tried: Sequence[Tried],
        weights: Sequence[float] | None = None,
        *,
        tell: bool = True,
    ) -> None:
        self._chain = chain
        self._judge = judge
        self._build_failure_is: BuildFailureIs = request.build_failure_is
        self._index = {candidate: index for index, candidate in enumerate(chain.candidates)}
        settings = settings_of(request, tried)
        self._hits = settings.hits
        self.search = ChainSearch(chain.steps, settings, weights)
        self._first: dict[Candidate, int] = {}
        for one in tried if tell else ():
            index = self._index.get(one.candidate)
            if index is not None:
                self._tell(index, one)

    def _tell(self, index: int, tried: Tried) -> None:
        if tried.same_as is not None:
            tried = tried.same_as
        twin = self._first.setdefault(tried.candidate, index)
        if twin != index:
            self.same_build(twin, index)
            return
        if tried.unbuildable or tried.build is not None:
            self.build(index, tried)
        if not tried.unbuildable:
            self.runs(index, [self._judge.outcome(shown.observation, shown.ended) for shown in tried.shown])

    def same_build(self, first: int, second: int) -> None:
        """Two candidates turned out to be one build."""
        self.search.mark_same_build(first, second)

    def build(self, index: int, tried: Tried) -> None:
        """A candidate was built, or could not be."""
        if not tried.unbuildable:
            self.search.mark_built(index)
            return
        outcome = judge_build(self._judge, tried, self._build_failure_is)
        if outcome is Outcome.FAIL:
            self.search.mark_built(index)
            for _ in range(max(self._hits, tried.begun)):  # it is not built again, and counts as often as asked
                self.search.record(index, Observation.FAIL)
        else:
            self.search.mark_untestable(index, buildable=outcome is Outcome.OTHER)

    def runs(self, index: int, outcomes: Sequence[Outcome], told: int = 0) -> None:
        """The runs of a candidate, of which the search knows the first `told` already."""
        for outcome in outcomes[told:]:
            if outcome is Outcome.PASS:
                self.search.record(index, Observation.PASS)
            elif outcome is Outcome.FAIL:
                self.search.record(index, Observation.FAIL)
        if self._tells_nothing(outcomes, index):
            self.search.record(index, Observation.UNTESTABLE)

    def _tells_nothing(self, outcomes: Sequence[Outcome], index: int) -> bool:
        """Whether a candidate is given up: it skips or fails in other ways only, and not just once by bad luck.

        Until then the search hears nothing of such a run, so that it asks for the candidate again.
        """
        if Outcome.PASS in outcomes or Outcome.FAIL in outcomes:
            return False
        if index in (0, self._chain.steps):
            enough = self._hits
        else:
            enough = min(OTHER_TRIES, self._hits) if Outcome.OTHER in outcomes else 1
        return len(outcomes) - outcomes.count(Outcome.INFRA) >= enough


def step_name(chain: Chain, upper: int, *, first_good: bool = False) -> str:
    """A step in words, from the older value: "pybind11 3.0.4 -> 3.1.0"."""
    moves = ((move.pin, short_text(move.old), short_text(move.new)) for move in chain.moves(upper))
    return ", ".join(f"{pin} {new} -> {old}" if first_good else f"{pin} {old} -> {new}" for pin, old, new in moves)
