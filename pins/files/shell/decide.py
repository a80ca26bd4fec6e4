"""Whether a test holds, as far as its operands are known."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pins.files.shell.syntax import AndOr, Case, For, Function, Group, If, Node, Pipeline, Sequence, Simple, While
from pins.files.shell.tokens import Token
from pins.files.shell_pattern import shell_pattern
from pins.files.values import Value, text_of, unknown_of

_DECIMAL = re.compile(r"-?\d+")
_ARITHMETIC = re.compile(r"-?(?:0|[1-9]\d*)")
"""``[[ 010 -eq 8 ]]`` holds, since what stands there is arithmetic; ``[ 010 -eq 10 ]`` holds."""


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides conditions.

    Attributes:
        word: what a word comes to.
        is_undecided: whether a variable is an ARG without a default, which is empty unless it is given.
    """

    word: Callable[[Token], Value]
    is_undecided: Callable[[str], bool]

    def holds(self, node: Node) -> bool | None:
        """Whether a condition holds, None when its values are not known."""
        match node:
            case Sequence() if len(node.parts) == 1:
                return self.holds(node.parts[0])
            case Pipeline() if len(node.parts) == 1:
                inner = self.holds(node.parts[0])
                return None if inner is None else inner is not node.negated
            case AndOr():
                return self._list(node)
            case Simple() if node.words:
                return self._simple(node)
            case _:
                return None

    def _list(self, node: AndOr) -> bool | None:
        result = self.holds(node.parts[0][1])
        for operator, part in node.parts[1:]:
            other = self.holds(part)
            if operator == b"&&":
                result = False if result is False or other is False else (True if result and other else None)
            else:
                result = True if result or other else (False if result is False and other is False else None)
        return result

    def _simple(self, node: Simple) -> bool | None:
        name = node.words[0].text
        if name in (b"true", b":"):
            return True
        if name == b"false":
            return False
        if name not in (b"[", b"[[", b"test"):
            return None
        tokens = node.words[1:]
        if tokens and tokens[-1].text in (b"]", b"]]"):
            tokens = tokens[:-1]
        operands: list[str | None] = []
        for token in tokens:
            value = self.word(token)
            if unknown_of(value):
                operands.append("" if self.is_unset(value) else None)
            else:
                operands.append(text_of(value))
        return decide_test(operands, double=name == b"[[")

    def is_unset(self, value: Value) -> bool:
        """Whether all that is unknown of a value is an ARG without a default: empty, unless it is given."""
        return all(self.is_undecided(f.text.strip("${}")) for f in value if f.unknown) and all(
            f.unknown or not f.text for f in value
        )


def decide_test(operands: list[str | None], *, double: bool) -> bool | None:
    """Whether ``[ ... ]`` holds; None when an operand is not known. `double`: it is ``[[ ... ]]``."""
    if operands and operands[0] == "!":
        inner = decide_test(operands[1:], double=double)
        return None if inner is None else not inner
    if any(operand in ("&&", "||", "-a", "-o", "(") for operand in operands):
        return None
    match operands:
        case [None] | [_, None]:
            return None
        case [text]:
            return text != ""
        case ["-n", text]:
            return text != ""
        case ["-z", text]:
            return text == ""
        case [str(left), "=" | "==" | "!=" as operator, str(right)]:
            equal = re.fullmatch(shell_pattern(right), left, re.DOTALL) is not None if double else left == right
            return equal if operator != "!=" else not equal
        case [str(left), "-eq" | "-ne" | "-gt" | "-lt" | "-ge" | "-le" as operator, str(right)]:
            number = _ARITHMETIC if double else _DECIMAL
            if not (number.fullmatch(left) and number.fullmatch(right)):
                return None
            a, b = int(left), int(right)
            return {"-eq": a == b, "-ne": a != b, "-gt": a > b, "-lt": a < b, "-ge": a >= b, "-le": a <= b}[operator]
        case _:
            return None


def is_true(text: bytes, node: Simple) -> bool:
    """Whether a command always succeeds, so that ``|| command`` ignores a failure."""
    return bool(node.words) and text[node.words[0].start : node.words[0].end] in (b"true", b":", b"echo", b"exit 0")


def spans(node: Node) -> Iterable[tuple[int, int]]:
    """The spans of all simple commands below a node."""
    match node:
        case Simple():
            yield node.start, node.end
        case Sequence() | Pipeline():
            for part in node.parts:
                yield from spans(part)
        case AndOr():
            for _, part in node.parts:
                yield from spans(part)
        case Group() | Function() | For():
            yield from spans(node.body)
        case While():
            yield from spans(node.condition)
            yield from spans(node.body)
        case If():
            for condition, body in node.arms:
                yield from spans(condition)
                yield from spans(body)
        case Case():
            for _, body in node.arms:
                yield from spans(body)
