"""Small random universes with all that makes resolving hard, and their windows as a SAT solver finds them.

The encoding here shares nothing with `pins.resolve` but the contract: `packaging` matches, python-sat solves.
"""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from pysat.solvers import Minicard

from pins.resolve.problem import Choice, Choices, Problem, Requires
from pins.sources.target import Installer
from tests.resolve.memory_source import MemorySource, problem

VERSIONS = (
    "0.9",
    "1.0",
    "1.0.post1",
    "1.1",
    "1.2",
    "2.0b1",
    "2.0rc1",
    "2.0",
    "2.0+cpu",
    "2.1",
    "3.0a1",
    "3.0",
    "1!0.1",
)
OPERATORS = (">=", ">=", "<=", "<", ">", "==", "==", "!=", "~=", "==*", "===")
HARD = 0.97
MARKER_POOL = ("python_version >= '3.9'", "python_version < '3'", "sys_platform == 'linux'", "os_name == 'nt'")


@dataclass(frozen=True)
class RandomUniverse:
    """A problem and what there is for it."""

    seed: int
    problem: Problem
    source: MemorySource


def random_universe(seed: int) -> RandomUniverse:
    """Universe number `seed`; every other one by pip's rules."""
    draw = random.Random(seed)
    hard = draw.random() < 0.3  # many releases of few names that exclude each other: it takes search to tell
    names = [f"p{i}" for i in range(draw.randint(6, 9) if hard else draw.randint(3, 9))]
    tightness = HARD if hard else draw.random()
    source = MemorySource()
    for name in names:
        if draw.random() < 0.03:
            continue  # required, and not there
        for version in draw.sample(VERSIONS, draw.randint(7, 12) if hard else draw.randint(1, 7)):
            counts = (1, 2, 2, 3) if hard else (0, 0, 1, 1, 2, 3)
            lines = [_line(draw, names, tightness) for _ in range(draw.choice(counts))]
            lines += [
                _and(_line(draw, names, tightness), f"extra == '{draw.choice('xy')}'")
                for _ in range(draw.choice((0, 0, 0, 1, 2)))
            ]
            if draw.random() < 0.2:
                lines.append(f"{name}[y]; extra == 'x'")
            source.add(
                name,
                version,
                lines,
                yanked=draw.random() < 0.08,
                unusable="needs Python >=3.13" if draw.random() < 0.06 else "",
                unknown="its sdist does not say" if draw.random() < 0.03 else "",
            )
    count = draw.randint(1, min(4, len(names)))
    asked = problem(
        *(_line(draw, [name], tightness) for name in draw.sample(names, count)),
        bounds=[
            _line(draw, names, tightness).replace("[x]", "").replace("[y]", "")
            for _ in range(draw.choice((0, 0, 1, 2)))
        ],
        targets=names,
        installer=Installer.PIP if seed % 2 else Installer.UV,
    )
    return RandomUniverse(seed, asked, source)


def _line(draw: random.Random, names: list[str], tightness: float) -> str:
    name = draw.choice(names)
    extras = draw.choice(("", "", "", "", "[x]", "[y]", "[x,y]"))
    specifiers = []
    if tightness == HARD:
        excluded = draw.sample(VERSIONS, draw.randint(2, 8))
        specifiers = [f"!={version}" for version in excluded]
    while draw.random() < 0.2 + 0.5 * tightness and len(specifiers) < 2:
        operator = draw.choice(OPERATORS)
        version = draw.choice(VERSIONS)
        if operator not in ("==", "!=", "==="):
            version = version.split("+")[0]
        if operator == "==*":
            specifiers.append(f"=={Version(version).base_version}.*")
        else:
            specifiers.append(operator + version)
    marker = f"; {draw.choice(MARKER_POOL)}" if draw.random() < 0.15 else ""
    return f"{name}{extras}{','.join(specifiers)}{marker}"


def _and(line: str, marker: str) -> str:
    return f"{line} and {marker}" if ";" in line else f"{line}; {marker}"


@dataclass(frozen=True)
class Oracle:
    """What the SAT solver found: name -> labels."""

    inside: dict[str, set[str]]
    unknown: dict[str, set[str]]
    possible: bool


class _Encoding:
    def __init__(self, universe: RandomUniverse) -> None:
        self.problem = universe.problem
        self.source = universe.source
        self.solver = Minicard()
        self.numbers: dict[object, int] = {}
        self.guess = self.number("guess")
        self.held: dict[tuple[str, str], bool] = {}
        self.names_it: dict[tuple[str, str, str], list[int]] = {}
        self.excludes: dict[tuple[str, str], list[int]] = {}
        self.pip = self.problem.installer is Installer.PIP
        self.extras: dict[str, set[str]] = {}
        everything = [line for required in self.source.required.values() for line in required.lines]
        for line in map(_requirement, [*everything, *(c.requirement for c in self.problem.requirements)]):
            self.extras.setdefault(line.name, set()).update(line.extras)
        self.roots = [_requirement(c.requirement) for c in (*self.problem.requirements, *self.problem.bounds)]

    def number(self, what: object) -> int:
        return self.numbers.setdefault(what, len(self.numbers) + 1)

    def chosen(self, name: str, label: str) -> int:
        return self.number((name, label))

    def releases(self, name: str) -> Iterator[tuple[str, Version]]:
        found = self.source.packages.get(name)
        for choice in found.choices if found else ():
            assert choice.version is not None
            yield choice.label, choice.version

    def taken(self, line: Requirement) -> list[int]:
        return [
            self.chosen(line.name, label) for label, version in self.releases(line.name) if _takes(line, version, label)
        ]

    def holds(self, line: Requirement, extra: str) -> bool:
        if line.marker is None:
            return True
        key = (str(line.marker), extra)
        if key not in self.held:
            self.held[key] = line.marker.evaluate({**self.problem.markers, "extra": extra})
        return self.held[key]

    def build(self) -> None:
        for name, found in self.source.packages.items():
            for one, other in combinations(found.choices, 2):
                self.solver.add_clause([-self.chosen(name, one.label), -self.chosen(name, other.label)])
            for choice in found.choices:
                mine = self.chosen(name, choice.label)
                required = self.source.required[name, choice.label]
                if choice.unusable:
                    self.solver.add_clause([-mine])
                if required.unknown:
                    self.solver.add_clause([-mine, self.guess])
                self.requirements(name, mine, required)
        for constraint in self.problem.requirements:
            line = _requirement(constraint.requirement)
            if self.holds(line, ""):
                self.implied([], line)
        for constraint in self.problem.bounds:
            line = _requirement(constraint.requirement)
            if self.holds(line, ""):
                taken = self.taken(line)
                for label, _ in self.releases(line.name):
                    if self.chosen(line.name, label) not in taken:
                        self.solver.add_clause([-self.chosen(line.name, label)])
        self.admission()

    def requirements(self, name: str, mine: int, required: Requires) -> None:
        for text in required.lines:
            line = _requirement(text)
            if self.holds(line, ""):
                self.implied([mine], line)
            for extra in self.extras.get(name, ()):
                if self.holds(line, extra) and not self.holds(line, ""):
                    self.implied([mine, self.number((name, "extra", extra))], line)

    def implied(self, conditions: list[int], line: Requirement) -> None:
        """Where the conditions hold, one of what the line takes is chosen, with its extras."""
        negated = [-condition for condition in conditions]
        self.solver.add_clause([*negated, *self.taken(line)])
        for extra in line.extras:
            self.solver.add_clause([*negated, self.number((line.name, "extra", extra))])
        for label, version in self.releases(line.name) if self.pip and conditions else ():
            if not _takes(line, version, label):
                self.excludes.setdefault((line.name, label), []).append(self.all_of(conditions))
        for label, _ in self.releases(line.name) if self.pip else ():
            for reason, names in (("yanked", _pins(line)), ("pre", _names_pre(line))):
                if names and conditions and self.chosen(line.name, label) in self.taken(line):
                    self.names_it.setdefault((line.name, label, reason), []).append(self.all_of(conditions))

    def all_of(self, conditions: list[int]) -> int:
        """A number that holds only where all of these do."""
        together = self.number(("all of", *conditions))
        for condition in conditions:
            self.solver.add_clause([-together, condition])
        return together

    def solve(self, name: str, label: str, guess: int) -> bool:
        """Whether there is a solution with this release ("" for any) that pip would get to."""
        question = self.number(("question", name))
        assumptions = [guess, question, *([self.chosen(name, label)] if name else [])]
        while self.solver.solve(assumptions=assumptions):
            held = set(self.solver.get_model() or ())
            chosen = {
                n: x
                for n, found in self.source.packages.items()
                for x in (choice.label for choice in found.choices)
                if self.chosen(n, x) in held
            }
            asked = self.closure(chosen, name, any_version=True)
            if not self.pip or asked == self.closure(chosen, name, any_version=False):
                return True
            self.solver.add_clause([-question, *(-self.chosen(n, chosen[n]) for n in asked)])
        return False

    def closure(self, chosen: dict[str, str], name: str, *, any_version: bool) -> set[str]:
        """The names that the requirements lead to; only through admitted versions, unless any will do."""
        lines = [line for line in self.roots[: len(self.problem.requirements)] if self.holds(line, "")]
        bounds = [line for line in self.roots if self.holds(line, "")]
        accepted: set[str] = set()
        while True:
            asked = {line.name for line in lines} | ({name} if name else set())
            new = {n for n in asked - accepted if any_version or self.admitted(n, chosen[n], [*lines, *bounds])}
            accepted |= new
            extras = {(line.name, extra) for line in lines for extra in line.extras}
            more = [
                line
                for n in accepted
                for line in map(_requirement, self.source.required[n, chosen[n]].lines)
                if self.holds(line, "") or any(self.holds(line, e) for owner, e in extras if owner == n)
            ]
            known = {str(line) for line in lines}
            fresh = [line for line in more if str(line) not in known]
            if not fresh and not new:
                return accepted
            lines += fresh

    def admitted(self, name: str, label: str, lines: list[Requirement]) -> bool:
        """Whether these lines let pip use a release, as far as yanks and pre-releases go."""
        mine = [line for line in lines if line.name == name]
        found = self.source.packages[name]
        [choice] = [choice for choice in found.choices if choice.label == label]
        assert choice.version is not None
        if choice.yanked and not any(_pins(line) and _takes(line, choice.version, label) for line in mine):
            return False
        in_the_way = any(
            not final.unusable and all(_takes(line, version, final.label) for line in mine)
            for final, version in _finals(found)
        )
        return not (choice.version.is_prerelease and in_the_way and not any(map(_names_pre, mine)))

    def admission(self) -> None:
        for name, found in self.source.packages.items():
            mine = [line for line in self.roots if line.name == name and self.holds(line, "")]
            for choice in found.choices:
                assert choice.version is not None
                number = self.chosen(name, choice.label)
                if choice.yanked and not any(
                    _pins(line) and _takes(line, choice.version, choice.label) for line in mine
                ):
                    named = self.names_it.get((name, choice.label, "yanked"), []) if self.pip else []
                    self.solver.add_clause([-number, *named])
                if self.pip and choice.version.is_prerelease and not any(_names_pre(line) for line in mine):
                    # Any specifier that names a pre-release admits all of them.
                    named = sorted(
                        {n for key, ns in self.names_it.items() if key[0] == name and key[2] == "pre" for n in ns}
                    )
                    for final, version in _finals(found):
                        if final.unusable or not all(_takes(line, version, final.label) for line in mine):
                            continue  # pip never sees it
                        self.solver.add_clause([-number, *named, *self.excludes.get((name, final.label), [])])


def _finals(found: Choices) -> Iterator[tuple[Choice, Version]]:
    for choice in found.choices:
        if choice.version is not None and not choice.version.is_prerelease:
            yield choice, choice.version


def oracle(universe: RandomUniverse, only: Collection[str] = ()) -> Oracle:
    """The windows, one question to the SAT solver for each version."""
    encoding = _Encoding(universe)
    encoding.build()
    solve = encoding.solve
    inside: dict[str, set[str]] = {}
    unknown: dict[str, set[str]] = {}
    perhaps = solve("", "", encoding.guess)
    for name, found in universe.source.packages.items():
        if only and name not in only:
            continue
        if not perhaps:  # by pip's rules, asking for one more name can make room: but then it is another problem
            inside[name] = unknown[name] = set()
            continue
        labels = [choice.label for choice in found.choices]
        inside[name] = {x for x in labels if solve(name, x, -encoding.guess)}
        unknown[name] = {x for x in labels if solve(name, x, encoding.guess)} - inside[name]
    possible = solve("", "", -encoding.guess)
    encoding.solver.delete()
    return Oracle(inside, unknown, possible)


@cache
def _requirement(text: str) -> Requirement:
    line = Requirement(text)
    line.name = canonicalize_name(line.name)
    line.extras = set(map(canonicalize_name, line.extras))
    return line


def _takes(line: Requirement, version: Version, label: str) -> bool:
    return _contains(line.specifier, version, label)


@cache
def _contains(specifiers: SpecifierSet, version: Version, label: str) -> bool:
    return all(one.contains(label if one.operator == "===" else version, prereleases=True) for one in specifiers)


def _pins(line: Requirement) -> bool:
    return any(one.operator == "===" or (one.operator == "==" and "*" not in one.version) for one in line.specifier)


def _names_pre(line: Requirement) -> bool:
    return any(one.operator != "!=" and one.prereleases for one in line.specifier)
