"""The command that does a run again, with the same ends and the index as of the same time. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime


def command_again(words: Sequence[str], revisions: Mapping[str, tuple[str, str]], as_of: datetime | None) -> str:
    """The words as they were typed, with what moves held still.

    Args:
        words: as typed, those of the script after `--` included; empty where the run was not started by a command.
        revisions: pin -> hashes of the commits that its ends were: a branch moves on, a tag may.
        as_of: when the index was read, None where the words say so themselves (aware).
    """
    again = list(words)
    end = again.index("--") if "--" in again else len(again)
    for place in range(1, end):
        if again[place - 1] == "--pin":
            again[place] = _held_still(again[place], revisions)
        elif again[place].startswith("--pin="):
            again[place] = "--pin=" + _held_still(again[place].removeprefix("--pin="), revisions)
    if again and as_of is not None:
        again[end:end] = ["--exclude-newer", as_of.isoformat(timespec="seconds").replace("+00:00", "Z")]
    return shlex.join(again)


def _held_still(text: str, revisions: Mapping[str, tuple[str, str]]) -> str:
    name, equals, _ = text.partition("=")
    return f"{name}={'..'.join(revisions[name])}" if equals and name in revisions else text
