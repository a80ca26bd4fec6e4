"""Whose failure is the failure of a script: what a RUN's status depends on."""

import re
from collections.abc import Iterator

from pins.files.joined import JoinedText
from pins.files.shell.syntax import AndOr, Case, Group, If, Node, Sequence, Simple, parse_shell

_ERREXIT = re.compile(
    rb"(?:\A|[;&\n]|\bthen\b|\{)\s*set\s+(?:-[a-zA-Z]+\s+|-o\s+\w+\s+)*(?:-[a-zA-Z]*e[a-zA-Z]*|-[a-zA-Z]*o\s+errexit)"
)


def decisive(script: JoinedText, shell: tuple[str, ...] = ()) -> frozenset[tuple[int, int]]:
    """The commands without which a RUN cannot succeed, by their places in the file.

    Args:
        script: what the RUN gives to its shell.
        shell: what SHELL has set, () for the default.
    """
    tree = parse_shell(script.text).tree
    bodies = list(heredoc_scripts(tree, script))
    return frozenset(
        place
        for body in bodies or [script]
        for place in _decisive(parse_shell(body.text).tree, body, strict=stops_at_errors(shell, script.text))
    )


def _decisive(tree: Node, script: JoinedText, *, strict: bool) -> Iterator[tuple[int, int]]:
    """The same for a part of it; with `strict` each command of a sequence counts, else the last one alone."""
    match tree:
        case Sequence() if tree.parts:
            if strict:
                for part in tree.parts[:-1]:
                    # Of `a && b` in the middle, errexit overlooks a failing a.
                    yield from _decisive(part.parts[-1][1] if isinstance(part, AndOr) else part, script, strict=True)
            yield from _decisive(tree.parts[-1], script, strict=strict)
        case AndOr():
            if all(operator != b"||" for operator, _ in tree.parts):
                for _, part in tree.parts:
                    yield from _decisive(part, script, strict=False)
        case Group():
            yield from _decisive(tree.body, script, strict=strict)
        case Simple():
            yield from deciding(tree, script)


def deciding(node: Node, script: JoinedText) -> Iterator[tuple[int, int]]:
    """The simple commands whose failure makes `node` fail."""
    match node:
        case Simple() if node.words:
            yield script.source(node.start), script.source_end(node.end)
        case AndOr():
            if any(operator == b"||" for operator, _ in node.parts):
                return  # somebody thought of the failure
            for _, part in node.parts:
                yield from deciding(part, script)
        case Group():
            yield from deciding(node.body, script)
        case Sequence() if node.parts:
            yield from deciding(node.parts[-1], script)
        case If():
            for _, body in node.arms:
                yield from deciding(body, script)
            if node.otherwise is not None:
                yield from deciding(node.otherwise, script)
        case Case():
            for _, body in node.arms:
                yield from deciding(body, script)
        case _:
            return


def heredoc_scripts(tree: Sequence, script: JoinedText) -> Iterator[JoinedText]:
    """Bodies that RUN gives to the shell itself: ``RUN <<EOF``."""
    for part in tree.parts:
        if isinstance(part, Simple) and not part.words:
            for redirection in part.redirections:
                heredoc = redirection.heredoc
                if heredoc is not None and heredoc.start >= 0:
                    body = script.part(heredoc.start, heredoc.end)
                    if not body.text.startswith(b"#!") or re.match(rb"#!\S*\b(ba|da|z|k)?sh\b", body.text):
                        yield body


def stops_at_errors(shell: tuple[str, ...], script: bytes) -> bool:
    """Whether a script ends at its first failure: `set -e`, or a shell that is called so."""
    if any(re.fullmatch(r"-[a-z]*e[a-z]*", word) or word == "errexit" for word in shell[1:]):
        return True
    if _ERREXIT.search(script):
        return True
    first = script.lstrip().split(b"\n", 1)
    # RUN <<EOF bash -e, and #!/bin/bash -e on the first line of a heredoc
    opened = first[0]
    body = first[1].split(b"\n", 1)[0] if len(first) > 1 else b""
    return bool(
        re.search(
            rb"\b(?:ba|da|z|k)?sh\s+(?:-[a-z]+\s+)*-[a-z]*e[a-z]*\b",
            opened + b"\n" + (body if body.startswith(b"#!") else b""),
        )
    )
