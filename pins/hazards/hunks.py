"""The hunks of a patch, and the lines of a file that they would change."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = re.compile(
    rb"@@ -(?P<old>\d+)(?:,(?P<old_count>\d+))? \+(?P<new>\d+)(?:,(?P<new_count>\d+))? @@(?P<section>[^\n]*)"
)
_TARGET = re.compile(rb"\+\+\+ (?:b/)?(?P<path>[^\t\r\n]+)")
_SOURCE = re.compile(rb"--- (?:a/)?(?P<path>[^\t\r\n]+)")
_INDEX = re.compile(rb"index (?P<old>[0-9a-f]{7,64})\.\.[0-9a-f]{7,64}")
_SCOPE = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+|[\w:*&<>\s]+\([^;]*\)\s*\{?\s*\Z")


@dataclass(frozen=True)
class Hunk:
    """One hunk.

    Attributes:
        file: the file it is for, as the patch names it.
        old: line in the file before the patch; for an insertion the line behind which it goes.
        header: the two ranges, such as "-229,0 +227,22".
        removed: lines that go.
        added: lines that come.
        context: how many lines of context it has.
        lines: all its lines, each behind " ", "-" or "+".
        new: line in the file after the patch.
        source: the file before the patch, where that has another name.
        blob: the beginning of the hash of the file that the patch was made for, "" where the patch does not say.
    """

    file: str
    old: int
    header: str
    removed: tuple[str, ...]
    added: tuple[str, ...]
    context: int
    lines: tuple[str, ...] = ()
    new: int = 0
    source: str = ""
    blob: str = ""

    @property
    def without_context(self) -> bool:
        """Whether only line numbers say where it belongs; a new file, or one that is emptied, needs no context."""
        return self.context == 0 and self.old > 0 and not self.header.endswith("+0,0")

    @property
    def effect(self) -> str:
        """What it does, in words."""
        if not self.removed:
            return f"inserts {_lines(len(self.added))} after line {self.old}"
        if not self.added:
            return f"removes {_lines(len(self.removed))} at line {self.old}"
        return f"replaces {_lines(len(self.removed))} at line {self.old} by {len(self.added)}"


def _lines(count: int) -> str:
    return f"{count} line{'s' * (count != 1)}"


def read_hunks(patch: bytes) -> Iterator[Hunk]:
    """The hunks of a unified diff, in order; what cannot be read as one is stepped over."""
    file = source = blob = ""
    lines = patch.split(b"\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.startswith(b"diff "):
            file = source = blob = ""
        elif match := _INDEX.match(line):
            blob = match["old"].decode()
        elif match := _SOURCE.match(line):
            source = match["path"].decode("utf-8", "replace")
        elif match := _TARGET.match(line):
            file = match["path"].decode("utf-8", "replace")
            file = source if file == "/dev/null" else file
        elif match := _HEADER.match(line):
            old_count = int(match["old_count"] or 1)
            new_count = int(match["new_count"] or 1)
            removed: list[str] = []
            added: list[str] = []
            whole: list[str] = []
            context = 0
            while index + 1 < len(lines) and (old_count > 0 or new_count > 0):
                body = lines[index + 1]
                text = body[1:].decode("utf-8", "replace").rstrip("\r")
                sign = body[:1].decode("utf-8", "replace").strip("\r") or " "
                if body.startswith(b"-"):
                    removed.append(text)
                    old_count -= 1
                elif body.startswith(b"+"):
                    added.append(text)
                    new_count -= 1
                elif body.startswith(b"\\"):
                    pass
                elif body.startswith(b" ") or not body:
                    context += 1
                    old_count -= 1
                    new_count -= 1
                else:
                    break
                if sign != "\\":
                    whole.append(sign + text)
                index += 1
            header = match[0].split(b"@@")[1].strip().decode()
            old, new, before = int(match["old"]), int(match["new"]), "" if source in (file, "/dev/null") else source
            yield Hunk(file, old, header, tuple(removed), tuple(added), context, tuple(whole), new, before, blob)
        index += 1


def moved_by(hunk: Hunk, content: bytes) -> int | None:
    """How far from where a hunk says the lines stand that it removes; None where it removes none, or they are gone."""
    lines = content.decode("utf-8", "replace").splitlines()
    wanted = list(hunk.removed)
    places = [i + 1 for i in range(len(lines) - len(wanted) + 1) if wanted and lines[i : i + len(wanted)] == wanted]
    return min((place - hunk.old for place in places), key=abs, default=None)


def landing(hunk: Hunk, content: bytes | None, revision: str) -> str:
    """Where a hunk without context lands in a file, in words.

    Args:
        hunk: the hunk.
        content: the file as the revision has it, None where it has none.
        revision: for the message.
    """
    if content is None:
        return f"has no file at {revision}: the patch fails"
    lines = content.decode("utf-8", "replace").splitlines()
    if hunk.removed:
        wanted = list(hunk.removed)
        count = len(wanted)
        places = [i + 1 for i in range(len(lines) - count + 1) if lines[i : i + count] == wanted]
        if hunk.old in places:
            others = [place for place in places if place != hunk.old]
            also = f"; the same lines stand at {', '.join(map(str, others[:4]))} too" if others else ""
            return f"{hunk.effect}{_scope(lines, hunk.old)}, where they are at {revision}{also}"
        if places:
            return f"{hunk.effect}, but at {revision} these lines stand at {', '.join(map(str, places[:4]))}"
        return f"{hunk.effect}, but {revision} has no such lines: the patch fails"
    if hunk.old > len(lines):
        return f"{hunk.effect}, but at {revision} the file has {_lines(len(lines))}"
    shown = lines[hunk.old - 1].strip() if hunk.old else ""
    return f"{hunk.effect} of {revision}, behind `{shown[:60]}`{_scope(lines, hunk.old)}"


def _scope(lines: list[str], line: int) -> str:
    for number in range(min(line, len(lines)), 0, -1):
        text = lines[number - 1]
        if _SCOPE.match(text) and not text.strip().startswith(("if", "for", "while", "return", "#")):
            return f", in `{text.strip()[:60]}`"
    return ""
