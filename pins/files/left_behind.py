"""What an edit leaves as it was though it goes with what was edited: checksums, and names of files with the version."""

import re
from collections.abc import Iterator, Sequence

from pins.model import Pin, PinKind

_CHECKSUM = re.compile(rb"--hash[= ]|--checksum=|sha(?:256|384|512)|(?<![0-9a-fA-F])[0-9a-f]{64}(?![0-9a-fA-F])")
_MOST_LINES = 4


def left_behind(changed: bytes, chosen: Sequence[Pin]) -> Iterator[str]:
    """Say what still goes with the old value.

    Args:
        changed: the file as it becomes; no line is more or less than before.
        chosen: the pins that were edited, as they were.
    """
    lines = changed.split(b"\n")
    for pin in chosen:
        if not pin.places or pin.kind in {PinKind.IMAGE, PinKind.GIT, PinKind.TEXT}:
            continue
        around = range(*_instruction(lines, pin.line - 1))
        if any(_CHECKSUM.search(lines[index]) for index in around):
            yield f"{pin.name}: a checksum beside it (line {_listed(lines, around, _CHECKSUM)}) is not changed"
        if pin.kind is PinKind.URL and pin.value and re.search(r"\d\.\d", pin.value):
            old = re.compile(rb"(?<![\d.])" + re.escape(pin.value.encode("utf-8", "replace")) + rb"(?![\d]|\.\d)")
            if any(old.search(lines[index]) for index in around):
                yield f"{pin.name}: {pin.value} still stands on line {_listed(lines, around, old)}"


def _listed(lines: Sequence[bytes], around: range, pattern: re.Pattern[bytes]) -> str:
    found = [str(index + 1) for index in around if pattern.search(lines[index])]
    return ", ".join(found[:_MOST_LINES]) + (", ..." if len(found) > _MOST_LINES else "")


def _instruction(lines: Sequence[bytes], index: int) -> tuple[int, int]:
    """The first line of what a backslash joins with a line, and the one behind its last."""
    first = last = index
    while first > 0 and lines[first - 1].rstrip().endswith(b"\\"):
        first -= 1
    while last + 1 < len(lines) and lines[last].rstrip().endswith(b"\\"):
        last += 1
    return first, last + 1
