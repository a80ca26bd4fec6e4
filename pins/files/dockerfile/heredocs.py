"""Which heredocs an instruction opens."""

import re

_HEREDOC = re.compile(rb"\d*<<(-?)([^<]+)\Z")


def heredocs_opened(text: bytes, escape: bytes) -> list[tuple[str, bool, bool]] | None:
    """(delimiter, variables are expanded, leading tabs are dropped) for each heredoc; None when a quote stays open."""
    words = _words(text, escape)
    if words is None:
        return None
    opened: list[tuple[str, bool, bool]] = []
    for word in words:
        match = _HEREDOC.match(word)
        if not match:
            continue
        name = _unquoted(match[2], escape)
        if name:
            opened.append((name.decode("utf-8", "surrogateescape"), name == match[2], bool(match[1])))
    return opened


def _words(text: bytes, escape: bytes) -> list[bytes] | None:
    words: list[bytes] = []
    start: int | None = None
    quote = 0
    position = 0
    while position < len(text):
        byte = text[position]
        if quote:
            if byte == quote:
                quote = 0
            elif byte == escape[0] and quote == 0x22:
                position += 1
        elif byte in b"\t\n\v\f\r ":
            if start is not None:
                words.append(text[start:position])
                start = None
            position += 1
            continue
        else:
            if start is None:
                start = position
            if byte in b"\"'":
                quote = byte
            elif byte == escape[0]:
                position += 1
        position += 1
    if quote:
        return None
    if start is not None:
        words.append(text[start:])
    return words


def _unquoted(word: bytes, escape: bytes) -> bytes:
    result = bytearray()
    quote = 0
    position = 0
    while position < len(word):
        byte = word[position]
        if byte == escape[0] and quote != 0x27 and position + 1 < len(word):
            position += 1
            result.append(word[position])
        elif quote and byte == quote:
            quote = 0
        elif not quote and byte in b"\"'":
            quote = byte
        else:
            result.append(byte)
        position += 1
    return bytes(result)
