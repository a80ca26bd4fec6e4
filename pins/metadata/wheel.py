"""The metadata inside a wheel, read from its end: never the whole wheel."""

import io
import re
import zipfile
from collections.abc import Callable

from packaging.utils import canonicalize_name

from pins.metadata.archive_errors import ARCHIVE_ERRORS
from pins.metadata.core_metadata import NotMetadataError

TAIL = 32 * 2**10
"""How many bytes are read first: an archive's table of contents stands at its end, and so does its metadata mostly."""
_BLOCK = 64 * 2**10
_LARGEST_READ = 64 * 2**20
_LARGEST_METADATA = 8 * 2**20


class RangeFile(io.RawIOBase):
    """A file that is elsewhere; what is read of it is fetched then.

    Args:
        size: of the file, in bytes.
        tail: its last bytes.
        fetch: gives the bytes from one offset up to, and not including, another.
    """

    def __init__(self, size: int, tail: bytes, fetch: Callable[[int, int], bytes]) -> None:
        super().__init__()
        self._size = size
        self._fetch = fetch
        self._parts = [(size - len(tail), tail)]
        self._position = 0

    def seekable(self) -> bool:  # noqa: D102
        return True

    def readable(self) -> bool:  # noqa: D102
        return True

    def tell(self) -> int:  # noqa: D102
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:  # noqa: D102
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise zipfile.BadZipFile("its table of contents points before its beginning")
        self._position = base + offset
        return self._position

    def read(self, count: int | None = -1) -> bytes:  # noqa: D102
        end = self._size if count is None or count < 0 else min(self._size, self._position + count)
        start, self._position = self._position, max(self._position, end)
        if start >= end:
            return b""
        for offset, part in self._parts:
            if offset <= start and end <= offset + len(part):
                return part[start - offset : end - offset]
        if end - start > _LARGEST_READ:
            raise zipfile.BadZipFile("its table of contents is larger than any")
        until = min(self._size, max(end, start + _BLOCK))
        part = self._fetch(start, until)
        if len(part) != until - start:
            raise zipfile.BadZipFile("less came than was asked for")
        self._parts.append((start, part))
        return part[: end - start]


def metadata_in_wheel(file: io.RawIOBase, filename: str) -> bytes:
    """The METADATA file of a wheel.

    Args:
        file: the wheel, seekable.
        filename: its name, which says whose metadata directory is to be in it.

    Raises:
        NotMetadataError: it is no wheel, or has no such file.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            entry = archive.getinfo(_metadata_path(archive.namelist(), filename))
            if entry.file_size > _LARGEST_METADATA:
                raise NotMetadataError("has metadata that is larger than any")
            with archive.open(entry) as member:
                return member.read(_LARGEST_METADATA)
    except ARCHIVE_ERRORS as error:
        if isinstance(error, NotMetadataError):
            raise
        raise NotMetadataError(f"is no archive that can be read ({str(error)[:100]})") from error


def _metadata_path(names: list[str], filename: str) -> str:
    project, version = filename.split("-")[:2]
    found = [name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
    own = [name for name in found if canonicalize_name(name.split("-")[0]) == canonicalize_name(project)]
    exact = [name for name in own if name.startswith(f"{project}-{version}.")]
    chosen = exact or own
    if len(chosen) != 1:
        raise NotMetadataError("has no metadata of its own" if not chosen else "has metadata of several versions")
    return chosen[0]
