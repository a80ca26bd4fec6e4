"""How a run changes what is remembered: what is new, what stays, what is over. Pure.

A finding is over when the check that made it was made again, could tell everything, and did not make it; or when that
check no longer exists because its pin is gone from a file that was read as a whole. In every other case, whatever was
unknown, left out or stopped, it stays. Memory follows the same rule.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pins.drift.acks import Ack
from pins.drift.checking import Checked, Key
from pins.drift.model import Finding, Json, Unknown
from pins.drift.report import DriftReport, Reported, State
from pins.drift.state.document import Entry, Remembered, Standing
from pins.hazards.model import Severity

KEPT = timedelta(days=180)
"""How long a finding that is over stays in the document."""
_ORDER = {state: place for place, state in enumerate(State)}
_SEVERITIES = {severity: place for place, severity in enumerate(Severity)}


@dataclass(frozen=True)
class Run:
    """What a run looked at, and saw.

    Attributes:
        now: its time.
        checked: every check that was made.
        unread: files that could not be read.
        rules: ids of the rules that were run.
        targets: what was checked, as paths from the top of their repository.
        covers: whether a file was looked at as a whole, or would have been if it still were there.
        files, pins: how many there were.
    """

    now: datetime
    checked: Sequence[Checked]
    unread: Sequence[Unknown]
    rules: frozenset[str]
    targets: tuple[str, ...]
    covers: Callable[[str], bool]
    files: int = 0
    pins: int = 0


def settle(before: Remembered, run: Run, acks: Sequence[Ack]) -> tuple[Remembered, DriftReport]:
    """What is remembered after a run, and what the run comes to.

    What is new is remembered as not yet announced: see `announced`.
    """
    by_key = {checked.key: checked for checked in run.checked}
    made = {one.id: one for checked in run.checked for one in checked.outcome.findings}
    holding = {ack.id: ack for ack in acks if ack.holds(run.now.date())}
    entries: dict[str, Entry] = {}
    reported: list[Reported] = []
    for name, one in made.items():
        entry, shown = _made(before.findings.get(name), one, run.now, holding.get(name), _lower(before, one))
        entries[name] = entry
        reported.append(shown)
    for name, entry in before.findings.items():
        if name in made:
            continue
        if entry.standing is not Standing.OPEN:
            if entry.over is None or run.now - entry.over <= KEPT:
                entries[name] = entry
            continue
        kept, shown_again = _not_made(entry, by_key, made, before, run, holding.get(name))
        entries[name] = kept
        if shown_again is not None:
            reported.append(shown_again)
    unknown = (*run.unread, *_unknown(run.checked))
    last_complete = before.last_complete if unknown else run.now
    remembered = Remembered(entries, _memory(before, by_key, run), run.targets, run.now, last_complete)
    report = DriftReport(
        run.now,
        tuple(sorted(reported, key=_rank)),
        unknown,
        last_complete,
        run.files,
        run.pins,
        len(run.checked),
        tuple(_unneeded(acks, before, entries)),
    )
    return remembered, report


def announced(remembered: Remembered) -> Remembered:
    """The same, once somebody was told of all that is new."""
    entries = {
        name: replace(entry, announced=True) if entry.standing is Standing.OPEN else entry
        for name, entry in remembered.findings.items()
    }
    return replace(remembered, findings=entries)


def _made(
    earlier: Entry | None, one: Finding, now: datetime, ack: Ack | None, lower: Entry | None
) -> tuple[Entry, Reported]:
    """A finding that was just made, remembered and reported."""
    if earlier is None or earlier.standing is Standing.RESOLVED:
        entry = Entry(one, now, now, acked=ack is not None)
        changed, said = lower is not None, lower.finding.summary if lower else ""
    else:
        expired = earlier.acked and ack is None
        # A lower bucket that comes back says less than what was announced already.
        known = earlier.announced or earlier.standing is Standing.SUPERSEDED
        entry = Entry(one, earlier.first_seen, now, announced=known and not expired, acked=ack is not None)
        changed = earlier.finding.summary != one.summary
        said = earlier.finding.summary if changed else ""
    state = State.ACKED if ack else State.OPEN if entry.announced else State.NEW
    return entry, Reported(one, state, entry.first_seen, changed, said, ack)


def _lower(before: Remembered, one: Finding) -> Entry | None:
    """The open finding whose place this one takes."""
    return next(
        (
            entry
            for name, entry in before.findings.items()
            if name != one.id and entry.standing is Standing.OPEN and _series(entry.finding) == _series(one)
        ),
        None,
    )


def _series(one: Finding) -> tuple[str, str, str, str]:
    return one.rule, one.place, one.pin, one.series


def _not_made(
    entry: Entry,
    by_key: Mapping[Key, Checked],
    made: Mapping[str, Finding],
    before: Remembered,
    run: Run,
    ack: Ack | None,
) -> tuple[Entry, Reported | None]:
    """A finding that was open, and was not made this time."""
    one = entry.finding
    note = _why_it_stays(one, by_key, before, run)
    if note:
        state = State.ACKED if ack else State.OPEN if entry.announced and not (entry.acked and not ack) else State.NEW
        return replace(entry, acked=ack is not None, announced=state is not State.NEW and entry.announced), Reported(
            one, state, entry.first_seen, ack=ack, note=note
        )
    if any(_series(other) == _series(one) for other in made.values()):
        return replace(entry, standing=Standing.SUPERSEDED, over=run.now), None
    over = replace(entry, standing=Standing.RESOLVED, over=run.now)
    return over, Reported(one, State.RESOLVED, entry.first_seen, ack=ack)


def _why_it_stays(one: Finding, by_key: Mapping[Key, Checked], before: Remembered, run: Run) -> str:
    """Why a finding that was not made is not over, "" where it is."""
    checked = by_key.get((one.rule, one.place, one.pin))
    if checked is not None:
        return f"could not be told this time: {checked.outcome.unknown}" if checked.outcome.unknown else ""
    if one.rule not in run.rules:
        return f"{one.rule} was not checked this time"
    if one.place:
        return "" if run.covers(one.place) else f"{one.place} was not checked this time, or not to its end"
    if before.targets and set(before.targets) - set(run.targets):
        return "fewer files were checked this time"
    return "not all files could be read this time" if run.unread else ""


def _unknown(checked: Sequence[Checked]) -> list[Unknown]:
    return [
        Unknown(one.about.pin, one.rule, one.outcome.unknown, one.about.place, one.about.file)
        for one in checked
        if one.outcome.unknown
    ]


def _memory(before: Remembered, by_key: Mapping[Key, Checked], run: Run) -> dict[Key, Json]:
    kept: dict[Key, Json] = {}
    for key, value in before.memory.items():
        rule, place, _ = key
        gone = rule in run.rules and key not in by_key and bool(place) and run.covers(place)
        if not gone:
            kept[key] = value
    for key, checked in by_key.items():
        outcome = checked.outcome
        if outcome.remember is not None and (outcome.lasting or not outcome.unknown):
            kept[key] = outcome.remember
    return kept


def _unneeded(acks: Sequence[Ack], before: Remembered, entries: Mapping[str, Entry]) -> list[str]:
    said = []
    for ack in acks:
        entry = entries.get(ack.id)
        if entry is not None and entry.standing is not Standing.OPEN:
            said.append(f"the acknowledgement of {ack.id} ({entry.finding.summary}) is no longer needed")
        elif entry is None and ack.id not in before.findings and before.last_run is not None:
            said.append(f"an acknowledgement names {ack.id}, which is no finding")
    return said


def _rank(reported: Reported) -> tuple[int, int, str, int, str, str]:
    one = reported.finding
    return _ORDER[reported.state], _SEVERITIES[one.severity], one.place, one.line, one.pin, one.rule
