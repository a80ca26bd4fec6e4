"""What must hold for a command to run, said of a test or of a command that may fail."""

import re
from collections.abc import Sequence as SequenceOf

from pins.files.joined import JoinedText
from pins.files.shell.command import Condition
from pins.files.shell.decide import Decider, spans
from pins.files.shell.syntax import AndOr, For, Function, Group, Node, Pipeline, Sequence, Simple

_LONGEST = 60
_ASSIGNS = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*\+?=")


def raw_text(joined: JoinedText, start: int, end: int) -> str:
    """What is written there, on one line."""
    return " ".join(joined.text[start:end].decode("utf-8", "replace").split())


def text_of_node(joined: JoinedText, node: Node) -> str:
    """What is written from a node's first command to its last."""
    found = list(spans(node))
    if not found:
        return "..."
    return raw_text(joined, min(start for start, _ in found), max(end for _, end in found))


def choice_of(joined: JoinedText, node: Node) -> int:
    """The offset in the file that stands for the choice which a node decides."""
    match node:
        case Simple():
            return joined.source(node.start)
        case Sequence() | Pipeline() if node.parts:
            return choice_of(joined, node.parts[0])
        case AndOr():
            return choice_of(joined, node.parts[0][1])
        case Group() | Function() | For():
            return choice_of(joined, node.body)
        case _:
            return joined.source(0)


def if_holds(joined: JoinedText, node: Node, decider: Decider) -> Condition | None:
    """The condition behind ``&&`` when `node` is a test; None for any other command."""
    tested = node.parts[0] if isinstance(node, Pipeline) and node.negated and len(node.parts) == 1 else node
    if not (isinstance(tested, Simple) and tested.words and tested.words[0].text in (b"[", b"[[", b"test")):
        return None
    text = f"if {'! ' if tested is not node else ''}{raw_text(joined, tested.start, tested.end)}"
    return Condition(joined.source(tested.start), 0, text, decider.holds(node))


def if_fails(joined: JoinedText, node: Node, decider: Decider) -> Condition:
    """The condition behind ``||``."""
    simple = node
    while not isinstance(simple, Simple):
        match simple:
            case Pipeline():
                simple = simple.parts[-1]
            case AndOr():
                simple = simple.parts[-1][1]
            case Group():
                simple = simple.body
            case Sequence() if simple.parts:
                simple = simple.parts[-1]
            case _:
                return Condition(joined.source(0), 1, "if what is before fails", None)
    holds = decider.holds(node)
    text = raw_text(joined, simple.start, simple.end)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return Condition(joined.source(simple.start), 1, f"if {text} fails", None if holds is None else not holds)


def all_hold(tests: SequenceOf[Condition]) -> bool | None:
    """Whether all of some tests hold."""
    if any(test.holds is False for test in tests):
        return False
    return True if all(test.holds for test in tests) else None


def other_way(condition: Condition) -> Condition:
    """The condition under which a choice goes the other way."""
    word, _, rest = condition.text.partition(" ")
    text = f"{'unless' if word == 'if' else 'if'} {rest}"
    return Condition(
        condition.choice, 1 - condition.arm, text, None if condition.holds is None else not condition.holds
    )


def if_list_fails(joined: JoinedText, tests: SequenceOf[Condition], last: Node, decider: Decider) -> Condition:
    """The condition behind the ``||`` of a list.

    Args:
        joined: the text.
        tests: the tests that must hold for `last` to run.
        last: what stands in front of the operator.
        decider: decides tests.
    """
    if not tests:
        return if_fails(joined, last, decider)
    if len(tests) == 1 and only_assigns(joined, last):
        return other_way(tests[0])
    held = all_hold(tests)
    text = " && ".join((*(test.text.removeprefix("if ") for test in tests), text_of_node(joined, last)))
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return Condition(tests[0].choice, 1, f"if {text} fails", True if held is False else None)


def only_assigns(joined: JoinedText, node: Node) -> bool:
    """Whether a command does nothing but set variables to what no command computes, which never fails."""
    if not (isinstance(node, Simple) and node.words):
        return False
    words = [joined.text[word.start : word.end] for word in node.words]
    return all(_ASSIGNS.match(word) and b"$(" not in word and b"`" not in word for word in words)


def leaves(node: Node) -> bool:
    """Whether a command ends what it stands in, or fails always, so that what follows does not run behind it."""
    match node:
        case Simple() if node.words:
            return node.words[0].text in (b"exit", b"return", b"false", b"break", b"continue")
        case Sequence() | Pipeline() if node.parts:
            return leaves(node.parts[-1])
        case AndOr():
            return leaves(node.parts[-1][1])
        case Group():
            return leaves(node.body)
        case _:
            return False
