"""What the user's requirements say beside the pins: where they contradict them, and versions that do not exist."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bisector.environments.venv.requirements import BaseRequirements, RequirementLine
from pins.errors import UsageError
from pins.sources.package_index import PackageIndex
from pins.sources.redaction import redact


def beside_pins(base: BaseRequirements, pins: Iterable[str], held: Mapping[str, str]) -> tuple[str, ...]:
    """What to tell the user of exact requirements on packages that are pinned.

    Args:
        base: all requirements besides the pins.
        pins: the names of those that move.
        held: those that are held still, with their versions.

    Returns:
        A sentence for each requirement of a file that gives way to a pin.

    Raises:
        UsageError: `--with` or a file of `--constraint` names another version than the pin: both cannot be meant.
    """
    options = {canonicalize_name(name): "--pin" for name in pins}
    versions = {canonicalize_name(name): value for name, value in held.items()}
    options |= dict.fromkeys(versions, "--fix")
    notes = []
    for line in (*base.requirements, *base.constraints):
        option = options.get(canonicalize_name(line.name)) if line.name else None
        if not line.exact or option is None or _allows(line, versions.get(canonicalize_name(line.name))):
            continue
        text = redact(line.text, ())
        if line.direct:
            raise UsageError(f"{line.origin}: {text} contradicts {option} {line.name}; take one of them out")
        notes.append(f"{line.origin} says {text}, which gives way to {option} {line.name}")
    if base.requires_hashes:
        notes.append(
            "a requirement file asks for hashes of everything (--require-hashes): what it gives hashes for is held to"
            " them; pins, and what only depends on others, to the hashes that the index gives"
        )
    return tuple(dict.fromkeys(notes))


def _allows(line: RequirementLine, version: str | None) -> bool:
    requirement = Requirement(line.text)
    return version is not None and not requirement.url and requirement.specifier.contains(version, prereleases=True)


def require_existing(
    base: BaseRequirements, pins: Iterable[str], held: Mapping[str, str], source: PackageIndex, before: datetime
) -> None:
    """Look for the exact versions that the user names, where no candidate could be installed without them.

    Args:
        base: all requirements besides the pins.
        pins, held: see `beside_pins`.
        source: the package index.
        before: the time as of which it is read.

    Raises:
        UsageError: one of them does not exist.
        SourceError: the index cannot be read.
    """
    names = {canonicalize_name(name) for name in (*pins, *held)}
    wanted = [(line.origin, line.text) for line in base.requirements if line.exact and line.name not in names]
    for origin, text in [*(("--fix", f"{name}=={version}") for name, version in held.items()), *wanted]:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise UsageError(f"{origin}: {text} is not a package and a version") from error
        if requirement.url:
            continue
        try:
            versions = [release.version for release in source.releases(requirement.name, before=before)]
        except UsageError as error:
            raise UsageError(f"{origin} asks for {text}: {error}") from error
        if not any(requirement.specifier.contains(version, prereleases=True) for version in versions):
            near: Sequence[str] = [str(version) for version in versions if not version.is_prerelease][-3:]
            shown = f"; the newest are {', '.join(near)}" if near else ""
            raise UsageError(f"{origin} asks for {text}, and {requirement.name} has no such version{shown}")
