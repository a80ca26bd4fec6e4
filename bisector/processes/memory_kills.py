"""The kernel's word that it killed a process because memory ran out."""

from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


def _count(path: Path, key: str) -> int | None:
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError):
        return None
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == key and value.strip().isdigit():
            return int(value)
    return None


def _counters() -> list[Path]:
    """Where our own control group counts such kills, most particular first.

    Both hierarchies of control groups are in use, and in a container the path that the kernel names may be the host's
    while the mount shows the container's own group at its root.
    """
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        relative = path.lstrip("/")
        if "memory" in controllers.split(","):
            found += [_CGROUPS / "memory" / relative / "memory.oom_control", _CGROUPS / "memory" / "memory.oom_control"]
        elif not controllers:
            found += [_CGROUPS / relative / "memory.events", _CGROUPS / "memory.events"]
    return found


class MemoryKills:
    """Counts the processes killed for memory since it was made."""

    def __init__(self) -> None:
        self._source: Path | None = None
        self._start = 0
        for path in [*_counters(), Path("/proc/vmstat")]:
            count = _count(path, "oom_kill")
            if count is not None:
                self._source, self._start = path, count
                break

    def word(self) -> str:
        """What the kernel says, "" when it killed nothing."""
        if self._source is None:
            return ""
        count = (_count(self._source, "oom_kill") or self._start) - self._start
        if count <= 0:
            return ""
        where = "on this machine" if self._source.parts[:2] == ("/", "proc") else "in our control group"
        processes = "a process" if count == 1 else f"{count} processes"
        return f"the kernel killed {processes} {where} for lack of memory"
