"""Which part of an image reference is a pin."""

import re
from collections.abc import Iterator

from pins.files.commands.download import version_like
from pins.files.dockerfile.syntax import Instruction
from pins.files.mention import Mention, Part, part_of
from pins.files.values import Declaration, Value, cut, display_of, text_of
from pins.model import Form, PinKind


def image_mentions(base: Value, stage: str, instruction: Instruction, said: str) -> Iterator[Mention]:
    """The pins of an image reference: the whole of it, or the variables in it that hold a version."""
    text = text_of(base)
    shown = display_of(base)
    named, at, _ = text.partition("@")
    colon = named.rfind(":")
    tagged = colon > named.rfind("/")
    tag_start = colon + 1 if tagged else len(named) + len(at)
    tag = cut(base, tag_start, len(text)) if tagged or at else ()
    repository = named[:colon] if tagged else named
    whole = part_of(base)
    parts = [whole]
    by_tag = False
    if not whole.whole or (whole.unknown and len(base) > 1):
        last = cut(base, named.rfind("/") + 1, len(text))
        parts = _versions_of_image(base, tag) or [part_of(tag or last) if tag or last else whole]
        by_tag = True
    for part in parts:
        holder = part.holder or next(iter(part.variables), None)
        yield Mention(
            PinKind.IMAGE,
            repository or "image",
            (part,),
            Form.VALUE,
            shown,
            stage,
            instruction.line,
            instruction.start,
            said,
            repo=repository if by_tag else "",
            name_from_variable=holder is not None,
        )


def _versions_of_image(base: Value, tag: Value) -> list[Part]:
    """The variables of an image reference that hold a version, wherever in it they stand."""
    chosen: dict[object, Part] = {}
    for fragment in base:
        if not fragment.variables and not fragment.unknown:
            continue
        name = fragment.variables[0].name if fragment.variables else ""
        # in front of a digest, a whole reference with a tag of its own
        tagged = "@" in text_of(base) and re.search(r"\A[^@]*:[^/:@]*\d[^/:@]*\Z", fragment.text) is not None
        if fragment.unknown or fragment in tag or tagged or version_like(fragment.text, name):
            chosen.setdefault(fragment.variables or fragment.text, part_of((fragment,)))
    chains = [part.variables for part in chosen.values()]
    return [part for part in chosen.values() if not any(_ends_with(chain, part.variables) for chain in chains)]


def _ends_with(chain: tuple[Declaration, ...], end: tuple[Declaration, ...]) -> bool:
    return len(chain) > len(end) and chain[len(chain) - len(end) :] == end
