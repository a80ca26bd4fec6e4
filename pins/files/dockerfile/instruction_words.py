"""The words of an instruction as they are written: where they lie, and whether their quotes are closed."""

import re

_QUOTED = {"\\": re.compile(rb"[\"'\\]"), "`": re.compile(rb"[\"'`]")}
_PLAIN_WORD = re.compile(rb"[^ \t\r\n\v\f]+")


def closes_quotes(text: bytes, escape: str = "\\") -> bool:
    """Whether every quote of a Dockerfile word is closed; the builder refuses one that is not."""
    if b'"' not in text and b"'" not in text:
        return True
    quote = 0
    position = 0
    escape_byte = ord(escape)
    while position < len(text):
        byte = text[position]
        if quote:
            if (
                byte == escape_byte
                and quote == 0x22
                and text[position + 1 : position + 2] in (b'"', b"$", escape.encode())
            ):
                position += 1
            elif byte == quote:
                quote = 0
        elif byte == escape_byte:
            position += 1
        elif byte in b"\"'":
            quote = byte
        position += 1
    return not quote


def docker_words(text: bytes, escape: str = "\\") -> list[tuple[int, int]]:
    """Where the words of an instruction's body lie: split at blanks outside quotes, quotes kept."""
    if not _QUOTED[escape].search(text):
        return [match.span() for match in _PLAIN_WORD.finditer(text)]
    words: list[tuple[int, int]] = []
    start: int | None = None
    quote = 0
    position = 0
    length = len(text)
    escape_byte = ord(escape)
    while position < length:
        byte = text[position]
        if quote:
            if byte == escape_byte and quote == 0x22:
                position += 1
            elif byte == quote:
                quote = 0
        elif byte in b" \t\r\n\v\f":
            if start is not None:
                words.append((start, position))
                start = None
        else:
            if start is None:
                start = position
            if byte in b"\"'":
                quote = byte
            elif byte == escape_byte:
                position += 1
        position += 1
    if start is not None:
        words.append((start, length))
    return words
