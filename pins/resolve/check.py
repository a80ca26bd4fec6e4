"""Whether a solution is one, by the rules as `packaging` has them: apart from the search, which it checks."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from pins.resolve.problem import Choice, Problem, RequirementSource, Requires

_FOR_AN_EXTRA = re.compile(r"""(;[^;#]*?)\bextra\s*==\s*["']([^"']+)["']\s*$""")
"""A marker that ends with an extra, with nothing but "and" before it."""


class SolutionCheck:
    """Checks solutions of one problem.

    Args:
        problem: what was asked.
        source: what there is.
    """

    def __init__(self, problem: Problem, source: RequirementSource) -> None:
        self._problem = problem
        self._source = source
        self._environment = dict(problem.markers)
        self._overridden = {_parsed(constraint.requirement).name for constraint in problem.overrides}
        self._held: dict[tuple[str, str], bool] = {}
        self._labels: dict[str, dict[str, Choice]] = {}
        self._requires: dict[tuple[str, str], Requires] = {}

    def broken(self, chosen: Mapping[str, str], *, guessing: bool = False) -> list[str]:
        """What a set of choices breaks, as sentences; none where it is a solution.

        Args:
            chosen: name -> label.
            guessing: whether what is not known counts as allowed.
        """
        self._read(chosen)
        return list(self._broken(chosen, guessing))

    def _read(self, chosen: Mapping[str, str]) -> None:
        new = [name for name in chosen if name not in self._labels]
        for name, found in (self._source.choices(new) if new else {}).items():
            self._labels[name] = {choice.label: choice for choice in found.choices}
        free = self._problem.without_dependencies
        wanted = [pair for pair in chosen.items() if pair not in self._requires and pair[0] not in free]
        if wanted:
            self._requires.update(self._source.requires(wanted))

    def _broken(self, chosen: Mapping[str, str], guessing: bool) -> Iterator[str]:
        waiting = [(name, "") for name in chosen]
        for constraint in self._problem.requirements:
            yield from self._line("what is asked for", constraint.requirement, "", chosen, guessing, waiting)
        for constraint in (*self._problem.bounds, *self._problem.overrides):
            line = _parsed(constraint.requirement)
            if line.name in chosen and self._holds(line, "") and not self._takes(line, chosen, guessing):
                yield f"{constraint.requirement} does not take {chosen[line.name]}"
        asked: set[tuple[str, str]] = set()
        while waiting:
            name, extra = waiting.pop()
            if (name, extra) in asked or name not in chosen:
                continue
            asked.add((name, extra))
            found = self._requires.get((name, chosen[name]))
            if found is None:
                continue
            if found.unknown and not guessing:
                yield f"what {name} {chosen[name]} requires is not known"
            for text in found.lines:
                yield from self._line(f"{name} {chosen[name]}", text, extra, chosen, guessing, waiting)
        for name, label in chosen.items():
            choice = self._labels[name].get(label)
            if choice is not None and choice.unusable:
                yield f"{name} {label} {choice.unusable}"

    def _line(
        self,
        who: str,
        text: str,
        extra: str,
        chosen: Mapping[str, str],
        guessing: bool,
        waiting: list[tuple[str, str]],
    ) -> Iterator[str]:
        of_another = _FOR_AN_EXTRA.search(text)
        if of_another and not re.search(r"\bor\b", of_another[1]) and canonicalize_name(of_another[2]) != extra:
            return  # most lines, which take long to parse
        try:
            line = _parsed(text)
        except InvalidRequirement:
            if not guessing:
                yield f"{who} requires {text!r}, which cannot be parsed"
            return
        if not self._holds(line, extra):
            return
        if line.name not in chosen:
            yield f"{who} requires {text}, and nothing is chosen"
        elif line.name not in self._overridden and not self._takes(line, chosen, guessing):
            yield f"{who} requires {text}, and {chosen[line.name]} is chosen"
        waiting.extend((line.name, wanted) for wanted in ("", *line.extras))

    def _holds(self, line: "_Parsed", extra: str) -> bool:
        if line.marker is None:
            return True
        if line.for_an_extra and line.for_an_extra != extra:
            return False
        key = (line.marker_text, extra if "extra" in line.marker_text else "")
        if key not in self._held:
            self._held[key] = line.marker.evaluate({**self._environment, "extra": extra})
        return self._held[key]

    def _takes(self, line: "_Parsed", chosen: Mapping[str, str], guessing: bool) -> bool:
        choice = self._labels[line.name].get(chosen[line.name])
        if line.url or choice is None:
            return guessing
        if choice.version is None:
            exact = [one for one in SpecifierSet(line.specifiers) if one.operator == "==="]
            known = len(exact) == len(SpecifierSet(line.specifiers))
            return (known or guessing) and all(one.contains(choice.label, prereleases=True) for one in exact)
        return _contains(line.specifiers, choice.version, choice.label)


class _Parsed:
    def __init__(self, text: str) -> None:
        before, semicolon, marker = text.partition(";")
        apart = bool(semicolon) and "@" not in before and bool(marker.strip())
        requirement = Requirement(before if apart else text)
        self.name = canonicalize_name(requirement.name)
        self.extras = tuple(canonicalize_name(extra) for extra in requirement.extras)
        self.marker: Marker | None = _marker(marker.strip()) if apart else requirement.marker
        self.marker_text = str(self.marker or "")
        # As packaging writes it; without "or", what stands at either end must hold.
        ends = re.search(r'^extra == "([^"]+)"|(?:^|and )extra == "([^"]+)"$', self.marker_text)
        plain = ends is not None and " or " not in re.sub(r"\([^()]*\)", "", self.marker_text)
        self.for_an_extra = (ends[1] or ends[2]) if ends is not None and plain else ""
        self.specifiers = str(requirement.specifier)
        self.url = requirement.url or ""


@lru_cache(maxsize=16384)
def _marker(text: str) -> Marker:
    """A marker by itself: many lines have the same, and it takes longer than the rest of them."""
    try:
        return Marker(text)
    except InvalidMarker as error:
        raise InvalidRequirement(str(error)) from error


@lru_cache(maxsize=65536)
def _parsed(text: str) -> _Parsed:
    return _Parsed(text)


@lru_cache(maxsize=65536)
def _contains(specifiers: str, version: Version, label: str) -> bool:
    return all(
        one.contains(label if one.operator == "===" else version, prereleases=True) for one in SpecifierSet(specifiers)
    )
