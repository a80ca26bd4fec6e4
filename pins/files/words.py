"""Quotes, escapes and ``${...}``: from written words to values, in the dialects of Dockerfiles and of the shell.

Dockerfile rules are those of BuildKit's word expansion (operators ``:- - :+ + :? ? # ## % %% / //``); the shell's are
POSIX with bash's substitutions. What only a running shell knows (``$(...)``, ``$1``) becomes an unknown fragment.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from pins.files.joined import JoinedText
from pins.files.shell_pattern import shell_pattern
from pins.files.values import (
    Declaration,
    Fragment,
    Value,
    computed,
    elements_of,
    is_unset,
    text_of,
    through,
    unknown_of,
)
from pins.files.word_ends import closing_ansi_quote, closing_brace, closing_parenthesis
from pins.model import Quoting

Lookup = Callable[[str], Value | None]


class Dialect(Enum):
    """Whose rules apply."""

    DOCKERFILE = "dockerfile"
    SHELL = "shell"
    HEREDOC = "heredoc"

    __hash__ = object.__hash__  # quicker than by name, and there is one of each


_QUOTINGS = {
    Dialect.DOCKERFILE: (Quoting.DOCKER_BARE, Quoting.DOCKER_DOUBLE, Quoting.DOCKER_SINGLE),
    Dialect.SHELL: (Quoting.SHELL_BARE, Quoting.SHELL_DOUBLE, Quoting.SHELL_SINGLE),
    Dialect.HEREDOC: (Quoting.SHELL_HEREDOC, Quoting.SHELL_HEREDOC, Quoting.SHELL_HEREDOC),
}
MOST_FRAGMENTS = 512
"""Elements of an array that is followed, where they are not written out."""
_MOST_GROWN = 128
LONGEST_GROWN = 8192
"""Characters that a value may have beyond what is written out; also the longest that is cut by a pattern."""
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?\-$!0]")
_UNICODE_NAME = re.compile(rb"(?:[A-Za-z_]|[\xc2-\xf4][\x80-\xbf]+)(?:[A-Za-z0-9_]|[\xc2-\xf4][\x80-\xbf]+)*")
_SPECIAL = {dialect: re.compile(rb"['\"$`\\]" if dialect is Dialect.SHELL else rb"['\"$\\`]") for dialect in Dialect}


@dataclass(slots=True)
class _Expansion:
    """One word being expanded; `position` moves over the joined text."""

    joined: JoinedText
    position: int
    end: int
    lookup: Lookup
    dialect: Dialect
    escape: int
    unset_is_empty: bool

    def run(self, closing: bytes = b"", *, quoted: bool = False, raw: bool = False) -> list[Fragment]:
        """Expand until one of `closing` outside quotes, or the end; the closing byte is not consumed."""
        text = self.joined.text
        bare, double, single = _QUOTINGS[self.dialect]
        quoting = double if quoted else bare
        fragments: list[Fragment] = []
        begin = self.position
        heredoc = self.dialect is Dialect.HEREDOC

        def flush(until: int) -> None:
            if until > begin:
                fragments.extend(self._literal(begin, until, quoting))

        while self.position < self.end:
            byte = text[self.position]
            if byte in closing:
                break
            if byte == 0x27 and not quoted and not heredoc:
                flush(self.position)
                close = text.find(b"'", self.position + 1, self.end)
                close = self.end if close < 0 else close
                fragments.extend(self._literal(self.position + 1, close, single))
                self.position = begin = min(close + 1, self.end)
            elif byte == 0x22 and not quoted and not heredoc:
                flush(self.position)
                self.position += 1
                inside = self.run(b'"', quoted=True)
                fragments.extend(inside or [self._empty(double)])
                self.position = begin = min(self.position + 1, self.end)
            elif byte == self.escape and self.position + 1 < self.end:
                following = text[self.position + 1]
                if (quoted or heredoc) and following not in (b'"$`\\' if not heredoc else b"$`\\") + bytes(
                    [self.escape]
                ):
                    self.position += 2
                    continue
                flush(self.position)
                if raw and following not in b"}/":  # patterns keep their escapes
                    fragments.extend(self._literal(self.position, self.position + 2, quoting))
                    self.position += 2
                else:
                    fragments.append(self._escaped(quoting))
                begin = self.position
            elif byte == 0x24:
                flush(self.position)
                fragments.extend(self._dollar(quoted=quoted or heredoc))
                begin = self.position
            elif byte == 0x60 and self.dialect is not Dialect.DOCKERFILE:
                flush(self.position)
                close = text.find(b"`", self.position + 1, self.end)
                stop = self.end if close < 0 else close + 1
                fragments.append(self._unknown(self.position, stop, "computed by the shell"))
                self.position = begin = stop
            else:
                self.position += 1
        flush(self.position)
        return fragments

    def _decode(self, start: int, end: int) -> str:
        return self.joined.text[start:end].decode("utf-8", "surrogateescape")

    def _literal(self, start: int, end: int, quoting: Quoting) -> list[Fragment]:
        return _literal(self.joined, start, end, quoting)

    def _empty(self, quoting: Quoting) -> Fragment:
        return _nothing(self.joined, self.position, quoting)

    def _escaped(self, quoting: Quoting) -> Fragment:
        length = 1
        while self.position + 1 + length < self.end and self.joined.text[self.position + 1 + length] & 0xC0 == 0x80:
            length += 1
        start = self.joined.source(self.position)
        stop = self.joined.source_end(self.position + 1 + length)
        text = self._decode(self.position + 1, self.position + 1 + length)
        self.position += 1 + length
        return Fragment(text, start, stop, quoting)

    def _unknown(self, start: int, end: int, reason: str) -> Fragment:
        return Fragment(self._decode(start, end), unknown=f"{self._decode(start, end)[:60]} is {reason}")

    def _dollar(self, *, quoted: bool) -> list[Fragment]:
        """A ``$`` at `position`: a variable, a substitution, or just a dollar."""
        text = self.joined.text
        start = self.position
        following = text[start + 1 : start + 2]
        if following == b"{":
            return self._mark_split(self._braces(start), quoted=quoted)
        if self.dialect is not Dialect.DOCKERFILE:
            if following == b"(":
                self.position = closing_parenthesis(text, start + 1, self.end)
                return [self._unknown(start, self.position, "computed by the shell")]
            if following in (b"'", b'"') and not quoted:
                if following == b'"':
                    self.position += 1
                    return []
                close = closing_ansi_quote(text, start + 2, self.end)
                self.position = min(close + 1, self.end)
                raw = self._decode(start + 2, close)
                decoded = raw.encode("latin-1", "backslashreplace").decode("unicode_escape", "replace")
                place = self.joined.source(start + 2)
                if decoded == raw:
                    return self._literal(start + 2, close, Quoting.SHELL_ANSI)
                return [Fragment(decoded, place, self.joined.source_end(close), Quoting.SHELL_ANSI)]
        name = self._name(start + 1)
        if not name:
            self.position = start + 1
            return self._literal(start, start + 1, _QUOTINGS[self.dialect][0])
        self.position = start + 1 + len(name.encode())
        return self._mark_split(self._variable(name, start), quoted=quoted)

    def _name(self, start: int) -> str:
        """The name of a variable that begins here, "" without one.

        BuildKit takes the letters and digits of every script into it, a shell those of ASCII alone.
        """
        if self.dialect is Dialect.DOCKERFILE:
            match = _UNICODE_NAME.match(self.joined.text, start, self.end)
            text = match[0].decode("utf-8", "replace") if match else ""
            length = next((n for n, c in enumerate(text) if not (c == "_" or c.isalpha() or c.isdecimal())), len(text))
            if length:
                return text[:length]
        match = _NAME.match(self.joined.text, start, self.end)
        return match[0].decode() if match else ""

    def _mark_split(self, value: Value, *, quoted: bool) -> list[Fragment]:
        if quoted or self.dialect is not Dialect.SHELL:
            return list(value)
        return [f._replace(splits=True) for f in value]

    def _variable(self, name: str, start: int) -> Value:
        value = self.lookup(name)
        docker = self.dialect is Dialect.DOCKERFILE
        if value is not None:
            if not docker and any(fragment.unset for fragment in value):
                return tuple([f._replace(text=f.unset or f.text, unset="") for f in value])
            return value
        if self.unset_is_empty:
            return ()
        if not (name[0].isalpha() or name[0] == "_"):
            return (self._unknown(start, self.position, "known only to the running shell"),)
        written = self._decode(start, self.position)
        reason = f"{name} is not set in this file: base image or empty"
        return (Fragment("" if docker else written, unknown=reason, unset=written if docker else ""),)

    def _braces(self, start: int) -> Value:
        """``${...}`` at `start`."""
        text = self.joined.text
        name = self._name(start + 2)
        after = start + 2 + len(name.encode())
        if not name or (name in ("#", "!") and text[after : after + 1] != b"}"):
            self.position = closing_brace(text, start + 1, self.end)
            return (self._unknown(start, self.position, "computed by the shell"),)
        self.position = after
        operator = text[self.position : self.position + 1]
        if operator == b"}":
            self.position += 1
            return self._variable(name, start)
        if operator == b"[" and self.dialect is not Dialect.DOCKERFILE:
            return self._element(name, start)
        colon = operator == b":"
        if colon:
            self.position += 1
            operator = text[self.position : self.position + 1]
        if operator in (b"-", b"+", b"?", b"=") and operator:
            self.position += 1
            word = self._word_until_brace()
            value = self.lookup(name)
            return self._choose(operator, colon, value, word, start, name)
        if operator in (b"#", b"%") and operator and not colon:
            return self._trimmed(name, operator, start)
        if operator == b"/" and not colon:
            return self._replaced(name, start)
        self.position = closing_brace(text, start + 1, self.end)
        if self.dialect is Dialect.DOCKERFILE:
            return (self._unknown(start, self.position, "not a substitution that the builder knows"),)
        return self._bash_only(name, text[after : self.position - 1].decode("utf-8", "replace"), start)

    def _element(self, name: str, start: int) -> Value:
        """``${NAME[index]}``: an element of an array, or all of them with blanks between."""
        index_start = self.position + 1
        self.position = closing_brace(self.joined.text, start + 1, self.end)
        index = self._decode(index_start, self.position - 1).removesuffix("]")
        array = self.lookup(f"{name}[@]")
        elements = elements_of(array) if array is not None else []
        if elements and index in {"@", "*"}:
            spaced = [f for element in elements for f in (Fragment(" ", splits=True), *element)]
            return tuple(spaced[1:])
        if index.isdigit() and int(index) < len(elements):
            return elements[int(index)]
        return (self._unknown(start, self.position, "computed by the shell"),)

    def _word_until_brace(self) -> Value:
        word = tuple(self.run(b"}"))
        self.position = min(self.position + 1, self.end)
        return word

    def _choose(self, operator: bytes, colon: bool, value: Value | None, word: Value, start: int, name: str) -> Value:
        absent = (
            value is None
            or is_unset(value)
            or (colon and text_of(value) == "" and all(fragment.unset or not fragment.unknown for fragment in value))
        )
        if operator == b"+":
            return () if absent else word
        if value is not None and not absent:
            return value
        if operator == b"?":
            return (self._unknown(start, self.position, f"an error when {name} is not given"),)
        return through(word, Declaration(name, "unset", "", "", 0, -1))

    def _trimmed(self, name: str, operator: bytes, start: int) -> Value:
        self.position += 1
        greedy = self.joined.text[self.position : self.position + 1] == operator
        self.position += greedy
        pattern = text_of(tuple(self.run(b"}", raw=True)))
        self.position = min(self.position + 1, self.end)
        value = self._variable(name, start)
        if unknown_of(value):
            return (self._unknown(start, self.position, unknown_of(value)),)
        whole = text_of(value)
        if len(whole) > LONGEST_GROWN:
            return (self._unknown(start, self.position, "cut from a text that is too long"),)
        if operator == b"#":
            cuts = range(len(whole), -1, -1) if greedy else range(len(whole) + 1)
            pieces = ((whole[:index], whole[index:]) for index in cuts)
        else:
            cuts = range(len(whole) + 1) if greedy else range(len(whole), -1, -1)
            pieces = ((whole[index:], whole[:index]) for index in cuts)
        matcher = re.compile(shell_pattern(pattern), re.DOTALL)
        for removed, kept in pieces:
            if matcher.fullmatch(removed):
                return computed(kept, value)
        return value

    def _replaced(self, name: str, start: int) -> Value:
        self.position += 1
        everywhere = self.joined.text[self.position : self.position + 1] == b"/"
        self.position += everywhere
        pattern = text_of(tuple(self.run(b"/}", raw=True)))
        replacement: Value = ()
        if self.joined.text[self.position : self.position + 1] == b"/":
            self.position += 1
            replacement = tuple(self.run(b"}"))
        self.position = min(self.position + 1, self.end)
        value = self._variable(name, start)
        reason = unknown_of(value) or unknown_of(replacement)
        if not reason and len(text_of(value)) > LONGEST_GROWN:
            reason = "made of a text that is too long"
        if reason:
            return (self._unknown(start, self.position, reason),)
        anchored = {"#": "\\A", "%": "\\Z"}.get(pattern[:1], "") if self.dialect is not Dialect.DOCKERFILE else ""
        expression = shell_pattern(pattern[1:] if anchored else pattern)
        expression = expression + anchored if anchored == "\\Z" else anchored + expression
        if not pattern:
            return value
        result = re.sub(
            expression, lambda _: text_of(replacement), text_of(value), count=0 if everywhere else 1, flags=re.DOTALL
        )
        return computed(result, value)

    def _bash_only(self, name: str, operation: str, start: int) -> Value:
        value = self._variable(name, start)
        if unknown_of(value):
            return (self._unknown(start, self.position, unknown_of(value)),)
        text = text_of(value)
        if operation in (",,", "^^"):
            return computed(text.lower() if operation == ",," else text.upper(), value)
        if match := re.fullmatch(r":\s*(\d+)(?::\s*(\d+))?", operation):
            first = int(match[1])
            return computed(text[first : first + int(match[2])] if match[2] else text[first:], value)
        return (self._unknown(start, self.position, "computed by the shell"),)


def expand(
    joined: JoinedText,
    start: int,
    end: int,
    lookup: Lookup,
    dialect: Dialect = Dialect.DOCKERFILE,
    *,
    escape: str = "\\",
    unset_is_empty: bool = False,
) -> Value:
    """Expand the word at [start, end) of `joined`.

    Args:
        joined: text that holds the word, quotes included.
        start: first byte.
        end: behind the last byte.
        lookup: gives a variable's value, None when it is not set.
        dialect: whose rules apply.
        escape: the escape character.
        unset_is_empty: whether a variable that is not set is empty (FROM lines), rather than unknown.
    """
    special = _SPECIAL[dialect].search(joined.text, start, end) or (escape != "\\" and escape.encode() in joined.text)
    if not special:
        return literal(joined, start, end, dialect)
    value = tuple(_Expansion(joined, start, end, lookup, dialect, ord(escape), unset_is_empty).run())
    return bounded(value, joined.text[start:end], _MOST_GROWN + end - start)


def bounded(value: Value, written: bytes, most: int = MOST_FRAGMENTS) -> Value:
    """The value, or one that is not known where it is much longer than all that a build would name.

    ``A=$A$A``, thirty times, is a gigabyte; nothing that pins a version is.

    Args:
        value: what came out of an expansion.
        written: the word that it was expanded from.
        most: how many fragments are in order.
    """
    if len(value) <= most and sum(len(f.text) for f in value) <= LONGEST_GROWN + len(written):
        return value
    text = written.decode("utf-8", "surrogateescape")[:200]
    return (Fragment(text, unknown=f"{text[:60]} is longer than anything that is followed"),)


def literal(joined: JoinedText, start: int, end: int, dialect: Dialect) -> Value:
    """A word without quotes, escapes and variables."""
    return tuple(_literal(joined, start, end, _QUOTINGS[dialect][0]))


def _literal(joined: JoinedText, start: int, end: int, quoting: Quoting) -> list[Fragment]:
    """Text that stands for itself: a fragment for each place it lies in."""
    if start >= end:
        return [_nothing(joined, start, quoting)]
    index = bisect_right(joined.starts, start)
    if index == len(joined.starts) or end <= joined.starts[index]:  # in one place, as nearly always
        place = joined.sources[index - 1] + start - joined.starts[index - 1]
        return [
            Fragment(joined.text[start:end].decode("utf-8", "surrogateescape"), place, place + end - start, quoting)
        ]
    return [
        Fragment(
            joined.text[low:high].decode("utf-8", "surrogateescape"),
            joined.source(low),
            joined.source_end(high),
            quoting,
        )
        for low, high in joined.runs(start, end)
    ]


def _nothing(joined: JoinedText, position: int, quoting: Quoting) -> Fragment:
    place = joined.source_end(position) if position else joined.source(0)
    return Fragment("", place, place, quoting)
