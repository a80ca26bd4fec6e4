"""Shell tokens with byte spans: words, operators, redirections, heredoc bodies."""

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class TokenKind(Enum):
    """What a token is."""

    WORD = "word"
    OPERATOR = "operator"
    REDIRECTION = "redirection"
    NEWLINE = "newline"
    END = "end"


@dataclass(slots=True)
class HeredocBody:
    """Where the body of a heredoc lies, known once the line that opens it has ended.

    Attributes:
        start: first byte.
        end: behind the last byte, before the closing delimiter.
        expand: whether variables in it are expanded.
        strip_tabs: whether leading tabs are dropped.
    """

    start: int = -1
    end: int = -1
    expand: bool = True
    strip_tabs: bool = False


class Token(NamedTuple):
    """A token.

    Attributes:
        kind: what it is.
        start: first byte.
        end: behind the last byte.
        text: an operator's or redirection's text; for a word its raw text where it is short and plain, else b"".
        heredoc: for ``<<``, the body that follows.
    """

    kind: TokenKind
    start: int
    end: int
    text: bytes = b""
    heredoc: HeredocBody | None = None


_BLANK = re.compile(rb"[ \t\r]+|\\\r?\n")
_OPERATOR = re.compile(rb"&&|\|\||;;&|;;|;&|\|&|[;&|()]")
_REDIRECTION = re.compile(rb"(?:\d+|\{\w+\})?(?:&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<|>)")
_PLAIN = re.compile(rb"[^\s|&;<>()'\"$`\\]+")
_WHOLE_PLAIN_WORD = re.compile(rb"[A-Za-z0-9_./:=+@%^,{}!\[\]*?~#-]+(?=[\s|&;<>)]|\Z)")
_STARTS_A_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-./$\"'=+@%^,:[]*?~!")
"""Bytes that begin neither an operator nor a redirection, as a digit may."""
_EXTGLOB = b"?*+@!"


@dataclass(slots=True)
class Tokenizer:
    """Splits shell text into tokens.

    Attributes:
        text: the script.
        position: where the next token is looked for.
        end: where the script ends.
        pending: heredocs opened on this line, their delimiters and bodies.
    """

    text: bytes
    position: int = 0
    end: int = -1
    pending: list[tuple[bytes, HeredocBody]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.end < 0:
            self.end = len(self.text)

    def tokens(self) -> list[Token]:
        """All tokens; the last has kind END."""
        result: list[Token] = []
        delimiter_wanted: Token | None = None
        while True:
            token = self._next()
            if delimiter_wanted and delimiter_wanted.heredoc and token.kind is TokenKind.WORD:
                self._open_heredoc(delimiter_wanted, token)
            delimiter_wanted = token if token.heredoc else None
            result.append(token)
            if token.kind is TokenKind.NEWLINE and self.pending:
                self._read_heredocs()
            if token.kind is TokenKind.END:
                return result

    def _open_heredoc(self, operator: Token, word: Token) -> None:
        raw = self.text[word.start : word.end]
        body = operator.heredoc
        if body is None:
            return
        delimiter = re.sub(rb"['\"\\]", b"", raw)
        body.expand = delimiter == raw
        body.strip_tabs = operator.text.endswith(b"-")
        self.pending.append((delimiter, body))

    def _read_heredocs(self) -> None:
        for delimiter, body in self.pending:
            body.start = self.position
            while True:
                if self.position >= self.end:
                    body.end = self.end
                    break
                newline = self.text.find(b"\n", self.position, self.end)
                line_end = self.end if newline < 0 else newline
                line = self.text[self.position : line_end].rstrip(b"\r")
                line_start = self.position
                self.position = min(line_end + 1, self.end)
                if (line.lstrip(b"\t") if body.strip_tabs else line) == delimiter:
                    body.end = line_start
                    break
        self.pending = []

    def _next(self) -> Token:
        text = self.text
        while match := _BLANK.match(text, self.position, self.end):
            self.position = match.end()
        start = self.position
        if start >= self.end:
            return Token(TokenKind.END, self.end, self.end)
        byte = text[start]
        if byte == 0x0A:
            self.position += 1
            return Token(TokenKind.NEWLINE, start, self.position, b"\n")
        if byte == 0x23:
            newline = text.find(b"\n", start, self.end)
            self.position = self.end if newline < 0 else newline
            return self._next()
        if byte in _STARTS_A_WORD:
            return self._word(start)
        if (match := _REDIRECTION.match(text, start, self.end)) and not self._process_substitution(match.end() - 1):
            self.position = match.end()
            operator = match[0].lstrip(b"0123456789")
            heredoc = HeredocBody() if operator in (b"<<", b"<<-") else None
            return Token(TokenKind.REDIRECTION, start, self.position, match[0], heredoc)
        if match := _OPERATOR.match(text, start, self.end):
            self.position = match.end()
            return Token(TokenKind.OPERATOR, start, self.position, match[0])
        return self._word(start)

    def _word(self, start: int) -> Token:
        if plain := _WHOLE_PLAIN_WORD.match(self.text, start, self.end):  # as nearly always
            self.position = plain.end()
            return Token(TokenKind.WORD, start, self.position, plain[0])
        self.position = word_end(self.text, start, self.end)
        return Token(TokenKind.WORD, start, self.position)

    def _process_substitution(self, position: int) -> bool:
        return self.text[position : position + 2] in (b"<(", b">(")


def word_end(text: bytes, position: int, end: int) -> int:
    """The offset behind the word that starts at `position`; at least one byte is taken."""
    start = position
    while position < end:
        if match := _PLAIN.match(text, position, end):
            position = match.end()
            continue
        byte = text[position]
        if byte == 0x5C:
            position += 2
        elif byte == 0x27:
            close = text.find(b"'", position + 1, end)
            position = end if close < 0 else close + 1
        elif byte == 0x22:
            position = double_quote_end(text, position + 1, end)
        elif byte == 0x60:
            position = _backtick_end(text, position + 1, end)
        elif byte == 0x24:
            position = _dollar_end(text, position, end)
        elif byte == 0x28 and position > start and (text[position - 1] == 0x3D or text[position - 1] in _EXTGLOB):
            position = closing(text, position, end, 0x28, 0x29)
        elif byte in b"<>" and text[position + 1 : position + 2] == b"(" and position == start:
            position = closing(text, position + 1, end, 0x28, 0x29)
        else:
            break
    return min(max(position, start + 1), end)


def double_quote_end(text: bytes, position: int, end: int) -> int:
    """The offset behind the double quote that closes."""
    while position < end:
        byte = text[position]
        if byte == 0x22:
            return position + 1
        if byte == 0x5C:
            position += 2
        elif byte == 0x24:
            position = _dollar_end(text, position, end)
        elif byte == 0x60:
            position = _backtick_end(text, position + 1, end)
        else:
            position += 1
    return end


def _backtick_end(text: bytes, position: int, end: int) -> int:
    while position < end and text[position] != 0x60:
        position += 2 if text[position] == 0x5C else 1
    return min(position + 1, end)


def _dollar_end(text: bytes, position: int, end: int) -> int:
    following = text[position + 1 : position + 2]
    if following == b"(":
        return closing(text, position + 1, end, 0x28, 0x29)
    if following == b"{":
        return closing(text, position + 1, end, 0x7B, 0x7D)
    if following == b"'":
        position += 2
        while position < end and text[position] != 0x27:
            position += 2 if text[position] == 0x5C else 1
        return min(position + 1, end)
    return position + 1


def closing(text: bytes, position: int, end: int, opener: int, closer: int) -> int:
    """The offset behind the bracket that closes the one at `position`."""
    depth = 0
    while position < end:
        byte = text[position]
        if byte == 0x5C:
            position += 2
            continue
        if byte == 0x27 and opener == 0x28:
            close = text.find(b"'", position + 1, end)
            position = end if close < 0 else close + 1
            continue
        if byte == 0x22:
            position = double_quote_end(text, position + 1, end)
            continue
        if byte == 0x24 and position + 1 < end and text[position + 1] in b"({" and text[position + 1] != opener:
            position = _dollar_end(text, position, end)
            continue
        if byte == opener:
            depth += 1
        elif byte == closer:
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return end
