"""Every string of a TOML file with its key path and the bytes that hold it.

The standard library parses TOML but does not say where a value stands; editing one string in place needs that. Only
strings matter here; other values are stepped over. The file is expected to be valid: `tomllib` decides that.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pins.model import Quoting

Path = tuple[str | int, ...]

_BLANK = re.compile(rb"[ \t\r\n]+")
_KEY = re.compile(rb"[A-Za-z0-9_-]+")
_OTHER = re.compile(rb"[^\s,\]}#]+")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "e": "\x1b"}


@dataclass(frozen=True, slots=True)
class TomlString:
    """A string value.

    Attributes:
        path: keys and array positions that lead to it, such as ("project", "dependencies", 0).
        text: the string.
        start: offset of its first byte inside the quotes.
        end: offset behind its last byte inside the quotes.
        quoting: how it is quoted.
        comment: a comment behind it on its line, or directly above it.
    """

    path: Path
    text: str
    start: int
    end: int
    quoting: Quoting
    comment: str


@dataclass(slots=True)
class _Scanner:
    data: bytes
    position: int = 0
    found: list[tuple[Path, str, int, int, Quoting]] = field(default_factory=list)
    comments: dict[int, tuple[int, str]] = field(default_factory=dict)
    counters: dict[Path, int] = field(default_factory=dict)

    def skip(self) -> None:
        """Step over blanks, line ends and comments."""
        while self.position < len(self.data):
            if match := _BLANK.match(self.data, self.position):
                self.position = match.end()
            elif self.data[self.position] == 0x23:
                newline = self.data.find(b"\n", self.position)
                end = len(self.data) if newline < 0 else newline
                text = self.data[self.position : end].decode("utf-8", "replace").strip().lstrip("#").strip()
                self.comments[self.position] = (end, text)
                self.position = end
            else:
                return

    def document(self) -> None:
        """The whole file."""
        if self.data.startswith(b"\xef\xbb\xbf"):
            self.position = 3
        table: Path = ()
        while True:
            self.skip()
            if self.position >= len(self.data):
                return
            if self.data[self.position] == 0x5B:
                double = self.data.startswith(b"[[", self.position)
                self.position += 2 if double else 1
                keys = self.key()
                self.skip()
                self.position += 2 if double else 1
                table = self.resolve(keys)
                if double:
                    index = self.counters.get(table, -1) + 1
                    self.counters[table] = index
                    table = (*table, index)
            else:
                self.pair(table)

    def resolve(self, keys: list[str]) -> Path:
        """A table's path, with the current position in each array of tables on the way."""
        path: Path = ()
        for index, key in enumerate(keys):
            path = (*path, key)
            if index < len(keys) - 1 and path in self.counters:
                path = (*path, self.counters[path])
        return path

    def pair(self, table: Path) -> None:
        """``key = value``."""
        before = self.position
        keys = self.key()
        self.skip()
        if self.position < len(self.data) and self.data[self.position] == 0x3D:
            self.position += 1
            self.skip()
            self.value((*table, *keys))
        self.position = max(self.position, before + 1)

    def key(self) -> list[str]:
        """A key, dotted or not."""
        keys: list[str] = []
        while True:
            self.skip()
            byte = self.data[self.position : self.position + 1]
            if byte in (b'"', b"'"):
                keys.append(self.string()[0])
            elif match := _KEY.match(self.data, self.position):
                keys.append(match[0].decode())
                self.position = match.end()
            else:
                return keys
            self.skip()
            if self.data[self.position : self.position + 1] != b".":
                return keys
            self.position += 1

    def value(self, path: Path) -> None:
        """A value of any type."""
        byte = self.data[self.position : self.position + 1]
        if byte in (b'"', b"'"):
            text, start, end, quoting = self.string()
            self.found.append((path, text, start, end, quoting))
        elif byte == b"[":
            self.position += 1
            index = 0
            while True:
                self.skip()
                if self.position >= len(self.data) or self.data[self.position] == 0x5D:
                    self.position += 1
                    return
                if self.data[self.position] == 0x2C:
                    self.position += 1
                    continue
                self.value((*path, index))
                index += 1
        elif byte == b"{":
            self.position += 1
            while True:
                self.skip()
                if self.position >= len(self.data) or self.data[self.position] == 0x7D:
                    self.position += 1
                    return
                if self.data[self.position] == 0x2C:
                    self.position += 1
                    continue
                self.pair(path)
        elif match := _OTHER.match(self.data, self.position):
            self.position = match.end()
        else:
            self.position += 1

    def string(self) -> tuple[str, int, int, Quoting]:
        """A string of any of the four kinds: text, start and end inside the quotes, quoting."""
        quote = self.data[self.position : self.position + 1]
        triple = self.data.startswith(quote * 3, self.position)
        mark = quote * 3 if triple else quote
        start = self.position + len(mark)
        end = start
        while end < len(self.data) and not self.data.startswith(mark, end):
            end += 2 if quote == b'"' and self.data[end] == 0x5C else 1
        end = min(end, len(self.data))
        self.position = end + len(mark)
        raw = self.data[start:end].decode("utf-8", "replace")
        if quote == b"'":
            return raw, start, end, Quoting.TOML_LITERAL
        return _unescaped(raw), start, end, Quoting.TOML_BASIC


def _unescaped(raw: str) -> str:
    def one(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1][1:], 16))
        return _ESCAPES.get(match[2], match[0])

    return re.sub(r"\\(?:(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|(.))", one, raw)


def toml_strings(data: bytes) -> Iterator[TomlString]:
    """Every string value of a valid TOML file, in order."""
    scanner = _Scanner(data)
    scanner.document()
    for path, text, start, end, quoting in scanner.found:
        yield TomlString(path, text, start, end, quoting, _comment(scanner, start, end))


def _comment(scanner: _Scanner, start: int, end: int) -> str:
    newline = scanner.data.find(b"\n", end)
    line_end = len(scanner.data) if newline < 0 else newline
    for position, (_, text) in scanner.comments.items():
        if end <= position < line_end:
            return text
    above: list[str] = []
    line_start = scanner.data.rfind(b"\n", 0, start) + 1
    by_end = {stop: (position, text) for position, (stop, text) in scanner.comments.items()}
    while (found := by_end.get(line_start - 1)) and scanner.data[
        scanner.data.rfind(b"\n", 0, found[0]) + 1 : found[0]
    ].strip() == b"":
        above.append(found[1])
        line_start = scanner.data.rfind(b"\n", 0, found[0]) + 1
    return " ".join(reversed(above))
