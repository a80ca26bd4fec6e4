"""The loop: ask the search for the next candidate, probe it, tell the search what it showed, until it concludes."""

import time
from collections.abc import Sequence

from bisector.bracket import Bracket, Ending, judge_build, judge_for
from bisector.certificate import Standing
from bisector.events import Note, ProbeCancelled, Reporter, SearchMoved, SmokeEnded
from bisector.judgement import Judge
from bisector.model import Candidate, Outcome
from bisector.prober import Finished, Prober
from bisector.record import Shown, Tried
from bisector.report.model import Verdict
from bisector.request import RunRequest
from bisector.search import ChainSearch, Conclusion, Costs, Observation, Probe, Replication, SearchSettings, Wait
from bisector.space import Chain
from pins.errors import EnvironmentFailureError

INFRA_TRIES = 3
"""Runs of one candidate that may break for a reason of the machine before the whole run stops."""
OTHER_TRIES = 2
"""Runs of one candidate that fail otherwise than sought, and never as sought, before it is held untestable."""
LONG_RUN = 600.0
"""Seconds from which one run is long: two confirming runs then do where nothing contradicted (`--repeat auto`)."""


def step_name(chain: Chain, upper: int) -> str:
    """A step in words: "pybind11 3.0.4 -> 3.1.0"."""
    return ", ".join(f"{move.pin} {move.old} -> {move.new}" for move in chain.moves(upper))


class Driver:
    """Drives one search over one chain.

    Args:
        request: what was asked for.
        chain: the candidates, good end first.
        prober: builds and runs them.
        reporter: told what the search believes.
        seconds_before: time that earlier sessions of this run have used of the budget.
    """

    def __init__(
        self, request: RunRequest, chain: Chain, prober: Prober, reporter: Reporter, *, seconds_before: float = 0.0
    ) -> None:
        self._request = request
        self._chain = chain
        self._index = {candidate: index for index, candidate in enumerate(chain.candidates)}
        self._prober = prober
        self._reporter = reporter
        self._deadline = None
        if request.budget is not None:
            self._deadline = time.monotonic() + request.budget - seconds_before
        self._asked: dict[Candidate, int] = {}
        self.search = self._rebuilt()

    @property
    def judge(self) -> Judge:
        """The judge, with what the bad end has shown so far."""
        return judge_for(self._request, self._prober.known(self._chain.candidates[-1]))

    def drive(self) -> Ending:
        """Search until there is a conclusion.

        Raises:
            EnvironmentFailureError: our side failed; the run can be resumed.
        """
        while True:
            ending = self._bracket().cannot_tell() or self._out_of_budget()
            if ending is not None:
                return ending
            decision = self.search.next(self._in_flight(), self._costs())
            match decision:
                case Conclusion():
                    ending = self._ending(decision)
                    again = self._to_rebuild(ending)
                    if again is None:
                        return ending
                    self._take(self._prober.rebuild(*again))
                    continue
                case Probe():
                    self._prober.start(self._chain.candidates[decision.candidate], decision.why)
                    if len(self._in_flight()) < self._request.workers and not self._prober.has_finished:
                        continue
                case Wait():
                    pass
            for finished in self._prober.wait(self._seconds_left()):
                self._take(finished)
            self._cancel_useless()

    def _bracket(self) -> Bracket:
        good, bad = (self._prober.known(self._chain.candidates[index]) for index in (0, -1))
        return Bracket(self._request, self.judge, good, bad, enough=self._hits())

    def _in_flight(self) -> list[int]:
        return [self._index[candidate] for candidate in self._prober.in_flight if candidate in self._index]

    def _cancel_useless(self) -> None:
        flying = self._in_flight()
        for index in self.search.useless(flying) if len(flying) > 1 else ():
            self._prober.cancel(self._chain.candidates[index])

    def _take(self, finished: Finished) -> None:
        if finished.cancelled:
            self._reporter(ProbeCancelled(finished.tried.entry.id, finished.tried.candidate))
            return
        self._report(finished)
        self.search = self._rebuilt()
        suspects = tuple((step_name(self._chain, upper), chance) for upper, chance in self.search.suspects())
        self._reporter(
            SearchMoved(
                suspects,
                self.search.suspects_left(),
                self.search.expected_builds_left(),
                self._expected_seconds_left(),
            )
        )

    def _report(self, finished: Finished) -> None:
        """Tell the reporter what a run showed, and stop where it shows that the machine is at fault."""
        tried, shown = finished.tried, finished.shown
        if shown is None:
            return
        outcome = self.judge.outcome(shown.observation, shown.ended)
        detail = shown.observation.reason
        signature = shown.observation.signature
        if signature is not None:
            detail = ": ".join(part for part in (signature.kind or signature.exit, signature.message) if part)
        self._reporter(SmokeEnded(tried.entry.id, tried.candidate, outcome, shown.ended.seconds, detail, finished.log))
        self._check_machine(tried, shown)

    def _check_machine(self, tried: Tried, shown: Shown) -> None:
        """Stop where what happened is the machine's doing, or the script cannot work anywhere."""
        where = f"{tried.candidate} (probe {tried.entry.id})"
        if shown.observation.kind == "infra":
            tries = sum(one.observation.kind == "infra" for one in tried.shown)
            if tries >= INFRA_TRIES or shown.ended.not_started:
                raise EnvironmentFailureError(
                    f"the smoke script could not be run on {where}: {shown.observation.reason}"
                    + (f" ({tries} times)" if tries > 1 else "")
                )
            self._reporter(Note(f"{where}: {shown.observation.reason}; not evidence, trying again", warning=True))
        elif self._index.get(tried.candidate) == 0 and shown.observation.command_not_found:
            raise EnvironmentFailureError(
                f"the smoke script exits with {shown.ended.exit_status} at the good end, {where}: a command that it"
                f" needs is missing or cannot be executed ({shown.observation.reason or 'see its log'});"
                " make the script work there first"
            )

    def _rebuilt(self) -> ChainSearch:
        """A search that has been told everything known, in the order in which it became known.

        Told anew each time, since a further signature at the bad end changes what earlier failures mean.
        """
        search = ChainSearch(self._chain.steps, self._settings())
        judge = self.judge
        for tried in self._prober.tried:
            index = self._index.get(tried.candidate)
            if index is not None:
                self._tell(search, judge, index, tried)
        return search

    def _tell(self, search: ChainSearch, judge: Judge, index: int, tried: Tried) -> None:
        if tried.same_as is not None:
            twin = self._index.get(tried.same_as.candidate)
            if twin is not None:
                search.mark_same_build(twin, index)
                return
            tried = tried.same_as
        if tried.unbuildable:
            outcome = judge_build(judge, tried, self._request.build_failure_is)
            if outcome is Outcome.FAIL:
                search.mark_built(index)
                for _ in range(max(self._hits(), tried.begun)):  # it is not built again, and counts as often as asked
                    search.record(index, Observation.FAIL)
            else:
                search.mark_untestable(index, buildable=outcome is Outcome.OTHER)
            return
        if tried.build is not None:
            search.mark_built(index)
        outcomes = [judge.outcome(shown.observation, shown.ended) for shown in tried.shown]
        for outcome in outcomes:
            if outcome is Outcome.PASS:
                search.record(index, Observation.PASS)
            elif outcome is Outcome.FAIL:
                search.record(index, Observation.FAIL)
        if self._tells_nothing(outcomes, index):
            search.record(index, Observation.UNTESTABLE)

    def _tells_nothing(self, outcomes: Sequence[Outcome], index: int) -> bool:
        """Whether a candidate is given up: it skips or fails in other ways only, and not just once by bad luck.

        Until then the search hears nothing of such a run, so that it asks for the candidate again.
        """
        if Outcome.PASS in outcomes or Outcome.FAIL in outcomes:
            return False
        if index in (0, self._chain.steps):
            enough = self._hits()
        else:
            enough = min(OTHER_TRIES, self._hits()) if Outcome.OTHER in outcomes else 1
        return len(outcomes) - outcomes.count(Outcome.INFRA) >= enough

    def _settings(self) -> SearchSettings:
        return SearchSettings(
            confidence=self._request.confidence,
            confirmations=self._confirmations(),
            max_runs=self._request.max_runs,
        )

    def _confirmations(self) -> int | None:
        if self._request.repeat is not None:
            return self._request.repeat
        long = self._median_seconds(self._run_seconds())
        return 2 if long is not None and long > LONG_RUN else None

    def _hits(self) -> int:
        return SearchSettings(confidence=self._request.confidence, confirmations=self._confirmations()).hits

    def _run_seconds(self) -> list[float]:
        return [shown.ended.seconds for tried in self._prober.tried for shown in tried.shown]

    def _build_seconds(self) -> list[float]:
        return [tried.build_seconds for tried in self._prober.tried if tried.build is not None]

    @staticmethod
    def _median_seconds(seconds: Sequence[float]) -> float | None:
        return sorted(seconds)[len(seconds) // 2] if seconds else None

    def _costs(self) -> Costs:
        """What a build and a run are expected to take, from those so far."""
        build = self._median_seconds(self._build_seconds())
        run = self._median_seconds(self._run_seconds())
        return Costs(build=max(1.0 if build is None else build, 1e-3), run=max(1.0 if run is None else run, 1e-3))

    def _expected_seconds_left(self) -> float | None:
        if not self._run_seconds():
            return None
        costs = self._costs()
        return self.search.expected_builds_left() * (costs.build + costs.run)

    def _seconds_left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _out_of_budget(self) -> Ending | None:
        if self._seconds_left() != 0.0:
            return None
        for index in self._in_flight():
            self._prober.cancel(self._chain.candidates[index])
        left = self.search.suspects_left()
        return Ending(
            Verdict.UNDETERMINED,
            reason=f"the budget of {self._request.budget:.0f} s is used up with {left} suspected steps left;"
            " `bisector resume` with a larger --budget goes on",
        )

    def _to_rebuild(self, ending: Ending) -> tuple[Candidate, str] | None:
        """The next witness to build afresh (`--rebuild-witnesses`), with the reason; each is built so once."""
        if not self._request.rebuild_witnesses or ending.verdict is not Verdict.CULPRIT:
            return None
        for index, name in ((ending.lower, "predecessor"), (ending.upper, "culprit")):
            assert index is not None
            tried = self._prober.known(self._chain.candidates[index])
            if tried is not None and (tried.same_as or tried).builds == 1:
                return tried.candidate, f"{name}, built afresh"
        return None

    def _rule_out(self, lower: int, upper: int) -> None:
        """Ask the resolver about the candidates of a range that were not tried: what cannot be is not a suspect."""
        for index in range(lower + 1, upper):
            candidate = self._chain.candidates[index]
            if self._prober.known(candidate) is None and not self._prober.feasible(candidate):
                self._prober.probe(candidate, "can it be resolved?")

    def _steps_left(self, lower: int, upper: int) -> int:
        """Steps of a range that could not be told apart: candidates that cannot be resolved are none of them."""
        between = (self._prober.known(self._chain.candidates[index]) for index in range(lower + 1, upper))
        return 1 + sum(1 for tried in between if tried is None or tried.feasible)

    def _ending(self, conclusion: Conclusion) -> Ending:
        if conclusion.kind == "range":
            self._rule_out(conclusion.lower, conclusion.upper)
        verdicts = {
            "culprit": Verdict.CULPRIT,
            "range": Verdict.RANGE,
            "none": Verdict.NO_BRACKET,
            "all-bad": Verdict.NO_BRACKET,
            "swapped": Verdict.NO_BRACKET,
        }
        verdict = verdicts.get(conclusion.kind, Verdict.UNDETERMINED)
        if verdict is Verdict.RANGE and self._steps_left(conclusion.lower, conclusion.upper) == 1:
            verdict = Verdict.CULPRIT  # nothing that can exist lies between: one step, in which several values pass by
        found = verdict in (Verdict.CULPRIT, Verdict.RANGE)
        fail_if_good, fail_if_bad = self.search.rates()
        return Ending(
            verdict,
            conclusion.lower if found else None,
            conclusion.upper if found else None,
            conclusion.confidence,
            conclusion.confidence_if_flaky,
            fail_if_good,
            fail_if_bad,
            self._bracket().why_not(conclusion.kind) if verdict is Verdict.NO_BRACKET else conclusion.reason,
        )

    def standing(self, candidate: Candidate, why: str) -> Standing:
        """How a candidate off the chain (or on it) stands, after as many runs as that takes."""
        replication = Replication(self.search)
        told = 0
        while True:
            tried = self._prober.known(candidate)
            if tried is not None and tried.same_as is not None:
                tried = tried.same_as
            if tried is not None and tried.unbuildable:
                if judge_build(self.judge, tried, self._request.build_failure_is) is Outcome.FAIL:
                    return Standing.FAIL
                return Standing.NOT_RUN if tried.feasible else Standing.INFEASIBLE
            for shown in tried.shown[told:] if tried is not None else ():
                told += 1
                outcome = self.judge.outcome(shown.observation, shown.ended)
                if outcome in (Outcome.OTHER, Outcome.SKIP):
                    return Standing.NOT_RUN
                if outcome is not Outcome.INFRA:
                    replication.record(Observation.PASS if outcome is Outcome.PASS else Observation.FAIL)
            if replication.conclusion is not None:
                return {"pass": Standing.PASS, "fail": Standing.FAIL}.get(replication.conclusion, Standing.NOT_RUN)
            if self._out_of_budget() is not None:
                return Standing.NOT_RUN
            self._report(self._prober.probe(candidate, why))
