"""One requirement line of PEP 508, split into what the solver needs.

Lines, specifiers and markers repeat; each is parsed once.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

_PLAIN = re.compile(
    r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([A-Za-z0-9._,\s-]*)\])?\s*"
    r"(?:\(([^()@;]*)\)|([^()@;\[\]]*))\s*(?:;(.*))?\Z",
    re.DOTALL,
)
"""Nearly every line there is; whatever does not match goes to `packaging`, which is ten times slower."""


_ANY = SpecifierSet()


@dataclass(frozen=True)
class RequirementLine:
    """What a line says.

    Attributes:
        text: as it was written.
        name: canonical.
        extras: canonical, those that it asks for.
        specifiers: what version it takes.
        marker: when it counts, "" for always.
        url: a direct reference: which version that is cannot be told from an index.
        problem: why it could not be parsed; then it says nothing else but perhaps a name.
    """

    text: str
    name: str
    extras: tuple[str, ...] = ()
    specifiers: SpecifierSet = _ANY
    marker: str = ""
    url: str = ""
    problem: str = ""


@lru_cache(maxsize=65536)
def read_line(text: str) -> RequirementLine:
    """Parse a line; what cannot be parsed comes back with its `problem`."""
    found = _PLAIN.match(text)
    if found:
        try:
            return RequirementLine(
                text,
                canonicalize_name(found[1]),
                _extras(found[2] or ""),
                _specifiers((found[3] or found[4] or "").strip()),
                (found[5] or "").strip(),
            )
        except InvalidSpecifier:
            pass
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        name = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", text)
        problem = str(error).splitlines()[0]
        return RequirementLine(text, canonicalize_name(name[1]) if name else "", problem=problem)
    return RequirementLine(
        text,
        canonicalize_name(requirement.name),
        tuple(sorted(canonicalize_name(extra) for extra in requirement.extras)),
        requirement.specifier,
        str(requirement.marker or ""),
        requirement.url or "",
    )


def _extras(text: str) -> tuple[str, ...]:
    return tuple(sorted({canonicalize_name(extra.strip()) for extra in text.split(",") if extra.strip()}))


@lru_cache(maxsize=16384)
def _specifiers(text: str) -> SpecifierSet:
    return SpecifierSet(text)


_FOR_AN_EXTRA = re.compile(r"""(?:(.*)\band\s+)?extra\s*==\s*(['"])([^'"]+)\2\s*""", re.DOTALL)
"""Most markers there are: an extra, perhaps with a condition; to evaluate each would take longer than all the rest."""
_IN_PARENTHESES = re.compile(r"\([^()]*\)")


@lru_cache(maxsize=16384)
def _wanted_extra(marker: str) -> tuple[str, bool]:
    """The extra without which a marker cannot hold, and whether it is enough; "" where that is not plain to see."""
    found = _FOR_AN_EXTRA.fullmatch(marker.strip())
    if not found or _has_or(found[1] or ""):
        return "", False
    return canonicalize_name(found[3]), not found[1]


def _has_or(condition: str) -> bool:
    """Whether a condition has an "or" outside of parentheses, so that what is joined to it by "and" need not hold."""
    before = ""
    while before != condition:
        before, condition = condition, _IN_PARENTHESES.sub("", condition)
    return bool(re.search(r"\bor\b|[()]", condition))


class Markers:
    """Evaluates markers for one target.

    Args:
        environment: as `packaging.markers.default_environment` names things; keys that are missing are empty.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._known: dict[tuple[str, str], bool] = {}

    def hold(self, marker: str, extra: str) -> bool:
        """Whether a line counts where this extra ("" for none) is asked for; a marker that is no marker always does."""
        if not marker:
            return True
        wanted, alone = _wanted_extra(marker)
        if wanted and wanted != extra:
            return False
        if wanted and alone:
            return True
        key = (marker, extra if "extra" in marker else "")
        if key not in self._known:
            parsed = _marker(marker)
            self._known[key] = parsed is None or parsed.evaluate({**self._environment, "extra": key[1]})
        return self._known[key]


@lru_cache(maxsize=16384)
def _marker(text: str) -> Marker | None:
    try:
        return Marker(text)
    except ValueError:  # InvalidMarker is one
        return None
