"""What of a command line a report repeats, for others to type."""

from collections.abc import Sequence
from dataclasses import fields

from bisector.cli.options import RunOptions, key_of, kind_of

_FLAGS = {f"--{key_of(each.name)}" for each in fields(RunOptions) if kind_of(each.name) == "flag"}
_OF_ONE_CALL = {"--run-dir", "--output", "--format"}
_FLAGS_OF_ONE_CALL = {"--quiet", "-q", "--verbose", "-v", "--no-color"}


def worth_repeating(words: Sequence[str]) -> tuple[str, ...]:
    """The words without options that only say where this one call shows its result, and how much it tells.

    Args:
        words: as typed; those after `--` are the script's own.
    """
    kept: list[str] = []
    place = 0
    while place < len(words) and words[place] != "--":
        word = words[place]
        valued = word.startswith("--") and "=" not in word and word not in _FLAGS | _FLAGS_OF_ONE_CALL
        length = 2 if valued else 1
        if word.partition("=")[0] not in _OF_ONE_CALL and word not in _FLAGS_OF_ONE_CALL:
            kept += words[place : place + length]
        place += length
    return (*kept, *words[place:])
