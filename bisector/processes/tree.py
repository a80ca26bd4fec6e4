"""Which processes belong to a probe, and how they are ended.

A process belongs to a probe when it is in the session that was started for it, descends from that session's leader, or
carries the probe's id in its environment: the last finds what was daemonised or given a session of its own, and what
outlived a killed bisector.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

MARKER = "BISECTOR_PROBE"
"""Environment variable that marks every process started for a probe or build; its value is that one's id."""

TERMINATE_GRACE = 2.0
"""Seconds between the polite signal and the other one."""
KILL_PATIENCE = 5.0
"""Seconds after which a process that not even SIGKILL ends (it hangs in a driver, say) is left alone."""

_PROC = Path("/proc")
_MARK = MARKER.encode()
_LOOKS = 3
_RECENT = 5.0
"""Seconds in which the numbers of processes do not go round once."""
_KERNEL_THREADS = 2
"""Parent of all threads of the kernel."""


@dataclass(frozen=True)
class _Process:
    pid: int
    state: str
    parent: int
    session: int
    start: int
    """Clock ticks since boot."""


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(descriptor, 1 << 17):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _process(pid: int) -> _Process | None:
    try:
        text = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    # The name stands in parentheses and may itself hold blanks and parentheses: the fields follow the last one.
    fields = text[text.rfind(b")") + 2 :].split()
    return _Process(pid, fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[19]))


def _marker(process: _Process, young: bool) -> str:
    """The id that a process was started for, or "".

    For the blink of an eye in which a process becomes another program it shows no environment: a young one that shows
    none is looked at again.
    """
    environment = b""
    for _ in range(_LOOKS if young and process.parent != _KERNEL_THREADS else 1):
        try:
            environment = _read(f"/proc/{process.pid}/environ")
        except OSError:
            return ""
        if environment:
            break
        time.sleep(0.001)
    if _MARK not in environment:
        return ""
    for entry in environment.split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name == _MARK:
            return os.fsdecode(value)
    return ""


def _ours() -> set[int]:
    """This process and its ancestors: never ended, even when they themselves run inside a probe."""
    ours = set()
    pid = os.getpid()
    while pid > 0 and pid not in ours:
        ours.add(pid)
        process = _process(pid)
        pid = process.parent if process else 0
    return ours


def members(markers: Collection[str], leader: int | None = None) -> list[int]:
    """The living processes of probes.

    Args:
        markers: ids of the probes.
        leader: a child of ours, not yet waited for, that leads a session of its own: what is in that session or
            descends from it belongs too, and nothing older than it is looked at.
    """
    if not _PROC.joinpath("self", "stat").exists():
        return _members_elsewhere(markers, leader)
    ours = _ours()
    first = _process(leader) if leader is not None else None
    oldest = first.start if first else 0
    numbers = _numbers() if first is None else _numbers_since(first)
    table = [process for pid in numbers if pid not in ours and (process := _process(pid))]
    alive = [process for process in table if process.state not in "ZX" and process.start >= oldest]
    found: set[int] = set()
    if leader is not None:
        family = {leader}
        for process in sorted(table, key=lambda process: process.start):
            if process.pid == leader or process.session == leader or process.parent in family:
                family.add(process.pid)
        found = {process.pid for process in alive if process.pid in family}
    rest = [process for process in alive if process.pid not in found]
    found.update(process.pid for process in rest if _marker(process, young=leader is not None) in markers)
    return sorted(found)


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 - five times faster


def _numbers_since(first: _Process) -> list[int]:
    """Numbers of the processes that may be younger than this one.

    Numbers go up until they begin again, which takes longer than `_RECENT`: so of a machine's thousands of processes
    only the few newest need to be looked at after a short run.
    """
    try:
        age = float(_read("/proc/uptime").split()[0]) - first.start / os.sysconf("SC_CLK_TCK")
        newest = int(_read("/proc/loadavg").split()[-1])
    except (OSError, ValueError, IndexError):
        return _numbers()
    if age > _RECENT or newest < first.pid:
        return _numbers()
    return [pid for pid in _numbers() if pid >= first.pid]


def _members_elsewhere(markers: Collection[str], leader: int | None) -> list[int]:
    """The same where there is no /proc."""
    import psutil  # type: ignore[import-untyped,unused-ignore]

    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() == psutil.STATUS_ZOMBIE or process.pid == os.getpid():
                continue
            belongs = leader is not None and os.getsid(process.pid) == leader
            if belongs or process.environ().get(MARKER, "") in markers:
                found.add(process.pid)
    if leader is not None:
        with contextlib.suppress(psutil.Error):
            found.update(child.pid for child in psutil.Process(leader).children(recursive=True))
    return sorted(found)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def end_tree(
    markers: Collection[str], leader: int | None = None, pause: Callable[[float], None] = time.sleep
) -> tuple[int, list[int]]:
    """End every process of these probes: asked first, then forced.

    Args:
        markers: ids of the probes.
        leader: as in `members`.
        pause: waits that many seconds; the caller may use the time to read what the processes still write.

    Returns:
        How many processes there were, and those that even SIGKILL did not end.
    """
    alive = members(markers, leader)
    if not alive:
        return 0, []
    ended = set(alive)
    for number, patience in ((signal.SIGTERM, TERMINATE_GRACE), (signal.SIGKILL, KILL_PATIENCE)):
        asked: set[int] = set()
        until = time.monotonic() + patience
        wait = 0.002
        while alive and time.monotonic() < until:
            for pid in alive:
                # A process is asked once, and forced until it is gone: new ones may be born meanwhile.
                if number == signal.SIGKILL or pid not in asked:
                    _send(pid, number)
            asked.update(alive)
            pause(wait)
            wait = min(wait * 2, 0.05)
            # Twice, for a process may be born of one that ends while the table is read.
            alive = members(markers, leader) or members(markers, leader)
            ended.update(alive)
    return len(ended), alive


def end_marked(markers: Collection[str]) -> int:
    """End every process on this machine that was started for one of these probes or builds.

    Returns:
        How many there were.
    """
    return end_tree(markers)[0] if markers else 0
