"""A check that is made again and again in one process: `--every`."""

import random
import re
import time
from collections.abc import Callable
from typing import NoReturn

from pins.errors import PinsError, UsageError

_EVERY = re.compile(r"(?P<count>[1-9][0-9]{0,5})(?P<unit>[smhdw])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SHARE = 0.1
"""Part of the time between two checks by which it varies, so that many machines do not ask together."""


def interval(text: str) -> float:
    """Seconds of a time such as 30m, 6h, 1d.

    Raises:
        UsageError: it is none.
    """
    found = _EVERY.fullmatch(text)
    if found is None:
        raise UsageError(f"--every {text!r} must be a number and a unit: 30m, 6h, 1d, 1w")
    return float(int(found["count"]) * _UNITS[found["unit"]])


def repeat(
    check: Callable[[], object],
    every: float,
    say: Callable[[str], None],
    *,
    sleep: Callable[[float], None] = time.sleep,
    random_share: Callable[[], float] = random.random,
    clock: Callable[[], float] = time.monotonic,
) -> NoReturn:
    """Make a check, and again after a while, until the program is interrupted.

    What goes wrong in one check is said, and does not end the others; a wrong option or file ends it at the first.

    Args:
        check: makes one; its errors are those of `pins.errors`.
        every: seconds from the beginning of one to that of the next; a tenth more or less.
        say: for what went wrong, and when the next check is due.
        sleep: waits.
        random_share: between 0 and 1.
        clock: seconds, only ever growing.
    """
    first = True
    while True:
        begun = clock()
        try:
            check()
        except UsageError as error:
            if first:
                raise
            say(f"This check could not be made: {error.message}")
        except PinsError as error:
            say(f"This check could not be made: {error.message}")
        first = False
        varied = every * (1 + _SHARE * (2 * random_share() - 1))
        wait = max(varied - (clock() - begun), 1.0)
        say(f"The next check is due in {_shown(wait)}.")
        sleep(wait)


def _shown(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
