"""Whether a program prints what a page shows."""

import re
from collections.abc import Sequence

LEFT_OUT = "[...]"
_MASKS = (
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{4}\b"), "RUN"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?"), "TIME"),
    (re.compile(r"\b(?:\d+ h )?(?:\d+ min )?\d+(?:\.\d+)? s\b"), "DURATION"),
    (re.compile(r"\b0x[0-9a-f]+\b"), "ADDRESS"),
    (re.compile(r"\b\d+(?:\.\d+)? %"), "SHARE"),
    (re.compile(r" {2,}"), " "),
)
"""What differs from run to run: names of runs, times, durations, addresses, how sure
a search is, which depends on how long things take; and the columns that follow from them."""


def masked(line: str) -> str:
    """A line without what differs from run to run."""
    for pattern, word in _MASKS:
        line = pattern.sub(word, line)
    return line.strip()


def difference(shown: Sequence[str], printed: str) -> str:
    """What is shown and was not printed; "" where all of it was, in this order.

    `[...]` on a line of its own stands for any lines; at the end of a line, for the rest of it.
    """
    lines = [masked(line) for line in printed.splitlines()]
    position, anywhere = 0, False
    for raw in shown:
        wanted = masked(raw)
        if wanted == LEFT_OUT:
            anywhere = True
            continue
        candidates = range(position, len(lines)) if anywhere else range(position, min(position + 1, len(lines)))
        found = next((index for index in candidates if _same(wanted, lines[index])), None)
        if found is None:
            there = lines[position] if position < len(lines) else "(nothing more)"
            return f"shown:   {raw}\nprinted: {there}"
        position, anywhere = found + 1, False
    if not anywhere and position < len(lines):
        return f"printed and not shown: {lines[position]}"
    return ""


def _same(wanted: str, line: str) -> bool:
    if wanted.endswith(LEFT_OUT):
        return line.startswith(wanted.removesuffix(LEFT_OUT).rstrip())
    return wanted == line
