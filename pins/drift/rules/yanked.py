"""A pinned release that was withdrawn from its index."""

from collections.abc import Iterable, Mapping
from functools import partial

from packaging.version import Version

from pins.drift.model import Check, Json, Observations, Outcome, Subject, finding, found, ok, unknown
from pins.drift.readings.releases import ProjectPage, best
from pins.drift.rules.package_pins import PackagePin, package_pins
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity

ID = "yanked"


def _lists(subject: Subject) -> Iterable[Check]:
    for pin in package_pins(subject):
        if pin.exact is not None:
            yield Check(pin.about, partial(_check, pin, pin.exact))


async def _check(pin: PackagePin, version: Version, observations: Observations, previous: Json) -> Outcome:
    name = pin.pin.name
    project = await observations.get(ProjectPage(name))
    there = project.files_of(version)
    if not there:
        if isinstance(previous, Mapping) and previous.get("seen") == str(version):
            return found(
                finding(
                    ID,
                    pin.about,
                    f"{version} gone",
                    f"{name} {version}, which is pinned, is no longer on the index: the next build fails",
                    evidence=[f"asked {project.asked}"],
                    suggestion=f"pin another release of {name}",
                    severity=Severity.ERROR,
                ),
                remember=previous,
            )
        return unknown(f"no index that is configured here has {name} {version}: asked {project.asked}")
    remembered: Json = {"seen": str(version)}
    if not all(file.yanked for file in there):
        return ok(remember=remembered)
    reason = next((file.yanked_reason for file in there if file.yanked_reason), "")
    instead = best(project.releases())
    return found(
        finding(
            ID,
            pin.about,
            str(version),
            f"{name} {version}, which is pinned, was yanked" + (f": {reason}" if reason else ", without a reason"),
            evidence=[f"the newest release that is not is {instead.version}"] if instead is not None else [],
            suggestion=f"pin another release of {name}",
        ),
        remember=remembered,
    )


YANKED = ListedRule(ID, Severity.WARNING, "A pinned release was yanked, or is gone from the index.", _lists)
