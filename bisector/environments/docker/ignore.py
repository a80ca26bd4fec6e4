"""Which files of a build context a `.dockerignore` leaves out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class IgnoreRules:
    """The rules of one file, in order; the last that matches a path decides.

    Attributes:
        rules: (pattern over a path relative to the context, whether it leaves the path out).
    """

    rules: tuple[tuple[re.Pattern[str], bool], ...]

    def ignores(self, path: str) -> bool:
        """Whether a path (with `/` between its parts) is left out. A rule for a directory covers what is in it."""
        ignored = False
        for pattern, leaves_out in self.rules:
            if leaves_out != ignored and pattern.fullmatch(path):
                ignored = leaves_out
        return ignored

    @property
    def has_exceptions(self) -> bool:
        """Whether a path below an ignored directory may be taken in again."""
        return any(not leaves_out for _, leaves_out in self.rules)


def parse_ignore_rules(lines: Iterable[str]) -> IgnoreRules:
    """Read the lines of a `.dockerignore`."""
    rules = []
    for line in lines:
        pattern = line.strip()
        if not pattern or line.startswith("#"):
            continue
        leaves_out = not pattern.startswith("!")
        parts = [part for part in pattern.removeprefix("!").strip().split("/") if part not in {"", "."}]
        if parts:
            rules.append((re.compile(_expression(parts)), leaves_out))
    return IgnoreRules(tuple(rules))


def read_ignore_rules(dockerfile: Path, context: Path) -> tuple[IgnoreRules, Path | None]:
    """The rules for a build and the file they come from: `<Dockerfile>.dockerignore` beside it precedes the context's.

    Raises:
        OSError: the file is there and cannot be read.
    """
    for path in (dockerfile.with_name(dockerfile.name + ".dockerignore"), context / ".dockerignore"):
        if path.is_file():
            return parse_ignore_rules(path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()), path
    return IgnoreRules(()), None


def _expression(parts: list[str]) -> str:
    written = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            written += ".*" if last else "(?:.*/)?"
        else:
            written += _part(part) + ("" if last else "/")
    return f"{written}(?:/.*)?"


def _part(part: str) -> str:
    written = ""
    at = 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "*":
            written += ".*" if part[at : at + 1] == "*" else "[^/]*"
            at += part[at : at + 1] == "*"
        elif character == "?":
            written += "[^/]"
        elif character == "[" and "]" in part[at + 1 :]:
            end = part.index("]", at + 1)
            inside = part[at:end]
            negated = inside.startswith("^")
            written += f"[{'^' if negated else ''}{re.escape(inside.removeprefix('^')).replace(chr(92) + '-', '-')}]"
            at = end + 1
        elif character == "\\" and at < len(part):
            written += re.escape(part[at])
            at += 1
        else:
            written += re.escape(character)
    return written
