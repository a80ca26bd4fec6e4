"""Holds: temporary pins with a reason and an end, written down in `pins.toml` at the top of the repository.

[[hold]]
pin = "pybind11"
requirement = "pybind11<3.1.0"
file = "docker/Dockerfile.rocm_base"
reason = "3.1.0 is the first version that fails"
until = "a later release passes"
since = 2026-08-19
review = 2026-09-18
evidence = "bisect run 20260819-101500-a1b2"

What is no package has `value` in the place of `requirement`: a commit, an image. Who writes by hand may leave out all
but that and the reason. `pins windows` keeps to the requirements (`pins.metadata.known_facts`).
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from pins.errors import UsageError
from pins.files.toml_tables import read_tables, with_table

FILE = "pins.toml"


@dataclass(frozen=True)
class Hold:
    """A hold.

    Attributes:
        pin: name of what is held.
        requirement: what holds it, such as "pybind11<3.1.0"; "" for what is no package.
        value: of what is no package: the commit or image that it is held at.
        file: the file that it is written in, from the top of the repository.
        reason: why.
        until: what ends it.
        since: when it was written.
        review: when to look again.
        evidence: what it stands on.
    """

    pin: str
    requirement: str
    file: str
    reason: str
    until: str = ""
    since: date | None = None
    review: date | None = None
    evidence: str = ""
    value: str = ""


def read_holds(data: bytes, origin: str = FILE) -> list[Hold]:
    """The holds of a `pins.toml`.

    Raises:
        UsageError: the file or an entry is wrong.
    """
    return [
        _hold(entry, f"{origin}, hold {index}")
        for index, entry in enumerate(read_tables(data, "hold", origin), start=1)
    ]


def _hold(entry: dict[str, Any], origin: str) -> Hold:
    for key in ("pin", "requirement", "value", "file", "reason", "until", "evidence"):
        if not isinstance(entry.get(key, ""), str):
            raise UsageError(f"{origin}: {key} must be a string")
    for key in ("since", "review"):
        if key in entry and type(entry[key]) is not date:  # a time of a day is a date, too, but compares with none
            raise UsageError(f"{origin}: {key} must be a date, such as {key} = 2026-08-19")
    requirement, value = entry.get("requirement", ""), entry.get("value", "")
    if bool(requirement) == bool(value) or not entry.get("reason"):
        raise UsageError(f"{origin}: reason is needed, and either requirement or, for what is no package, value")
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    return Hold(
        entry.get("pin") or (name[0] if name else ""),
        requirement,
        entry.get("file", ""),
        entry["reason"],
        entry.get("until", ""),
        entry.get("since"),
        entry.get("review"),
        entry.get("evidence", ""),
        value,
    )


def with_hold(data: bytes, hold: Hold) -> bytes:
    """A `pins.toml` with a hold: in place of the one for the same pin and file, else at its end; the rest stays.

    Raises:
        UsageError: the file is wrong.
    """
    if data:
        read_holds(data)
    fields = {
        "pin": hold.pin,
        "requirement": hold.requirement,
        "value": hold.value,
        "file": hold.file,
        "reason": hold.reason,
        "until": hold.until,
        "since": hold.since,
        "review": hold.review,
        "evidence": hold.evidence,
    }
    return with_table(
        data, "hold", fields, lambda entry: entry.get("pin") == hold.pin and entry.get("file", "") == hold.file
    )
