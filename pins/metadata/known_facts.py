"""What people have found out, and written into `pins.toml`: known-bad versions, holds, and rules switched off.

    [[known-bad]]
    requirement = "pybind11==3.1.0"       # what does not work
    reason = "AITER's kernels share no types with it"
    found = "bisect run 2026-08-20"       # optional

    [[hold]]
    requirement = "setuptools<80"         # what is to be kept to
    reason = "mori's setup.py"
    until = "ROCm/mori#123 is released"   # optional

    [[hold]]
    pin = "triton"                        # no package: nothing for windows
    value = "9c1ab00"
    reason = "the next commit fails to load Kimi"

    [inferred]
    off = ["cmake-minimum"]

The same tables stand below `tool.pins` in a `pyproject.toml`.
"""

import tomllib
from dataclasses import dataclass
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from pins.errors import UsageError
from pins.metadata.inferred.rules import RULES
from pins.resolve.problem import Constraint, Origin, OriginKind


@dataclass(frozen=True)
class KnownFacts:
    """What a configuration file says.

    Attributes:
        bounds: known-bad versions and holds.
        off: rules that are switched off.
    """

    bounds: tuple[Constraint, ...] = ()
    off: frozenset[str] = frozenset()


def read_known_facts(content: bytes, file: str) -> KnownFacts:
    """The facts of a `pins.toml` or `pyproject.toml`.

    Raises:
        UsageError: an entry is malformed.
    """
    try:
        document = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not valid TOML: {error}") from error
    table = _table(_table(document, "tool"), "pins") if file.endswith("pyproject.toml") else document
    bounds = [
        *(_known_bad(entry, file, content) for entry in _entries(table, "known-bad", file)),
        *(
            _hold(entry, file, content)
            for entry in _entries(table, "hold", file)
            if "requirement" in entry or "value" not in entry  # a commit or an image is held by its value
        ),
    ]
    off = _table(table, "inferred").get("off", [])
    unknown = [rule for rule in off if rule not in RULES] if isinstance(off, list) else ["off"]
    if unknown:
        raise UsageError(f"{file}: inferred.off names {unknown[0]!r}; there are {', '.join(RULES)}")
    return KnownFacts(tuple(bounds), frozenset(off))


def _known_bad(entry: dict[str, Any], file: str, content: bytes) -> Constraint:
    requirement = _requirement(entry, file)
    pieces = list(requirement.specifier)
    if len(pieces) != 1 or pieces[0].operator not in ("==", "==="):
        raise UsageError(f"{file}: known-bad {str(requirement)!r} must name one version, such as 'pybind11==3.1.0'")
    said = " ".join(filter(None, [_text(entry, "reason"), _text(entry, "found") and f"({_text(entry, 'found')})"]))
    bound = f"{requirement.name}!={pieces[0].version}"
    return Constraint(bound, Origin(OriginKind.KNOWN_BAD, file, _line(content, _text(entry, "requirement")), said))


def _hold(entry: dict[str, Any], file: str, content: bytes) -> Constraint:
    requirement = _requirement(entry, file)
    until = _text(entry, "until")
    said = _text(entry, "reason") + (f", until {until}" if until else "")
    line = _line(content, _text(entry, "requirement"))
    return Constraint(str(requirement), Origin(OriginKind.HOLD, file, line, said))


def _requirement(entry: dict[str, Any], file: str) -> Requirement:
    text = _text(entry, "requirement")
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        raise UsageError(f"{file}: requirement = {text!r} is no requirement such as 'pybind11==3.1.0'") from error


def _entries(table: dict[str, Any], name: str, file: str) -> list[dict[str, Any]]:
    found = table.get(name, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise UsageError(f"{file}: {name} must be an array of tables, [[{name}]]")
    return found


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name, {})
    return found if isinstance(found, dict) else {}


def _text(entry: dict[str, Any], name: str) -> str:
    value = entry.get(name, "")
    return value if isinstance(value, str) else ""


def _line(content: bytes, text: str) -> int:
    position = content.find(text.encode())
    return content.count(b"\n", 0, position) + 1 if position >= 0 else 0
