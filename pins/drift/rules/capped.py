"""Releases that a cap keeps out: how many there are, and since when."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial

from pins.drift.model import Check, Json, Observations, Outcome, Subject, finding, found, ok, unknown
from pins.drift.readings.releases import ProjectPage
from pins.drift.rules.package_pins import PackagePin, package_pins
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity
from pins.release import Release

ID = "capped"
LEVELS = ((1, 0), (5, 90), (20, 365), (60, 730))
"""Releases kept out, or days since the first of them: a cap is reported again at each of these."""


def _lists(subject: Subject) -> Iterable[Check]:
    for pin in package_pins(subject):
        if pin.capped and pin.exact is None:
            yield Check(pin.about, partial(_check, pin, subject.now))


async def _check(pin: PackagePin, now: datetime, observations: Observations, previous: Json) -> Outcome:  # noqa: ARG001
    project = await observations.get(ProjectPage(pin.pin.name))
    releases = project.releases(python=pin.python)
    if not releases:
        return unknown(f"no index has a release of {pin.pin.name} that could be installed: asked {project.asked}")
    out = kept_out(pin, releases)
    if not out:
        return ok()
    first = min((one.upload_time for one in out if one.upload_time is not None), default=None)
    days = (now - first).days if first is not None else 0
    level = max(i for i, (count, age) in enumerate(LEVELS) if len(out) >= count or (age and days >= age))
    newest = out[-1].version
    since = f", the first of them since {first:%Y-%m-%d} ({days} days)" if first is not None else ""
    return found(
        finding(
            ID,
            pin.about,
            f"{LEVELS[level][0]} releases",
            f"{pin.written} keeps out {_releases(len(out))} of {pin.pin.name}, up to {newest}{since}",
            evidence=[_listed(out)],
            suggestion=f"see whether the cap is still needed: `pins why '{pin.pin.name}=={newest}' {pin.pin.file}`",
            severity=Severity.NOTE,
        )
    )


def kept_out(pin: PackagePin, releases: Iterable[Release]) -> list[Release]:
    """Stable releases, not yanked, that are newer than all that the pin takes."""
    stable = [one for one in releases if not one.yanked and not one.version.is_prerelease]
    taken = [one.version for one in stable if pin.specifier.contains(one.version)]
    if not taken:
        return []
    newest = max(taken)
    return [one for one in stable if one.version > newest and not pin.specifier.contains(one.version)]


def _releases(count: int) -> str:
    return f"{count} release{'s' * (count != 1)}"


def _listed(out: list[Release]) -> str:
    shown = [f"{one.version} ({one.upload_time:%Y-%m-%d})" if one.upload_time else str(one.version) for one in out]
    return ", ".join(shown) if len(shown) <= 6 else f"{', '.join(shown[:3])}, ... {', '.join(shown[-2:])}"


CAPPED = ListedRule(ID, Severity.NOTE, "Releases that a cap keeps out: how many, and since when.", _lists)
