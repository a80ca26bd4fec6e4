"""Pins that do not resolve together any more, and newer releases that would.

To resolve takes long, and comes to the same as long as the file and what the indexes have of its packages stay the
same: then what was found is kept, for a week at most, since what those require in turn may have new releases too.
"""

import hashlib
from collections.abc import Iterable, Mapping
from functools import partial

from packaging.version import Version

from pins.drift.model import Check, Finding, Json, Observations, Outcome, Subject, WatchedFile, finding, found, unknown
from pins.drift.readings.releases import ProjectPage
from pins.drift.readings.resolution import Resolution
from pins.drift.resolved import Conflict, Newer
from pins.drift.rules.floating_moved import line_of
from pins.drift.rules.package_pins import PackagePin, package_pins
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity

UNRESOLVABLE = "unresolvable"
NEWER = "newer-inside"


def _resolvable(subject: Subject) -> Iterable[tuple[WatchedFile, list[PackagePin], Resolution]]:
    """Files that say what they install, each with the one question that is put for all of its pins."""
    pins: dict[str, list[PackagePin]] = {}
    for pin in package_pins(subject):
        pins.setdefault(pin.file.place, []).append(pin)
    for file in subject.files:
        mine = pins.get(file.place, [])
        if mine and file.environments() is not None:
            yield file, mine, Resolution(file.place, file, subject.facts, subject.clones)


# -- pins that do not resolve together ---------------------------------------------------------------------------------


def _lists_unresolvable(subject: Subject) -> Iterable[Check]:
    for file, pins, resolution in _resolvable(subject):
        yield Check(file.about, partial(_together, subject, file, pins, resolution))


async def _together(
    subject: Subject,
    file: WatchedFile,
    pins: list[PackagePin],
    resolution: Resolution,
    observations: Observations,
    previous: Json,
) -> Outcome:
    key = await _key(subject, file, pins, observations)
    kept = _kept(previous, key)
    if kept is not None:
        conflicts, why, lasting = [_conflict(one) for one in kept], _unclear(previous), True
    else:
        resolved = await observations.get(resolution)
        conflicts, why, lasting = list(resolved.conflicts), next(iter(resolved.unknown), ""), resolved.lasting
    remembered: Json = {"key": key, "found": [_remembered(one) for one in conflicts], "unknown": why}
    findings = [_unresolvable(file, one) for one in conflicts]
    return found(*findings, unknown=why, remember=remembered if lasting else None, lasting=lasting)


def _unresolvable(file: WatchedFile, conflict: Conflict) -> Finding:
    others = f" and {conflict.also} other{'s' * (conflict.also > 1)}" if conflict.also else ""
    where = f" of {conflict.name}{others}" if conflict.name else ""
    return finding(
        UNRESOLVABLE,
        file.about,
        conflict.name or "all",
        f"the pins{where} do not resolve together: no set of versions fits them all",
        evidence=conflict.because,
        suggestion=f"see what would have to give way: `pins windows {file.reading.file}`",
        severity=Severity.ERROR,
        series=conflict.name,
    )


# -- newer releases that fit -------------------------------------------------------------------------------------------


def _lists_newer(subject: Subject) -> Iterable[Check]:
    for file, pins, resolution in _resolvable(subject):
        for pin in pins:
            if pin.exact is not None:
                yield Check(pin.about, partial(_newer, subject, file, pins, pin, pin.exact, resolution))


async def _newer(
    subject: Subject,
    file: WatchedFile,
    pins: list[PackagePin],
    pin: PackagePin,
    current: Version,
    resolution: Resolution,
    observations: Observations,
    previous: Json,
) -> Outcome:
    page = await observations.get(ProjectPage(pin.pin.name))
    versions = page.listing.versions
    if not versions or versions[-1] <= current:  # without making releases of thousands of files
        return found()
    releases = page.releases(python=pin.python)
    newer = [one for one in releases if one.version > current and not one.yanked and not one.version.is_prerelease]
    if not newer:
        return found()
    key = await _key(subject, file, pins, observations)
    kept = _kept(previous, key)
    if kept is not None:
        inside = Newer(str(kept[0])) if kept else Newer(unknown=_unclear(previous))
        uncounted = int(str(kept[1])) if len(kept) > 1 else 0
    else:
        resolved = await observations.get(resolution)
        uncounted = len(resolved.uncounted)
        inside = resolved.newer.get(pin.pin.name, Newer())  # what is in no environment has nothing to fit
    if inside.unknown:
        still: Json = {"key": key, "found": [], "unknown": inside.unknown}
        return unknown(inside.unknown, remember=still if inside.lasting else None)
    remembered: Json = {"key": key, "found": [inside.version, uncounted] if inside.version else []}
    if not inside.version:
        return found(remember=remembered)
    version = Version(inside.version)
    date = next((one.upload_time for one in newer if one.version == version), None)
    newest = newer[-1].version
    what = "what is known of everything else here" if uncounted else "everything else here"
    command = f"pins windows {file.reading.file}"
    outside = f"; {newest}, the newest, does not" if newest > version else ""
    return found(
        finding(
            NEWER,
            pin.about,
            line_of(version),
            f"{pin.pin.name} {version} fits {what}, and {current} is pinned{outside}",
            evidence=[
                *([f"{version} was uploaded on {date:%Y-%m-%d}"] if date is not None else []),
                *(
                    [f"of {uncounted} things it is not known what they require: `{command}` names them"]
                    if uncounted
                    else []
                ),
            ],
            suggestion=f"try it: `bisector probe`, or {pin.pin.name}=={version}",
            severity=Severity.NOTE,
        ),
        remember=remembered,
    )


# -- what was found, as long as it holds -------------------------------------------------------------------------------


async def _key(subject: Subject, file: WatchedFile, pins: list[PackagePin], observations: Observations) -> str:
    """What a resolution stands on: files, what is known, the releases there are, the week."""
    told = [hashlib.sha256(file.reading.data).hexdigest(), repr(subject.facts), f"{subject.now:%G-%V}"]
    told += sorted(f"{pin.about.pin} {pin.specifier}" for pin in pins)
    for name in sorted({pin.pin.name for pin in pins}):
        project = await observations.get(ProjectPage(name))
        listing = project.listing
        told.append(f"{name} {len(listing)} {listing.yanked_files} {listing.last_filename} {project.asked}")
    return hashlib.sha256("\n".join(told).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _kept(previous: Json, key: str) -> list[Json] | None:
    if not isinstance(previous, Mapping) or previous.get("key") != key:
        return None
    kept = previous.get("found")
    return list(kept) if isinstance(kept, (list, tuple)) else None


def _unclear(previous: Json) -> str:
    """Why it could not be told, as it was remembered; "" where it could."""
    why = previous.get("unknown") if isinstance(previous, Mapping) else ""
    return why if isinstance(why, str) else ""


def _remembered(conflict: Conflict) -> Json:
    return {"name": conflict.name, "because": list(conflict.because), "also": conflict.also}


def _conflict(kept: Json) -> Conflict:
    """A conflict as it was remembered."""
    entry = kept if isinstance(kept, Mapping) else {}
    because = entry.get("because")
    also = entry.get("also")
    told = tuple(map(str, because)) if isinstance(because, (list, tuple)) else ()
    return Conflict(str(entry.get("name", "")), told, also if isinstance(also, int) else 0)


NEWER_INSIDE = ListedRule(
    NEWER, Severity.NOTE, "A newer release than the pinned one fits everything else.", _lists_newer
)
UNRESOLVABLE_PINS = ListedRule(
    UNRESOLVABLE, Severity.ERROR, "The pins of a file do not resolve together any more.", _lists_unresolvable
)
