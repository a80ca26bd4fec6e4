"""A file that was replaced in place: a release's asset, or a wheel on an index."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import partial

from packaging.version import Version

from pins.drift.baseline import baseline, kept
from pins.drift.model import Check, Json, Observations, Outcome, Subject, WatchedPin, finding, found, ok, unknown
from pins.drift.readings.downloads import Download, DownloadHead
from pins.drift.readings.releases import ProjectPage
from pins.drift.rules.package_pins import PackagePin, package_pins
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity
from pins.model import PinKind
from pins.sources.index_file import IndexFile
from pins.sources.redaction import redact

ID = "asset-replaced"
_SUGGESTION = "find out why it was replaced, and check it by its hash where it is downloaded"


def _lists(subject: Subject) -> Iterable[Check]:
    for _, watched in subject.pins():
        pin = watched.pin
        url = pin.effective or pin.value or ""
        if pin.kind is PinKind.URL and not pin.unknown and "$" not in url and url.startswith(("https://", "http://")):
            yield Check(watched.about, partial(_download, watched, url))
    for package in package_pins(subject):
        if package.exact is not None:
            yield Check(package.about, partial(_wheels, package, package.exact))


# -- downloads ---------------------------------------------------------------------------------------------------------


async def _download(watched: WatchedPin, url: str, observations: Observations, previous: Json) -> Outcome:
    now = await observations.get(DownloadHead(url))
    shown = redact(url, ())
    before = baseline(previous, shown, None)
    if not now.there:
        return found(
            finding(
                ID,
                watched.about,
                "gone",
                f"{shown} is not there{' any more' * bool(before)}: the next build fails",
                suggestion="pin a file that is there",
                severity=Severity.ERROR,
            ),
            remember=previous,
        )
    if now.page:
        return ok()
    if not isinstance(before, Mapping):
        return ok(remember=kept(_remembered(now), shown, None))
    told = list(_differences(before, now))
    if not told:
        return ok(remember=kept(before, shown, None))
    return found(
        finding(
            ID,
            watched.about,
            "replaced",
            f"{shown} was replaced in place: two builds of this file differ without a change of it",
            evidence=told,
            suggestion=_SUGGESTION,
            severity=Severity.ERROR,
        ),
        remember=kept(before, shown, None),
    )


def _remembered(now: Download) -> dict[str, Json]:
    if now.assets:
        return {"assets": dict(now.assets)}
    return {"size": now.size, "modified": now.modified, "etag": now.etag}


def _differences(before: Mapping[str, Json], now: Download) -> Iterable[str]:
    """In what a file differs from what it was, for a person.

    Servers make new ETags of unchanged files when they move house: one counts alone only where nothing else is said.
    """
    assets = before.get("assets")
    if isinstance(assets, Mapping):
        for name, was in assets.items():
            if name not in now.assets:
                yield f"{name} is gone"
            elif now.assets[name] != was:
                yield f"{name}: {was} when it was first seen, {now.assets[name]} now"
        return
    said = [("size", now.size), ("modified", now.modified)]
    known = [(name, before.get(name), value) for name, value in said if before.get(name) and value]
    for name, was, value in known:
        if was != value:
            yield f"{name}: {was} when it was first seen, {value} now"
    if not known and before.get("etag") and now.etag and before.get("etag") != now.etag:
        yield f"ETag: {before.get('etag')} when it was first seen, {now.etag} now"


# -- files of an index -------------------------------------------------------------------------------------------------


async def _wheels(package: PackagePin, version: Version, observations: Observations, previous: Json) -> Outcome:
    name = package.pin.name
    project = await observations.get(ProjectPage(name))
    files = project.files_of(version)
    if not files:
        return unknown(f"no index that is configured here has {name} {version}: asked {project.asked}")
    before = baseline(previous, str(version), None)
    now = {_key(file): _content(file) for file in files}
    if not isinstance(before, Mapping):
        return ok(remember=kept(dict(now), str(version), None))
    replaced = [file for file in files if _content(file) and before.get(_key(file), _content(file)) != _content(file)]
    # A file that was added since is new, not replaced; from now on it is known.
    remembered = kept({**now, **before}, str(version), None)
    if not replaced:
        return ok(remember=remembered)
    return found(
        finding(
            ID,
            package.about,
            "replaced",
            f"{len(replaced)} file{'s' * (len(replaced) != 1)} of {name} {version}, which is pinned, "
            f"{'was' if len(replaced) == 1 else 'were'} replaced on the index",
            evidence=[f"{file.filename}: {_told(file)}" for file in replaced[:8]],
            suggestion=_SUGGESTION,
            severity=Severity.ERROR,
        ),
        remember=remembered,
    )


def _key(file: IndexFile) -> str:
    """A file's name in short: a project has many files, and all that are pinned are remembered."""
    return hashlib.sha256(file.filename.encode()).hexdigest()[:8]


def _content(file: IndexFile) -> str:
    """What tells contents apart, in short; "" where the index gives nothing."""
    hashes = dict(file.hashes)
    if digest := hashes.get("sha256") or next(iter(hashes.values()), ""):
        return digest[:16]
    return f"{file.size} bytes" if file.size is not None else ""


def _told(file: IndexFile) -> str:
    hashes = ", ".join(f"{name} {digest}" for name, digest in file.hashes) or _content(file)
    return f"now {hashes}" + (f", uploaded {file.upload_time:%Y-%m-%d}" if file.upload_time is not None else "")


ASSET_REPLACED = ListedRule(
    ID, Severity.ERROR, "A downloaded file, or a wheel of an index, was replaced in place.", _lists
)
