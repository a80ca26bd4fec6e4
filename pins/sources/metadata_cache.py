"""What versions require, kept on disk between calls and shared by concurrent ones: one small database.

A file of an index never changes, so an entry that is keyed by the file's hash holds for ever; one that is keyed by a
URL alone holds for a while. What was read with credentials is never kept (whoever puts it in sees to that). A cache
that cannot be read or written is no error: the index is asked instead.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

_FORMAT = 1
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
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            connection = self._connection(make=False)
            if connection is None:
                return found
            for start in range(0, len(wanted), _ASKED_AT_ONCE):
                some = wanted[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(some))
                found.update(
                    connection.execute(
                        f"SELECT key, text FROM entry WHERE key IN ({marks}) AND put >= ?",  # noqa: S608  # only "?"
                        (*some, since.timestamp() if since else 0.0),
                    )
                )
        return found

    def put(self, entries: Mapping[str, str], now: datetime) -> None:
        """Keep texts, in place of those before."""
        if not entries:
            return
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            connection = self._connection(make=True)
            if connection is None:
                return
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO entry (key, text, put) VALUES (?, ?, ?)",
                    [(key, text, now.timestamp()) for key, text in entries.items()],
                )
                [[count]] = connection.execute("SELECT count(*) FROM entry")
                if count > _MOST_ENTRIES:
                    connection.execute(
                        "DELETE FROM entry WHERE key IN (SELECT key FROM entry ORDER BY put LIMIT ?)",
                        (_MOST_ENTRIES // 4,),
                    )

    def _connection(self, *, make: bool) -> sqlite3.Connection | None:
        if self._opened is not None:
            return self._opened
        if not make and not self._file.exists():
            return None
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._opened = self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, or not to be written: another time
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
                    connection.execute("CREATE TABLE entry (key TEXT PRIMARY KEY, text TEXT, put REAL) WITHOUT ROWID")
                    connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("PRAGMA synchronous = OFF")  # a cache may be lost with the machine
        except BaseException:
            connection.close()
            raise
        return connection
