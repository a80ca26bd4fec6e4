"""What releases require of each other, beside what a file installs: known only with their metadata (`--metadata`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from packaging.version import Version

from pins.files.dockerfile.stages import Stage
from pins.hazards.model import Finding
from pins.hazards.rules.asked import Asked, asked_in
from pins.hazards.subject import Subject


@dataclass(frozen=True)
class _Met:
    """A requirement of an installed release, and the install that decides the version of what it requires.

    Attributes:
        by: the install of the release that requires something.
        line: the requirement.
        decided: the last exact install of what is required.
        version: its version.
    """

    by: Asked
    line: str
    decided: Asked
    version: Version


def undone_by_dependency(subject: Subject) -> Iterator[Finding]:
    """An install whose requirements make pip replace what an earlier line pinned."""
    for broken in _broken(subject):
        if broken.by.order <= broken.decided.order or "--no-deps" in broken.by.call.flags:
            continue
        line = subject.line(broken.decided.start)
        yield Finding(
            broken.by.start,
            broken.by.end,
            f"{broken.by.text} requires {broken.line}, so that pip replaces {broken.decided.text} of line {line}",
            broken.decided.name,
            f"move line {line} to what {broken.by.name} takes, or take another {broken.by.name}",
        )


def unmet_requirement(subject: Subject) -> Iterator[Finding]:
    """A release whose requirements what ends up installed does not meet, through --no-deps or a later install."""
    for broken in _broken(subject):
        unasked = "--no-deps" in broken.by.call.flags
        if not unasked and broken.by.order >= broken.decided.order:
            continue  # in one call pip itself refuses
        line = subject.line(broken.decided.start)
        why = "and --no-deps keeps pip from looking" if unasked else f"and line {line} comes after it"
        yield Finding(
            broken.by.start,
            broken.by.end,
            f"{broken.by.text} requires {broken.line}, but the environment ends with {broken.decided.text}"
            f" (line {line}), {why}",
            broken.by.name,
            f"take a {broken.decided.name} that {broken.by.name} admits, or a {broken.by.name} that admits"
            f" {broken.version}",
        )


def _broken(subject: Subject) -> Iterator[_Met]:
    """Requirements of exact installs that the exact versions of their environment break, once each."""
    if subject.reading is None or subject.requires is None:
        return
    seen: set[tuple[int, int, str]] = set()
    for stage in subject.reading.stages.stages:
        final = _final(subject, stage)
        for asked in final.values():
            for line, name, specifiers in subject.requires(asked.name, str(asked.exact)):
                decided = final.get(name)
                version = decided.exact if decided is not None else None
                if decided is None or version is None or decided is asked:
                    continue
                key = (asked.start, decided.start, line)
                if key in seen or asked.excludes(decided) or specifiers.contains(version, prereleases=True):
                    continue
                seen.add(key)
                yield _Met(asked, line, decided, version)


def _final(subject: Subject, stage: Stage) -> dict[str, Asked]:
    """By distribution, the install that decides it in a stage, where that is exact and certain."""
    asked, removed = asked_in(subject, stage)
    final: dict[str, Asked] = {}
    for entry in asked:
        if entry.exact is None or not entry.certain:
            final.pop(entry.name, None)
        else:
            final[entry.name] = entry
    for name, order in removed:
        if name in final and final[name].order <= order:
            del final[name]
    return final


def exact_installs(subject: Subject) -> set[tuple[str, str]]:
    """(name, version) of every release whose requirements matter."""
    if subject.reading is None:
        return set()
    return {
        (asked.name, str(asked.exact))
        for stage in subject.reading.stages.stages
        for asked in _final(subject, stage).values()
    }
