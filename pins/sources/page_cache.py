"""Pages of package indexes, kept on disk between calls and shared by concurrent ones.

One file per page, written aside and moved into place, so that a reader sees a whole page or none. What was read with
credentials is never kept. A cache that cannot be read or written is no error: the index is asked instead.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from pins.sources.index_settings import home_directory

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
        body: as it was sent, decompressed.
        fresh_for: how long the index has said that it holds, in seconds; 0 where it has not.
    """

    url: str
    content_type: str
    etag: str
    last_modified: str
    fetched: datetime
    body: bytes
    fresh_for: int = 0

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
        """The page kept for a key, None without one that can be read."""
        try:
            header, _, body = self._file(key).read_bytes().partition(b"\n")
            fields = json.loads(header)
            if hashlib.sha256(body).hexdigest() != fields.pop("sha256"):
                return None
            return CachedPage(**{**fields, "fetched": datetime.fromisoformat(fields["fetched"])}, body=body)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, key: str, page: CachedPage) -> None:
        """Keep a page, in place of the one before."""
        fields = {name: value for name, value in asdict(page).items() if name != "body"}
        fields["fetched"] = page.fetched.isoformat()
        fields["sha256"] = hashlib.sha256(page.body).hexdigest()
        with contextlib.suppress(OSError):
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, aside = tempfile.mkstemp(dir=self._directory, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(json.dumps(fields).encode() + b"\n" + page.body)
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


def cache_directory(environment: Mapping[str, str]) -> Path:
    """Where this user's caches of the project lie: `$XDG_CACHE_HOME/bisector`, or `~/.cache/bisector`."""
    named = environment.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else home_directory(environment) / ".cache") / "bisector"
