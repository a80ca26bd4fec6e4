"""The command that does a run again, with the same ends and the index as of the same time. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime

from packaging.utils import canonicalize_name

_NONE: Mapping[str, str] = {}


def command_again(
    words: Sequence[str],
    revisions: Mapping[str, tuple[str, str]],
    as_of: datetime | None,
    *,
    fixed: Mapping[str, str] = _NONE,
    ends: Mapping[str, str] = _NONE,
) -> str:
    """The words as they were typed, with what moves held still.

    Args:
        words: as typed, those of the script after `--` included; empty where the run was not started by a command.
        revisions: pin -> hashes of the commits that its ends were: a branch moves on, a tag may.
        as_of: when the index was read, None where the words say so themselves (aware).
        fixed: pin -> the hash that it is held at.
        ends: option (`--good`, `--bad`) -> the hash that it named; said at the end where a file of options has it.
    """
    again = list(words)
    end = again.index("--") if "--" in again else len(again)
    said: set[str] = set()
    for place in range(1, end):
        option, equals, value = again[place].partition("=")
        if not equals or not option.startswith("--"):
            option, value = again[place - 1], again[place]
        held = _held_still(option, value, revisions, fixed, ends)
        if held is None:
            continue
        said.add(option)
        again[place] = f"{option}={held}" if again[place].startswith(f"{option}=") else held
    added = [word for option, value in ends.items() if again and option not in said for word in (option, value)]
    if again and as_of is not None:
        added += ["--exclude-newer", as_of.isoformat(timespec="seconds").replace("+00:00", "Z")]
    again[end:end] = added
    return shlex.join(again)


def _held_still(
    option: str,
    value: str,
    revisions: Mapping[str, tuple[str, str]],
    fixed: Mapping[str, str],
    ends: Mapping[str, str],
) -> str | None:
    """The value of an option with commits in the place of revisions; None for an option that names none."""
    name, equals, _ = value.partition("=")
    pin = canonicalize_name(name)
    if option == "--pin" and equals and pin in revisions:
        return f"{name}={'..'.join(revisions[pin])}"
    if option == "--fix" and equals and pin in fixed:
        return f"{name}={fixed[pin]}"
    return ends.get(option)
