"""Whether a test holds, as far as its operands are known."""

import re
from collections.abc import Iterable

from pins.files.shell.syntax import AndOr, Case, For, Function, Group, If, Node, Pipeline, Sequence, Simple, While
from pins.files.words import shell_pattern


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
            if not (re.fullmatch(r"-?\d+", left) and re.fullmatch(r"-?\d+", right)):
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
