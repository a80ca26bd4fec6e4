"""The recipe of one candidate: what is installed, and the hash of all that decides it."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path

from bisector.environments.base import BuildFailedError, InfeasibleError
from bisector.environments.python_interpreters import Interpreter
from bisector.environments.venv.commits import CommitSource, LentProjects, commits_of, lent_projects
from bisector.environments.venv.demanded_hashes import with_demanded_hashes
from bisector.environments.venv.failures import Cause, left_out
from bisector.environments.venv.installation import Instructions
from bisector.environments.venv.lock import LockedPackage, installation_order
from bisector.environments.venv.requirements import BaseRequirements, RequirementLine, giving_way
from bisector.environments.venv.resolution import (
    Question,
    Resolution,
    compile_once,
    failure_of,
    pin_requirements,
)
from bisector.environments.venv.tools import resolve_among_tools
from bisector.environments.venv.trees import copied, tree_state
from bisector.environments.venv.uv import Uv, UvError
from bisector.environments.venv.workplace import workplace
from bisector.model import Candidate, Recipe
from pins.errors import EnvironmentFailureError, SourceError, UsageError
from pins.sources.index_configuration import IndexConfiguration
from pins.sources.redaction import redact

SCHEMA = "venv/1"
"""Part of every input hash; changed when the same inputs would be built in another way."""

Judge = Callable[[Collection[str]], IndexConfiguration]
"""The index with those marked that give no upload times, as far as the pages of the named packages show it."""


@dataclass(frozen=True)
class Circumstances:
    """All that candidates have in common.

    Attributes:
        uv: the program, with its index.
        python: the interpreter.
        base: requirements besides the pins.
        build_isolation: whether source distributions are built in an environment of their own.
        cache: takes the files of a resolution while it lasts.
        commits: where pins come from that are commits, by pin.
    """

    uv: Uv
    python: Interpreter
    base: BaseRequirements
    build_isolation: bool
    cache: Path
    commits: Mapping[str, CommitSource] = field(default_factory=dict)

    def build_facts(self) -> dict[str, object]:
        """All that decides what a build makes of its source, besides what is installed when there is no isolation.

        The date matters here, since the requirements of an isolated build are resolved as of it.
        """
        return {
            "python": self.python.identity,
            "constraints": [redact(line.text, ()) for line in self.base.build_constraints],
            "isolation": self.build_isolation,
            "exclude_newer": self.uv.exclude_newer.astimezone(UTC).isoformat(),
            "index": self.uv.index.public(),
            "variables": self.uv.build_variables(),
        }


def resolve_candidate(candidate: Candidate, circumstances: Circumstances, judge: Judge) -> Recipe:
    """The recipe of a candidate.

    Args:
        candidate: the pins.
        circumstances: what all candidates have in common.
        judge: gives the index with those marked that give no upload times, as the pages of packages show it.

    Raises:
        UsageError: a pin is no package version.
        InfeasibleError, BuildFailedError, EnvironmentFailureError: as `Environment.resolve`.
    """
    with lent_projects(circumstances.commits, commits_of(candidate, circumstances.commits)) as projects:
        return _resolve(candidate, projects, circumstances, judge)


def _resolve(candidate: Candidate, projects: LentProjects, circumstances: Circumstances, judge: Judge) -> Recipe:
    base = circumstances.base
    commits = commits_of(candidate, circumstances.commits)
    versions = Candidate(tuple((pin, value) for pin, value in candidate.pins if pin not in commits))
    pins = (*pin_requirements(versions), *projects.lines())
    pinned = frozenset(pin.name for pin in pins)
    if len(pinned) < len(pins):
        raise UsageError(f"two pins of {candidate} are the same package; give each package one --pin")
    requirements = (*pins, *giving_way(base.requirements, pinned))
    circumstances = replace(
        circumstances, uv=replace(circumstances.uv, circumstances=_digest(circumstances.build_facts()))
    )
    trees = {line.directory: tree_state(line.directory) for line in requirements if line.directory is not None}
    copies = {
        path: copied(path, state, cache=circumstances.cache, circumstances=circumstances.uv.circumstances)
        for path, state in trees.items()
    }
    question = Question(
        circumstances.python.path,
        tuple(_from_copy(line, copies) for line in requirements),
        tuple(line.text for line in giving_way(base.constraints, pinned)),
        tuple(line.text for line in base.build_constraints),
        base.options,
    )
    with workplace(circumstances.cache) as place:
        try:
            circumstances, packages = _resolved(circumstances, question, judge, place, str(candidate))
        except InfeasibleError as error:
            if isinstance(error.__cause__, UvError) and error.__cause__.failure.missing:
                _require_pages(circumstances.uv.index, set(versions), f"resolving {candidate}")
            raise InfeasibleError(projects.in_words(str(error))) from error
        except BuildFailedError as error:
            raise BuildFailedError(projects.in_words(str(error)), error.ended) from error
    kept = (*giving_way(base.requirements, pinned), *giving_way(base.constraints, pinned))
    packages = with_demanded_hashes(packages, kept)
    named = [*(line.name for line in requirements[len(pins) :] if line.name), *(pin.name for pin in pins)]
    packages = tuple(projects.named(_from_original(package, copies, trees)) for package in packages)
    return _recipe(candidate, circumstances, packages, named, trees, commits)


def _require_pages(index: IndexConfiguration, names: Collection[str], doing: str) -> None:
    """Make sure that an index that does not find some package still finds those that were searched.

    One that answers "not found" to everything, since it was moved or its proxy fails, says nothing of a candidate.

    Raises:
        EnvironmentFailureError: it does not.
    """
    from pins.sources.package_index import PackageIndex

    with PackageIndex(index) as source:
        for name in sorted(names):
            try:
                source.files(name)
            except (UsageError, SourceError) as error:
                raise EnvironmentFailureError(
                    f"{doing}: the index does not answer as it should: {error}. Nothing is concluded from this"
                ) from error


def _from_copy(line: RequirementLine, copies: Mapping[Path, Path]) -> str:
    if line.directory is None:
        return line.text
    copy = copies[line.directory]
    if line.directory.as_uri() in line.text:
        return line.text.replace(line.directory.as_uri(), copy.as_uri())
    return line.text.replace(str(line.directory), str(copy))


def _from_original(package: LockedPackage, copies: Mapping[Path, Path], trees: Mapping[Path, str]) -> LockedPackage:
    for path, copy in copies.items():
        if package.line.endswith(f" @ {copy.as_uri()}"):
            line = f"{package.name} @ {path.as_uri()}"
            return replace(package, line=line, identity=f"{package.version} {line} {trees[path]}")
    return package


def _resolved(
    circumstances: Circumstances, question: Question, judge: Judge, place: Path, what: str
) -> tuple[Circumstances, tuple[LockedPackage, ...]]:
    """What uv resolves; a second time where files may have been left out for want of an upload time."""
    uv = circumstances.uv
    resolution = Resolution()
    failed: UvError | None = None
    try:
        resolution = compile_once(uv, question, place)
        undated = resolution.undated
    except UvError as error:
        failed = error
        undated = error.failure.undated | left_out(error.ended.errors)
    judged = judge(undated) if undated else uv.index
    if judged.without_upload_times != uv.index.without_upload_times:
        return _resolved(replace(circumstances, uv=replace(uv, index=judged)), question, judge, place, what)
    if failed is None:
        return circumstances, resolution.packages
    if failed.failure.cause is Cause.BUILD and not circumstances.build_isolation:
        return circumstances, resolve_among_tools(uv, question, place, what)
    raise failure_of(failed, f"resolving {what}") from failed


def _recipe(
    candidate: Candidate,
    circumstances: Circumstances,
    packages: Sequence[LockedPackage],
    named: Sequence[str],
    trees: Mapping[Path, str],
    commits: Mapping[str, str],
) -> Recipe:
    builds = any(package.built for package in packages)
    instructions, facts = _instructions(circumstances, packages, named, trees)
    instructions = replace(instructions, commits=tuple(commits.items()))
    identity = {
        "schema": SCHEMA,
        "python": circumstances.python.identity,
        "packages": [[package.name, package.identity] for package in packages],
        "index": circumstances.uv.index.public(),
        "options": circumstances.base.options,
        # Where nothing is built, neither the date nor how builds are made is an input.
        "builds": facts if builds else None,
    }
    return Recipe(
        candidate,
        _digest(identity),
        tuple((package.name, package.version) for package in packages),
        instructions.as_json(),
    )


def _instructions(
    circumstances: Circumstances, packages: Sequence[LockedPackage], named: Sequence[str], trees: Mapping[Path, str]
) -> tuple[Instructions, dict[str, object]]:
    facts = circumstances.build_facts()
    lone = False
    if circumstances.build_isolation:
        phases: tuple[tuple[str, ...], ...] = (tuple(package.name for package in packages),) if packages else ()
    else:
        phases = installation_order(packages, named)
        lone = any(package.built for package in packages)
        facts |= {"phases": phases, "packages": [package.identity for package in packages]}
    lines = {package.name: package.requirement for package in packages}
    instructions = Instructions(
        python=str(circumstances.python.path),
        phases=tuple(tuple(lines[name] for name in phase) for phase in phases),
        build_isolation=circumstances.build_isolation,
        build_constraints=tuple(redact(line.text, ()) for line in circumstances.base.build_constraints),
        options=circumstances.base.options,
        without_upload_times=tuple(sorted(circumstances.uv.index.without_upload_times)),
        trees=tuple(sorted((str(path), state) for path, state in trees.items())),
        circumstances=_digest(facts) if lone else circumstances.uv.circumstances,
        lone=lone,
    )
    return instructions, facts


def private_lines(base: BaseRequirements) -> Callable[[str], str]:
    """What puts the credentials of requirements back into lines that were freed of them."""
    known: dict[str, str] = {}
    for line in (*base.requirements, *base.constraints, *base.build_constraints):
        for match in re.finditer(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/@]+@[^\s/]+", line.text):
            known[redact(match[0], ())] = match[0]

    def restore(line: str) -> str:
        for public, private in known.items():
            line = line.replace(public, private)
        return line

    return restore


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
