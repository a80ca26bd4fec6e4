"""Acknowledged findings, written down in `pins.toml` at the top of the repository, next to holds.

[[ack]]
id = "3f0c9a1be27d"
why = "3.1.0 waits for AITER"
until = 2026-12-31
since = 2026-11-30
finding = "newer-release: pybind11 3.1.0 is out"    # for people

Without `until` it holds as long as the finding does.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from pins.errors import UsageError
from pins.files.toml_tables import read_tables, with_table

_ID = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True)
class Ack:
    """One acknowledgement.

    Attributes:
        id: of the finding.
        why: the reason.
        until: the last day on which it holds, None for as long as the finding does.
        since: when it was written.
        finding: what was found, for people.
    """

    id: str
    why: str
    until: date | None = None
    since: date | None = None
    finding: str = ""

    def holds(self, today: date) -> bool:
        """Whether it does on a day."""
        return self.until is None or today <= self.until


def read_acks(data: bytes, origin: str = "pins.toml") -> list[Ack]:
    """The acknowledgements of a `pins.toml`.

    Raises:
        UsageError: the file or an entry is wrong.
    """
    return [
        _ack(entry, f"{origin}, ack {index}") for index, entry in enumerate(read_tables(data, "ack", origin), start=1)
    ]


def _ack(entry: dict[str, Any], origin: str) -> Ack:
    for key in ("id", "why", "finding"):
        if not isinstance(entry.get(key, ""), str):
            raise UsageError(f"{origin}: {key} must be a string")
    for key in ("until", "since"):
        if key in entry and type(entry[key]) is not date:  # a time of a day is a date, too, but compares with none
            raise UsageError(f"{origin}: {key} must be a date, such as {key} = 2026-12-31")
    if not _ID.fullmatch(entry.get("id", "")):
        raise UsageError(
            f"{origin}: id must be that of a finding, twelve hexadecimal digits as `pins drift` shows them"
        )
    if not entry.get("why", "").strip():
        raise UsageError(f"{origin}: why is needed")
    return Ack(entry["id"], entry["why"], entry.get("until"), entry.get("since"), entry.get("finding", ""))


def with_ack(data: bytes, ack: Ack) -> bytes:
    """A `pins.toml` with an acknowledgement: in place of the one of the same id, else at its end; the rest stays.

    Raises:
        UsageError: the file is wrong, or the acknowledgement is.
    """
    if data:
        read_acks(data)
    fields = {"id": ack.id, "why": ack.why, "until": ack.until, "since": ack.since, "finding": ack.finding}
    with_it = with_table(data, "ack", fields, lambda entry: entry.get("id") == ack.id)
    read_acks(with_it, "this acknowledgement")
    return with_it
