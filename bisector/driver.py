"""The loop: ask the search for the next candidate, probe it, tell the search what it showed, until it concludes."""

from collections.abc import Callable, Sequence

from bisector.bracket import Bracket, Ending, judge_build, judge_for
from bisector.build_costs import turns_of
from bisector.certificate import Standing
from bisector.controls import (
    HostProbe,
    changed,
    hosts_that_hang,
    to_compare,
    to_control,
    to_look_into_a_change,
    to_measure,
    to_repeat_a_hang,
    to_settle_hosts,
    to_watch,
)
from bisector.drift import Told
from bisector.endings import ending_of
from bisector.events import Note, ProbeCancelled, Reporter, SearchMoved, SmokeEnded
from bisector.judgement import Judge
from bisector.model import Candidate, Outcome
from bisector.prober import Finished, Prober
from bisector.record import Shown, Tried
from bisector.replay import Replay, costs_of, run_seconds, settings_of, step_name
from bisector.report.model import Verdict
from bisector.request import RunRequest
from bisector.search import ChainSearch, Conclusion, Costs, Decision, Observation, Probe, Replication, Wait
from bisector.space import Chain
from pins.errors import EnvironmentFailureError

INFRA_TRIES = 3
"""Runs of one candidate that may break for a reason of the machine before the whole run stops."""


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
        self._turns = turns_of(chain.candidates)
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
            ending = self._bracket().cannot_tell() or self._out_of_budget()
            if ending is None and self._is_main:
                ending = changed(self._request, self._chain, self._told(), self._prober.hosts.differences)
            if ending is not None:
                self._cancel_all()
                return ending
            decision = self._due() or self.search.next(self._in_flight(), self._costs())
            if isinstance(decision, Conclusion):
                decision = self._before_concluding(decision)
            match decision:
                case Conclusion():
                    if self._drain():
                        continue
                    ending = self._ending(decision)
                    again = self._to_rebuild(ending)
                    if again is None:
                        return ending
                    self._take(self._prober.rebuild(*again))
                    continue
                case Probe():
                    host = decision.host if isinstance(decision, HostProbe) else ""
                    self._prober.start(self._chain.candidates[decision.candidate], self._purpose + decision.why, host)
                    if len(self._in_flight()) < self._request.workers and not self._prober.has_finished:
                        continue
                case Wait():
                    pass
            for finished in self._prober.wait(self._seconds_left()):
                self._take(finished)
            self._cancel_useless()

    # What comes before the search's own choice, or between its conclusion and the blame.

    @property
    def _is_main(self) -> bool:
        """Whether this is the run's own search, not one for a partner."""
        return self._ends is self._chain

    def _due(self) -> Probe | Wait | None:
        """What is to be run before the search is asked."""
        if not self._is_main:
            return None
        flying = self._in_flight()
        due = to_measure(self._request, self._chain, self._known, flying)
        hosts = self._prober.hosts.names
        if due is None and hosts:
            due = to_repeat_a_hang(self._shown(), self._chain.steps, hosts) or to_settle_hosts(self._told(), hosts)
            if due is not None and due.candidate in flying:
                due = Wait()
        return due or (None if flying else to_watch(self._chain, self._told(), self._costs()))

    def _before_concluding(self, conclusion: Conclusion) -> Decision:
        """What is to be run, or waited for, before a conclusion is drawn; else the conclusion."""
        told = self._told()
        hosts = self._prober.hosts.names
        due = to_look_into_a_change(self._request, told)
        if due is None and self._is_main:
            due = to_compare(self._chain, conclusion, told, hosts)
            due = due or to_control(self._request, self._chain, conclusion, told, hosts)
        if due is not None and due.candidate in self._in_flight():
            return Wait()
        return due or conclusion

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

    def _shown(self) -> dict[int, Sequence[Shown]]:
        """Every run on the chain, by candidate."""
        indexed = ((self._index.get(tried.candidate), tried) for tried in self._tried if tried.same_as is None)
        return {index: tried.shown for index, tried in indexed if index is not None}

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
        return costs_of(self._tried, self._chain, self._turns)

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

    def _drain(self) -> bool:
        """End what still runs, since what follows runs one candidate at a time; whether one of them told something."""
        self._cancel_all()
        told = False
        while self._in_flight():
            for finished in self._prober.wait():
                told = told or not finished.cancelled
                self._take(finished)
        return told

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
        for host in hosts_that_hang(tried.shown) & set(self._prober.hosts.names):
            why = f"the time of {where} ran out there, and not on {shown.host}"
            self._prober.hosts.set_aside(host, why)
            self._reporter(Note(f"the host {host} is used no more: {why}", warning=True))
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
        return self.search.expected_seconds_left(self._costs())

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

    def first_outcome(self, candidate: Candidate, why: str) -> Outcome:
        """What the first run of a candidate showed that says something, or its build; run now if it is not on record.

        Raises:
            EnvironmentFailureError: our side failed; the run can be resumed.
        """
        while True:
            tried = self._prober.known(candidate)
            tried = (tried.same_as or tried) if tried is not None else None
            if tried is not None and tried.unbuildable:
                return judge_build(self.judge, tried, self._request.build_failure_is)
            for shown in tried.shown if tried is not None else ():
                outcome = self.judge.outcome(shown.observation, shown.ended)
                if outcome is not Outcome.INFRA:
                    return outcome
            if self._out_of_budget() is not None:
                return Outcome.INFRA
            self._report(self._prober.probe(candidate, why))

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
