"""What versions require, kept on disk between calls and shared by concurrent ones: one small database.

A file of an index never changes, so an entry that is keyed by the file's hash holds for ever; one that is keyed by a
URL alone holds for a while. What was read with credentials is never kept (whoever puts it in sees to that). A cache
that cannot be read or written is no error: the index is asked instead; an entry that is damaged is as good as none.
"""

import contextlib
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

_FORMAT = 2
"""Raised whenever entries mean something else: older ones are then dropped."""
_MOST_ENTRIES = 200_000
_ASKED_AT_ONCE = 500


class MetadataCache:
    """Texts by key, in a file of the user's own; safe for several threads and processes.

    Args:
        file: the database; it and its directory are made when something is put in.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the database."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def get(self, keys: Iterable[str], *, since: datetime | None = None) -> dict[str, str]:
        """The texts that are kept for these keys.

        Args:
            keys: what is wanted.
            since: older entries do not count; None for all.
        """
        wanted = list(dict.fromkeys(keys))
        found: dict[str, str] = {}
        with self._lock, self._no_error():
            connection = self._connection(make=False)
            if connection is None:
                return found
            for start in range(0, len(wanted), _ASKED_AT_ONCE):
                some = wanted[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT key, text, sum FROM entry WHERE key IN ({marks}) AND put >= ?",  # noqa: S608  # only "?"
                    (*some, since.timestamp() if since else 0.0),
                )
                found.update((key, text) for key, text, checksum in rows if checksum == _checksum(key, text))
        return found

    def put(self, entries: Mapping[str, str], now: datetime) -> None:
        """Keep texts, in place of those before."""
        if not entries:
            return
        with self._lock, self._no_error():
            connection = self._connection(make=True)
            if connection is None:
                return
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO entry (key, text, sum, put) VALUES (?, ?, ?, ?)",
                    [(key, text, _checksum(key, text), now.timestamp()) for key, text in entries.items()],
                )
                [[count]] = connection.execute("SELECT count(*) FROM entry")
                if count > _MOST_ENTRIES:
                    connection.execute(
                        "DELETE FROM entry WHERE key IN (SELECT key FROM entry ORDER BY put LIMIT ?)",
                        (_MOST_ENTRIES // 4,),
                    )

    @contextlib.contextmanager
    def _no_error(self) -> Iterator[None]:
        """What fails does not matter; a database that is damaged is begun anew by the next who opens it."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, sqlite3.Error) and not _may_pass(error):
                with contextlib.suppress(sqlite3.Error, OSError):
                    if self._opened is not None:
                        self._opened.close()
                        self._opened = None
                    self._file.unlink(missing_ok=True)

    def _connection(self, *, make: bool) -> sqlite3.Connection | None:
        if self._opened is not None:
            return self._opened
        if not make and not self._file.exists():
            return None
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._opened = self._open()
        except sqlite3.DatabaseError as error:
            if _may_pass(error):
                raise
            self._file.unlink(missing_ok=True)  # it is no database, or a broken one
            self._opened = self._open()
        return self._opened

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._file, timeout=5, check_same_thread=False)
        try:
            [[version]] = connection.execute("PRAGMA user_version")
            if version != _FORMAT:
                with connection:
                    connection.execute("DROP TABLE IF EXISTS entry")
                    connection.execute(
                        "CREATE TABLE entry (key TEXT PRIMARY KEY, text TEXT, sum INTEGER, put REAL) WITHOUT ROWID"
                    )
                    connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("PRAGMA synchronous = OFF")  # a cache may be lost with the machine
        except BaseException:
            connection.close()
            raise
        return connection


def _may_pass(error: sqlite3.Error) -> bool:
    """Whether it is no damage, but that the file is locked, or cannot be written or opened: another time."""
    names = ("BUSY", "LOCKED", "READONLY", "CANTOPEN", "IOERR", "FULL", "PERM", "NOMEM", "INTERRUPT", "PROTOCOL")
    return getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_").startswith(names)


def _checksum(key: str, text: object) -> int:
    """Tells damage to the file, not malice."""
    return zlib.crc32(f"{key}\n{text}".encode("utf-8", "surrogatepass"))
