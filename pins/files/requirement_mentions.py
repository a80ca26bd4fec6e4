"""From a requirement to the pins in it."""

import posixpath
import re
from collections.abc import Callable
from dataclasses import replace

from pins.files.commands.download import versions_in
from pins.files.mention import Mention, Part, part_of
from pins.files.requirement import ReadRequirement, RequirementKind, name_in_file, version_in_file
from pins.files.values import Value, cut, shape_of, text_of, unknown_of
from pins.model import Form, PinKind

Blank = Callable[[PinKind, str], Mention]
"""Makes a mention with everything filled in that does not depend on the requirement, from (kind, name)."""


def mentions_of(read: ReadRequirement, blank: Blank) -> list[Mention]:
    """The pins of one requirement; none for a path that says no version."""
    match read.kind:
        case RequirementKind.SPECIFIER:
            return [_specifier(read, blank(PinKind.PACKAGE, read.name))]
        case RequirementKind.REPOSITORY:
            return [_repository(read, blank(PinKind.GIT, read.name))]
        case RequirementKind.URL:
            return _url(read, blank)
        case RequirementKind.PATH:
            return _path(read, blank)


def _specifier(read: ReadRequirement, mention: Mention) -> Mention:
    mention.effective = text_of(read.specifier)
    if read.unnamed and not read.specifier:
        mention.parts = (part_of(read.unnamed),)
        return mention
    if read.unnamed:
        mention.note = f"which package it is of is not known: {unknown_of(read.unnamed)}"
    if read.version:
        part = part_of(read.version)
        form = Form.EXACT if part.whole and part.holder is None else Form.VALUE
        # `foo${SPEC}`: the variable holds the operator too
        operator = part_of(read.specifier)
        if operator.holder is not None and operator.whole:
            part, form = operator, Form.SPECIFIER
    elif read.specifier:
        part = part_of(read.specifier)
        form = Form.SPECIFIER if part.whole else Form.VALUE
    else:
        part, form = insertion_after(read.name_part), Form.OPEN
    mention.parts, mention.form = (part,), form
    return mention


def insertion_after(value: Value) -> Part:
    """The empty place behind a string."""
    last = value[-1] if value else None
    if last is None or not last.written or last.origin or last.variables:
        return Part(None, None)
    return Part(None, (last.end, last.end, last.quoting))


def _repository(read: ReadRequirement, mention: Mention) -> Mention:
    mention.repo = read.url
    mention.name_from_variable = True
    mention.effective = text_of(read.ref)
    if read.ref:
        mention.parts = (part_of(read.ref),)
    else:
        mention.parts, mention.form = (insertion_after(read.whole_url),), Form.OPEN
    return mention


def _path(read: ReadRequirement, blank: Blank) -> list[Mention]:
    """A wheel or source archive by its file name, which says a version: another one has another name."""
    shape = shape_of(read.whole_url)
    filename = posixpath.basename(shape)
    version = version_in_file(filename).split("+")[0]
    if not re.match(r"\d+(?:\.\d+)+", version):
        return []
    start = shape.rfind("/") + 1 + filename.find(version)
    part = part_of(cut(read.whole_url, start, start + len(version)))
    if part.span is None:
        return []
    mention = blank(PinKind.URL, name_in_file(filename))
    mention.parts, mention.effective = (part,), read.url
    return [mention]


def _url(read: ReadRequirement, blank: Blank) -> list[Mention]:
    found = versions_in(read.whole_url)
    mentions: list[Mention] = []
    version = version_in_file(posixpath.basename(read.url))
    if found and version and not any(f.variables or f.unknown for f in read.whole_url):
        position = read.url.rfind("/") + 1 + posixpath.basename(read.url).find(version)
        exact = cut(read.whole_url, position, position + len(version))
        literal = part_of(exact)
        parts = [
            literal,
            *(
                p
                for d in found
                for v in d.versions
                if (p := part_of(v)).text == literal.text and p.span != literal.span
            ),
        ]
        mention = blank(PinKind.URL, read.name)
        mention.parts = tuple(sorted(parts, key=lambda p: p.span or (0, 0, p)))
        mention.effective, mention.repo = read.url, found[0].repository
        return [mention]
    for download in found:
        mention = blank(PinKind.URL, read.name or download.name)
        mention.parts = tuple(part_of(version) for version in download.versions)
        mention.effective, mention.repo = read.url, download.repository
        mention.name_from_variable = not read.name
        mentions.append(mention)
    if not found and read.name:
        mention = blank(PinKind.URL, read.name)
        mention.parts, mention.effective = (Part(None, None),), read.url
        mentions.append(mention)
    return mentions


def unquoted(mention: Mention, data: bytes) -> Mention:
    """Widen the place of a specifier to quotes that were put around it alone: ``foo"<2"``."""
    part = mention.parts[0]
    if mention.form is not Form.SPECIFIER or part.span is None or not part.span[2].value.startswith("shell-"):
        return mention
    start, end, quoting = part.span
    quote = data[start - 1 : start]
    if (
        quote not in (b'"', b"'")
        or data[end : end + 1] != quote
        or data[start - 2 : start - 1] in (b" ", b"\t", b"\n", b"=", b"")
    ):
        return mention
    from pins.model import Quoting

    del quoting
    mention.parts = (replace(part, span=(start - 1, end + 1, Quoting.SHELL_BARE)), *mention.parts[1:])
    return mention
