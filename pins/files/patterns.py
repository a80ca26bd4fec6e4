r"""Pins of any text file, found by a pattern that the user gives.

[[tool.pins.pattern]]
file = "ci/*.yaml"
regex = 'TRITON_REF: (?P<value>\\S+)'
kind = "git"
name = "triton"
"""

import fnmatch
import re
import tomllib
from dataclasses import dataclass

from pins.errors import UsageError
from pins.files.file_pins import line_counter, simple_pin
from pins.model import Pin, PinKind, Quoting


@dataclass(frozen=True)
class Pattern:
    """One pattern.

    Attributes:
        file: a glob on the path.
        regex: finds the pin; its group `value` (or its first) is the value, its group `name` names it.
        kind: what is pinned.
        name: what the pin is called where the pattern has no group `name`.
        repo: the repository, for git pins.
    """

    file: str
    regex: re.Pattern[str]
    kind: PinKind
    name: str
    repo: str = ""

    def fits(self, path: str) -> bool:
        """Whether the pattern is for this file."""
        return fnmatch.fnmatch(path, self.file) or fnmatch.fnmatch(path, f"*/{self.file}")


def read_patterns(data: bytes, origin: str) -> tuple[Pattern, ...]:
    """The patterns of a configuration file.

    Args:
        data: a TOML file with `[[tool.pins.pattern]]`, or with `[[pattern]]` in a `pins.toml`.
        origin: its path, for messages.

    Raises:
        UsageError: an entry is not complete, or its expression or kind is wrong.
    """
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{origin} is not valid TOML: {error}") from error
    entries = document.get("tool", {}).get("pins", {}).get("pattern", document.get("pattern", []))
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{origin}: pattern must be an array of tables, [[tool.pins.pattern]]")
    return tuple(_pattern(entry, f"{origin}, pattern {index}") for index, entry in enumerate(entries, start=1))


def _pattern(entry: dict[str, object], origin: str) -> Pattern:
    texts = {key: entry.get(key, "") for key in ("file", "regex", "kind", "name", "repo")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise UsageError(f"{origin}: {key} must be a string")
    file, regex, kind, name, repo = (str(value) for value in texts.values())
    if not file or not regex:
        raise UsageError(f"{origin}: file and regex are needed")
    try:
        compiled = re.compile(regex, re.MULTILINE)
    except re.error as error:
        raise UsageError(f"{origin}: regex {regex!r} is not valid: {error}") from error
    if not compiled.groups:
        raise UsageError(f"{origin}: regex needs a group that holds the value, such as (?P<value>\\S+)")
    if not name and "name" not in compiled.groupindex:
        raise UsageError(f"{origin}: name is needed, or a group (?P<name>...) in regex")
    try:
        kinds = PinKind(kind or "text")
    except ValueError:
        known = ", ".join(sorted(PinKind))
        raise UsageError(f"{origin}: kind {kind!r} is not one of {known}") from None
    return Pattern(file, compiled, kinds, name, repo)


def pattern_pins(data: bytes, file: str, patterns: tuple[Pattern, ...]) -> tuple[Pin, ...]:
    """The pins that patterns find in a file that they fit."""
    count = line_counter(data)
    pins: list[Pin] = []
    text = data.decode("latin-1")  # one character a byte, so that positions are offsets
    for pattern in patterns:
        for match in pattern.regex.finditer(text):
            group: str | int = "value" if "value" in pattern.regex.groupindex else 1
            if match[group] is None:
                continue
            span = match.span(group)
            name = match["name"] if "name" in pattern.regex.groupindex and match["name"] else pattern.name
            value = data[span[0] : span[1]].decode("utf-8", "replace")
            pins.append(
                simple_pin(
                    name,
                    pattern.kind,
                    value,
                    file,
                    count(span[0]),
                    span,
                    Quoting.PLAIN,
                    repo=pattern.repo,
                    said=f"pattern {pattern.regex.pattern}"[:80],
                )
            )
    return tuple(pins)
