"""Writing down versions that are known not to work, in `pins.toml`; `pins.metadata.known_facts` reads them.

[[known-bad]]
requirement = "pybind11==3.1.0"
reason = "ImportError: the type is already registered"
found = "bisect run 20260810-091500-a1b2, 2026-08-10"
"""

import json
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pins.metadata.known_facts import read_known_facts
from pins.resolve.problem import OriginKind
from pins.suggest.holds import FILE


@dataclass(frozen=True)
class KnownBad:
    """A version that does not work.

    Attributes:
        name, version: of the distribution.
        reason: what its failure looks like.
        found: how that is known.
    """

    name: str
    version: str
    reason: str
    found: str


def with_known_bad(data: bytes, fact: KnownBad) -> bytes:
    """A `pins.toml` with the fact at its end; as it was where it knows that version already.

    Raises:
        UsageError: the file is wrong.
    """
    wanted = f"{canonicalize_name(fact.name)}!={fact.version}"
    if data:
        known = read_known_facts(data, FILE).bounds
        if any(bound.origin.kind is OriginKind.KNOWN_BAD and _plain(bound.requirement) == wanted for bound in known):
            return data
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    lines = [
        "[[known-bad]]",
        f"requirement = {_string(f'{fact.name}=={fact.version}')}",
        f"reason = {_string(fact.reason)}",
        f"found = {_string(fact.found)}",
    ]
    block = "".join(f"{line}\n" for line in lines).encode().replace(b"\n", newline)
    if data and not data.endswith(b"\n"):
        data += newline
    return data + (newline if data else b"") + block


def _plain(text: str) -> str:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return text
    return f"{canonicalize_name(requirement.name)}{requirement.specifier}"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
