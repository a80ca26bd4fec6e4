"""Whether a solution is one, by the rules as `packaging` has them: apart from the search, which it checks."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from pins.resolve.problem import Choice, Problem, RequirementSource


def broken_rules(
    problem: Problem, source: RequirementSource, chosen: Mapping[str, str], *, guessing: bool = False
) -> list[str]:
    """What a set of choices breaks, as sentences; none where it is a solution.

    Args:
        problem: what was asked.
        source: what there is.
        chosen: name -> label.
        guessing: whether what is not known counts as allowed.
    """
    return list(_Check(problem, source, chosen, guessing).broken())


class _Check:
    def __init__(self, problem: Problem, source: RequirementSource, chosen: Mapping[str, str], guessing: bool) -> None:
        self.problem = problem
        self.chosen = chosen
        self.guessing = guessing
        self.requires = source.requires([(n, v) for n, v in chosen.items() if n not in problem.without_dependencies])
        self.choices: dict[str, Choice] = {}
        for name, found in source.choices(list(chosen)).items():
            self.choices.update((name, choice) for choice in found.choices if choice.label == chosen[name])
        self.environment = dict(problem.markers)
        self.overridden = {_parsed(c.requirement).name: c.requirement for c in problem.overrides}
        self.held: dict[tuple[str, str], bool] = {}

    def broken(self) -> Iterator[str]:
        asked: set[tuple[str, str]] = set()
        waiting: list[tuple[str, str]] = []
        for constraint in self.problem.requirements:
            yield from self._line("what is asked for", constraint.requirement, "", waiting)
        for constraint in (*self.problem.bounds, *self.problem.overrides):
            line = _parsed(constraint.requirement)
            if line.name in self.chosen and self._holds(line, "") and not self._takes(line):
                yield f"{constraint.requirement} does not take {self.chosen[line.name]}"
        waiting.extend((name, "") for name in self.chosen)
        while waiting:
            name, extra = waiting.pop()
            if (name, extra) in asked or name not in self.chosen:
                continue
            asked.add((name, extra))
            found = self.requires.get((name, self.chosen[name]))
            if found is None:
                continue
            if found.unknown and not self.guessing:
                yield f"what {name} {self.chosen[name]} requires is not known"
            for text in found.lines:
                yield from self._line(f"{name} {self.chosen[name]}", text, extra, waiting)
        for name, choice in self.choices.items():
            if choice.unusable:
                yield f"{name} {choice.label} {choice.unusable}"

    def _line(self, who: str, text: str, extra: str, waiting: list[tuple[str, str]]) -> Iterator[str]:
        try:
            line = _parsed(text)
        except InvalidRequirement:
            if not self.guessing:
                yield f"{who} requires {text!r}, which cannot be parsed"
            return
        if not self._holds(line, extra):
            return
        if line.name not in self.chosen:
            yield f"{who} requires {text}, and nothing is chosen"
        elif line.name not in self.overridden and not self._takes(line):
            yield f"{who} requires {text}, and {self.chosen[line.name]} is chosen"
        waiting.extend((line.name, wanted) for wanted in ("", *line.extras))

    def _holds(self, line: "_Parsed", extra: str) -> bool:
        if line.marker is None:
            return True
        key = (str(line.marker), extra)
        if key not in self.held:
            self.held[key] = line.marker.evaluate({**self.environment, "extra": extra})
        return self.held[key]

    def _takes(self, line: "_Parsed") -> bool:
        choice = self.choices.get(line.name)
        if line.requirement.url or choice is None or choice.version is None:
            return self.guessing or not (line.requirement.url or str(line.requirement.specifier))
        return _contains(str(line.requirement.specifier), choice.version, choice.label)


class _Parsed:
    def __init__(self, text: str) -> None:
        self.requirement = Requirement(text)
        self.name = canonicalize_name(self.requirement.name)
        self.extras = tuple(canonicalize_name(extra) for extra in self.requirement.extras)
        self.marker: Marker | None = self.requirement.marker


@lru_cache(maxsize=65536)
def _parsed(text: str) -> _Parsed:
    return _Parsed(text)


@lru_cache(maxsize=65536)
def _contains(specifier: str, version: Version, label: str) -> bool:
    from packaging.specifiers import SpecifierSet

    return all(
        one.contains(version, prereleases=True) or (one.operator == "===" and one.contains(label, prereleases=True))
        for one in SpecifierSet(specifier)
    )
