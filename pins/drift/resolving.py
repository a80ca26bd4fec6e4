"""Resolve what a file installs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from packaging.version import InvalidVersion, Version

from pins.drift.model import Tools, WatchedFile
from pins.drift.python_of import python_of
from pins.drift.readings.resolution import Conflict, Newer, Resolved
from pins.metadata.gather import GatherRequest, ReadFile, gather
from pins.metadata.index_requirements import IndexRequirements
from pins.metadata.known_facts import KnownFacts
from pins.resolve.problem import Constraint, Gathered, Problem, RequirementSource
from pins.resolve.requirement_line import read_line
from pins.resolve.solver import Solver
from pins.resolve.universe import Universe
from pins.resolve.why import why
from pins.sources.metadata_cache import MetadataCache
from pins.sources.page_cache import cache_directory
from pins.windows_request import WindowsRequest, target_for

_NEWEST_GLIBC = "2.42"
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
    if "no index has a project" in told:
        return "what no index that is configured here has may be on another"
    environments = file.environments()
    if "has no wheel for" in told and environments is not None and not environments.glibc:
        return "the C library of the base image is not known"
    if ("needs Python" in told or "has no wheel for" in told) and not python_of(file):
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
    for problem in _environments(gathered):
        answer = why(problem, gathered.source)
        if answer.explanation is not None:
            because = tuple(sentence.text for sentence in answer.explanation.sentences)
            instead = tuple(", ".join(one.instead) for one in answer.relaxations if all(one.instead))
            if unclear := why_unclear(because):
                unknown.append(f"{unclear}: {because[0]}")
            else:
                conflicts.append(Conflict(problem.name, because, instead))
        elif answer.model is None:
            unknown += answer.unknown
        for name, found in _newer(problem, gathered.source):
            newer[name] = _both(newer[name], found) if name in newer else found
    uncounted = tuple(note for note in gathered.notes if note.endswith("not counted"))
    return Resolved(tuple(conflicts), tuple(dict.fromkeys(unknown)), newer, uncounted)


def _environments(gathered: Gathered) -> Iterator[Problem]:
    """The environments as they are pinned, those that are alike once."""
    seen: list[Problem] = []
    for problem in gathered.problems:
        plain = replace(problem, name="")
        if not problem.name.endswith(" free") and plain not in seen:
            seen.append(plain)
            yield problem


def _newer(problem: Problem, source: RequirementSource) -> Iterator[tuple[str, Newer]]:
    """For each exact pin, the newest release that fits when it alone is set free."""
    for pinned in problem.requirements:
        line = read_line(pinned.requirement)
        clauses = list(line.specifiers)
        if line.problem or line.url or len(clauses) != 1 or clauses[0].operator != "==":
            continue
        current = _version(clauses[0].version)
        if current is None:
            continue
        extras = f"[{','.join(line.extras)}]" if line.extras else ""
        free = Constraint(f"{line.name}{extras}", pinned.origin)
        requirements = tuple(free if one is pinned else one for one in problem.requirements)
        universe = Universe(replace(problem, requirements=requirements, targets=(line.name,)), source)
        solver = Solver(universe)
        (node,) = universe.mentioned([line.name])
        offered = universe.admissions.offered(node)
        above = [
            i
            for i, choice in enumerate(node.choices)
            if offered & 2 << i
            and choice.version is not None
            and not choice.version.is_prerelease
            and choice.version > current
            and not line.specifiers.contains(choice.version)
        ]
        yield line.name, _highest(solver, node.variable, above, [choice.label for choice in node.choices])


def _highest(solver: Solver, variable: int, candidates: list[int], labels: list[str]) -> Newer:
    """The last of the candidates with which there is a solution."""
    best = -1
    while rest := [i for i in candidates if i > best]:
        model = solver.solve([(variable, sum(2 << i for i in rest))])
        if model is None:
            break
        best = model.values[variable]
    if best >= 0:
        return Newer(labels[best])
    if candidates and solver.universe.guess_is_possible:
        guess = solver.solve([(variable, sum(2 << i for i in candidates))], certain=False)
        if guess is not None:
            return Newer(unknown=f"whether {labels[guess.values[variable]]} fits: what something requires is not known")
    return Newer()


def _both(one: Newer, other: Newer) -> Newer:
    """What fits in two environments: the older of two that fit, none where one has none."""
    if one.unknown or other.unknown:
        return one if one.unknown else other
    if not one.version or not other.version:
        return Newer()
    return min(one, other, key=lambda found: Version(found.version))


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:  # "1.2.*"
        return None
