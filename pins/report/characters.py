"""Making foreign text safe to look at, and measuring how wide it is.

What a script prints, a version or a commit subject may hold escape sequences that repaint a terminal, and direction
marks that make text read other than it is. Every renderer for people passes such text through here.
"""

import re
import unicodedata

# CSI ... final byte; OSC and the other string sequences up to BEL or ST, or to the end of the line where they are
# never closed; two-character escapes.
_ESCAPE_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c|)"
    "|\x1b[ -/]*[0-~]"
)
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def _spelled(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _spell_out(text: str, keep: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _spelled(character) if unicodedata.category(character) in _INVISIBLE and character not in keep else character
        for character in text
    )


def visible(text: str) -> str:
    r"""Output of a program as a person may safely read it.

    Escape sequences go; other control, format and direction characters are spelled out (`\u202e`). Of a line that was
    redrawn with carriage returns (a progress bar), the last state stays. Line ends become `\n`, tabs stay.
    """
    text = _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n"))
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return _spell_out(text, "\n\t")


def _last_state(line: str) -> str:
    states = [state for state in line.split("\r") if state.strip()]
    return states[-1] if states else ""


def one_line(text: str) -> str:
    """A value (version, path, subject) on one line, with everything that could not be seen spelled out."""
    return _spell_out(text, "")


def character_width(character: str) -> int:
    """How many columns of a terminal one character takes: 0, 1 or 2."""
    if character.isascii():
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def width(text: str) -> int:
    """How many columns of a terminal a line takes."""
    return len(text) if text.isascii() else sum(map(character_width, text))


def clip(text: str, columns: int) -> str:
    """The text in at most so many columns, its middle replaced by an ellipsis where it is longer."""
    if width(text) <= columns:
        return text
    if columns <= 1:
        return "…"[:columns]
    tail = _fitting(text[::-1], (columns - 1) // 2)[::-1]
    return _fitting(text, columns - 1 - width(tail)) + "…" + tail


def _fitting(text: str, columns: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += character_width(character)
        if used > columns:
            return text[:index]
    return text


def wrap(text: str, columns: int, *, break_words: bool = False) -> list[str]:
    """Lines of at most so many columns, broken at spaces.

    A word longer than a line (a path, a link) is left whole, so that it can be copied, unless `break_words`.
    """
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and width(line) + 1 + width(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while break_words and width(line) > columns:
            head = _fitting(line, max(columns, 2))
            lines.append(head)
            line = line[len(head) :]
    return [*lines, line]


def cut_lines(text: str, columns: int) -> list[str]:
    """The lines of an output, long ones broken at the column, tabs widened."""
    lines: list[str] = []
    for line in text.expandtabs(8).split("\n"):
        rest = line
        while width(rest) > columns:
            head = _fitting(rest, max(columns, 2))
            lines.append(head)
            rest = rest[len(head) :]
        lines.append(rest)
    return lines


def last_bytes(text: str, limit: int) -> tuple[str, int]:
    """The end of a text in at most so many UTF-8 bytes, whole lines if possible, and the bytes left out."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return text, 0
    kept = encoded[len(encoded) - limit :].decode("utf-8", "ignore")
    _, newline, whole_lines = kept.partition("\n")
    if newline and whole_lines:
        kept = whole_lines
    return kept, len(encoded) - len(kept.encode("utf-8"))
