"""Comments that say another version than the line beside them."""

import re
from collections.abc import Iterator

from pins.hazards.model import Finding
from pins.hazards.subject import Subject
from pins.model import PinKind

_SAYS = re.compile(
    r"(?:\A|[.;]\s+)(?:(?P<subject>[\w.-]+)\s+(?:is\s+)?)?"
    r"(?:pinned? (?:to|at)|pin (?:to|at)|currently|at version|version|tag|release)[:=]?\s+"
    r"(?P<version>v?\d+(?:\.\d+)+(?:(?:rc|post|\.dev)\d+)?)(?=[\s,;)]|\.\s|\.?\Z)",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\(?(?:v?\d+(?:\.\d+)+(?:(?:rc|post|\.dev)\d+)?)\)?\.?\Z")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+")
_COMMIT_SAID = re.compile(r"\b(?:commit|sha|pinned to|at)[:=]?\s+(?P<commit>[0-9a-f]{7,40})\b")


def comment_contradicts(subject: Subject) -> Iterator[Finding]:
    """A comment that says one version beside a pin that holds another."""
    for pin in subject.pins():
        value = pin.value or ""
        if not pin.comment or not pin.places or (pin.kind is PinKind.TEXT and not value):
            continue
        said = _contradiction(pin.comment, value, {pin.name, pin.variable.lower(), *pin.aliases})
        if said:
            place = pin.places[0]
            yield Finding(
                place.start,
                place.end,
                f"the comment says {said}, and {pin.name} is {value}",
                pin.name,
                "say in the comment what the line holds, or take the version out of the comment",
            )


def _contradiction(comment: str, value: str, names: set[str]) -> str:
    versions = _VERSION.findall(value)
    if len(versions) == 1 and re.fullmatch(r"v?\d+(?:\.\d+)+(?:[-+.\w]*)", value):
        found = [m["version"] for m in _SAYS.finditer(comment) if not m["subject"] or m["subject"].lower() in names]
        if _ONLY.match(comment.strip()):
            found = [comment.strip(" ().")]
        plain = value.lstrip("v")
        for version in found:
            bare = version.lstrip("vV")
            if not plain.startswith(bare) and not bare.startswith(plain) and plain not in comment:
                return version
    if re.fullmatch(r"[0-9a-f]{7,40}", value) and re.search(r"\d", value):
        for match in _COMMIT_SAID.finditer(comment):
            commit = match["commit"]
            if (
                re.search(r"\d", commit)
                and re.search(r"[a-f]", commit)
                and not (value.startswith(commit) or commit.startswith(value))
            ):
                return commit
    return ""
