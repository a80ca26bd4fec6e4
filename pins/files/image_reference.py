"""Image references: a new tag or digest in the place of the one that a pin holds. Pure.

A reference is `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`. Source: the grammar in the distribution project's package
`reference`.
"""

import re

from pins.model import Pin

_DIGEST = re.compile(r"@?(?P<digest>[A-Za-z][A-Za-z0-9]*:[0-9a-fA-F]{32,})")
_REFERENCE = re.compile(r"(?P<repository>.*?)(?P<tag>:[^:/@]*)?(?P<digest>@.*)?")


def with_value(pin: Pin, value: str) -> str:
    """What a pin's place must hold, so that its image has the tag, digest or reference that a person gave.

    A value without `/`, `:` and `@` is a tag: `ubuntu=24.04` keeps the repository (`ubuntu` alone, the repository's own
    name, takes the tag away). A digest keeps repository and tag. Anything else is a reference of its own.

    Args:
        pin: of kind image, with a value.
        value: as given.
    """
    held = pin.value or ""
    if holds_digest(pin):
        return f"@{value.removeprefix('@')}" if held.startswith("@") else value.removeprefix("@")
    whole = "/" in held or ":" in held.removeprefix(":")
    if pin.effective and pin.effective != held and not whole:  # the place holds a part of the reference
        before = pin.effective.removesuffix(held)
        if before.endswith("/") and not {"/", ":", "@"} & {*held, *value} and value != held:
            return f"{held}:{value}"  # the repository's own name, without a tag so far
        if held.startswith(":"):
            return value if value.startswith((":", "@")) else f":{value}"
        return value.removeprefix(":")
    if "$" in held or not held:
        return value
    parts = _REFERENCE.fullmatch(held)
    assert parts is not None  # each of its parts may be empty
    repository, tag = parts["repository"], parts["tag"] or ""
    if digest := _DIGEST.fullmatch(value):
        return f"{repository}{tag}@{digest['digest']}"
    if value.startswith(":"):
        return repository + value
    if {"/", ":", "@"} & set(value) or value == repository:
        return value
    return f"{repository}:{value}"


def holds_digest(pin: Pin) -> bool:
    """Whether the pin's place holds a digest and nothing else, so that nothing but a digest can stand there."""
    return _DIGEST.fullmatch(pin.value or "") is not None


def takes(pin: Pin, value: str) -> bool:
    """Whether a value can stand where the pin's does: for a digest another one, with or without the sign before it."""
    if not holds_digest(pin):
        return True
    return _DIGEST.fullmatch(value) is not None and value.startswith("@") == (pin.value or "").startswith("@")
