"""Shell text as a tree: lists, pipelines, conditions, loops, and the simple commands at the leaves.

A parser of our own rather than a grammar for editors: it keeps byte spans, follows redirections and heredocs to the
command they belong to, and steps over what it cannot parse instead of losing what follows. A test holds it to an
independent grammar and to bash itself.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from pins.files.shell.tokens import HeredocBody, Token, Tokenizer, TokenKind


@dataclass(frozen=True, slots=True)
class Redirection:
    """A redirection.

    Attributes:
        operator: such as b">>".
        start: first byte of the word it applies to, -1 when there is none.
        end: behind that word.
        heredoc: the body, for ``<<``.
    """

    operator: bytes
    start: int
    end: int
    heredoc: HeredocBody | None = None


@dataclass(slots=True)
class Simple:
    """A simple command: its words, assignments in front included, as spans."""

    words: list[Token]
    redirections: list[Redirection]
    start: int
    end: int


@dataclass(slots=True)
class Pipeline:
    """Commands joined by ``|``."""

    parts: "list[Node]"
    negated: bool = False


@dataclass(slots=True)
class AndOr:
    """Commands joined by ``&&`` and ``||``: the operator before each, b"" for the first."""

    parts: "list[tuple[bytes, Node]]"


@dataclass(slots=True)
class Sequence:
    """Commands one after the other."""

    parts: "list[Node]"


@dataclass(slots=True)
class If:
    """``if``/``elif`` arms as (condition, body), and the ``else`` body."""

    arms: "list[tuple[Node, Node]]"
    otherwise: "Node | None"


@dataclass(slots=True)
class Case:
    """``case``: its subject, and (patterns, body) for each arm."""

    subject: Token
    arms: "list[tuple[list[Token], Node]]"


@dataclass(slots=True)
class For:
    """``for``: its variable and words; None for the positional parameters or an arithmetic loop."""

    name: bytes
    words: list[Token] | None
    body: "Node"


@dataclass(slots=True)
class While:
    """``while`` and ``until``."""

    condition: "Node"
    body: "Node"


@dataclass(slots=True)
class Group:
    """``{ ... }`` or ``( ... )`` with its redirections."""

    body: "Node"
    subshell: bool
    redirections: list[Redirection] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    """A function definition."""

    name: bytes
    body: "Node"


Node = Simple | Pipeline | AndOr | Sequence | If | Case | For | While | Group | Function

_TERMINATORS = frozenset({b"then", b"elif", b"else", b"fi", b"do", b"done", b"esac", b"}"})
_COMPOUND_END = frozenset({b";;", b";&", b";;&"})


@dataclass(slots=True)
class Script:
    """A parsed script.

    Attributes:
        tree: its commands.
        problems: offsets of tokens that did not fit and were stepped over.
    """

    tree: Sequence
    problems: list[int]


@dataclass(slots=True)
class _Parser:
    text: bytes
    tokens: list[Token]
    index: int = 0
    problems: list[int] = field(default_factory=list)

    @property
    def token(self) -> Token:
        index = self.index
        return self.tokens[index] if index < len(self.tokens) else self.tokens[-1]  # the last is END

    def at_operator(self, *operators: bytes) -> bool:
        token = self.token
        return token.kind is TokenKind.OPERATOR and token.text in operators

    def at_word(self, *words: bytes) -> bool:
        token = self.token
        return token.kind is TokenKind.WORD and token.text in words

    def accept_word(self, word: bytes) -> bool:
        if self.at_word(word):
            self.index += 1
            return True
        return False

    def skip_newlines(self) -> None:
        while self.token.kind is TokenKind.NEWLINE:
            self.index += 1

    def skip_separators(self) -> None:
        while self.token.kind is TokenKind.NEWLINE or self.at_operator(b";", b"&"):
            self.index += 1

    def script(self) -> Sequence:
        parts: list[Node] = []
        while True:
            parts.extend(self.sequence(frozenset()).parts)
            if self.token.kind is TokenKind.END:
                return Sequence(parts)
            self.problems.append(self.token.start)
            self.index += 1

    def sequence(self, until: frozenset[bytes]) -> Sequence:
        """Commands up to a reserved word of `until`, a closing parenthesis, ``;;`` or the end."""
        parts: list[Node] = []
        while True:
            self.skip_separators()
            token = self.token
            if token.kind is TokenKind.END or self.at_operator(b")", *_COMPOUND_END):
                break
            if token.kind is TokenKind.WORD and token.text in (until or _TERMINATORS):
                break
            before = self.index
            parts.append(self.and_or())
            if self.index == before:
                self.problems.append(token.start)
                self.index += 1
        return Sequence(parts)

    def and_or(self) -> Node:
        first = self.pipeline()
        if not self.at_operator(b"&&", b"||"):
            return first
        parts: list[tuple[bytes, Node]] = [(b"", first)]
        while self.at_operator(b"&&", b"||"):
            operator = self.token.text
            self.index += 1
            self.skip_newlines()
            if self.token.kind is TokenKind.END:
                break
            parts.append((operator, self.pipeline()))
        return AndOr(parts)

    def pipeline(self) -> Node:
        negated = False
        while self.accept_word(b"!"):
            negated = not negated
        parts = [self.command()]
        while self.at_operator(b"|", b"|&"):
            self.index += 1
            self.skip_newlines()
            parts.append(self.command())
        return parts[0] if len(parts) == 1 and not negated else Pipeline(parts, negated)

    def command(self) -> Node:
        token = self.token
        if token.kind is TokenKind.OPERATOR and token.text == b"(":
            return self.parenthesis()
        if token.kind is TokenKind.WORD:
            match token.text:
                case b"if":
                    return self.conditional()
                case b"case":
                    return self.case()
                case b"for" | b"select":
                    return self.loop()
                case b"while" | b"until":
                    self.index += 1
                    condition = self.sequence(frozenset({b"do"}))
                    return While(condition, self.do_body())
                case b"{":
                    self.index += 1
                    body = self.sequence(frozenset({b"}"}))
                    self.accept_word(b"}")
                    return Group(body, subshell=False, redirections=self.redirections())
                case b"function":
                    self.index += 1
                    name = self.text[self.token.start : self.token.end]
                    self.index += 1
                    if self.at_operator(b"("):
                        self.index += 1
                        if self.at_operator(b")"):
                            self.index += 1
                    self.skip_newlines()
                    return Function(name, self.command())
                case b"[[":
                    return self.double_bracket()
                case _:
                    return self.simple()
        return self.simple()

    def parenthesis(self) -> Node:
        start = self.token.start
        if self.text.startswith(b"((", start):
            close = self.text.find(b"))", start)
            if close >= 0 and b"\n" not in self.text[start:close]:
                while self.token.kind is not TokenKind.END and self.token.start < close + 2:
                    self.index += 1
                return Simple([], [], start, close + 2)
        self.index += 1
        body = self.sequence(frozenset({b")"}))
        while self.token.kind is not TokenKind.END and not self.at_operator(b")"):
            self.problems.append(self.token.start)
            self.index += 1
            body.parts.extend(self.sequence(frozenset({b")"})).parts)
        if self.at_operator(b")"):
            self.index += 1
        return Group(body, subshell=True, redirections=self.redirections())

    def conditional(self) -> Node:
        arms: list[tuple[Node, Node]] = []
        otherwise: Node | None = None
        self.index += 1
        while True:
            condition = self.sequence(frozenset({b"then", b"fi", b"else", b"elif"}))
            self.accept_word(b"then")
            arms.append((condition, self.sequence(frozenset({b"elif", b"else", b"fi"}))))
            if self.accept_word(b"elif"):
                continue
            if self.accept_word(b"else"):
                otherwise = self.sequence(frozenset({b"fi"}))
            break
        if not self.accept_word(b"fi"):
            self.problems.append(self.token.start)
        self.redirections()
        return If(arms, otherwise)

    def case(self) -> Node:
        self.index += 1
        subject = self.token
        self.index += 1
        self.skip_newlines()
        self.accept_word(b"in")
        arms: list[tuple[list[Token], Node]] = []
        while True:
            self.skip_separators()
            if self.token.kind is TokenKind.END or self.accept_word(b"esac"):
                break
            if self.at_operator(b"("):
                self.index += 1
            patterns: list[Token] = []
            while self.token.kind is TokenKind.WORD:
                patterns.append(self.token)
                self.index += 1
                if self.at_operator(b"|"):
                    self.index += 1
            if not self.at_operator(b")"):
                self.problems.append(self.token.start)
                self.index += 1
                continue
            self.index += 1
            body = self.sequence(frozenset({b"esac"}))
            arms.append((patterns, body))
            if self.at_operator(*_COMPOUND_END):
                self.index += 1
        self.redirections()
        return Case(subject, arms)

    def loop(self) -> Node:
        self.index += 1
        if self.at_operator(b"("):
            node = self.parenthesis()
            self.skip_separators()
            body = self.do_body()
            return For(b"", None, Sequence([node, body]))
        name = self.token.text
        self.index += 1
        self.skip_newlines()
        words: list[Token] | None = None
        if self.accept_word(b"in"):
            words = []
            while self.token.kind is TokenKind.WORD:
                words.append(self.token)
                self.index += 1
        self.skip_separators()
        return For(name, words, self.do_body())

    def do_body(self) -> Node:
        self.skip_separators()
        if not self.accept_word(b"do"):
            self.problems.append(self.token.start)
        body = self.sequence(frozenset({b"done"}))
        self.accept_word(b"done")
        redirections = self.redirections()
        return Group(body, subshell=False, redirections=redirections) if redirections else body

    def double_bracket(self) -> Node:
        words: list[Token] = []
        start = self.token.start
        while self.token.kind is not TokenKind.END:
            token = self.token
            self.index += 1
            if token.kind is TokenKind.NEWLINE:
                continue
            words.append(token)
            if token.text == b"]]":
                break
        redirections = self.redirections()
        return Simple(words, redirections, start, self.tokens[self.index - 1].end)

    def redirections(self) -> list[Redirection]:
        result: list[Redirection] = []
        while self.token.kind is TokenKind.REDIRECTION:
            result.append(self.redirection())
        return result

    def redirection(self) -> Redirection:
        operator = self.token
        self.index += 1
        word = self.token
        if word.kind is not TokenKind.WORD:
            return Redirection(operator.text, -1, -1, operator.heredoc)
        self.index += 1
        return Redirection(operator.text, word.start, word.end, operator.heredoc)

    def simple(self) -> Node:
        words: list[Token] = []
        redirections: list[Redirection] = []
        start = end = self.token.start
        while True:
            token = self.token
            if token.kind is TokenKind.WORD:
                if not words and not redirections and token.text in _TERMINATORS:
                    break
                words.append(token)
                self.index += 1
                if len(words) == 1 and self.at_operator(b"(") and self._function_parentheses():
                    self.index += 2
                    self.skip_newlines()
                    return Function(self.text[token.start : token.end], self.command())
            elif token.kind is TokenKind.REDIRECTION:
                redirections.append(self.redirection())
            else:
                break
            end = self.tokens[self.index - 1].end
        return Simple(words, redirections, start, end)

    def _function_parentheses(self) -> bool:
        following = self.tokens[self.index + 1] if self.index + 1 < len(self.tokens) else None
        return following is not None and following.kind is TokenKind.OPERATOR and following.text == b")"


@lru_cache(maxsize=4096)
def parse_shell(text: bytes, start: int = 0, end: int = -1) -> Script:
    """Parse shell text; never raises for what stands in it.

    The versions of one file share most of their text, so results are kept; they are not to be changed.
    """
    parser = _Parser(text, Tokenizer(text, start, end).tokens())
    return Script(parser.script(), parser.problems)
