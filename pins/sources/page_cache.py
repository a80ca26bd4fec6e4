"""Pages of package indexes, kept on disk between calls and shared by concurrent ones.

One file per page, written aside and moved into place, so that a reader sees a whole page or none. What was read with
credentials is never kept. A cache that cannot be read or written is no error: the index is asked instead.

A file begins with a line that holds the headers, and two with what the page was read into (`pins.sources.listing`), as
far as it was; behind them stands the page as it was sent. Each line bears its checksum: a line that is damaged is as
good as none, and then the page is read once more, if it is whole.
"""

import contextlib
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import IO

from pins.sources.index_settings import home_directory
from pins.sources.listing import FORMAT, Listing, from_lines

_MOST_PAGES = 2000
"""Kept: a scheduled check of a large repository wants more than a thousand, and finds them unchanged."""
_LOOK_AFTER = 50
"""Pages after which it is looked whether there are too many: listing a directory for each would cost more."""


@dataclass(frozen=True)
class CachedPage:
    """An answer of an index.

    Attributes:
        url: of the page, after redirects, without credentials and query.
        content_type, etag, last_modified: its headers, "" where not given.
        fetched: when it was read, or last found to be unchanged (aware).
        body: as it was sent, decompressed; None where it was left unread, since there is a listing.
        fresh_for: how long the index has said that it holds, in seconds; 0 where it has not.
        listing: what it was read into, for the one project that it is about; None where that is not known.
    """

    url: str
    content_type: str
    etag: str
    last_modified: str
    fetched: datetime
    body: bytes | None
    fresh_for: int = 0
    listing: Listing | None = field(default=None, compare=False)

    @property
    def has_validator(self) -> bool:
        """Whether the index can be asked if it has changed."""
        return bool(self.etag or self.last_modified)


class PageCache:
    """Keeps pages in a directory of the user's own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._put = 0

    def get(self, key: str) -> CachedPage | None:
        """The page kept for a key, with its listing or its body; None without one that can be read."""
        try:
            with self._file(key).open("rb") as file:
                page, digest = _opened(file)
                if page.listing is not None:
                    return page
                body = file.read()
            return replace(page, body=body) if hashlib.sha256(body).hexdigest() == digest else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, key: str, page: CachedPage) -> None:
        """Keep a page, in place of the one before. One whose body was left unread takes that from the one before."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            body, digest = page.body, ""
            if body is None:
                with self._file(key).open("rb") as file:
                    _, digest = _opened(file)
                    body = file.read()
            self._write(key, page, body, digest or hashlib.sha256(body).hexdigest())

    def _write(self, key: str, page: CachedPage, body: bytes, digest: str) -> None:
        fields = {
            "url": page.url,
            "content_type": page.content_type,
            "etag": page.etag,
            "last_modified": page.last_modified,
            "fetched": page.fetched.isoformat(),
            "fresh_for": page.fresh_for,
        }
        header = json.dumps({"page": fields, "sha256": digest, "format": FORMAT}).encode("ascii")
        lines = page.listing.lines() if page.listing is not None else (b"", b"")
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=self._directory, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(b"".join(map(_sealed, (header, *lines))) + body)
            Path(aside).replace(self._file(key))
        except OSError:
            Path(aside).unlink(missing_ok=True)
            raise
        self._put += 1
        if self._put % _LOOK_AFTER == 1:
            self._forget_oldest()

    def use(self, key: str) -> None:
        """Say that a page was used, so that others are forgotten first."""
        with contextlib.suppress(OSError):
            os.utime(self._file(key))

    def _file(self, key: str) -> Path:
        return self._directory / hashlib.sha256(key.encode()).hexdigest()

    def _forget_oldest(self) -> None:
        pages = list(self._directory.iterdir())
        if len(pages) > _MOST_PAGES:
            dated = sorted((page.stat().st_mtime, page) for page in pages)
            for _, page in dated[: len(pages) - _MOST_PAGES * 3 // 4]:
                page.unlink(missing_ok=True)


def _opened(file: IO[bytes]) -> tuple[CachedPage, str]:
    """The page that a file begins with, without its body, and the SHA-256 of that; raises ValueError and the like."""
    header, *lines = (file.readline() for _ in range(3))
    fields = json.loads(_unsealed(header))
    listing = None
    if fields["format"] == FORMAT and lines[0] != _sealed(b""):
        with contextlib.suppress(ValueError):
            listing = from_lines(*map(_unsealed, lines))
    page = {**fields["page"], "fetched": datetime.fromisoformat(fields["page"]["fetched"])}
    return CachedPage(**page, body=None, listing=listing), fields["sha256"]


def _sealed(line: bytes) -> bytes:
    """A line with its checksum, which tells damage, not malice."""
    return b"%08x %s\n" % (zlib.crc32(line), line)


def _unsealed(line: bytes) -> bytes:
    """The line that was sealed; raises ValueError where it is another."""
    text = line[9:-1]
    if line != _sealed(text):
        raise ValueError("it is damaged")
    return text


def cache_directory(environment: Mapping[str, str]) -> Path:
    """Where this user's caches of the project lie: `$XDG_CACHE_HOME/bisector`, or `~/.cache/bisector`."""
    named = environment.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else home_directory(environment) / ".cache") / "bisector"
