"""From the journal to the result: everything that a report says is read from the record, live or finished."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from bisector.bracket import Ending, Round, judge_build, judge_for
from bisector.certificate import Certificate
from bisector.entries import BuildStatus, Decision, RunEntry
from bisector.journal import Journal
from bisector.judgement import Judge, overall
from bisector.model import Axis, Candidate, Outcome, Signature
from bisector.record import Tried, build_signature, tried_so_far
from bisector.report.labels import pins_phrase
from bisector.report.model import (
    AxisSummary,
    Culprit,
    Move,
    OtherFailure,
    ProbeRecord,
    Result,
    RunRecord,
    TransitiveChange,
    Verdict,
)
from bisector.request import RunRequest
from bisector.runs import JOURNAL
from bisector.serial import adapter
from bisector.space import Chain, moves_between

CHAIN = tuple[tuple[tuple[str, str], ...], ...]
"""How a chain is recorded: the pins of each candidate."""

Found = TypeVar("Found")

_BECAME = {
    Outcome.UNBUILDABLE: "not built",
    Outcome.OTHER: "failed in another way",
    Outcome.SKIP: "skipped by the script",
}

FAILING_OUTPUT = 16_000
"""Characters of the failing output that a result carries."""


def chain_of(journal: Journal) -> Chain:
    """The chain that a run searches."""
    return Chain(tuple(Candidate(pins) for pins in adapter(CHAIN).validate_json(journal.meta("chain"))))


def result_of(journal: Journal, run_directory: Path) -> Result:
    """What a run has found so far.

    The verdict of a run that is not over is "interrupted" (or "infrastructure", where that stopped it).
    """
    return _Assembly(journal, run_directory).result()


def load_result(run_directory: Path) -> Result:
    """The result of a run, live or finished, from its journal.

    Raises:
        UsageError, EnvironmentFailureError: there is no journal, or it cannot be read.
    """
    journal = Journal(run_directory / JOURNAL, writable=False)
    try:
        return result_of(journal, run_directory)
    finally:
        journal.close()


@dataclass(frozen=True)
class FoundInRound:
    """What one search came to: its chain, its ending and its swap test, as far as they are on record."""

    chain: Chain
    ending: Ending | None = None
    certificate: Certificate | None = None


def rounds_of(decisions: Sequence[Decision], chain: Chain) -> list[FoundInRound]:
    """The searches of a run, the first one first; what was decided again after a resume replaces what was before."""
    rounds: dict[int, FoundInRound] = {1: FoundInRound(chain)}
    number = 1
    for decision in decisions:
        match decision.kind:
            case "round":
                begun: Round = adapter(Round).validate_json(decision.body)
                number = begun.number
                rounds = {each: found for each, found in rounds.items() if each < number}
                along = Chain(tuple(Candidate(pins) for pins in begun.chain)) if begun.chain else chain
                rounds[number] = FoundInRound(along)
            case "ending":
                rounds[number] = replace(rounds[number], ending=adapter(Ending).validate_json(decision.body))
            case "certificate":
                certificate: Certificate = adapter(Certificate).validate_json(decision.body)
                rounds[number] = replace(rounds[number], certificate=certificate)
    return [rounds[number] for number in sorted(rounds)]


class _Assembly:
    """Reads the journal once, and answers from it."""

    def __init__(self, journal: Journal, run_directory: Path) -> None:
        self.journal = journal
        self.directory = run_directory
        self.request: RunRequest = adapter(RunRequest).validate_json(journal.meta("request"))
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
        self.index = {candidate: index for index, candidate in enumerate(self.chain.candidates)}
        self.finished = bool(decisions) and any(decision.kind == "finished" for decision in decisions)
        self.stopped = _last(decisions, "stopped", str)

    def result(self) -> Result:
        verdict = self._verdict()
        ending = self.ending if self.finished else None
        probes = tuple(self._probe(tried) for tried in self.tried.values())
        made = [build for build in self.builds if build.status in (BuildStatus.BUILT, BuildStatus.FAILED)]
        ended = [run for run in self.runs if run.ended is not None]
        culprit = self._culprit(ending) if verdict is Verdict.CULPRIT and ending else None
        witnesses = self._witnesses(ending)
        failing = self._failing_run(witnesses[1] if witnesses else self.chain.candidates[-1])
        passing = self._run_with(witnesses[0], Outcome.PASS) if witnesses else None
        return Result(
            verdict=verdict,
            run_id=self.directory.name,
            run_directory=str(self.directory),
            created=datetime.fromisoformat(self.journal.meta("created")),
            axes=tuple(
                AxisSummary(axis.pin, axis.kind.value, axis.good, axis.bad, len(axis.values)) for axis in self.axes
            ),
            summary=self._summary(verdict),
            culprit=culprit,
            range=self._range(ending) if verdict is Verdict.RANGE and ending else (),
            confidence=ending.confidence if ending and witnesses else None,
            confidence_if_flaky=ending.confidence_if_flaky if ending and witnesses else None,
            signature=self._sought(failing),
            failing_output=self._output_of(failing),
            culprit_output=str(self.directory / failing.output) if failing and witnesses else "",
            predecessor_output=str(self.directory / passing.output) if passing else "",
            first_failing=self._first_failing(witnesses),
            other_failures=self._other_failures(),
            held_fixed=held_fixed(self.request, self.chain.candidates[0]),
            transitive=self._transitive(witnesses),
            chain_length=self.chain.steps + 1,
            builds=len(made),
            runs=len(ended),
            seconds=float(self.journal.meta("seconds") or 0.0),
            build_seconds=sum(build.seconds for build in made),
            run_seconds=sum(run.ended.seconds for run in ended if run.ended),
            fail_if_bad=ending.fail_if_bad if ending else None,
            fail_if_good=ending.fail_if_good if ending else None,
            probes=probes,
            reproduce=self._reproduce(),
            resume="" if self.finished else f"bisector resume {self.directory.name}",
            notes=self._notes(ending, witnesses),
            environment=self.journal.meta("environment"),
            exclude_newer=datetime.fromisoformat(self.journal.meta("exclude_newer")),
            facts=adapter(dict[str, str]).validate_json(self.journal.meta("facts")),
        )

    # The verdict.

    def _verdict(self) -> Verdict:
        if self.finished and self.ending is not None:
            return self.ending.verdict
        return Verdict.INFRASTRUCTURE if self.stopped not in (None, "interrupted") else Verdict.INTERRUPTED

    def _summary(self, verdict: Verdict) -> str:
        if verdict is Verdict.INFRASTRUCTURE:
            return self.stopped or ""
        if not self.finished or self.ending is None or verdict is Verdict.CULPRIT:
            return ""
        return self._why_a_range(self.ending) if verdict is Verdict.RANGE else self.ending.reason

    def _why_a_range(self, ending: Ending) -> str:
        """Between what the range lies, and what became of the candidates within."""
        assert ending.lower is not None
        assert ending.upper is not None
        lower, *between, upper = self.chain.candidates[ending.lower : ending.upper + 1]
        became: Counter[str] = Counter()
        for candidate in between:
            tried = self.tried.get(candidate)
            if tried is None:
                became["not tried"] += 1
            elif tried.feasible:
                became[_BECAME.get(overall(self._outcomes(tried)), "not decided")] += 1
        said = ", ".join(f"{number} {what}" for what, number in became.items())
        return f"{pins_phrase(lower)} passes and {pins_phrase(upper)} fails; of what lies between: {said or 'nothing'}"

    def _witnesses(self, ending: Ending | None) -> tuple[Candidate, Candidate] | None:
        """The last good and the first bad candidate of what was found."""
        if ending is None or ending.lower is None or ending.upper is None:
            return None
        return self.chain.candidates[ending.lower], self.chain.candidates[ending.upper]

    def _culprit(self, ending: Ending) -> Culprit:
        assert ending.lower is not None
        assert ending.upper is not None
        moves = moves_between(self.chain.candidates[ending.lower], self.chain.candidates[ending.upper])
        axis = next(axis for axis in self.axes if axis.pin == moves[0].pin)
        date = next((value.date for value in axis.values if value.text == moves[0].new), None)
        if len(self.axes) == 1:  # alone and removed are then the two witnesses themselves
            return Culprit(moves, axis.kind.value, date, alone_on_good="fail", removed_from_bad="pass")
        found = self.certificate
        if found is None:
            return Culprit(moves, axis.kind.value, date)
        return Culprit(
            moves,
            axis.kind.value,
            date,
            partners=found.partners,
            alone_on_good=found.alone_on_good.value,
            removed_from_bad=found.removed_from_bad.value,
        )

    def _range(self, ending: Ending) -> tuple[Move, ...]:
        assert ending.lower is not None
        assert ending.upper is not None
        possible = [
            candidate
            for candidate in self.chain.candidates[ending.lower : ending.upper + 1]
            if candidate not in self.tried or self.tried[candidate].feasible
        ]
        return tuple(move for lower, upper in pairwise(possible) for move in moves_between(lower, upper))

    def _reproduce(self) -> str:
        """The command as it was typed, reading the index as of the same time."""
        words = list(self.request.command_line)
        if words and self.request.exclude_newer is None:
            time = datetime.fromisoformat(self.journal.meta("exclude_newer"))
            end = words.index("--") if "--" in words else len(words)
            words[end:end] = ["--exclude-newer", time.isoformat(timespec="seconds").replace("+00:00", "Z")]
        return shlex.join(words)

    # What each candidate showed.

    def _outcomes(self, tried: Tried) -> list[Outcome]:
        if tried.same_as is not None:
            tried = tried.same_as
        if tried.unbuildable:
            return [judge_build(self.judge, tried, self.request.build_failure_is)]
        return [self.judge.outcome(shown.observation, shown.ended) for shown in tried.shown]

    def _probe(self, tried: Tried) -> ProbeRecord:
        builds = [build for build in self.builds if build.probe == tried.entry.id]
        runs = tuple(self._run(run) for run in self.runs if run.probe == tried.entry.id and run.observation is not None)
        outcomes = self._outcomes(tried)
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
            image_digest=tried.build.location if tried.build and tried.build.location.startswith("sha256:") else "",
        )

    def _run(self, run: RunEntry) -> RunRecord:
        assert run.ended is not None
        assert run.observation is not None
        return RunRecord(
            outcome=self.judge.outcome(run.observation, run.ended),
            seconds=run.ended.seconds,
            log=str(self.directory / run.log),
            output=str(self.directory / run.output),
            signature=run.observation.signature,
            reason=run.observation.reason,
        )

    def _run_with(self, candidate: Candidate, outcome: Outcome) -> RunEntry | None:
        tried = self.tried.get(candidate)
        origin = (tried.same_as or tried) if tried else None
        for run in self.runs:
            if origin is None or run.probe != origin.entry.id or run.observation is None or run.ended is None:
                continue
            if self.judge.outcome(run.observation, run.ended) is outcome:
                return run
        return None

    def _failing_run(self, candidate: Candidate) -> RunEntry | None:
        return self._run_with(candidate, Outcome.FAIL) or self._run_with(self.chain.candidates[-1], Outcome.FAIL)

    def _output_of(self, run: RunEntry | None) -> str:
        if run is not None and run.ended is not None:
            return (run.ended.errors or run.ended.output)[-FAILING_OUTPUT:]
        tried = self.tried.get(self.chain.candidates[-1])
        if tried is not None and tried.build_ended is not None:
            return (tried.build_ended.errors or tried.build_ended.output)[-FAILING_OUTPUT:]
        return ""

    def _sought(self, failing: RunEntry | None) -> Signature | None:
        if failing is not None and failing.observation is not None and failing.observation.signature is not None:
            return failing.observation.signature
        return self.judge.sought[0] if self.judge.sought else None

    def _first_failing(self, witnesses: tuple[Candidate, Candidate] | None) -> Candidate | None:
        """The first candidate on the chain that failed in any way, where it is not the first bad one."""
        failed = [
            (self.index[tried.candidate], tried.candidate)
            for tried in self.tried.values()
            if tried.candidate in self.index
            and not (tried.unbuildable and not tried.feasible)
            and any(outcome in (Outcome.FAIL, Outcome.OTHER, Outcome.UNBUILDABLE) for outcome in self._outcomes(tried))
        ]
        if not failed or witnesses is None:
            return None
        first = min(failed)[1]
        return None if first == witnesses[1] else first

    def _other_failures(self) -> tuple[OtherFailure, ...]:
        seen: dict[Signature, list[Candidate]] = {}
        for tried in self.tried.values():
            for shown in tried.shown:
                outcome = self.judge.outcome(shown.observation, shown.ended)
                if outcome is Outcome.OTHER and shown.observation.signature is not None:
                    candidates = seen.setdefault(shown.observation.signature, [])
                    if tried.candidate not in candidates:
                        candidates.append(tried.candidate)
        return tuple(OtherFailure(signature, tuple(candidates)) for signature, candidates in seen.items())

    def _transitive(self, witnesses: tuple[Candidate, Candidate] | None) -> tuple[TransitiveChange, ...]:
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

    def _notes(self, ending: Ending | None, witnesses: tuple[Candidate, Candidate] | None) -> tuple[str, ...]:
        notes: list[str] = []
        if witnesses is not None:
            identities = [self._identity(candidate) for candidate in witnesses]
            if identities[0] and identities[0] == identities[1]:
                notes.append(
                    "the step changes nothing in what was built, so that it cannot be the cause: the script is flaky,"
                    " or something outside the candidates changed"
                )
        if self.certificate is not None and self.certificate.removed_from_bad.value == "fail":
            notes.append("with the culprit taken out, the bad set still fails: a second, independent culprit is there")
        if self.certificate is not None and not self.certificate.partners_certain:
            notes.append("not every partner could be checked: some sets of the swap test could not be run")
        if ending is not None and ending.verdict is Verdict.CULPRIT and ending.lower is not None and ending.upper:
            passed_by = self.chain.candidates[ending.lower + 1 : ending.upper]
            if passed_by:
                names = "; ".join(str(candidate) for candidate in passed_by[:5])
                more = f" and {len(passed_by) - 5} more" if len(passed_by) > 5 else ""
                notes.append(f"between predecessor and culprit lie candidates that cannot be resolved: {names}{more}")
        if any(outcome is Outcome.OTHER for tried in self.tried.values() for outcome in self._outcomes(tried)):
            notes.append(
                "some candidates fail in another way than the bad end; if that is the failure you look for, name it"
                " with --expect REGEX, or count every failure with --any-failure"
            )
        return tuple(notes)

    def _identity(self, candidate: Candidate) -> str:
        tried = self.tried.get(candidate)
        return tried.build.content_identity if tried and tried.build else ""


def _last(decisions: Sequence[Decision], kind: str, form: type[Found]) -> Found | None:
    bodies = [decision.body for decision in decisions if decision.kind == kind]
    found: Found | None = adapter(form).validate_json(bodies[-1]) if bodies else None
    return found


def held_fixed(request: RunRequest, candidate: Candidate) -> tuple[tuple[str, str], ...]:
    """What every candidate has in common by the user's own word: requirements that are pinned, fixed pins."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    fixed = dict(request.fixed)
    for text in request.requirements.requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        name = canonicalize_name(requirement.name)
        if name not in candidate:
            fixed[name] = str(requirement.specifier) or str(requirement.url or "any")
    return tuple(sorted(fixed.items()))
