"""The loop: ask the search for the next candidate, probe it, tell the search what it showed, until it concludes."""

from collections.abc import Callable, Sequence

from bisector.bracket import CONTROL, Bracket, Ending, judge_build, judge_for
from bisector.certificate import Standing
from bisector.drift import MOST_RUNS, Told, find_change
from bisector.endings import ending_of
from bisector.events import Note, ProbeCancelled, Reporter, SearchMoved, SmokeEnded
from bisector.judgement import Judge
from bisector.metric import END_RUNS
from bisector.model import Candidate, Outcome
from bisector.prober import Finished, Prober
from bisector.record import Shown, Tried
from bisector.replay import Replay, costs_of, run_seconds, settings_of, step_name
from bisector.report.model import Verdict
from bisector.request import RunRequest
from bisector.search import ChainSearch, Conclusion, Costs, Observation, Probe, Replication, Wait
from bisector.space import Chain
from pins.errors import EnvironmentFailureError

INFRA_TRIES = 3
"""Runs of one candidate that may break for a reason of the machine before the whole run stops."""
CHEAP_RUN = 0.05
"""Share of a build up to which a run is cheap: then an end is run again after every so many runs."""
RUNS_BETWEEN_CONTROLS = 12


class Driver:
    """Drives one search over one chain.

    Args:
        request: what was asked for.
        chain: the candidates, good end first.
        prober: builds and runs them.
        reporter: told what the search believes.
        ends: the chain whose ends show what is sought; None for `chain` itself.
        weights: of the chain's steps, where something speaks for some of them.
        purpose: what this search is for, said before the reason of each probe; "" for the run's own.
        seconds_left: what is left of the budget, None for no limit.
    """

    def __init__(
        self,
        request: RunRequest,
        chain: Chain,
        prober: Prober,
        reporter: Reporter,
        *,
        ends: Chain | None = None,
        weights: Sequence[float] | None = None,
        purpose: str = "",
        seconds_left: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._request = request
        self._chain = chain
        self._ends = ends or chain
        self._index = {candidate: index for index, candidate in enumerate(chain.candidates)}
        self._prober = prober
        self._reporter = reporter
        self._seconds_left = seconds_left
        self._weights = weights
        self._purpose = f"{purpose}: " if purpose else ""
        self.search = self._rebuilt()

    @property
    def judge(self) -> Judge:
        """The judge, with what the ends have shown so far."""
        return judge_for(self._request, *(self._prober.known(self._ends.candidates[end]) for end in (0, -1)))

    def drive(self) -> Ending:
        """Search until there is a conclusion.

        Raises:
            EnvironmentFailureError: our side failed; the run can be resumed.
        """
        while True:
            ending = self._bracket().cannot_tell() or self._out_of_budget() or self._changed()
            if ending is not None:
                self._cancel_all()
                return ending
            decision = self._to_measure() or self._to_watch() or self.search.next(self._in_flight(), self._costs())
            if isinstance(decision, Conclusion):
                decision = self._to_look_into_a_change() or self._to_control(decision) or decision
            match decision:
                case Conclusion():
                    ending = self._ending(decision)
                    again = self._to_rebuild(ending)
                    if again is None:
                        return ending
                    self._take(self._prober.rebuild(*again))
                    continue
                case Probe():
                    self._prober.start(self._chain.candidates[decision.candidate], self._purpose + decision.why)
                    if len(self._in_flight()) < self._request.workers and not self._prober.has_finished:
                        continue
                case Wait():
                    pass
            for finished in self._prober.wait(self._seconds_left()):
                self._take(finished)
            self._cancel_useless()

    # What comes before the search's own choice, or between its conclusion and the blame.

    def _to_measure(self) -> Probe | Wait | None:
        """The ends come first, several times, where the limit of a metric is taken from them."""
        metric = self._request.metric
        if metric is None or metric.regress is None or self._ends is not self._chain:
            return None
        waiting = False
        flying = self._in_flight()
        for end, name in ((0, "good end"), (self._chain.steps, "bad end")):
            tried = self._known(end)
            done = len(tried.shown) if tried is not None else 0
            if done + flying.count(end) < END_RUNS:
                return Probe(end, name if tried is None else f"{name} again: its noise")
            waiting = waiting or done < END_RUNS
        return Wait() if waiting else None

    def _to_watch(self) -> Probe | None:
        """An end once more, now and then, where a run costs next to nothing beside a build: does it still hold?"""
        costs, told = self._costs(), self._told()
        if costs.run > CHEAP_RUN * costs.build or self._ends is not self._chain or self._in_flight():
            return None
        last = {end: told[end][-1].number for end in (0, self._chain.steps) if told.get(end)}
        latest = max((runs[-1].number for runs in told.values() if runs), default=0)
        if len(last) < 2 or latest - max(last.values()) < RUNS_BETWEEN_CONTROLS:
            return None
        end = min(last, key=lambda each: last[each])
        return Probe(end, f"{'good' if end == 0 else 'bad'} end once more: is it as it was?")

    def _to_look_into_a_change(self) -> Probe | None:
        """One more run of a candidate whose outcomes fall apart by time or host, to tell that from a flaky script."""
        found = find_change(self._told(), 1.0 - self._request.confidence)
        if found is None or found[2] or self._in_flight() or len(self._told()[found[0]]) >= MOST_RUNS:
            return None
        return Probe(found[0], "again: did something outside the pins change?")

    def _changed(self) -> Ending | None:
        """The ending where identical inputs gave different outcomes for a reason outside the pins."""
        found = find_change(self._told(), 1.0 - self._request.confidence)
        if found is None or not found[2] or self._ends is not self._chain:
            return None
        index, change, _ = found
        what = "hosts differ" if change.hosts[0] else "something outside the pins changed during the run"
        return Ending(
            Verdict.ENVIRONMENT,
            reason=f"identical inputs, different outcomes: {self._chain.candidates[index]} was {change}; {what}",
        )

    def _to_control(self, conclusion: Conclusion) -> Probe | None:
        """The bad end once more before anything is blamed (an A/A control), where its last run is not the latest."""
        if conclusion.kind not in ("culprit", "range") or self._ends is not self._chain or self._request.repeat == 1:
            return None
        told = self._told()
        last = max((run.number for run in told.get(self._chain.steps, ())), default=0)
        searched = [runs[0].number for index, runs in told.items() if index != self._chain.steps and runs]
        if not last or last > max(searched, default=0):
            return None
        return Probe(self._chain.steps, CONTROL)

    def _told(self) -> dict[int, list[Told]]:
        """Every run on the chain that passed or failed, by candidate."""
        judge = self.judge
        told: dict[int, list[Told]] = {}
        for tried in self._tried:
            index = self._index.get(tried.candidate)
            if index is None or tried.same_as is not None:
                continue
            judged = ((judge.outcome(shown.observation, shown.ended), shown) for shown in tried.shown)
            told[index] = [
                Told(outcome, shown.number, shown.host)
                for outcome, shown in judged
                if outcome in (Outcome.PASS, Outcome.FAIL)
            ]
        return told

    # What is known.

    @property
    def _tried(self) -> Sequence[Tried]:
        return tuple(self._prober.tried)

    def _known(self, index: int) -> Tried | None:
        return self._prober.known(self._chain.candidates[index])

    def _bracket(self) -> Bracket:
        return Bracket(self._request, self.judge, self._known(0), self._known(-1), enough=self._hits())

    def _in_flight(self) -> list[int]:
        return [self._index[candidate] for candidate in self._prober.in_flight if candidate in self._index]

    def _costs(self) -> Costs:
        return costs_of(self._tried)

    def _hits(self) -> int:
        return settings_of(self._request, self._tried).hits

    def _rebuilt(self) -> ChainSearch:
        return Replay(self._request, self._chain, self.judge, self._tried, self._weights).search

    def _cancel_useless(self) -> None:
        flying = self._in_flight()
        for index in self.search.useless(flying) if len(flying) > 1 else ():
            self._prober.cancel(self._chain.candidates[index])

    def _cancel_all(self) -> None:
        for index in self._in_flight():
            self._prober.cancel(self._chain.candidates[index])

    # What a probe showed.

    def _take(self, finished: Finished) -> None:
        if finished.cancelled:
            self._reporter(ProbeCancelled(finished.tried.entry.id, finished.tried.candidate))
            return
        self._report(finished)
        self.search = self._rebuilt()
        fix = self._request.first_good
        likely = self.search.suspects()
        suspects = tuple((step_name(self._chain, upper, first_good=fix), chance) for upper, chance in likely)
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
        judge = self.judge
        outcome = judge.outcome(shown.observation, shown.ended)
        detail = judge.said(shown.observation, shown.ended)
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

    def _expected_seconds_left(self) -> float | None:
        if not run_seconds(self._tried):
            return None
        costs = self._costs()
        return self.search.expected_builds_left() * (costs.build + costs.run)

    # How it ends.

    def _out_of_budget(self) -> Ending | None:
        if self._seconds_left() != 0.0:
            return None
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
            tried = self._known(index)
            if tried is not None and (tried.same_as or tried).builds == 1:
                return tried.candidate, f"{name}, built afresh"
        return None

    def _rule_out(self, lower: int, upper: int) -> None:
        """Ask the resolver about the candidates of a range that were not tried: what cannot be is not a suspect."""
        for index in range(lower + 1, upper):
            candidate = self._chain.candidates[index]
            if self._prober.known(candidate) is None and not self._prober.feasible(candidate):
                self._prober.probe(candidate, "can it be resolved?")

    def _ending(self, conclusion: Conclusion) -> Ending:
        if conclusion.kind == "range":
            self._rule_out(conclusion.lower, conclusion.upper)
        return ending_of(self._request, self._chain, self.search, conclusion, self._bracket(), self._known)

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
