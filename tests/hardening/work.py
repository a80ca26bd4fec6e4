"""How much work a reader does, counted in calls: a measure that a busy machine does not change."""

import sys
from collections.abc import Callable
from types import FrameType


class TooMuchWorkError(BaseException):
    """More calls than a test allows; no reader catches it."""


def calls_of(run: Callable[[], object], most: int) -> int:
    """How many calls `run` makes, of Python's and of built-in functions.

    Raises:
        TooMuchWorkError: more than `most`.
    """
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        if event in {"call", "c_call"}:
            count += 1
            if count > most:
                raise TooMuchWorkError(f"more than {most} calls")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count
