"""Where the parts of a word end that are quoted or stand in brackets."""


def closing_parenthesis(text: bytes, start: int, end: int) -> int:
    """Offset behind the parenthesis that closes the one at `start`."""
    depth = 0
    quote = 0
    position = start
    while position < end:
        byte = text[position]
        if byte == 0x5C and quote != 0x27:
            position += 1
        elif quote:
            if byte == quote:
                quote = 0
        elif byte in b"\"'":
            quote = byte
        elif byte == 0x28:
            depth += 1
        elif byte == 0x29:
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return end


def closing_brace(text: bytes, start: int, end: int) -> int:
    """Offset behind the brace that closes the one at `start`."""
    depth = 0
    position = start
    while position < end:
        byte = text[position]
        if byte == 0x5C:
            position += 1
        elif byte == 0x7B:
            depth += 1
        elif byte == 0x7D:
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return end


def closing_ansi_quote(text: bytes, start: int, end: int) -> int:
    """Offset of the quote that closes ``$'``, whose text begins at `start`."""
    position = start
    while position < end and text[position] != 0x27:
        position += 2 if text[position] == 0x5C else 1
    return min(position, end)
