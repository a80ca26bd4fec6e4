"""From the journal to the result: everything that a report says is read from the record, live or finished."""

import shlex
from collections import Counter
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from pydantic_core import ValidationError

from bisector.belief_history import belief_history
from bisector.bracket import CONTROL, Ending
from bisector.entries import BuildStatus
from bisector.journal import Journal
from bisector.judgement import overall
from bisector.model import Candidate, Outcome
from bisector.notes import notes_of
from bisector.recorded_run import RecordedRun
from bisector.report.labels import pins_phrase
from bisector.report.model import (
    AxisSummary,
    Culprit,
    Move,
    Result,
    Verdict,
)
from bisector.reproduction import command_again
from bisector.request import RunRequest
from bisector.rounds import FoundInRound
from bisector.runs import JOURNAL
from bisector.serial import adapter
from bisector.space import moves_between
from pins.model import PinKind

_BECAME = {
    Outcome.UNBUILDABLE: "not built",
    Outcome.OTHER: "failed in another way",
    Outcome.SKIP: "skipped by the script",
}


def result_of(journal: Journal, run_directory: Path) -> Result:
    """What a run has found so far.

    The verdict of a run that is not over is "interrupted" (or "infrastructure", where that stopped it).
    """
    return result_from(RecordedRun(journal, run_directory))


def result_from(run: RecordedRun) -> Result:
    """What has been found, from a record that was read already."""
    return _Assembly(run).result()


def load_result(run_directory: Path) -> Result:
    """The result of a run, live or finished, from its journal.

    Raises:
        UsageError, EnvironmentFailureError: there is no journal, or it cannot be read.
    """
    journal = Journal(run_directory / JOURNAL, writable=False)
    try:
        return result_of(journal, run_directory)
    except ValidationError as error:  # of what was decided, or of the request: their text is read where it is used
        raise journal.damaged(error.title) from error
    finally:
        journal.close()


class _Assembly:
    """Makes a result of what a run has shown."""

    def __init__(self, run: RecordedRun) -> None:
        self.run = run

    def result(self) -> Result:
        verdict = self._verdict()
        ending = self.run.ending if self.run.finished else None
        probes = tuple(self.run.probe(tried) for tried in self.run.tried.values())
        made = [build for build in self.run.builds if build.status in (BuildStatus.BUILT, BuildStatus.FAILED)]
        ended = [run for run in self.run.runs if run.ended is not None]
        found = self._culprits() if verdict is Verdict.CULPRIT and ending else []
        witnesses = self._witnesses(ending)
        failing = self.run.failing_run(witnesses[1] if witnesses else self.run.chain.candidates[-1])
        passing = self.run.run_with(witnesses[0], Outcome.PASS) if witnesses else None
        return Result(
            verdict=verdict,
            run_id=self.run.directory.name,
            run_directory=str(self.run.directory),
            created=datetime.fromisoformat(self.run.journal.meta("created")),
            axes=tuple(
                AxisSummary(axis.pin, axis.kind.value, axis.good, axis.bad, len(axis.values)) for axis in self.run.axes
            ),
            summary=self._summary(verdict),
            culprit=found[0] if found else None,
            further_culprits=tuple(found[1:]),
            first_good=self.run.request.first_good,
            control=tuple(self.run.outcome_of(run) for run in ended if run.why == CONTROL),
            metric=self.run.metric(),
            range=self._range(ending) if verdict is Verdict.RANGE and ending else (),
            confidence=ending.confidence if ending and witnesses else None,
            confidence_if_flaky=ending.confidence_if_flaky if ending and witnesses else None,
            signature=self.run.sought(failing),
            failing_output=self.run.output_of(failing),
            culprit_output=str(self.run.directory / failing.output) if failing and witnesses else "",
            predecessor_output=str(self.run.directory / passing.output) if passing else "",
            first_failing=self.run.first_failing(witnesses),
            other_failures=self.run.other_failures(),
            held_fixed=held_fixed(self.run.request, self.run.chain.candidates[0]),
            transitive=self.run.transitive(witnesses),
            chain_length=self.run.chain.steps + 1,
            builds=len(made),
            runs=len(ended),
            seconds=float(self.run.journal.meta("seconds") or 0.0),
            build_seconds=sum(build.seconds for build in made),
            run_seconds=sum(run.ended.seconds for run in ended if run.ended),
            fail_if_bad=ending.fail_if_bad if ending else None,
            fail_if_good=ending.fail_if_good if ending else None,
            probes=probes,
            belief=belief_history(self.run),
            reproduce=self._reproduce(),
            reproduce_in=self.run.journal.meta("directory"),
            resume=self._resume(),
            notes=notes_of(self.run, ending, witnesses),
            environment=self.run.journal.meta("environment"),
            exclude_newer=datetime.fromisoformat(self.run.journal.meta("exclude_newer")),
            facts=adapter(dict[str, str]).validate_json(self.run.journal.meta("facts")) | self._facts_of_hosts(),
        )

    def _facts_of_hosts(self) -> dict[str, str]:
        """What was recorded of each host, one line for each; empty where all was done on this machine."""
        recorded = adapter(dict[str, dict[str, str]]).validate_json(self.run.journal.meta("hosts") or "{}")
        return {
            f"host {name}": ", ".join(f"{label} {text}" for label, text in facts.items())
            for name, facts in recorded.items()
        }

    # The verdict.

    def _verdict(self) -> Verdict:
        if self.run.finished and self.run.ending is not None:
            return self.run.ending.verdict
        return Verdict.INFRASTRUCTURE if self.run.stopped not in (None, "interrupted") else Verdict.INTERRUPTED

    def _summary(self, verdict: Verdict) -> str:
        if verdict is Verdict.INFRASTRUCTURE:
            return self.run.stopped or ""
        if not self.run.finished or self.run.ending is None or verdict is Verdict.CULPRIT:
            return ""
        return self._why_a_range(self.run.ending) if verdict is Verdict.RANGE else self.run.ending.reason

    def _why_a_range(self, ending: Ending) -> str:
        """Between what the range lies, and what became of the candidates within."""
        assert ending.lower is not None
        assert ending.upper is not None
        lower, *between, upper = self.run.chain.candidates[ending.lower : ending.upper + 1]
        became: Counter[str] = Counter()
        for candidate in between:
            tried = self.run.tried.get(candidate)
            if tried is None:
                became["not tried"] += 1
            elif tried.feasible:
                became[_BECAME.get(overall(self.run.outcomes(tried)), "not decided")] += 1
        said = ", ".join(f"{number} {what}" for what, number in became.items())
        return f"{pins_phrase(lower)} passes and {pins_phrase(upper)} fails; of what lies between: {said or 'nothing'}"

    def _witnesses(self, ending: Ending | None) -> tuple[Candidate, Candidate] | None:
        """The last good and the first bad candidate of what was found."""
        if ending is None or ending.lower is None or ending.upper is None:
            return None
        return self.run.rounds[0].witnesses(ending)

    def _culprits(self) -> list[Culprit]:
        """What each search found, the first one first."""
        return [
            self._culprit(found, found.ending)
            for found in self.run.rounds
            if found.ending is not None and found.ending.verdict is Verdict.CULPRIT
        ]

    def _culprit(self, found: FoundInRound, ending: Ending) -> Culprit:
        assert ending.lower is not None
        assert ending.upper is not None
        lower, upper = found.witnesses(ending)
        moves = moves_between(lower, upper)
        axis = next(axis for axis in self.run.axes if axis.pin == moves[0].pin)
        change = axis.changed(moves[0].old, moves[0].new)
        if found.change is not None and found.change.commit is not None:
            change = found.change.commit
        culprit = Culprit(
            moves,
            axis.kind.value,
            change.date,
            url=axis.link.replace("{}", change.text),
            subject=change.subject,
            commit=change.text if axis.kind is PinKind.GIT else "",
            authored=change.authored,
            nested=found.change.nested if found.change is not None else (),
        )
        if len(self.run.axes) == 1:  # alone and removed are then the two witnesses themselves
            return replace(culprit, alone_on_good="fail", removed_from_bad="pass")
        certificate = found.certificate
        if certificate is None:
            return culprit
        return replace(
            culprit,
            partners=certificate.partners,
            alone_on_good=certificate.alone_on_good.value,
            removed_from_bad=certificate.removed_from_bad.value,
        )

    def _range(self, ending: Ending) -> tuple[Move, ...]:
        assert ending.lower is not None
        assert ending.upper is not None
        possible = [
            candidate
            for candidate in self.run.chain.candidates[ending.lower : ending.upper + 1]
            if candidate not in self.run.tried or self.run.tried[candidate].feasible
        ]
        return tuple(move for lower, upper in pairwise(possible) for move in moves_between(lower, upper))

    def _resume(self) -> str:
        """The command that goes on with a run that is not over; a single probe is made again instead."""
        over = self.run.finished or self.run.chain.steps == 0
        return "" if over else f"bisector resume {shlex.quote(self.run.directory.name)}"

    def _reproduce(self) -> str:
        request, journal = self.run.request, self.run.journal
        is_read = request.exclude_newer is None and request.images is None
        as_of = datetime.fromisoformat(journal.meta("exclude_newer")) if is_read else None
        git = [axis for axis in self.run.axes if axis.kind is PinKind.GIT]
        revisions = {axis.pin: (axis.good, axis.bad) for axis in git}
        if request.first_good:  # such axes are turned round
            revisions = {axis.pin: (axis.bad, axis.good) for axis in git}
        commits = {one.pin for one in request.repositories}
        fixed = {pin: value for pin, value in request.fixed if pin in commits and request.files is None}
        files = request.files
        ends = {"--good": files.good, "--bad": files.bad} if files is not None and files.good else {}
        return command_again(request.command_line, revisions, as_of, fixed=fixed, ends=ends)


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
