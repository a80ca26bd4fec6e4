"""Files into a container and out of it, as tar archives."""

import io
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from bisector.environments.docker.run import ROOM, SCRIPT_ROOM, room_directories

OUTPUT_LIMIT = 1 << 30
"""Bytes of PROBE_OUTPUT that are kept of one run."""
OUTPUT_FILES = 10_000
"""Files and directories of PROBE_OUTPUT that are kept of one run."""
_NAMED = 10
"""How many of those that are left out are named."""


def room_archive(script: Path | None) -> bytes:
    """What a run finds below ROOM: empty directories that every user may write to, and the script, read-only.

    Raises:
        OSError: the script cannot be read.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for directory in room_directories():
            entry = tarfile.TarInfo(str(directory.relative_to(ROOM)))
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o777
            archive.addfile(entry)
        holder = tarfile.TarInfo(str(SCRIPT_ROOM.relative_to(ROOM)))
        holder.type = tarfile.DIRTYPE
        holder.mode = 0o755
        archive.addfile(holder)
        if script is not None:
            content = script.read_bytes()
            entry = tarfile.TarInfo(str(SCRIPT_ROOM.relative_to(ROOM) / script.name))
            entry.size = len(content)
            entry.mode = 0o555
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


class _Chunks(io.RawIOBase):
    """An iterator of byte strings as a file to read from."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks: Iterator[bytes] = iter(chunks)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            try:
                self._rest = next(self._chunks)
            except StopIteration:
                return 0
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def keep_output(chunks: Iterable[bytes], destination: Path) -> str:
    """Unpack the archive of a container's OUTPUT_ROOM below `destination`: plain files and directories alone.

    Returns:
        What was left out and why, "" when nothing was.

    Raises:
        OSError: the disk does not take it.
        tarfile.TarError: the archive is broken.
    """
    size = count = 0
    left_out: list[str] = []
    kept: dict[PurePosixPath, Path] = {}
    with tarfile.open(fileobj=io.BufferedReader(_Chunks(chunks), 1 << 20), mode="r|") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            parts = path.parts[1:]  # the first one is the directory's own name
            if not parts:
                continue
            # A hard link stands for a file that the archive has brought before.
            linked = kept.get(PurePosixPath(member.linkname)) if member.islnk() else None
            if ".." in parts or not (member.isfile() or member.isdir() or linked):
                left_out.append(f"{'/'.join(parts)} ({_kind(member)})")
                continue
            count += 1
            size += linked.stat().st_size if linked else member.size
            if count > OUTPUT_FILES or size > OUTPUT_LIMIT:
                return f"more than {OUTPUT_FILES} files or {OUTPUT_LIMIT >> 20} MiB; the rest was left out"
            target = destination.joinpath(*parts)
            if member.isdir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if linked:
                shutil.copyfile(linked, target)
            elif source := archive.extractfile(member):
                with target.open("wb") as file:
                    shutil.copyfileobj(source, file, 1 << 20)
            kept[path] = target
    if not left_out:
        return ""
    more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
    return f"only files and directories are; left out: {', '.join(left_out[:_NAMED])}{more}"


def _kind(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return f"link to {member.linkname}"
    return "fifo" if member.isfifo() else "device" if member.isdev() else "not a plain file below it"
