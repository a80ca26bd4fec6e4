"""What is remembered of a file between canaries: when the newest last passed, and what was found to break it.

A canary that fails every day for the reason that is known is of no use, and its search costs builds. So the values from
the first bad one to the newest that failed are left alone until there is one newer than that.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bisector.runs import state_directory


def room_of(file: Path, target: str) -> Path:
    """The directory that belongs to a file and its target."""
    named = f"{file.resolve()}\0{target}".encode("utf-8", "surrogateescape")
    return state_directory() / "canaries" / hashlib.sha256(named).hexdigest()[:16]


@dataclass(frozen=True)
class Broken:
    """What a canary has found.

    Attributes:
        pin: its name.
        first_bad: the first value that fails.
        newest: the newest value that failed.
        run: the run that found it.
        reason, found: what its failure looks like and how that is known, as `pins.toml` says it; "" where the failure
            is not that of one version of a package.
    """

    pin: str
    first_bad: str
    newest: str
    run: str
    reason: str = ""
    found: str = ""


def last_passed(room: Path) -> datetime | None:
    """As of when the newest pin set last passed; None where it never did, or where that cannot be read."""
    try:
        passed = datetime.fromisoformat(_read(room, "passed")["as_of"])
    except (ValueError, KeyError, TypeError):
        return None
    return passed if passed.tzinfo is not None else None


def remember_passed(room: Path, as_of: datetime) -> None:
    """Write down that the newest of a time passed; where that cannot be, the next canary looks further back."""
    earlier = last_passed(room)
    if earlier is not None and earlier > as_of:  # a canary of the past, or one that was taken up late
        return
    _write(room, "passed", {"as_of": as_of.isoformat()})


def known_broken(room: Path) -> tuple[Broken, ...]:
    """What earlier canaries have found."""
    try:
        return tuple(Broken(**entry) for entry in _read(room, "broken")["found"])
    except (KeyError, TypeError):
        return ()


def remember_broken(room: Path, found: Broken) -> None:
    """Write down what a canary has found, in place of what was known of that pin."""
    others: Sequence[Broken] = [each for each in known_broken(room) if each.pin != found.pin]
    _write(room, "broken", {"found": [asdict(each) for each in (*others, found)]})


def _read(room: Path, name: str) -> Any:
    try:
        return json.loads((room / f"{name}.json").read_bytes())
    except (OSError, ValueError):
        return {}


def _write(room: Path, name: str, document: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        room.mkdir(parents=True, exist_ok=True)
        beside = room / f".{name}.{os.getpid()}"
        beside.write_text(json.dumps(document) + "\n")
        beside.replace(room / f"{name}.json")
