"""The document that is kept between checks, `pins.drift-state/1`: read and written, no I/O.

{"schema": "pins.drift-state/1", "tool": ..., "created": ...,
 "targets": ["docker"],                       what was checked last
 "last_run": "...", "last_complete": "...",   of the last check, and of the last that left nothing unknown
 "findings": {"<id>": {...}},                 open ones, and for a while those that are over
 "memory": {"<rule>": {"<place>": {"<pin>": ...}}}}   what checks want to know next time
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from pins.drift.checking import Key
from pins.drift.model import Finding, Json
from pins.hazards.model import Severity
from pins.json_document import opening

SCHEMA = "pins.drift-state/1"
_NAME = SCHEMA.partition("/")[0]


class Standing(StrEnum):
    """Where a finding stands."""

    OPEN = "open"
    RESOLVED = "resolved"  # its cause is gone
    SUPERSEDED = "superseded"  # another bucket of the same series took its place


@dataclass(frozen=True)
class Entry:
    """A finding that was made.

    Attributes:
        finding: as it was found last.
        first_seen: when it was found first (aware); anew after it was resolved.
        last_seen: when it was found last.
        standing: whether it is open.
        over: when it ceased to be, None while it is open.
        announced: whether somebody was told of it as something new.
        acked: whether it was acknowledged at the last check.
    """

    finding: Finding
    first_seen: datetime
    last_seen: datetime
    standing: Standing = Standing.OPEN
    over: datetime | None = None
    announced: bool = False
    acked: bool = False


@dataclass(frozen=True)
class Remembered:
    """The whole document.

    Attributes:
        findings: by id.
        memory: what checks want to know next time, by what they are known by.
        targets: what was checked last, as paths from the top of their repository.
        last_run: when the last check ended, None before the first.
        last_complete: when the last one that left nothing unknown did.
    """

    findings: Mapping[str, Entry] = field(default_factory=dict)
    memory: Mapping[Key, Json] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    last_run: datetime | None = None
    last_complete: datetime | None = None


class DamagedError(ValueError):
    """It is no such document; the message says what is wrong with it."""


class ForeignVersionError(DamagedError):
    """It is one of another version.

    Attributes:
        newer: whether a newer version of this program wrote it.
    """

    def __init__(self, message: str, *, newer: bool) -> None:
        super().__init__(message)
        self.newer = newer


def written(remembered: Remembered) -> bytes:
    """The document as bytes; keys in order, so that a history of it shows what changed."""
    document = opening(SCHEMA, "pins")
    document["targets"] = list(remembered.targets)
    document["last_run"] = _time(remembered.last_run)
    document["last_complete"] = _time(remembered.last_complete)
    document["findings"] = {name: _entry(entry) for name, entry in sorted(remembered.findings.items())}
    memory: dict[str, dict[str, dict[str, Json]]] = {}
    for (rule, place, pin), value in sorted(remembered.memory.items()):
        memory.setdefault(rule, {}).setdefault(place, {})[pin] = value
    document["memory"] = memory
    return (json.dumps(document, indent=1, ensure_ascii=True) + "\n").encode()


def read(data: bytes) -> Remembered:
    """The document that bytes hold.

    Raises:
        DamagedError: they hold none; `ForeignVersionError` where it is one of another version.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"it is no JSON: {error}") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, str):
        raise DamagedError("it does not say of what schema it is")
    if schema != SCHEMA:
        name, _, version = schema.partition("/")
        if name != _NAME:
            raise DamagedError(f"it is of schema {schema[:80]!r}, not {SCHEMA!r}")
        newer = version.isdigit() and int(version) > int(SCHEMA.partition("/")[2])
        raise ForeignVersionError(f"it is of schema {schema[:80]!r}, and this program knows {SCHEMA!r}", newer=newer)
    try:
        return Remembered(
            {str(name): _read_entry(entry) for name, entry in document["findings"].items()},
            {
                (rule, place, pin): value
                for rule, places in document["memory"].items()
                for place, pins in places.items()
                for pin, value in pins.items()
            },
            tuple(str(target) for target in document["targets"]),
            _read_time(document["last_run"]),
            _read_time(document["last_complete"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError(f"a part of it is missing or wrong: {type(error).__name__}: {error}") from error


def _entry(entry: Entry) -> dict[str, Any]:
    finding = entry.finding
    return {
        "rule": finding.rule,
        "pin": finding.pin,
        "place": finding.place,
        "bucket": finding.bucket,
        "series": finding.series,
        "file": finding.file,
        "line": finding.line,
        "severity": finding.severity.value,
        "summary": finding.summary,
        "evidence": list(finding.evidence),
        "suggestion": finding.suggestion,
        "first_seen": _time(entry.first_seen),
        "last_seen": _time(entry.last_seen),
        "standing": entry.standing.value,
        "over": _time(entry.over),
        "announced": entry.announced,
        "acked": entry.acked,
    }


def _read_entry(entry: Mapping[str, Any]) -> Entry:
    finding = Finding(
        str(entry["rule"]),
        str(entry["pin"]),
        str(entry["bucket"]),
        str(entry["summary"]),
        tuple(str(line) for line in entry["evidence"]),
        str(entry["suggestion"]),
        str(entry["file"]),
        int(entry["line"]),
        Severity(entry["severity"]),
        str(entry["place"]),
        str(entry["series"]),
    )
    first, last = _read_time(entry["first_seen"]), _read_time(entry["last_seen"])
    if first is None or last is None:
        raise ValueError("a finding does not say when it was seen")
    return Entry(
        finding,
        first,
        last,
        Standing(entry["standing"]),
        _read_time(entry["over"]),
        bool(entry["announced"]),
        bool(entry["acked"]),
    )


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")


def _read_time(text: str | None) -> datetime | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} does not say in which time zone it is")
    return moment
