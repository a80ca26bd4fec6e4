"""Whether the two ends bracket the failure, and what is sought between them.

Everything here is read from what the ends have shown; nothing is run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bisector.judgement import Judge
from bisector.metric import Measured, limit_of, measured, read_metric
from bisector.model import AxisValue, Outcome
from bisector.record import Shown, Tried, build_signature
from bisector.report.model import NestedMove, Verdict
from bisector.report.wording import count
from bisector.request import BuildFailureIs, RunRequest
from pins.errors import NoSolutionError

CONTROL = "A/A control: the bad end once more"
"""Why the bad end runs again before anything is blamed; the report looks for it."""
Pins = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Ending:
    """What the search came to.

    Attributes:
        verdict: how the run ended.
        lower, upper: indices on the chain around the step, or the range, that was found; None without one.
        confidence: probability of the named step. confidence_if_flaky: the same if the script is flaky at all.
        fail_if_good, fail_if_bad: the estimated rates.
        reason: why, where the verdict is not a culprit.
    """

    verdict: Verdict
    lower: int | None = None
    upper: int | None = None
    confidence: float | None = None
    confidence_if_flaky: float | None = None
    fail_if_good: float | None = None
    fail_if_bad: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class CommitChange:
    """What looking at the parents of a culprit came to.

    Attributes:
        commit: whose change it is; None where the culprit is none between two commits.
        parent: of it, that was seen to pass, where the last good commit of the chain is none; else "".
        note: what is to be said of its parents, "" for nothing.
        nested: pins within its tree that it moves.
    """

    commit: AxisValue | None
    parent: str = ""
    note: str = ""
    nested: tuple[NestedMove, ...] = ()


@dataclass(frozen=True)
class Round:
    """One search of the investigation, as it is recorded before it begins.

    Attributes:
        number: 1 for the run's own chain; what follows searches for a further culprit.
        chain: the pins of each candidate, empty for the run's own chain.
    """

    number: int
    chain: tuple[Pins, ...] = ()


def values_of(name: str, tried: Tried | None) -> tuple[float, ...]:
    """The values that a candidate's runs printed."""
    if tried is None:
        return ()
    passed = ((tried.same_as or tried).shown) if name else ()
    values = (read_metric(shown.ended.output, name) for shown in passed if shown.observation.kind == "pass")
    return tuple(value for value in values if value is not None)


def measurements(request: RunRequest, good_end: Tried | None, bad_end: Tried | None) -> list[Measured | None]:
    """What the runs of the good end, and of the bad end, printed; None without a value."""
    name = request.metric.name if request.metric else ""
    return [measured(values_of(name, end)) for end in (good_end, bad_end)]


def judge_for(request: RunRequest, good_end: Tried | None, bad_end: Tried | None) -> Judge:
    """The judge that knows the failures seen at the bad end, and what the ends measured."""
    judge = Judge(expect=request.expect, any_failure=request.any_failure, timeout_is=request.timeout_is)
    if request.metric is not None:
        limit = limit_of(request.metric, *measurements(request, good_end, bad_end))
        judge = replace(judge, metric=request.metric.name, limit=limit)
    if bad_end is None:
        return judge
    signatures = [shown.observation.signature for shown in bad_end.shown if shown.observation.kind == "fail"]
    if request.build_failure_is is BuildFailureIs.FAIL:
        signatures.append(build_signature(bad_end))
    return replace(
        judge,
        sought=tuple(dict.fromkeys(signature for signature in signatures if signature is not None)),
        bad_end_timed_out=hangs(bad_end.shown),
    )


def hangs(runs: Sequence[Shown]) -> bool:
    """Whether the time of a candidate ran out, and not on some hosts alone."""
    hung = {shown.host for shown in runs if shown.observation.kind == "timeout"}
    ended = {shown.host for shown in runs if shown.observation.kind in ("pass", "fail")}
    return bool(hung) and not ended - hung


def judge_build(judge: Judge, tried: Tried, build_failure_is: BuildFailureIs) -> Outcome:
    """What a failed build means."""
    signature = build_signature(tried)
    if build_failure_is is not BuildFailureIs.FAIL or signature is None or tried.build_ended is None:
        return Outcome.UNBUILDABLE
    return judge.failure(signature, tried.build_ended)


@dataclass(frozen=True)
class Bracket:
    """The two ends, as far as they have run.

    Attributes:
        request: what was asked for.
        judge: knows what is sought.
        good: the good end, None before it was chosen.
        bad: the bad end.
        enough: runs that tell nothing after which an end is given up.
    """

    request: RunRequest
    judge: Judge
    good: Tried | None
    bad: Tried | None
    enough: int = 1

    def cannot_tell(self) -> Ending | None:
        """The ending where an end says nothing: it cannot be built, is skipped, or fails in a way not looked for.

        Raises:
            NoSolutionError: the pins of an end exclude one another.
        """
        for tried, name in ((self.good, "good"), (self.bad, "bad")):
            if tried is None:
                continue
            reason = self._unbuildable(tried, name) if tried.unbuildable else self._unjudged(tried, name)
            if reason:
                return Ending(Verdict.NO_BRACKET, reason=reason)
        return None

    def why_not(self, kind: str) -> str:
        """Why the ends do not bracket, in words, for a search that concluded so ("none", "all-bad" or "swapped")."""
        if self.good is None or self.bad is None:
            return "the ends have not run"
        measured = self._measured()
        first, good = self.good.candidate, self._counts(self.good)
        last, bad = self.bad.candidate, self._counts(self.bad)
        if kind == "swapped":
            return f"the ends look swapped: {first} {good}, {last} {bad}; swap GOOD and BAD{measured}"
        if kind == "all-bad":
            return (
                f"the good end fails: {first} {good}; the bad end {bad}. Choose a good end at which the script passes"
                + (measured or self._reused() or self._floating())
            )
        if measured:
            return f"the bad end is not bad enough: {last} {bad}; the good end {good}{measured}"
        return (
            f"the bad end passes: {last} {bad}; the good end {good}."
            " The failure does not come with these pins alone: a requirement that is not pinned may have moved, or the"
            " script does not show the failure here" + (self._reused() or self._floating())
        )

    def _reused(self) -> str:
        """That stages were taken as built once, where the failure may come through them."""
        stages = ", ".join(stage for stage, _ in self.request.docker.reuse_stages)
        if not stages:
            return ""
        return (
            f". Every candidate has {stages} as it was built once: a failure that comes through it shows in all of"
            " them, or in none; leave --reuse-stage out to see"
        )

    def _floating(self) -> str:
        """What is not pinned, and may be the cause all the same."""
        files = self.request.files
        if not self.request.floating or (files is not None and files.dates):
            return ""
        return (
            f". A floating requirement may have moved: {self.request.floating}; --good-date and --bad-date search among"
            " what the index offered then"
        )

    def _unbuildable(self, tried: Tried, name: str) -> str:
        if judge_build(self.judge, tried, self.request.build_failure_is) is Outcome.FAIL:
            return ""
        if not tried.feasible:
            raise NoSolutionError(
                f"the {name} end cannot be: nothing satisfies {tried.candidate} together with what every candidate"
                f" needs. {tried.unbuildable}"
            )
        hint = "choose another end that builds"
        if name == "bad":
            hint = "if the failing build is what you look for, say --build-failure-is fail; else choose another end"
        return f"the {name} end cannot be built, {tried.candidate}: {tried.unbuildable.splitlines()[0]}; {hint}"

    def _unjudged(self, tried: Tried, name: str) -> str:
        evidence = [outcome for outcome in self._outcomes(tried) if outcome is not Outcome.INFRA]
        metric = self.judge.metric
        if len(evidence) < self.enough:
            return ""
        if evidence and all(outcome is Outcome.SKIP for outcome in evidence):
            if metric and all(shown.observation.kind == "pass" for shown in tried.shown):
                return (
                    f"the {name} end cannot be judged: the script prints no value of {metric} at {tried.candidate};"
                    f" it is to print a line {metric}=NUMBER, or a JSON object with that key"
                )
            return f"the {name} end cannot be judged: the script skips it ({tried.candidate}); choose another"
        if not evidence or not all(outcome is Outcome.OTHER for outcome in evidence):
            return ""
        if name == "good":
            return f"the good end fails ({tried.candidate}), in another way than the bad end: make it pass there first"
        if metric:
            return (
                f"the script breaks down at the bad end ({tried.candidate}), which is not a bad value of {metric}; to"
                " search for that failure, leave --metric out"
            )
        expected = self.request.expect
        return f"the bad end fails ({tried.candidate}), but nothing that it prints matches --expect {expected!r}"

    def _measured(self) -> str:
        """What the ends measured, as the end of a sentence; "" where no number decides."""
        good, bad = measurements(self.request, self.good, self.bad)
        if self.judge.limit is None or good is None or bad is None:
            return ""
        return (
            f". {self.judge.metric} is {good} at the good end and {bad} at the bad end, and good is {self.judge.limit}"
        )

    def _counts(self, tried: Tried) -> str:
        outcomes = [outcome for outcome in self._outcomes(tried) if outcome in (Outcome.PASS, Outcome.FAIL)]
        turns = [index for index, (one, next_one) in enumerate(pairwise(outcomes), start=1) if one is not next_one]
        if len(turns) == 1:  # all of the one, then all of the other
            (first,) = turns
            before, after, seldom = ("failed", "passed", "fails")
            if outcomes[0] is Outcome.PASS:
                before, after, seldom = ("passed", "failed", "passes")
            runs = "run" if first == 1 else f"{first} runs"
            return (
                f"{before} in its first {runs}, and {after} in the {len(outcomes) - first} since: it {seldom} seldom,"
                " or something outside the pins changed meanwhile"
            )
        shown = {"passed": outcomes.count(Outcome.PASS), "failed": outcomes.count(Outcome.FAIL)}
        return " and ".join(f"{verb} {count(number, 'time')}" for verb, number in shown.items() if number)

    def _outcomes(self, tried: Tried) -> list[Outcome]:
        return [self.judge.outcome(shown.observation, shown.ended) for shown in tried.shown]
