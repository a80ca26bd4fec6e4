"""What a schedule file is told, whatever runs it, and what all of them need: a cadence and a place in the hour."""

import hashlib
import re
from dataclasses import dataclass

from pins.errors import UsageError

_CADENCE = re.compile(r"(?P<number>[1-9][0-9]{0,3})(?P<unit>m|h|d|w)", re.ASCII)
_UNIT_MINUTES = {"m": 1, "h": 60, "d": 60 * 24, "w": 60 * 24 * 7}
_NAMED = {"hour": "1h", "hourly": "1h", "day": "1d", "daily": "1d", "week": "1w", "weekly": "1w"}
_LEAST_MINUTES = 5  # what GitHub runs at most; sources are asked to say the same again otherwise
_WEEKDAYS = 7


@dataclass(frozen=True)
class Schedule:
    """A drift check that something else starts again and again.

    Attributes:
        name: What the job is called, such as "pins-drift": letters, digits and hyphens.
        paths: The files and directories to check, from the top of the repository (`top`).
        top: Absolute path of the repository on this machine.
        repository: Where the repository can be cloned from; "" where that is not known.
        every: The cadence in minutes.
        hour: The hour of the day (UTC) at which a check that is daily or rarer runs, and a more frequent one begins.
        minute: The minute of the hour.
        weekday: The day of a weekly check, Sunday is 0.
        requirement: What pip installs, such as "bisector==1.2".
        program: The words that start `pins` on this machine.
        options: Further words for `pins drift`.
        issue: Keep one issue of the repository up to date with what is open.
        image: The container image that it runs in, where there is one.
        written_by: The command that prints this schedule again.
    """

    name: str
    paths: tuple[str, ...]
    top: str
    repository: str
    every: int
    hour: int
    minute: int
    weekday: int
    requirement: str
    program: tuple[str, ...]
    options: tuple[str, ...]
    issue: bool
    image: str
    written_by: str

    @property
    def cron(self) -> str:
        """The five fields of crontab(5)."""
        if self.every < _UNIT_MINUTES["h"]:
            return f"{self.minute % self.every}-59/{self.every} * * * *"
        hours = self.every // _UNIT_MINUTES["h"]
        if hours == 1:
            return f"{self.minute} * * * *"
        if self.every < _UNIT_MINUTES["d"]:
            return f"{self.minute} {self.hour % hours}-23/{hours} * * *"
        return f"{self.minute} {self.hour} * * {self.weekday if self.every == _UNIT_MINUTES['w'] else '*'}"

    @property
    def in_words(self) -> str:
        """The cadence for a comment, such as "every day, at 03:17 UTC"."""
        at = f"{self.hour:02}:{self.minute:02} UTC"
        if self.every < _UNIT_MINUTES["h"]:
            return f"every {self.every} minutes"
        hours = self.every // _UNIT_MINUTES["h"]
        if hours == 1:
            return f"every hour, {self.minute} minutes past"
        if self.every < _UNIT_MINUTES["d"]:
            return f"every {hours} hours, such as at {self.hour % hours:02}:{self.minute:02} UTC"
        return f"every week, at {at}" if self.every == _UNIT_MINUTES["w"] else f"every day, at {at}"


@dataclass(frozen=True)
class ScheduleFile:
    """One file of a schedule.

    Attributes:
        path: Where it belongs: from the top of the repository, or with "~" or "/" in front.
        text: All of it.
    """

    path: str
    text: str


def cadence(text: str) -> int:
    """The minutes that `--every` says: 30m, 6h, 1d, 1w, or hour, day, week.

    Only what crontab(5) can say evenly is taken, so that the same words mean the same everywhere.

    Raises:
        UsageError: it is not a cadence, or not one that divides an hour, a day or a week evenly.
    """
    parts = _CADENCE.fullmatch(_NAMED.get(text, text))
    if not parts:
        raise UsageError(f"--every {text!r} is no cadence: give 30m, 6h, 1d or 1w, or hour, day or week")
    minutes = int(parts["number"]) * _UNIT_MINUTES[parts["unit"]]
    hour, day, week = (_UNIT_MINUTES[unit] for unit in "hdw")
    if minutes < _LEAST_MINUTES:
        raise UsageError(f"--every {text!r} is too often: {_LEAST_MINUTES}m is the least that schedulers keep to")
    even = (
        hour % minutes == 0
        if minutes < hour
        else minutes % hour == 0 and day % minutes == 0
        if minutes <= day
        else minutes == week
    )
    if not even:
        raise UsageError(
            f"--every {text!r} cannot be scheduled evenly: take one that divides an hour (10m, 30m) or a day "
            "(2h, 6h, 12h), 1d or 1w"
        )
    return minutes


def place_in_hour(seed: str) -> int:
    """A minute for this schedule, the same each time, away from the full hour, when all others start.

    Args:
        seed: What tells this schedule from others, such as the repository's URL.
    """
    return 3 + hashlib.sha256(seed.encode()).digest()[0] % 54


def place_in_day(seed: str) -> int:
    """An hour (UTC) for this schedule, the same each time."""
    return hashlib.sha256(seed.encode()).digest()[1] % 24


def place_in_week(seed: str) -> int:
    """A day of the week for this schedule, the same each time; Sunday is 0."""
    return hashlib.sha256(seed.encode()).digest()[2] % _WEEKDAYS
