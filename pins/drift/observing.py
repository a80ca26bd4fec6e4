"""Reading the world for many checks: each source once, a few at a time of each host, none waiting for another."""

import asyncio
import contextlib
import re
import threading
from queue import SimpleQueue
from typing import Any, cast

from pins.drift.model import Reading, Seen, Tools
from pins.errors import SourceError
from pins.sources.http_reader import TryAgainError

AT_ONCE = 8
"""Readings of one host that are under way together, where they say nothing else (`at_once`)."""
_TRUSTED_FAILURES = 3
"""Failures in a row, without one answer between them, after which a host is held to be down."""
_UNREACHABLE = re.compile(
    r"could not resolve host|failed to connect|connection (?:refused|timed out|reset)|operation timed out"
    r"|couldn't connect|network is unreachable|no route to host|could not connect|early eof|returned error: 5\d\d"
    r"|no answer within",
    re.IGNORECASE,
)


class Observer:
    """What checks ask (`pins.drift.model.Observations`), for one run in one event loop.

    Each host has its own threads, so one that hangs holds up nobody who asks another. One that does not answer several
    times in a row is not asked again in this run: whatever is still wanted of it is unknown at once.

    Args:
        tools: what readings read with.
        at_once: readings of one host under way together.
    """

    def __init__(self, tools: Tools, *, at_once: int = AT_ONCE) -> None:
        self._tools = tools
        self._at_once = at_once
        self._readings: dict[Reading[Any], asyncio.Task[Any]] = {}
        self._hosts: dict[str, _Host] = {}

    async def get(self, reading: Reading[Seen]) -> Seen:
        """What a reading gives; raises what the reading raised, to everybody who asked for it."""
        task = self._readings.get(reading)
        if task is None:
            task = asyncio.ensure_future(self._read(reading))
            self._readings[reading] = task
        return cast("Seen", await asyncio.shield(task))

    async def _read(self, reading: Reading[Seen]) -> Seen:
        if reading.host not in self._hosts:
            self._hosts[reading.host] = _Host(reading.host, getattr(reading, "at_once", self._at_once))
        return await self._hosts[reading.host].read(reading, self._tools)

    def close(self) -> None:
        """Begin no further reading, and wait for none."""
        for host in self._hosts.values():
            host.close()


class _Host:
    """One host, with threads that do not keep the program from ending, whatever they still wait for."""

    def __init__(self, name: str, at_once: int) -> None:
        self._name = name
        self._at_once = at_once
        self._threads = 0
        self._waiting: SimpleQueue[tuple[Reading[Any], Tools, asyncio.Future[Any]] | None] = SimpleQueue()
        self._failures = 0
        self._why = ""

    async def read(self, reading: Reading[Seen], tools: Tools) -> Seen:
        future: asyncio.Future[Seen] = asyncio.get_running_loop().create_future()
        self._waiting.put((reading, tools, future))
        if self._threads < self._at_once:
            self._threads += 1
            threading.Thread(target=self._work, name=f"read-{self._name}", daemon=True).start()
        return await future

    def close(self) -> None:
        self._failures = _TRUSTED_FAILURES
        for _ in range(self._threads):
            self._waiting.put(None)

    def _work(self) -> None:
        while (wanted := self._waiting.get()) is not None:
            reading, tools, future = wanted
            try:
                seen, error = self._seen(reading, tools), None
            except Exception as failure:
                seen, error = None, failure
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                future.get_loop().call_soon_threadsafe(_settle, future, seen, error)

    def _seen(self, reading: Reading[Seen], tools: Tools) -> Seen:
        if self._failures >= _TRUSTED_FAILURES:
            raise SourceError(f"{self._name} was not asked again in this run, for it did not answer: {self._why}")
        try:
            seen = reading.read(tools)
        except Exception as error:
            if self._name and _is_down(error):
                self._failures += 1
                self._why = str(error)
            raise
        self._failures = 0
        return seen


def _settle(future: asyncio.Future[Any], seen: object, error: Exception | None) -> None:
    if future.done():  # nobody waits for it any more
        return
    if error is None:
        future.set_result(seen)
    else:
        future.set_exception(error)


def _is_down(error: BaseException | None) -> bool:
    """Whether an error says that the host does not answer, rather than what it answered."""
    while error is not None:
        if isinstance(error, TryAgainError) or (isinstance(error, SourceError) and _UNREACHABLE.search(str(error))):
            return True
        error = error.__cause__
    return False
