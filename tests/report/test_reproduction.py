"""The command that a report gives to do its run again."""

import shlex
from datetime import UTC, datetime

from bisector.reproduction import command_again

ENDS = {"kernel": ("a" * 40, "b" * 40)}


def test_branches_are_held_where_they_were_and_the_index_is_read_as_of_the_same_time() -> None:
    words = [
        "bisector",
        "run",
        "--pin",
        "kernel=v1..main",
        "--pin=numpy=1.0..2.0",
        "--smoke",
        "s.py",
        "--",
        "--pin",
        "kernel=x",
    ]
    again = command_again(words, ENDS, datetime(2026, 8, 1, 12, tzinfo=UTC))
    assert shlex.split(again) == [
        *["bisector", "run", "--pin", f"kernel={'a' * 40}..{'b' * 40}", "--pin=numpy=1.0..2.0", "--smoke", "s.py"],
        *["--exclude-newer", "2026-08-01T12:00:00Z", "--", "--pin", "kernel=x"],
    ]
    assert f"--pin=kernel={'a' * 40}.." in command_again(["bisector", "run", "--pin=kernel=v1..main"], ENDS, None)


def test_a_run_that_no_command_started_has_none() -> None:
    assert command_again([], ENDS, datetime(2026, 8, 1, tzinfo=UTC)) == ""
