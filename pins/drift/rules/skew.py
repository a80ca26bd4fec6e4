"""One distribution at different versions in the stages of a file, or in files that lie beside each other.

Wheels are compiled in one stage with what that stage has, and run in another with what that one has. Where both ask for
a distribution in their own way, a new release can part them without an edit of any file. Files of one directory often
build on each other; of those, what compiled modules share is compared.
"""

import posixpath
from collections.abc import Iterable
from functools import partial

from packaging.version import Version

from pins.drift.installs import Ends, Request, bounds_on, ends_with, requests_for
from pins.drift.model import (
    About,
    Check,
    Finding,
    Json,
    Observations,
    Outcome,
    Subject,
    WatchedFile,
    finding,
    found,
    ok,
    unknown,
)
from pins.drift.python_of import python_of
from pins.drift.readings.releases import ProjectPage
from pins.drift.readings.repository import named_clone
from pins.drift.readings.tree_requirements import TreeRequirements
from pins.drift.rules.floating_moved import line_of
from pins.drift.rules.rule import ListedRule
from pins.errors import PinsError
from pins.hazards.model import Severity
from pins.hazards.rules.skew import SHARED_BY_COMPILED_MODULES
from pins.metadata.environments.model import Project, StageContents
from pins.resolve.requirement_line import Markers, read_line

ID = "skew"


def _lists(subject: Subject) -> Iterable[Check]:
    for file in subject.files:
        environments = file.environments()
        if environments is None or len(environments.stages) < 2:
            continue
        names: dict[str, int] = {}
        for contents in environments.stages:
            for one in contents.requested:
                line = read_line(one.text)
                if line.name and not line.problem and not line.url:
                    names.setdefault(line.name, one.line if one.file == environments.file else 0)
        for name, line_number in names.items():
            about = About(name, file.place, file.reading.file, line_number)
            yield Check(about, partial(_check, subject, file, name, about))
    for name in SHARED_BY_COMPILED_MODULES:
        for directory, files in _beside(subject, name).items():
            about = About(f"{name}@{directory}" if directory else name, "", files[0].reading.file)
            yield Check(about, partial(_across, files, name, about))


def _beside(subject: Subject, name: str) -> dict[str, list[WatchedFile]]:
    """Dockerfiles whose last stage asks for a distribution, by directory, where several lie in it."""
    found: dict[str, list[WatchedFile]] = {}
    for file in subject.files:
        environments = file.environments() if file.reading.reading is not None else None
        last = environments.stages[-1] if environments is not None and environments.stages else None
        if last is not None and any(read_line(one.text).name == name for one in last.requested):
            found.setdefault(posixpath.dirname(file.place), []).append(file)
    return {directory: files for directory, files in found.items() if len(files) > 1}


async def _across(
    files: list[WatchedFile],
    name: str,
    about: About,
    observations: Observations,
    previous: Json,  # noqa: ARG001
) -> Outcome:
    page = await observations.get(ProjectPage(name))
    ends: dict[str, Ends] = {}
    for file in files:
        environments = file.environments()
        assert environments is not None, "compared only where there are some"
        last = environments.stages[-1]
        requests = list(requests_for(name, last, Markers(_markers(python_of(file))), environments.file))
        end = ends_with(requests, page.releases(python=python_of(file)), bounds_on(name, last))
        if end is not None:
            ends[file.reading.file] = end
    versions = sorted({Version(end.version.public) for end in ends.values()})
    if len(versions) < 2:
        return ok()
    return found(
        finding(
            ID,
            about,
            " and ".join(dict.fromkeys(line_of(version) for version in versions)),
            f"{name} differs between images that are built beside each other: "
            + ", ".join(f"{file} ends with {end.version}" for file, end in ends.items()),
            evidence=[
                *(f"{file}: {name}{end.because.specifier} ({end.because.where})" for file, end in ends.items()),
                SHARED_BY_COMPILED_MODULES[name],
            ],
            suggestion=f"where one image builds on the other, give both the same {name}",
            severity=Severity.NOTE,
        )
    )


async def _check(
    subject: Subject,
    file: WatchedFile,
    name: str,
    about: About,
    observations: Observations,
    previous: Json,  # noqa: ARG001
) -> Outcome:
    environments = file.environments()
    assert environments is not None, "listed only for files with stages"
    markers = Markers(_markers(python_of(file)))
    asked: dict[str, list[Request]] = {}
    unread: dict[str, None] = {}
    for contents in environments.stages:
        requests = list(requests_for(name, contents, markers, environments.file))
        for project in contents.built:
            for path in project.requirement_files:
                try:
                    requests += await _of_tree(subject, project, path, name, markers, observations)
                except PinsError as error:
                    unread[f"what stage {contents.name} installs from {path} of {project.pin}: {error.message}"] = None
        if requests:
            asked[contents.name] = requests
    if len({tuple(requests) for requests in asked.values()}) < 2:
        return unknown(next(iter(unread))) if unread else ok()
    page = await observations.get(ProjectPage(name))
    releases = page.releases(python=python_of(file))
    ends = {
        contents.name: found_end
        for contents in environments.stages
        if contents.name in asked
        and (found_end := ends_with(asked[contents.name], releases, bounds_on(name, contents))) is not None
    }
    why = next(iter(unread), "")
    versions = {Version(one.version.public) for one in ends.values()}
    if len(versions) < 2:
        return unknown(why) if why else ok()
    return found(_finding(name, about, ends, environments.stages), unknown=why)


async def _of_tree(
    subject: Subject, project: Project, path: str, name: str, markers: Markers, observations: Observations
) -> list[Request]:
    """What a requirements file of a checkout asks of a distribution."""
    address = named_clone(project.address, (project.pin,), subject.clones) or project.address
    lines = await observations.get(TreeRequirements(address, project.revision, path, project.pin))
    requests = []
    for one in lines:
        line = read_line(one.text)
        if line.name == name and not line.problem and not line.url and markers.hold(line.marker, ""):
            where = f"{project.pin}@{project.revision}:{one.file}:{one.line}"
            requests.append(Request(line.specifiers, where, project.line))
    return requests


def _finding(name: str, about: About, ends: dict[str, Ends], stages: Iterable[StageContents]) -> Finding:
    groups: dict[Version, list[str]] = {}
    for stage, end in ends.items():
        groups.setdefault(end.version, []).append(stage)
    last = next(stage.name for stage in reversed(list(stages)) if stage.name in ends)
    shipped = ends[last].version
    others = {version: some for version, some in groups.items() if version != shipped}
    told = "; ".join(
        f"{_stages(some)} {'ends' if len(some) == 1 else 'end'} with {version} ({ends[some[0]].because.where})"
        for version, some in sorted(others.items())
    )
    reason = SHARED_BY_COMPILED_MODULES.get(name, "")
    evidence = [
        f"{_stages(some)}: {name} {version}, from {name}{ends[some[0]].because.specifier}"
        f" ({ends[some[0]].because.where})"
        for version, some in sorted(groups.items())
    ]
    return finding(
        ID,
        about,
        " and ".join(dict.fromkeys(line_of(version) for version in sorted(groups))),
        f"{name} differs between stages: {told}; stage {last} has {shipped} ({ends[last].because.where})",
        evidence=[*evidence, *([reason] if reason else [])],
        suggestion=f"give all stages the same {name}, through one bound or one ARG",
        severity=Severity.WARNING if reason else Severity.NOTE,
    )


def _stages(names: list[str]) -> str:
    shown = ", ".join(names) if len(names) < 5 else f"{', '.join(names[:3])} and {len(names) - 3} others"
    return f"stage{'s' * (len(names) != 1)} {shown}"


def _markers(python: str) -> dict[str, str]:
    """What is known of the image: its Python, and that it is Linux."""
    known = {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux", "platform_machine": "x86_64"}
    if python:
        short = ".".join(python.split(".")[:2])
        known |= {"python_version": short, "python_full_version": python if python.count(".") > 1 else f"{short}.0"}
    return known


SKEW = ListedRule(ID, Severity.WARNING, "One distribution at different versions in the stages of a file.", _lists)
