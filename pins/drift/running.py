"""One run of `pins drift`: read what is watched, make the checks, settle what is new, tell, remember."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from pins.drift.checking import Checked, Key, check_all
from pins.drift.model import Json, Rule, Subject, Tools
from pins.drift.observing import AT_ONCE, Observer
from pins.drift.report import DriftReport, State
from pins.drift.state.document import Remembered
from pins.drift.state.settling import Run, announced, settle
from pins.drift.state.store import Held, StateStore
from pins.drift.watching import Watched
from pins.errors import PinsError


@dataclass(frozen=True)
class RunRequest:
    """What a run needs.

    Attributes:
        watched: what is checked.
        rules: those that are run.
        tools: what readings read with.
        store: where is remembered; None for nowhere: then everything is new.
        at_once: readings of one host under way together.
    """

    watched: Watched
    rules: tuple[Rule, ...]
    tools: Tools
    store: StateStore | None = None
    at_once: int = AT_ONCE


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Attributes:
        report: what it comes to.
        failure: why somebody could not be told, None where all were; what is new stays so for the next run.
    """

    report: DriftReport
    failure: PinsError | None = None


def run(request: RunRequest, tell: Sequence[Callable[[DriftReport], None]] = ()) -> Ended:
    """Run once.

    Args:
        request: what to check, and where to remember it.
        tell: those who are told of the report before it is remembered: what a failure kept from somebody is new again.

    Raises:
        EnvironmentFailureError: the state could not be held, read or kept.
    """
    with request.store.held() if request.store else nullcontext(None) as held:
        before = held.remembered if held else Remembered()
        checked = observed(request.rules, request.watched.subject, request.tools, before.memory, request.at_once)
        what = _what(request, checked)
        _, report = settle(before, what, request.watched.acks)
        if held:
            report = replace(report, notes=(*held.notes, *report.notes))
        failure: PinsError | None = None
        for telling in tell:
            try:
                telling(report)
            except PinsError as error:
                failure = failure or error
        if held:
            _save(held, what, request, report, told=failure is None)
        return Ended(report, failure)


def observed(
    rules: Sequence[Rule], subject: Subject, tools: Tools, memory: Mapping[Key, Json], at_once: int = AT_ONCE
) -> list[Checked]:
    """Every check of every rule, made."""

    async def checked() -> list[Checked]:
        observer = Observer(tools, at_once=at_once)
        try:
            return await check_all(rules, subject, observer, memory)
        finally:
            observer.close()

    return asyncio.run(checked())


def _what(request: RunRequest, checked: Sequence[Checked]) -> Run:
    watched = request.watched
    return Run(
        watched.subject.now,
        checked,
        watched.unknown,
        frozenset(rule.id for rule in request.rules),
        watched.targets,
        watched.covers,
        len(watched.subject.files),
        sum(1 for _ in watched.subject.pins()),
    )


def _save(held: Held, what: Run, request: RunRequest, report: DriftReport, *, told: bool) -> None:
    def change(before: Remembered) -> Remembered:
        after, _ = settle(before, what, request.watched.acks)
        return announced(after) if told else after

    counts = ", ".join(f"{len(report.of(state))} {state.value}" for state in State)
    held.save(change, f"Drift check of {report.now:%Y-%m-%d %H:%M} UTC: {counts}")
