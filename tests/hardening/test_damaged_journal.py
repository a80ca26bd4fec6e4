"""A journal with any byte changed, or cut off anywhere, is read, or said to be damaged: never a fault of ours."""

import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from bisector.journal import Journal
from bisector.model import Candidate, Ended
from bisector.runs import JOURNAL
from bisector.smoke import Observation
from pins.errors import EnvironmentFailureError, PinsError


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A journal with an entry of most kinds."""
    path = tmp_path / JOURNAL
    journal = Journal(path, facts={"run": "x"})
    for number in range(3):
        entry = journal.add_probe(Candidate((("foo", f"1.{number}"),)), "search")
        run = journal.start_run(entry.id, "search", "logs/a.log", "output/a", "here")
        journal.end_run(run, Ended(1, seconds=0.5, output="text", errors="boom"), Observation("fail"))
        journal.decide("note", {"text": "x"})
    journal.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    return path


def read_whole(path: Path) -> None:
    journal = Journal(path, writable=False)
    try:
        for read in (journal.probes, journal.builds, journal.runs, journal.decisions):
            list(read())
        journal.recipes()
    finally:
        journal.close()


def test_any_damage_is_told(written: Path) -> None:
    content = written.read_bytes()
    used = [offset for offset, byte in enumerate(content) if byte]
    chance = random.Random(3)
    for turn in range(300):
        changed = bytearray(content)
        if turn % 4:
            changed[chance.choice(used)] = chance.choice([0x22, 0x30, 0xFF, chance.randrange(256)])
        else:
            del changed[chance.randrange(len(changed)) :]
        written.write_bytes(changed)
        with suppress(PinsError):
            read_whole(written)


@pytest.mark.parametrize(("table", "column"), [("runs", "ended"), ("runs", "started"), ("probes", "candidate")])
def test_an_entry_that_is_not_what_was_written_is_damage(written: Path, table: str, column: str) -> None:
    with sqlite3.connect(written) as connection:
        connection.execute(f"UPDATE {table} SET {column} = 'x' WHERE rowid = 2")
    with pytest.raises(EnvironmentFailureError, match="an entry cannot be read"):
        read_whole(written)
