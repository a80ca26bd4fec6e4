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


def test_revisions_of_a_file_come_out_as_commits_however_they_were_written() -> None:
    ends = {"--good": "a" * 40, "--bad": "b" * 40}
    words = ["bisector", "run", "--dockerfile", "Dockerfile", "--good", "v1", "--bad=main", "--smoke", "s.sh"]
    again = shlex.split(command_again(words, {}, None, ends=ends))
    assert again == [*words[:4], "--good", "a" * 40, f"--bad={'b' * 40}", "--smoke", "s.sh"]


def test_revisions_from_a_file_of_options_are_added() -> None:
    words = ["bisector", "run", "bisect.toml", "--", "--good", "script"]
    again = shlex.split(command_again(words, {}, None, ends={"--good": "a" * 40, "--bad": "b" * 40}))
    assert again == ["bisector", "run", "bisect.toml", "--good", "a" * 40, "--bad", "b" * 40, "--", "--good", "script"]


def test_a_pin_that_is_held_at_a_branch_is_held_at_its_commit() -> None:
    words = ["bisector", "run", "--fix", "Kernel=main", "--fix=numpy=2.0", "--pin", "Thing=v1..v2"]
    again = shlex.split(command_again(words, {"thing": ("a" * 40, "b" * 40)}, None, fixed={"kernel": "c" * 40}))
    assert again == [
        *["bisector", "run", "--fix", f"Kernel={'c' * 40}", "--fix=numpy=2.0"],
        *["--pin", f"Thing={'a' * 40}..{'b' * 40}"],
    ]
