"""A change of one file as a patch that `git apply` and `patch` take, byte for byte."""

import difflib
import re

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def unified_diff(before: bytes, after: bytes, path: str) -> bytes:
    """The change as a patch; empty when there is none. `path` is relative, as the patch is applied to it."""
    old, new = (_lines(data) for data in (before, after))
    parts: list[bytes] = []
    for line in difflib.unified_diff(old, new, _header("a/", path), _header("b/", path), n=3):
        raw = line.encode("latin-1")
        parts.append(raw if raw.endswith(b"\n") else raw + b"\n\\ No newline at end of file\n")
    return b"".join(parts)


def _lines(data: bytes) -> list[str]:
    """Lines with their ends, one character a byte."""
    return [line.decode("latin-1") for line in re.findall(rb"[^\n]*\n|[^\n]+", data)]


def _header(side: str, path: str) -> str:
    """A path as git writes it: quoted where it holds what could be read as something else, a tab behind blanks."""
    raw = (side + path).encode("utf-8", "surrogateescape")
    if any(byte < 0x20 or byte in b'"\\\x7f' for byte in raw):
        return '"' + "".join(_quoted(byte) for byte in raw) + '"'
    return raw.decode("latin-1") + ("\t" if b" " in raw else "")


def _quoted(byte: int) -> str:
    if byte in _ESCAPES:
        return "\\" + _ESCAPES[byte]
    return f"\\{byte:03o}" if byte < 0x20 or byte >= 0x7F else chr(byte)
