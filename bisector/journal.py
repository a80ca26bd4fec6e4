"""The durable record of a run: one SQLite file, from which everything else can be rebuilt.

Written by one process only (the holder of the run's lock, see `runs`), from one thread, each entry in a transaction
of its own that is on disk before the next thing happens (write-ahead log, full sync). Read by anyone at any time.
What was committed is never done again after a crash; what was not is, from its start.
"""

import functools
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from bisector.entries import BuildEntry, BuildStatus, Decision, ProbeEntry, RunEntry
from bisector.model import Build, Candidate, Ended, Recipe
from bisector.runs import CHECK
from bisector.serial import adapter, candidate_from_json, candidate_to_json, to_json
from bisector.smoke import Observation
from pins.errors import EnvironmentFailureError, UsageError

SCHEMA = 1

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE probes (
    id TEXT PRIMARY KEY, candidate TEXT NOT NULL UNIQUE, why TEXT NOT NULL, first_seen TEXT NOT NULL
);
CREATE TABLE recipes (
    probe TEXT PRIMARY KEY REFERENCES probes, input_hash TEXT NOT NULL, recipe TEXT NOT NULL
);
CREATE TABLE builds (
    number INTEGER PRIMARY KEY, probe TEXT NOT NULL REFERENCES probes, started TEXT NOT NULL, status TEXT NOT NULL,
    seconds REAL NOT NULL DEFAULT 0, log TEXT NOT NULL, build TEXT, reason TEXT NOT NULL DEFAULT '', ended TEXT
);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY, probe TEXT NOT NULL REFERENCES probes, why TEXT NOT NULL, started TEXT NOT NULL,
    log TEXT NOT NULL, output TEXT NOT NULL, host TEXT NOT NULL DEFAULT '', ended TEXT, observation TEXT
);
CREATE TABLE decisions (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
);
"""


@dataclass(frozen=True)
class _StoredRecipe:
    """A recipe without its candidate, which its probe has."""

    input_hash: str
    resolved: tuple[tuple[str, str], ...]
    instructions: Mapping[str, Any]


_Journal = TypeVar("_Journal", bound="Journal")
_Entry = TypeVar("_Entry")
_P = ParamSpec("_P")


def _entries(
    method: Callable[Concatenate[_Journal, _P], Iterator[_Entry]],
) -> Callable[Concatenate[_Journal, _P], Iterator[_Entry]]:
    """A method that reads entries and says so where one is damaged: SQLite notices no changed byte in a row."""

    @functools.wraps(method)
    def reading(self: _Journal, /, *arguments: _P.args, **options: _P.kwargs) -> Iterator[_Entry]:
        try:
            yield from method(self, *arguments, **options)
        except (ValueError, TypeError) as error:
            raise self.damaged(type(error).__name__) from error

    return reading


class Journal:
    """The record of one run. Every method that writes has committed when it returns.

    Args:
        path: the SQLite file.
        facts: of the whole run, to begin a journal with; None opens one that is there.
        writable: whether this process holds the run's lock.

    Raises:
        UsageError: no journal there, or one of another version of this program.
        EnvironmentFailureError: it cannot be read or written (damaged, disk full).
    """

    def __init__(self, path: Path, *, facts: Mapping[str, str] | None = None, writable: bool = True) -> None:
        if facts is None and not path.is_file():
            raise UsageError(f"no run there: {path} does not exist; `bisector status` shows the latest run")
        self.path = path
        self.writable = writable
        try:
            if facts is not None:
                _lay_out(path, facts)
            self._connection = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            if writable:
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=FULL")
            found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except (sqlite3.Error, OSError) as error:
            if facts is not None:
                raise EnvironmentFailureError(
                    f"the journal {path} cannot be made: {error}; free disk space, or name another place with --run-dir"
                ) from error
            raise self._failure(error) from error
        if found == 0:
            raise self._failure(sqlite3.DatabaseError("it is empty"))
        if found != SCHEMA:
            raise UsageError(
                f"{path} was written by another version of bisector (journal version {found}, this one reads {SCHEMA});"
                " use the version that made it, or start the run anew"
            )

    def close(self) -> None:
        """Close the file. Everything is already on disk."""
        self._connection.close()

    # What the run is.

    def set_meta(self, key: str, value: str) -> None:
        """Record a fact of the whole run, replacing an earlier one."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)

    def meta(self, key: str) -> str:
        """A fact of the whole run, "" where it was never recorded."""
        rows = self._read("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0]["value"]) if rows else ""

    # What happens in it.

    def add_probe(self, candidate: Candidate, why: str) -> ProbeEntry:
        """Record a candidate that was chosen; its id counts up from p001."""
        number = self._read("SELECT count(*) AS number FROM probes")[0]["number"] + 1
        entry = ProbeEntry(f"p{number:03d}", candidate, why, datetime.now(UTC))
        self._write(
            "INSERT INTO probes VALUES (?, ?, ?, ?)",
            entry.id,
            candidate_to_json(candidate),
            why,
            entry.first_seen.isoformat(),
        )
        return entry

    def add_recipe(self, probe: str, recipe: Recipe) -> None:
        """Record what a candidate is built from."""
        stored = _StoredRecipe(recipe.input_hash, recipe.resolved, recipe.instructions)
        self._write("INSERT OR REPLACE INTO recipes VALUES (?, ?, ?)", probe, recipe.input_hash, to_json(stored))

    def start_build(self, probe: str, log: str) -> int:
        """Record that a build begins; its number."""
        return self._write(
            "INSERT INTO builds (probe, started, status, log) VALUES (?, ?, ?, ?)", probe, _now(), "started", log
        )

    def end_build(
        self,
        number: int,
        status: BuildStatus,
        seconds: float,
        *,
        build: Build | None = None,
        reason: str = "",
        ended: Ended | None = None,
    ) -> None:
        """Record how a build ended."""
        self._write(
            "UPDATE builds SET status = ?, seconds = ?, build = ?, reason = ?, ended = ? WHERE number = ?",
            status.value,
            seconds,
            to_json(build) if build else None,
            reason,
            to_json(ended) if ended else None,
            number,
        )

    def forget_failed_builds(self) -> int:
        """Let what could not be built be built again; how many that are. Their logs stay."""
        failed = [build.number for build in self.builds() if build.status is BuildStatus.FAILED]
        for number in failed:
            self._write("UPDATE builds SET status = ? WHERE number = ?", BuildStatus.ABANDONED.value, number)
        return len(failed)

    def start_run(self, probe: str, why: str, log: str, output: str, host: str) -> int:
        """Record that a run of the script begins; its number."""
        return self._write(
            "INSERT INTO runs (probe, why, started, log, output, host) VALUES (?, ?, ?, ?, ?, ?)",
            probe,
            why,
            _now(),
            log,
            output,
            host,
        )

    def end_run(self, number: int, ended: Ended, observation: Observation) -> None:
        """Record how a run ended."""
        self._write(
            "UPDATE runs SET ended = ?, observation = ? WHERE number = ?", to_json(ended), to_json(observation), number
        )

    def decide(self, kind: str, value: object) -> None:
        """Record something decided or found."""
        self._write("INSERT INTO decisions (time, kind, body) VALUES (?, ?, ?)", _now(), kind, to_json(value))

    # Reading it back.

    @_entries
    def probes(self) -> Iterator[ProbeEntry]:
        """Every candidate that was chosen, in order."""
        for row in self._read("SELECT * FROM probes ORDER BY rowid"):
            yield ProbeEntry(
                row["id"], candidate_from_json(row["candidate"]), row["why"], datetime.fromisoformat(row["first_seen"])
            )

    def recipes(self) -> dict[str, Recipe]:
        """The recipe of each probe that has one."""
        candidates = {entry.id: entry.candidate for entry in self.probes()}
        return dict(self._recipes(candidates))

    @_entries
    def _recipes(self, candidates: Mapping[str, Candidate]) -> Iterator[tuple[str, Recipe]]:
        for row in self._read("SELECT * FROM recipes"):
            stored = adapter(_StoredRecipe).validate_json(row["recipe"])
            candidate = candidates.get(row["probe"])
            if candidate is None:
                raise ValueError("a recipe of no probe")
            yield row["probe"], Recipe(candidate, stored.input_hash, stored.resolved, stored.instructions)

    @_entries
    def builds(self) -> Iterator[BuildEntry]:
        """Every attempt to build, in order."""
        for row in self._read("SELECT * FROM builds ORDER BY number"):
            yield BuildEntry(
                row["number"],
                row["probe"],
                datetime.fromisoformat(row["started"]),
                BuildStatus(row["status"]),
                row["seconds"],
                row["log"],
                adapter(Build).validate_json(row["build"]) if row["build"] else None,
                row["reason"],
                adapter(Ended).validate_json(row["ended"]) if row["ended"] else None,
            )

    @_entries
    def runs(self) -> Iterator[RunEntry]:
        """Every run of the script, in order; one that a crash cut off has no end."""
        for row in self._read("SELECT * FROM runs ORDER BY number"):
            yield RunEntry(
                row["number"],
                row["probe"],
                row["why"],
                datetime.fromisoformat(row["started"]),
                row["log"],
                row["output"],
                row["host"],
                adapter(Ended).validate_json(row["ended"]) if row["ended"] else None,
                adapter(Observation).validate_json(row["observation"]) if row["observation"] else None,
            )

    def pieces(self) -> set[str]:
        """The name of every piece of work that was begun, as its processes are marked: builds, runs of the script."""
        return {CHECK} | {entry.id for entry in self.probes()} | {Path(run.log).stem for run in self.runs()}

    @_entries
    def decisions(self, kind: str = "") -> Iterator[Decision]:
        """Everything decided, or that of one kind, in order."""
        for row in self._read("SELECT * FROM decisions WHERE ? IN ('', kind) ORDER BY number", kind):
            yield Decision(row["number"], datetime.fromisoformat(row["time"]), row["kind"], row["body"])

    def _write(self, statement: str, *values: object) -> int:
        assert self.writable, "only the holder of the run's lock writes"
        if not self.path.exists():
            raise EnvironmentFailureError(
                f"the journal {self.path} was removed while the run was under way: it is lost"
            )
        try:
            return self._connection.execute(statement, values).lastrowid or 0
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _read(self, statement: str, *values: object) -> list[sqlite3.Row]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._failure(error) from error
        except UnicodeDecodeError as error:
            raise self.damaged("a text") from error

    def damaged(self, what: str) -> EnvironmentFailureError:
        """What to raise where an entry is there, and is not what was written."""
        return self._failure(sqlite3.DatabaseError(f"an entry cannot be read: {what}"))

    def _failure(self, error: sqlite3.Error | OSError) -> EnvironmentFailureError:
        passing = isinstance(error, sqlite3.OperationalError) and not str(error).startswith("no such")
        if isinstance(error, sqlite3.DatabaseError) and not passing:
            return EnvironmentFailureError(
                f"the journal {self.path} is damaged ({error}): this run cannot be gone on with. Its logs lie beside"
                " it; start it anew with `bisector run`"
            )
        return EnvironmentFailureError(
            f"the journal {self.path} could not be used: {error}."
            " Free disk space or mend the path, then go on with `bisector resume`; what it holds is not lost"
        )


def _lay_out(path: Path, facts: Mapping[str, str]) -> None:
    """Make a journal; it appears under its name when it is whole, whatever moment we are killed at."""
    unborn = path.with_name(path.name + ".new")
    unborn.unlink(missing_ok=True)
    connection = sqlite3.connect(unborn, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version={SCHEMA};")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
        connection.execute("COMMIT")
    finally:
        connection.close()
    unborn.replace(path)


def _now() -> str:
    return datetime.now(UTC).isoformat()
