"""What a run has shown: each candidate, each failure, and what differs between two candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from bisector.bracket import judge_build, judge_for, measurements
from bisector.entries import Decision, RunEntry
from bisector.journal import Journal
from bisector.judgement import Judge, overall
from bisector.metric import read_metric
from bisector.model import Axis, Candidate, Outcome, Signature
from bisector.record import Tried, build_signature, tried_so_far
from bisector.report.model import MetricSummary, OtherFailure, ProbeRecord, RunRecord, TransitiveChange
from bisector.request import RunRequest
from bisector.rounds import chain_of, rounds_of
from bisector.serial import adapter

Found = TypeVar("Found")

FAILING_OUTPUT = 16_000
"""Characters of the failing output that a result carries."""


class RecordedRun:
    """A run as its journal tells it; the journal is read once.

    Attributes:
        directory: where the run is kept.
        request: what was asked for.
        axes, chain: what is searched; `index` has the place of each candidate on the chain.
        tried: what is known of each candidate that was chosen.
        builds, runs: every one, in order.
        judge: says what a run means.
        rounds: the searches; `ending` and `certificate` are those of the first.
        finished: whether the run is over. `stopped`: what stopped it, None where nothing did.
    """

    def __init__(self, journal: Journal, run_directory: Path, changes: Mapping[str, object] | None = None) -> None:
        """Read the journal; `changes` are fields of the request that are to be taken otherwise than they were."""
        self.journal = journal
        self.directory = run_directory
        request: RunRequest = adapter(RunRequest).validate_json(journal.meta("request"))
        self.request = replace(request, **(changes or {}))  # type: ignore[arg-type]
        self.axes: tuple[Axis, ...] = adapter(tuple[Axis, ...]).validate_json(journal.meta("axes"))
        self.chain = chain_of(journal)
        self.tried = tried_so_far(journal)
        self.builds = list(journal.builds())
        self.runs = list(journal.runs())
        self.judge: Judge = judge_for(self.request, *(self.tried.get(self.chain.candidates[end]) for end in (0, -1)))
        decisions = list(journal.decisions())
        self.rounds = rounds_of(decisions, self.chain)
        self.ending = self.rounds[0].ending
        self.certificate = self.rounds[0].certificate
        self.chain = self.rounds[0].chain
        self.axes = self.rounds[0].axes or self.axes
        self.index = {candidate: index for index, candidate in enumerate(self.chain.candidates)}
        self.finished = bool(decisions) and any(decision.kind == "finished" for decision in decisions)
        self.stopped = _last(decisions, "stopped", str)

    def outcomes(self, tried: Tried) -> list[Outcome]:
        """What a candidate has shown so far, run by run; a failed build is one outcome."""
        if tried.same_as is not None:
            tried = tried.same_as
        if tried.unbuildable:
            return [judge_build(self.judge, tried, self.request.build_failure_is)]
        return [self.judge.outcome(shown.observation, shown.ended) for shown in tried.shown]

    def probe(self, tried: Tried) -> ProbeRecord:
        """What a report says of one candidate."""
        builds = [build for build in self.builds if build.probe == tried.entry.id]
        runs = tuple(self._run(run) for run in self.runs if run.probe == tried.entry.id and run.observation is not None)
        outcomes = self.outcomes(tried)
        origin = tried.same_as or tried
        signatures = [run.signature for run in runs if run.signature is not None]
        signature = build_signature(origin) if tried.unbuildable and tried.feasible else None
        reasons = [run.reason for run in runs if run.outcome is Outcome.INFRA]
        reason = tried.unbuildable or (f"the same build as {origin.entry.id}" if tried.same_as else "")
        return ProbeRecord(
            id=tried.entry.id,
            step=self.index.get(tried.candidate),
            candidate=tried.candidate,
            outcome=overall(outcomes),
            why=tried.entry.why,
            reason=reason or "; ".join(reasons),
            built=tried.feasible and tried.same_as is None,
            signature=signatures[-1] if signatures else signature,
            build_seconds=sum(build.seconds for build in builds),
            build_log=str(self.directory / builds[-1].log) if builds else "",
            runs=runs,
            input_hash=tried.recipe.input_hash if tried.recipe else "",
            content_identity=tried.build.content_identity if tried.build else "",
            host=next((run.host for run in self.runs if run.probe == tried.entry.id), ""),
            approximate=_is_approximate(tried),
            image_digest=_digest_in(tried.build.location) if tried.build else "",
        )

    def outcome_of(self, run: RunEntry) -> Outcome:
        """What one run showed that has ended."""
        assert run.ended is not None
        assert run.observation is not None
        return self.judge.outcome(run.observation, run.ended)

    def metric(self) -> MetricSummary | None:
        """The number that decides, with what the ends measured; None where the exit status does."""
        asked, limit = self.request.metric, self.judge.limit
        if asked is None:
            return None
        ends = [self.tried.get(self.chain.candidates[end]) for end in (0, -1)]
        good, bad = (
            None if one is None else (one.mean, one.deviation, one.runs) for one in measurements(self.request, *ends)
        )
        if limit is None:
            return MetricSummary(asked.name, None, asked.worse != "lower", good, bad)
        return MetricSummary(asked.name, limit.value, limit.at_most, good, bad)

    def _run(self, run: RunEntry) -> RunRecord:
        assert run.ended is not None
        assert run.observation is not None
        measured = run.observation.kind == "pass" and self.judge.metric
        return RunRecord(
            outcome=self.outcome_of(run),
            seconds=run.ended.seconds,
            log=str(self.directory / run.log),
            output=str(self.directory / run.output),
            signature=run.observation.signature,
            reason=run.observation.reason,
            value=read_metric(run.ended.output, self.judge.metric) if measured else None,
        )

    def run_with(self, candidate: Candidate, outcome: Outcome) -> RunEntry | None:
        """The first run of a candidate with this outcome."""
        tried = self.tried.get(candidate)
        origin = (tried.same_as or tried) if tried else None
        for run in self.runs:
            if origin is None or run.probe != origin.entry.id or run.observation is None or run.ended is None:
                continue
            if self.judge.outcome(run.observation, run.ended) is outcome:
                return run
        return None

    def failing_run(self, candidate: Candidate) -> RunEntry | None:
        """A run that shows the failure that is sought: of this candidate, else of the bad end."""
        return self.run_with(candidate, Outcome.FAIL) or self.run_with(self.chain.candidates[-1], Outcome.FAIL)

    def output_of(self, run: RunEntry | None) -> str:
        """The end of what a run printed; without a run, of what the build of the bad end printed."""
        if run is not None and run.ended is not None:
            return (run.ended.errors or run.ended.output)[-FAILING_OUTPUT:]
        tried = self.tried.get(self.chain.candidates[-1])
        if tried is not None and tried.build_ended is not None:
            return (tried.build_ended.errors or tried.build_ended.output)[-FAILING_OUTPUT:]
        return ""

    def sought(self, failing: RunEntry | None) -> Signature | None:
        """The signature of the failure that is sought."""
        if self.judge.limit is not None:
            return Signature("exit 0", "", f"not {self.judge.limit}")
        if failing is not None and failing.observation is not None and failing.observation.signature is not None:
            return failing.observation.signature
        return self.judge.sought[0] if self.judge.sought else None

    def first_failing(self, witnesses: tuple[Candidate, Candidate] | None) -> Candidate | None:
        """The first candidate on the chain that failed in any way, where it is not the first bad one."""
        failed = [
            (self.index[tried.candidate], tried.candidate)
            for tried in self.tried.values()
            if tried.candidate in self.index
            and not (tried.unbuildable and not tried.feasible)
            and any(outcome in (Outcome.FAIL, Outcome.OTHER, Outcome.UNBUILDABLE) for outcome in self.outcomes(tried))
        ]
        if not failed or witnesses is None:
            return None
        first = min(failed)[1]
        return None if first == witnesses[1] else first

    def other_failures(self) -> tuple[OtherFailure, ...]:
        """Failures that are not the one that is sought, each with the candidates that show it."""
        seen: dict[Signature, list[Candidate]] = {}
        for tried in self.tried.values():
            for shown in tried.shown:
                outcome = self.judge.outcome(shown.observation, shown.ended)
                if outcome is Outcome.OTHER and shown.observation.signature is not None:
                    candidates = seen.setdefault(shown.observation.signature, [])
                    if tried.candidate not in candidates:
                        candidates.append(tried.candidate)
        return tuple(OtherFailure(signature, tuple(candidates)) for signature, candidates in seen.items())

    def transitive(self, witnesses: tuple[Candidate, Candidate] | None) -> tuple[TransitiveChange, ...]:
        """What nobody pinned and what differs all the same between predecessor and culprit."""
        if witnesses is None:
            return ()
        versions = [self._installed(candidate) for candidate in witnesses]
        pinned = {axis.pin for axis in self.axes}
        names = sorted((versions[0].keys() | versions[1].keys()) - pinned)
        return tuple(
            TransitiveChange(name, versions[0].get(name, ""), versions[1].get(name, ""))
            for name in names
            if versions[0].get(name) != versions[1].get(name)
        )

    def _installed(self, candidate: Candidate) -> dict[str, str]:
        tried = self.tried.get(candidate)
        if tried is None:
            return {}
        origin = tried.same_as or tried
        if origin.build is not None and origin.build.installed:
            return dict(origin.build.installed)
        return dict(origin.recipe.resolved) if origin.recipe else {}

    def identity(self, candidate: Candidate) -> str:
        """The content identity of a candidate's build, "" where it is not known."""
        tried = self.tried.get(candidate)
        return tried.build.content_identity if tried and tried.build else ""


def _last(decisions: Sequence[Decision], kind: str, form: type[Found]) -> Found | None:
    bodies = [decision.body for decision in decisions if decision.kind == kind]
    found: Found | None = adapter(form).validate_json(bodies[-1]) if bodies else None
    return found


def _is_approximate(tried: Tried) -> bool:
    """Whether no full build stands behind what a candidate showed: stages of its image were built once for all."""
    origin = tried.same_as or tried
    return origin.builds == 1 and origin.recipe is not None and bool(origin.recipe.instructions.get("approximate"))


def _digest_in(location: str) -> str:
    """The digest of an image that lies there, "" where it is none."""
    digest = location.rpartition("@")[2]
    return digest if digest.startswith("sha256:") else ""
