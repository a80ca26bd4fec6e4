"""A requirement without an upper bound that comes to another release now than when its layer was built.

Nobody has changed the line. A builder keeps the layer until something before it changes; with the next edit of the file
the newer release is in the image, and nobody was told.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import partial

from packaging.version import InvalidVersion, Version

from pins.drift.baseline import baseline, kept
from pins.drift.layers import last_built
from pins.drift.model import Check, Json, Observations, Outcome, Subject, finding, found, ok, unknown
from pins.drift.readings.releases import Project, ProjectPage, best
from pins.drift.rules.package_pins import PackagePin, package_pins
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity
from pins.release import Release

ID = "floating-moved"


def _lists(subject: Subject) -> Iterable[Check]:
    for pin in package_pins(subject):
        if not pin.capped and not _never_runs(pin):
            yield Check(pin.about, partial(_check, pin, subject.built))


def _never_runs(pin: PackagePin) -> bool:
    """Whether a build as it is written leaves the requirement out."""
    return bool(pin.pin.uses) and all(use.runs is False for use in pin.pin.uses)


async def _check(pin: PackagePin, built: datetime | None, observations: Observations, previous: Json) -> Outcome:
    name = pin.pin.name
    project = await observations.get(ProjectPage(name))
    now = best(project.releases(python=pin.python), pin.specifier)
    if now is None:
        return unknown(f"no index has a release of {name} that {pin.written} takes: asked {project.asked}")
    when = built or await last_built(pin.file, pin.pin, observations)
    then, said = _then(pin, project, when, previous, told=built is not None)
    remembered = kept(str(then), str(pin.specifier), when)
    if then is None:
        return ok(remember=kept(str(now.version), str(pin.specifier), when))
    if then == now.version:
        return ok(remember=remembered)
    first = _first_after(project, then, pin.python)
    cap = f"cap it below what was not tried ({name}<{first}), or " if first is not None else ""
    return found(
        finding(
            ID,
            pin.about,
            line_of(now.version),
            f"{pin.written} came to {then} {said}, and comes to {now.version} now: the next edit of this file changes"
            " it silently",
            evidence=list(_between(project, then, now, pin.python)),
            suggestion=f"{cap}pin {name}=={then}",
            severity=Severity.WARNING if line_of(then) != line_of(now.version) else Severity.NOTE,
        ),
        remember=remembered,
    )


def _then(
    pin: PackagePin, project: Project, when: datetime | None, previous: Json, *, told: bool
) -> tuple[Version | None, str]:
    """What the requirement came to when the layer was built, and when that was, in words; None where nothing tells."""
    if when is not None and project.tells_times:
        at_that_time = best(project.releases(before=when, python=pin.python), pin.specifier)
        if at_that_time is not None:
            what = "it was last built" if told else "its layer was last changed"
            return at_that_time.version, f"when {what} ({when:%Y-%m-%d})"
    remembered = baseline(previous, str(pin.specifier), when)
    try:
        return (Version(remembered), "when it was first looked at") if isinstance(remembered, str) else (None, "")
    except InvalidVersion:
        return None, ""


def _between(project: Project, then: Version, now: Release, python: str) -> Iterable[str]:
    newer = [one for one in project.releases(python=python) if then < one.version <= now.version and not one.yanked]
    stable = [one for one in newer if not one.version.is_prerelease or one.version == now.version]
    for one in stable[-5:]:
        yield f"{one.version}" + (f" was uploaded on {one.upload_time:%Y-%m-%d}" if one.upload_time else "")
    gone = next((one for one in project.releases() if one.version == then), None)
    if now.version < then and gone is not None and gone.yanked:
        yield f"{then} was yanked: {gone.yanked_reason or 'without a reason'}"


def _first_after(project: Project, then: Version, python: str) -> Version | None:
    """The first release that came after a version, None where the newest is older."""
    later = [one.version for one in project.releases(python=python) if not one.yanked and one.version > then]
    return min((one for one in later if not one.is_prerelease), default=None)


def line_of(version: Version) -> str:
    """The release line of a version, such as "3.1": one news for all of its releases."""
    return ".".join(map(str, version.release[:2]))


FLOATING_MOVED = ListedRule(
    ID, Severity.WARNING, "An open requirement comes to another release than when its layer was built.", _lists
)
