"""Reading the world for many checks: each source once, a few at a time of each host, none waiting for another."""

import asyncio
import contextlib
import re
import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, cast

from pins.drift.model import Reading, Seen, Tools
from pins.errors import SourceError
from pins.sources.http_reader import TryAgainError

AT_ONCE = 8
"""Readings of one host that are under way together, where they say nothing else (`at_once`)."""
LONGEST = 600.0
"""Seconds that one reading may take: the first clone of a large repository, a file that is hard to resolve."""
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
        longest: seconds after which one is given up.
    """

    def __init__(self, tools: Tools, *, at_once: int = AT_ONCE, longest: float = LONGEST) -> None:
        self._tools = tools
        self._at_once = at_once
        self._longest = longest
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
            at_once = getattr(reading, "at_once", self._at_once)
            self._hosts[reading.host] = _Host(reading.host, at_once, self._longest)
        return await self._hosts[reading.host].read(reading, self._tools)

    def close(self) -> None:
        """Begin no further reading, and wait for none."""
        for host in self._hosts.values():
            host.close()


@dataclass(frozen=True, eq=False)
class _Wanted:
    """A reading that somebody waits for: when a thread has begun with it, and what it has seen."""

    reading: Reading[Any]
    tools: Tools
    begun: asyncio.Future[str]
    seen: asyncio.Future[Any]


class _Host:
    """One host, with threads that do not keep the program from ending, whatever they still wait for."""

    def __init__(self, name: str, at_once: int, longest: float) -> None:
        self._name = name
        self._at_once = at_once
        self._longest = longest
        self._threads = 0
        self._abandoned: set[str] = set()
        self._waiting: SimpleQueue[_Wanted | None] = SimpleQueue()
        self._failures = 0
        self._why = ""

    async def read(self, reading: Reading[Seen], tools: Tools) -> Seen:
        loop = asyncio.get_running_loop()
        wanted = _Wanted(reading, tools, loop.create_future(), loop.create_future())
        self._waiting.put(wanted)
        if self._threads < self._at_once:
            self._start()
        worker = await wanted.begun
        done, _ = await asyncio.wait([wanted.seen], timeout=self._longest)
        if not done:
            self._abandoned.add(worker)
            self._start()  # in its place
            wanted.seen.cancel()
            where = self._name or "this machine"
            raise SourceError(f"{_named(reading)} took longer than {self._longest:g} s on {where}, and was given up")
        return cast("Seen", wanted.seen.result())

    def close(self) -> None:
        self._failures = _TRUSTED_FAILURES
        for _ in range(self._threads):
            self._waiting.put(None)

    def _start(self) -> None:
        self._threads += 1
        name = f"read-{self._name}-{self._threads}"
        threading.Thread(target=self._work, args=(name,), name=name, daemon=True).start()

    def _work(self, name: str) -> None:
        while name not in self._abandoned and (wanted := self._waiting.get()) is not None:
            loop = wanted.seen.get_loop()
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, wanted.begun, name, None)
            try:
                seen, error = self._seen(wanted.reading, wanted.tools), None
            except Exception as failure:
                seen, error = None, failure
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, wanted.seen, seen, error)

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


def _named(reading: Reading[Any]) -> str:
    """A reading for people, by what it is of: "Resolution of docker/Dockerfile"."""
    of = next(
        (str(value) for value in getattr(reading, "__dict__", {}).values() if isinstance(value, str) and value), ""
    )
    return f"{type(reading).__name__} of {of}" if of else type(reading).__name__


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
