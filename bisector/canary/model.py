"""What a canary comes to."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bisector.report.model import Result
from pins.suggest.model import SuggestReport
from pins.suggest.newest import NewestFile


class Sung(StrEnum):
    """How it ended."""

    PASSED = "passed"  # the newest pin set passes
    NOTHING_NEW = "nothing-new"  # there is nothing newer
    FAILED = "failed"  # it fails; the result says why
    UNDECIDED = "undecided"  # that could not be told: interrupted, the machine failed, the script skips it


@dataclass(frozen=True)
class CanaryReport:
    """All of it.

    Attributes:
        file: as it was named.
        ended: how.
        since, as_of: the times between which what is not pinned has moved.
        newest: both pin sets.
        change: the patch from the file to the newest.
        result: of the run, None where there was none.
        suggestion: what to pin, where a culprit was found.
        fact: the patch of `pins.toml` that writes the culprit down; "" for none.
        written: whether that was done.
        again: the command that goes on, or does it again.
    """

    file: str
    ended: Sung
    since: datetime
    as_of: datetime
    newest: NewestFile
    change: str = ""
    result: Result | None = None
    suggestion: SuggestReport | None = None
    fact: str = ""
    written: bool = False
    again: str = ""
