"""Hashes that requirement files give: what is installed must have one of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from packaging.requirements import Requirement

from bisector.environments.venv.lock import LockedPackage
from bisector.environments.venv.requirements import RequirementLine
from pins.errors import UsageError


def with_demanded_hashes(
    packages: Sequence[LockedPackage], lines: Iterable[RequirementLine]
) -> tuple[LockedPackage, ...]:
    """The packages, held to the hashes that the user's files give for them.

    Where the index gives hashes of the same kind, they are compared here; installing compares with the file itself.

    Raises:
        UsageError: the file that would be installed has none of the hashes.
    """
    found = {package.name: package for package in packages}
    for line in lines:
        package = found.get(line.name)
        if line.hashes and package is not None and _speaks_of(line, package):
            found[line.name] = replace(package, hashes=_held(package, line))
    return tuple(found.values())


def _speaks_of(line: RequirementLine, package: LockedPackage) -> bool:
    """Whether a line applies; one with a marker that does not hold leaves the version to others."""
    requirement = Requirement(line.text)
    return bool(requirement.url) or requirement.specifier.contains(package.version, prereleases=True)


def _held(package: LockedPackage, line: RequirementLine) -> tuple[str, ...]:
    kind = "sha256:"
    if not package.hashes or not any(value.startswith(kind) for value in line.hashes):
        return line.hashes
    both = tuple(value for value in package.hashes if value in line.hashes)
    if not both:
        raise UsageError(
            f"{line.origin} gives hashes for {package.name} {package.version}, and the file that would be installed has"
            f" none of them: the index says {', '.join(package.hashes)}. Correct the hashes, if you trust that file"
        )
    return both
