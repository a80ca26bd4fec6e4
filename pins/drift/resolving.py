"""Resolve what a file installs."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from packaging.version import InvalidVersion, Version

from pins.drift.model import Tools, WatchedFile
from pins.drift.python_of import python_of, tells_python
from pins.drift.resolved import Conflict, Newer, Resolved
from pins.metadata.gather import GatherRequest, ReadFile, gather
from pins.metadata.index_requirements import IndexRequirements
from pins.metadata.known_facts import KnownFacts
from pins.resolve.nodes import Node
from pins.resolve.problem import Choice, Constraint, Gathered, Problem, RequirementSource
from pins.resolve.requirement_line import Markers, RequirementLine, read_line
from pins.resolve.search import Literal
from pins.resolve.solver import Solver
from pins.resolve.universe import Universe
from pins.resolve.why import explain, unknowns
from pins.sources.metadata_cache import MetadataCache
from pins.sources.page_cache import cache_directory
from pins.windows_request import WindowsRequest, target_for

_NEWEST_GLIBC = "2.42"
_LONGEST = 60.0
"""Seconds after which no further release of an environment is asked about."""
_LOCAL_VERSION = re.compile(r"===?\s*\d[\w.]*\+\w")
"""A build of a version that few indexes have, such as torch==2.13.0+cpu."""
_EDITED = "edits this file before it is used"
"""What the note of a pin says whose file a command changes."""


def resolved(file: WatchedFile, facts: KnownFacts, clones: Mapping[str, Path], tools: Tools) -> Resolved:
    """What becomes of a file's environments.

    Args:
        file: the file, which installs something.
        facts: known-bad versions and holds.
        clones: local clones that the user has named.
        tools: what is read with.

    Raises:
        SourceError: an index could not be read.
        UsageError: a requirement cannot be parsed.
    """
    environments = file.environments()
    assert environments is not None, "asked only of files that install something"
    directory = cache_directory(tools.environment)
    # A newer C library takes all wheels that an older one does: where it is not known, none is ruled out by it.
    system = replace(environments, glibc=environments.glibc or _NEWEST_GLIBC)
    target = target_for(WindowsRequest(python=python_of(file), platform="linux-x86_64"), system)
    request = GatherRequest(Path(file.reading.file), clones=clones)
    with closing(MetadataCache(directory / "metadata.sqlite")) as cache:
        source = IndexRequirements(tools.index.for_target(target), before=tools.as_of, cache=cache)
        gathered = gather(request, ReadFile(environments, facts), source, target, directory, cache)
        return _resolved(gathered, partial(_why_unclear, file))


def _why_unclear(file: WatchedFile, because: Sequence[str]) -> str:
    """Why what excludes a solution may not hold in truth: the file does not tell enough."""
    told = " ".join(because)
    if "no index has a project" in told or "and there is none" in told or _LOCAL_VERSION.search(told):
        return "what no index that is configured here has may be on another"
    environments = file.environments()
    if "has no wheel for" in told and environments is not None and not environments.glibc:
        return "the C library of the base image is not known"
    if ("needs Python" in told or "has no wheel for" in told) and not tells_python(file):
        return "the Python of the base image is not known"
    for pin in file.reading.pin_set.pins:
        if _EDITED in pin.note and f"({pin.file}:" in told:
            return pin.note
    return ""


def _resolved(gathered: Gathered, why_unclear: Callable[[Sequence[str]], str]) -> Resolved:
    """What became of the environments.

    Args:
        gathered: the environments.
        why_unclear: says why what excludes a solution may not hold in truth, "" where it does.
    """
    conflicts: list[Conflict] = []
    unknown: list[str] = []
    newer: dict[str, Newer] = {}
    lasting = True
    for problem in _environments(gathered):
        plain, others = _exact_pins(problem, gathered.source)
        together = _Together(problem, gathered.source, plain)
        because = () if together.fits else _why(problem, gathered.source)
        unclear = because if isinstance(because, str) else ""
        lasts = not unclear  # what follows from the file and its releases will follow again
        lasting = lasting and lasts
        if because and not unclear and (reason := why_unclear(because)):
            unclear = f"{reason}: {because[0]}"
        if unclear:
            unknown.append(unclear)
        elif because:
            same = next((i for i, one in enumerate(conflicts) if one.because == tuple(because)), -1)
            if same < 0:
                conflicts.append(Conflict(problem.name, tuple(because)))
            else:
                conflicts[same] = replace(conflicts[same], also=conflicts[same].also + 1)
        # What only its own exact line admits (a pre-release, a yanked release) is set free by itself.
        alone = [_Together(problem, gathered.source, [pin]) for pin in others if together.fits]
        for name, found in (*together.newer(fits=together.fits), *(each for one in alone for each in one.newer())):
            answer = Newer(unknown=unclear, lasting=lasts) if unclear else found
            newer[name] = _both(newer[name], answer) if name in newer else answer
    uncounted = tuple(note for note in gathered.notes if note.endswith("not counted"))
    return Resolved(tuple(conflicts), tuple(dict.fromkeys(unknown)), newer, uncounted, lasting)


def _why(problem: Problem, source: RequirementSource) -> Sequence[str] | str:
    """The fewest facts that exclude a solution; a sentence where it is not known whether there is one.

    What would have to give way is left to `pins windows`: to find that out takes many more questions.
    """
    solver = Solver(Universe(problem, source))
    if solver.solve() is None and solver.universe.guess_is_possible:
        guess = solver.solve(certain=False)
        if guess is not None:
            reasons = unknowns(solver.universe, guess.chosen)
            return reasons[0] if reasons else "what something requires is not known"
    return [sentence.text for sentence in explain(solver, []).sentences]


def _environments(gathered: Gathered) -> Iterator[Problem]:
    """The environments as they are pinned, those that are alike once."""
    seen: list[Problem] = []
    for problem in gathered.problems:
        plain = replace(problem, name="")
        if not problem.name.endswith(" free") and plain not in seen:
            seen.append(plain)
            yield problem


@dataclass(frozen=True)
class _Exact:
    """An exact pin of an environment.

    Attributes:
        name: of the package.
        constraint: that pins it.
        line: the same, parsed.
        current: the version.
    """

    name: str
    constraint: Constraint
    line: RequirementLine
    current: Version


class _Together:
    """An environment whose exact pins are each held by an assumption, so that one search serves all questions.

    What it has found out of the others holds for the next pin too. To resolve anew for each of some hundred pins would
    take minutes.

    Attributes:
        fits: whether everything fits as it is pinned.
    """

    def __init__(self, problem: Problem, source: RequirementSource, pins: Sequence[_Exact]) -> None:
        self._pins = pins
        free = {pin.constraint: _freed(pin) for pin in self._pins}
        requirements = tuple(free.get(one, one) for one in problem.requirements)
        names = list(dict.fromkeys(pin.name for pin in self._pins))
        self._universe = Universe(replace(problem, requirements=requirements, targets=tuple(names)), source)
        self._solver = Solver(self._universe)
        self._nodes = dict(zip(names, self._universe.mentioned(names), strict=True)) if names else {}
        self._held = {
            name: _held(node, [p for p in self._pins if p.name == name]) for name, node in self._nodes.items()
        }
        model = self._solver.solve(self._assumed())
        self.fits = model is not None
        if model is not None:
            self._solver.prefer(model)

    def newer(self, *, fits: bool = True) -> Iterator[tuple[str, Newer]]:
        """For each pin, the newest release that fits when it alone is set free; none where nothing fits."""
        begun = time.monotonic()
        for pin in self._pins:
            if time.monotonic() - begun > _LONGEST:
                why = f"to resolve takes over {_LONGEST:g} s here: see `pins windows`"
                yield pin.name, Newer(unknown=why, lasting=False)
                continue
            if not fits:
                yield pin.name, Newer()
                continue
            node = self._nodes[pin.name]
            offered = self._universe.admissions.offered(node)
            above = [
                i
                for i, choice in enumerate(node.choices)
                if offered & 2 << i
                and choice.version is not None
                and not choice.version.is_prerelease
                and choice.version > pin.current
                and not self._held[pin.name] & 2 << i
            ]
            yield pin.name, self._highest(node, above)

    def _assumed(self, free: str = "") -> list[Literal]:
        return [(node.variable, self._held[name]) for name, node in self._nodes.items() if name != free]

    def _highest(self, node: Node, candidates: list[int]) -> Newer:
        """The last of the candidates with which there is a solution."""
        others = self._assumed(node.name)
        best = -1
        while rest := [i for i in candidates if i > best]:
            model = self._solver.solve([*others, (node.variable, sum(2 << i for i in rest))])
            if model is None:
                break
            best = model.values[node.variable]
        if best >= 0:
            return Newer(node.choices[best].label)
        if candidates and self._universe.guess_is_possible:
            mask = sum(2 << i for i in candidates)
            guess = self._solver.solve([*others, (node.variable, mask)], certain=False)
            if guess is not None:
                label = node.choices[guess.values[node.variable]].label
                why = f"whether {node.name} {label} fits: what something requires is not known"
                return Newer(unknown=why, lasting=False)
        return Newer()


def _exact_pins(problem: Problem, source: RequirementSource) -> tuple[list[_Exact], list[_Exact]]:
    """The exact pins of an environment: those whose version would be admitted without them, and others."""
    markers = Markers(dict(problem.markers))
    found = (pin for one in problem.requirements if (pin := _exact(one)) is not None)
    exact = [pin for pin in found if markers.hold(pin.line.marker, "")]
    choices = source.choices({pin.name for pin in exact}) if exact else {}
    plain = [pin for pin in exact if _is_plain(pin, choices[pin.name].choices)]
    return plain, [pin for pin in exact if pin not in plain]


def _exact(constraint: Constraint) -> _Exact | None:
    """A requirement as an exact pin, None where it is none."""
    line = read_line(constraint.requirement)
    clauses = list(line.specifiers)
    if line.problem or line.url or len(clauses) != 1 or clauses[0].operator != "==":
        return None
    try:
        return _Exact(line.name, constraint, line, Version(clauses[0].version))
    except InvalidVersion:  # "1.2.*"
        return None


def _is_plain(pin: _Exact, choices: Sequence[Choice]) -> bool:
    """Whether a pin's version would be admitted without being pinned."""
    taken = [one for one in choices if one.version is not None and pin.line.specifiers.contains(one.version)]
    return any(not one.yanked and one.version is not None and not one.version.is_prerelease for one in taken)


def _freed(pin: _Exact) -> Constraint:
    """The requirement of a pin without its version."""
    extras = f"[{','.join(pin.line.extras)}]" if pin.line.extras else ""
    marker = f"; {pin.line.marker}" if pin.line.marker else ""
    return Constraint(f"{pin.line.name}{extras}{marker}", pin.constraint.origin)


def _held(node: Node, pins: Sequence[_Exact]) -> int:
    """The choices that the pins of a name take."""
    return sum(
        2 << i
        for i, choice in enumerate(node.choices)
        if choice.version is not None and all(pin.line.specifiers.contains(choice.version) for pin in pins)
    )


def _both(one: Newer, other: Newer) -> Newer:
    """What fits in two environments: the older of two that fit, none where one has none."""
    if one.unknown or other.unknown:
        return one if one.unknown else other
    if not one.version or not other.version:
        return Newer()
    return min(one, other, key=lambda found: Version(found.version))
