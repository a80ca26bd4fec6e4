"""Failures of a step that decides versions, which the build does not notice."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from pins.files.commands.git import read_git
from pins.files.commands.pip import read_pip
from pins.files.dockerfile.close_reading import StepReading
from pins.files.joined import JoinedText
from pins.files.shell.status import deciding, heredoc_scripts, stops_at_errors
from pins.files.shell.syntax import (
    AndOr,
    Case,
    For,
    Function,
    Group,
    If,
    Node,
    Pipeline,
    Sequence,
    Simple,
    While,
    parse_shell,
)
from pins.files.values import text_of
from pins.hazards.model import Finding
from pins.hazards.subject import Ran, Subject

_PATCHES = frozenset({"apply", "am", "cherry-pick", "checkout", "switch", "fetch", "clone", "merge", "reset", "revert"})


def what_it_decides(ran: Ran) -> str:
    """What a command decides of versions ("an install", "a checkout"), "" for nothing."""
    words = ran.words
    if not words:
        return ""
    if (git := read_git(words)) is not None:
        if git.action not in _PATCHES:
            return ""
        if git.action in {"apply", "am"} and {"--check", "--stat", "--numstat"} & git.flags:
            return ""
        return {"apply": "a patch", "am": "a patch", "clone": "a clone", "fetch": "a fetch"}.get(
            git.action, f"git {git.action}"
        )
    if (pip := read_pip(words)) is not None:
        return "an install" if pip.action == "install" else ""
    if text_of(words[0]) == "patch":
        return "" if any(text_of(word) == "--dry-run" for word in words) else "a patch"
    return ""


def ignored_failure(subject: Subject) -> Iterator[Finding]:
    """``|| true`` behind a command that decides versions: one finding for each ``||``."""
    groups: dict[int, list[tuple[Ran, str]]] = {}
    for ran in subject.ran:
        if not ran.command.tolerated:
            continue
        what = what_it_decides(ran)
        if not what or (what == "a patch" and _reverts(ran)) or (what == "a fetch" and _only_completes(ran)):
            continue
        alternative = subject.data.find(b"||", ran.command.end, ran.step.instruction.end)
        groups.setdefault(alternative if alternative >= 0 else ran.command.start, []).append((ran, what))
    for members in groups.values():
        ran, what = members[-1]
        lines = sorted({subject.line(other.command.start) for other, _ in members[:-1]})
        others = f", as are those of line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}" if lines else ""
        yield Finding(
            ran.command.start,
            ran.command.end,
            f"the failure of {what} is ignored{others}: the build goes on without it, and says nothing",
            fix="take away the || true, or test for the one case that may fail",
        )


def _only_completes(ran: Ran) -> bool:
    """Whether a fetch only adds to what is there: history or tags."""
    return any(text_of(word) in {"--unshallow", "--tags", "--deepen"} for word in ran.words)


def _reverts(ran: Ran) -> bool:
    return any(text_of(word) in {"-R", "--reverse"} for word in ran.words)


@dataclass(frozen=True)
class _Lost:
    """A command whose status goes nowhere."""

    start: int
    end: int
    followed_by: str


def lost_in_sequence(subject: Subject) -> Iterator[Finding]:
    """A failure in front of ``;`` or of a line end, without ``set -e``."""
    for step in subject.steps:
        if step.script is None or not step.script.text or stops_at_errors(step.shell, step.script.text):
            continue
        yield from _failures_lost(
            subject,
            step,
            _lost(step.script),
            then="goes on with",
            fix="join the commands with &&, or begin the RUN with set -e",
        )


def _failures_lost(
    subject: Subject, step: StepReading, lost: Iterable[_Lost], *, then: str, fix: str
) -> Iterator[Finding]:
    """The commands among `lost` that decide versions and are not tolerated."""
    by_place = {(found.start, found.end): found for found in lost}
    for ran in _ran_in(subject, step) if by_place else ():
        found = by_place.get((ran.command.start, ran.command.end))
        what = what_it_decides(ran) if found is not None and not ran.command.tolerated else ""
        if found is not None and what:
            message = f"when {what} fails here, the RUN {then} {found.followed_by} and succeeds"
            yield Finding(ran.command.start, ran.command.end, message, fix=fix)


def _lost(script: JoinedText) -> Iterator[_Lost]:
    tree = parse_shell(script.text).tree
    yield from _in_sequence(tree, script)
    for body in heredoc_scripts(tree, script):
        yield from _in_sequence(parse_shell(body.text).tree, body)


def _in_sequence(tree: Node, script: JoinedText) -> Iterator[_Lost]:
    """Simple commands whose status another command replaces."""
    match tree:
        case Sequence():
            for index, part in enumerate(tree.parts):
                if index + 1 < len(tree.parts) and not _looks_back(tree.parts[index + 1], script):
                    following = _raw(script, tree.parts[index + 1])
                    yield from (_Lost(*span, following) for span in deciding(part, script))
                yield from _nested(part, script)
        case _:
            yield from _nested(tree, script)


def _looks_back(node: Node, script: JoinedText) -> bool:
    """Whether a command looks at the status of the one before: `exit $?`, `status=$?`, a test of it."""
    from pins.files.shell.decide import spans

    return any(b"$?" in script.text[start:end] for start, end in spans(node))


def _nested(node: Node, script: JoinedText) -> Iterator[_Lost]:
    match node:
        case Group():
            yield from _in_sequence(node.body, script)
        case AndOr():
            for _, part in node.parts:
                yield from _nested(part, script)
        case If():
            for _, body in node.arms:
                yield from _in_sequence(body, script)
            if node.otherwise is not None:
                yield from _in_sequence(node.otherwise, script)
        case Case():
            for _, body in node.arms:
                yield from _in_sequence(body, script)
        case For() | While() | Function():
            yield from _in_sequence(node.body, script)
        case _:
            return


def _raw(script: JoinedText, node: Node) -> str:
    from pins.files.shell.decide import spans

    found = list(spans(node))
    if not found:
        return "what follows"
    start = min(start for start, _ in found)
    text = " ".join(script.text[start : start + 80].decode("utf-8", "replace").split())
    word = text.split(";")[0].split("&&")[0].strip()
    return f"`{word[:40]}`" if word else "what follows"


def lost_in_pipe(subject: Subject) -> Iterator[Finding]:
    """A command that decides versions in front of a pipe, without pipefail."""
    for step in subject.steps:
        if step.script is None or b"|" not in step.script.text or b"pipefail" in step.script.text:
            continue
        if any("pipefail" in word for word in step.shell):
            continue
        yield from _failures_lost(
            subject,
            step,
            _piped(step.script),
            then="takes the status of",
            fix="begin the RUN with set -o pipefail (bash), or write to a file instead of a pipe",
        )


def _piped(script: JoinedText) -> Iterator[_Lost]:
    """Simple commands in front of a pipe."""
    for text, tree in [(script, parse_shell(script.text).tree)] + [
        (body, parse_shell(body.text).tree) for body in heredoc_scripts(parse_shell(script.text).tree, script)
    ]:
        for node in _all_nodes(tree):
            if isinstance(node, Pipeline):
                for part, following in pairwise(node.parts):
                    if not _starts_with(following, b"xargs", text):
                        yield from (_Lost(*span, _raw(text, following)) for span in deciding(part, text))


def _starts_with(node: Node, word: bytes, script: JoinedText) -> bool:
    return isinstance(node, Simple) and script.text.startswith(word, node.start)


def _all_nodes(node: Node) -> Iterator[Node]:
    yield node
    match node:
        case Sequence() | Pipeline():
            children: list[Node] = node.parts
        case AndOr():
            children = [part for _, part in node.parts]
        case If():
            children = [inner for arm in node.arms for inner in arm]
            children += [node.otherwise] if node.otherwise is not None else []
        case Case():
            children = [body for _, body in node.arms]
        case While():
            children = [node.condition, node.body]
        case For() | Group() | Function():
            children = [node.body]
        case _:
            children = []
    for child in children:
        yield from _all_nodes(child)


def _ran_in(subject: Subject, step: StepReading) -> list[Ran]:
    return subject.ran_by_step.get(id(step), [])
