"""A sign of life on standard error whenever a command has said nothing for a while.

On a terminal it is one line that is drawn again and again and goes as soon as something else is said; elsewhere a line
now and then. What has a display of its own calls `hush`.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FIRST = 1.0
"""Seconds of silence before the first sign."""
REDRAWN = 0.5
EVERY = 5.0
"""Seconds between two lines where there is no terminal."""


class _Pulse:
    """What one command is doing; a thread of its own says so."""

    def __init__(self, first: float, every: float) -> None:
        self.doing: list[Callable[[], str]] = []
        self._first, self._every = first, every
        self._began = self._said = time.monotonic()
        self._drawn = False
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self.erase()

    def erase(self) -> None:
        """Take the line away, if one is drawn: something else is said now."""
        with self._lock:
            self._said = time.monotonic()
            if self._drawn:
                self._drawn = False
                _write("\r\x1b[K")

    def _beat(self) -> None:
        live = _is_live()
        wait = self._first
        while not self._ended.wait(min(wait, REDRAWN)):
            with self._lock:
                now = time.monotonic()
                due = self._said + (self._first if not self._drawn else 0.0)
                if self._ended.is_set() or now < due or not self.doing:
                    continue
                text = f"{self.doing[-1]()} ({now - self._began:.0f} s)"
                if live:
                    self._drawn = True
                    _write(f"\r{_fitting(text)}\x1b[K")
                else:
                    _write(f"{text}\n")
                    self._said = now + self._every - self._first


_current: _Pulse | None = None


@contextmanager
def sign_of_life(what: str, *, first: float = FIRST, every: float = EVERY) -> Iterator[None]:
    """While inside of `with`, whoever waits is told now and then that it goes on.

    Args:
        what: is being done, where nobody says more (`doing`).
        first: seconds of silence before the first sign.
        every: seconds between two lines where there is no terminal.
    """
    global _current  # noqa: PLW0603 - there is one standard error
    pulse = _Pulse(first, every)
    pulse.doing.append(lambda: what)
    _current = pulse
    pulse.start()
    try:
        yield
    finally:
        pulse.end()
        _current = None


@contextmanager
def doing(what: str | Callable[[], str]) -> Iterator[None]:
    """Say more closely what is being done, for as long as it is; a function is asked each time."""
    pulse = _current
    if pulse is None:
        yield
        return
    pulse.doing.append((lambda: what) if isinstance(what, str) else what)
    try:
        yield
    finally:
        pulse.doing.pop()


def make_room() -> None:
    """Called before anything else is written to the terminal."""
    if _current is not None:
        _current.erase()


def hush() -> None:
    """No more signs of this command: it shows by other means that it goes on."""
    if _current is not None:
        _current.end()


def _is_live() -> bool:
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    except (AttributeError, ValueError):
        return False


def _fitting(text: str) -> str:
    import shutil

    return text[: max(shutil.get_terminal_size().columns - 1, 20)]


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        return
