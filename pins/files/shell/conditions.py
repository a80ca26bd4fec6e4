"""What must hold for a command to run, said of a test or of a command that may fail."""

from pins.files.joined import JoinedText
from pins.files.shell.command import Condition
from pins.files.shell.decide import Decider, spans
from pins.files.shell.syntax import AndOr, For, Function, Group, Node, Pipeline, Sequence, Simple

_LONGEST = 60


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
