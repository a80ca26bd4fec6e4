"""Variables that no known command takes and that are pins all the same, by their names and by what they hold."""

import re

from pins.files.commands.download import versions_in
from pins.files.mention import Mention, Part, part_of
from pins.files.naming import dashed, says_version
from pins.files.requirement import repository_name
from pins.files.values import Declaration, Value, cut, text_of, unknown_of
from pins.model import Form, PinKind

_REVISION = re.compile(r"(?:\.git(?:#|@)|(?<=\w)#(?=[\w./-]+\Z)|(?<=\w)@(?=[\w./-]+\Z))([\w./+-]+)(?::[\w./-]*)?\Z")
"""The revision at the end of a repository's address: behind a `#` for the builder, behind an `@` for pip."""


_REPOSITORY = re.compile(r"\.git\Z|//(?:github|gitlab)\.com/[^/]+/[^/]+/?\Z")


def version_held(declaration: Declaration, value: Value) -> Mention | None:
    """The pin of a variable whose name and value say that it is a version."""
    part = part_of(value)
    if part.span is None or part.text is None or not part.whole or not says_version(declaration.name, part.text):
        return None
    return _held(declaration, PinKind.TEXT, dashed(declaration.name), (part,), part.text)


def address_held(declaration: Declaration, value: Value) -> Mention | None:
    """What an address pins that a variable holds for a script: a repository at a revision, or a version in it."""
    text = text_of(value)
    if unknown_of(value) or not re.match(r"(?:git\+)?https?://[^/]+/\S+\Z", text):
        return None
    if revision := _REVISION.search(text):
        ref = part_of(cut(value, *revision.span(1)))
        if ref.span is None:
            return None
        address = text[: revision.start(1) - 1].removeprefix("git+")
        mention = _held(declaration, PinKind.GIT, repository_name(address), (ref,), ref.text or "")
        mention.repo, mention.name_from_variable = address, False
        return mention
    if _REPOSITORY.search(text):
        return None
    found = [download for download in versions_in(value) if download.name]
    parts = tuple(part_of(version) for version in found[0].versions) if found else ()
    if not parts or any(part.span is None for part in parts):
        return None
    mention = _held(declaration, PinKind.URL, found[0].name, parts, text)
    mention.repo, mention.name_from_variable = found[0].repository, False
    mention.note = found[0].note
    return mention


def _held(declaration: Declaration, kind: PinKind, name: str, parts: tuple[Part, ...], effective: str) -> Mention:
    line, start = declaration.line, declaration.start
    return Mention(
        kind, name, parts, Form.VALUE, effective, declaration.stage, line, start, "", name_from_variable=True
    )


def without_value(declaration: Declaration) -> Mention:
    """The pin of an ARG without a default, which only whoever builds can give."""
    reason = f"{declaration.name} is an ARG without a default: whoever builds gives it"
    return _held(declaration, PinKind.TEXT, dashed(declaration.name), (Part(None, None, (declaration,), reason),), "")
