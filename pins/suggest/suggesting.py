"""`pins suggest`: gather what is known of a file, and say what to change and why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TypeVar

from packaging.utils import canonicalize_name

from pins.errors import PinsError, UndeterminedError
from pins.files.reading import ReadRequest, read_all
from pins.hazards.gather import gather
from pins.hazards.subject import Subject
from pins.model import PinKind, PinSet
from pins.report.windows_model import EnvironmentWindows
from pins.report.windows_report import relaxation_in_words
from pins.suggest.bisection import Bisected
from pins.suggest.from_bisection import Setting, now_of, suggestions_from
from pins.suggest.from_hazards import suggestions_of_skew
from pins.suggest.from_windows import suggestions_of_windows, within_window
from pins.suggest.known import KNOWN_BREAKS
from pins.suggest.model import Certainty, Conflict, Kept, Policy, Suggestion, SuggestReport
from pins.suggest.writing import Planned, plan

T = TypeVar("T")
ReleasesOf = Callable[[Sequence[str]], Mapping[str, Sequence[str]]]
WindowsOf = Callable[[], tuple[Sequence[EnvironmentWindows], Sequence[str]]]
"""Gives the windows of every environment, and what a person should know of how they were gathered."""
_ORDER = {Certainty.BISECTED: 0, Certainty.DECLARED: 1, Certainty.INFERRED: 2}


@dataclass(frozen=True)
class SuggestRequest:
    """What is asked.

    Attributes:
        file: whose pins.
        bisected: what runs have found.
        policy: which of several answers comes first.
        today: for comments and for the day to look again.
        build_args: what `--build-arg` would give.
        target: the stage that is built.
        clones: repositories of git pins, by name.
        reproduce: the command line.
        data_time: as of when indexes are read.
    """

    file: Path
    today: date
    bisected: tuple[Bisected, ...] = ()
    policy: Policy = Policy.MINIMAL
    build_args: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    clones: Mapping[str, Path] = field(default_factory=dict)
    reproduce: str = ""
    data_time: datetime | None = None


def suggest(
    request: SuggestRequest, releases_of: ReleasesOf, windows_of: WindowsOf | None = None
) -> tuple[SuggestReport, Planned]:
    """What to change, and the files as they would become.

    Args:
        request: what is asked.
        releases_of: gives the versions of distributions that an index has, ascending; may raise PinsError.
        windows_of: gives what fits together, None where that is not wanted; may raise PinsError.

    Raises:
        UsageError: the file does not exist, or does not name the culprit.
        UndeterminedError: nothing could be told at all.
    """
    pin_set = read_all(ReadRequest((request.file,), "", request.build_args, request.target, (), request.clones))[0]
    unknown = [f"{p.file}:{p.line}: {p.message}" for p in pin_set.problems]
    solved = _attempt(windows_of, "which versions fit together", unknown) if windows_of else None
    environments, notes = solved or (None, ())
    unknown.extend(notes)
    names = _names(request, pin_set, environments or ())
    releases = _attempt(lambda: releases_of(names), "which releases there are", unknown) or {}
    subject = gather([request.file], build_args=request.build_args, target=request.target)[0]
    setting = Setting(pin_set, releases, request.policy, request.today, _upgraded(subject))
    suggestions: list[Suggestion] = []
    for bisected in request.bisected:
        suggestions.extend(suggestions_from(bisected, setting))
    already = {s.pin.name for s in suggestions}
    if pin_set.stages:
        suggestions.extend(suggestions_of_skew(subject, setting, already))
    already = {s.pin.name for s in suggestions}
    kept: list[Kept] = []
    if environments:
        suggestions = [within_window(s, environments) for s in suggestions]
        more, kept = suggestions_of_windows(environments, setting, already)
        suggestions.extend(more)
        unknown.extend(_undecided(environments))
    elif windows_of is not None and not suggestions and environments is None:
        raise UndeterminedError(unknown[-1])
    done = [s for s in suggestions if s.suggested == s.pin.value]
    suggestions = sorted((s for s in suggestions if s not in done), key=lambda s: _ORDER[s.certainty])
    kept.extend(
        Kept(s.pin.name, s.pin.line, s.now, f"it is so already, which is enough: {s.why}", s.window, s.versions)
        for s in done
    )
    planned = plan(request.file, suggestions, request.today)
    unknown.extend(planned.refused)
    conflicts = _conflicts(environments or ())
    unjudged = bool(environments) and not all(environment.possible for environment in environments or ())
    kept.extend(_not_asked(pin_set, suggestions, kept, unjudged=unjudged))
    report = SuggestReport(
        str(request.file),
        _headline(request.file, suggestions, done, environments, unknown, conflicts),
        tuple(suggestions),
        tuple(sorted(kept, key=lambda k: k.line)),
        tuple(dict.fromkeys(unknown)),
        planned.patch.decode("utf-8", "backslashreplace"),
        request.reproduce,
        request.data_time,
        conflicts=conflicts,
    )
    return report, planned


def _attempt(what: Callable[[], T], said: str, unknown: list[str]) -> T | None:
    try:
        return what()
    except PinsError as error:
        unknown.append(f"{said} is not known: {error.message}")
        return None


def _upgraded(subject: Subject) -> tuple[tuple[int, int], ...]:
    """The spans of requirements that an install asks the newest version of."""
    return tuple(
        (fragment.start, fragment.end)
        for _, call in subject.pip_calls
        if {"-U", "--upgrade"} & call.flags
        for word in call.requirements
        for fragment in word
        if fragment.written
    )


def _names(request: SuggestRequest, pin_set: PinSet, environments: Sequence[EnvironmentWindows]) -> list[str]:
    """The distributions whose releases matter."""
    named: set[str] = {canonicalize_name(b.pin) for b in request.bisected if b.kind in {"package", "float"}}
    written = {pin.name for pin in pin_set.pins if pin.kind is PinKind.PACKAGE}
    named |= {known.name for known in KNOWN_BREAKS if known.shared and known.name in written}
    named |= {w.name for e in environments for w in e.packages if w.name in written and w.kind == "package"}
    return sorted(named)


def _undecided(environments: Sequence[EnvironmentWindows]) -> list[str]:
    """What cannot be told of versions that matter: those that are taken now, or would be."""
    found: list[str] = []
    for environment in environments:
        where = f"{environment.name}: " if environment.name else ""
        answer = environment.answer
        if not environment.possible and (answer is None or answer.explanation is None):
            reasons = "; ".join(answer.unknown) if answer and answer.unknown else "`pins windows` says why"
            found.append(f"{where}whether anything fits together cannot be told: {reasons}")
        for window in environment.packages:
            matter = {window.current, window.newest}
            found.extend(
                f"{where}{window.name} {', '.join(matter & set(u.versions))}: {u.reason}"
                for u in window.unknown
                if matter & set(u.versions)
            )
        found.extend(f"{where}{broken}" for broken in environment.broken)
    return found


def _conflicts(environments: Sequence[EnvironmentWindows]) -> tuple[Conflict, ...]:
    """The environments for which no set of versions exists: the facts of each, and what would have to give way."""
    return tuple(
        Conflict(
            environment.name,
            tuple(sentence.text for sentence in answer.explanation.sentences),
            tuple(relaxation_in_words(one) for one in answer.relaxations),
        )
        for environment in environments
        if (answer := environment.answer) is not None and answer.explanation is not None and not environment.possible
    )


def _not_asked(
    pin_set: PinSet, suggestions: Sequence[Suggestion], kept: Sequence[Kept], *, unjudged: bool
) -> list[Kept]:
    told = {s.pin.name for s in suggestions} | {k.name for k in kept}
    return [
        Kept(
            pin.name,
            pin.line,
            now_of(pin, ""),
            "not judged, since its stage has no set of versions that is known to fit"
            if unjudged and pin.kind is PinKind.PACKAGE
            else "nothing that was read speaks against it",
        )
        for pin in pin_set.pins
        if pin.name not in told and pin.file == pin_set.file
    ]


def _headline(
    file: Path,
    suggestions: Sequence[Suggestion],
    done: Sequence[Suggestion],
    environments: Sequence[EnvironmentWindows] | None,
    unknown: Sequence[str],
    conflicts: Sequence[Conflict],
) -> str:
    if suggestions:
        more = len(suggestions) - 1
        also = f"; and {more} more change{'s' * (more != 1)}" if more else ""
        return suggestions[0].headline + also
    if conflicts:
        where = ", ".join(conflict.where for conflict in conflicts if conflict.where)
        return (
            f"One of the requirements of {f'{where} in ' if where else ''}{file} must give way, since no set of"
            " versions keeps them all: which one is for you to say"
        )
    if environments and not all(environment.possible for environment in environments):
        return f"Whether anything needs to change in {file} is not known: what fits together cannot be told, see below"
    if done:
        pin = done[0].pin
        return f"Nothing needs to change in {file}: line {pin.line} holds {pin.name} at {pin.value} already"
    doubts = len(set(unknown))
    known = f" as far as is known ({doubts} thing{'s' * (doubts != 1)} not known, see below)" if doubts else ""
    if environments:
        return f"Nothing needs to change in {file}{known}: every pin that has a window is inside it"
    return f"Nothing to change in {file} is known"
