"""What ends a hold, as far as a program can tell: conditions read from the words of its `until`.

    until = "setuptools 84.0 is released"           a version, of the held package where no name is given
    until = "setuptools >= 84"
    until = "ROCm/mori#123 is in the pin"           a pull request: contained in what is pinned, not merely merged
    until = "https://github.com/ROCm/mori/pull/123"
    until = "ROCm/aiter@31350226 is pinned"         a commit, the same
    until = "2026-12-01"                            a day

Words besides are for people. What says nothing of this kind is left to people altogether.
"""

import re
from dataclasses import dataclass
from datetime import date

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class Released:
    """A release that is waited for.

    Attributes:
        name: of the package.
        specifier: which versions it may be.
    """

    name: str
    specifier: SpecifierSet


@dataclass(frozen=True)
class Contained:
    """A change that is waited for.

    Attributes:
        repository: owner and name in lower case, "" for that of the held pin.
        number: of a pull request or issue, "" for none.
        commit: a hash or the beginning of one, "" for none.
    """

    repository: str
    number: str = ""
    commit: str = ""


@dataclass(frozen=True)
class Day:
    """A day that is waited for."""

    day: date


Condition = Released | Contained | Day

_SLUG = r"[A-Za-z0-9][\w.-]*/[\w.-]*\w"
_CHANGE = re.compile(
    rf"(?:https?://[^/\s]+/)?(?:(?P<slug>{_SLUG}))?(?:#|/(?:pull|issues|merge_requests)/|/-/merge_requests/)(?P<number>\d+)\b"
)
_COMMIT = re.compile(
    rf"(?:https?://[^/\s]+/(?P<url>{_SLUG})/(?:-/)?commit/|(?P<slug>{_SLUG})@|\bcommit[: ]\s*)"
    r"(?P<commit>[0-9a-f]{7,40})\b"
)
_DAY = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")
_VERSION = r"\d+(?:\.\d+)*(?:(?:a|b|rc|\.?post|\.?dev)\d+)*"
_OUT = r"\s+(?:is|are|was|has been|gets|comes)\s+(?:released|out|available|on\b)"
_SPECIFIED = re.compile(
    rf"(?:(?P<name>[A-Za-z][\w.-]*[A-Za-z0-9])\s*)?(?P<spec>(?:>=|==|>|~=)\s*{_VERSION}(?:\s*,\s*(?:[<>=!~]=?)\s*{_VERSION})*)"
    rf"(?={_OUT}|\s*(?:[,;.)](?!\d)|\Z|and\b|or\b))"
)
_PLAIN = re.compile(rf"(?:(?P<name>[A-Za-z][\w.-]*[A-Za-z0-9])\s+)?v?(?P<version>{_VERSION}){_OUT}")
_NO_NAMES = frozenset({"version", "release", "until", "when", "once", "or", "and", "than", "python"})


def conditions(text: str, pin: str) -> tuple[Condition, ...]:
    """The conditions that a text names; () where it names none that can be looked up.

    Args:
        text: what ends a hold.
        pin: what is held, for versions without a name.
    """
    found: list[Condition] = []
    rest = text
    for match in _COMMIT.finditer(text):
        found.append(Contained((match["slug"] or match["url"] or "").lower(), commit=match["commit"]))
        rest = rest.replace(match[0], " ")
    found += [Contained((match["slug"] or "").lower(), number=match["number"]) for match in _CHANGE.finditer(rest)]
    rest = _CHANGE.sub(" ", rest)
    for match in _SPECIFIED.finditer(rest):
        name = _name(match["name"], pin)
        try:
            found.append(Released(name, SpecifierSet(match["spec"])))
        except InvalidSpecifier:
            continue
    found += [
        Released(_name(match["name"], pin), SpecifierSet(f">={match['version']}"))
        for match in _PLAIN.finditer(_SPECIFIED.sub(" ", rest))
    ]
    if not found:
        for match in _DAY.finditer(text):
            try:
                found.append(Day(date(int(match[1]), int(match[2]), int(match[3]))))
            except ValueError:
                continue
    return tuple(found)


def _name(text: str | None, pin: str) -> str:
    named = text if text and text.lower() not in _NO_NAMES else pin
    return str(canonicalize_name(named))
