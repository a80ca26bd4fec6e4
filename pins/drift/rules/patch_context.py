"""A patch that no longer fits the source that it is applied to, or of which nobody can tell."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from pins.drift.model import About, Check, Finding, Json, Observations, Outcome, Subject, WatchedFile, found, unknown
from pins.drift.patching.applied import AppliedPatch, Target, applied_patches, candidates
from pins.drift.patching.findings import ID, findings_of
from pins.drift.patching.fit import Fit, Placed, place_at_end, place_hunks
from pins.drift.patching.landing import Landing, landing_of
from pins.drift.readings.repository import repository_of
from pins.drift.readings.sources import SourceFiles
from pins.drift.rules.rule import ListedRule
from pins.hazards.hunks import Hunk
from pins.hazards.model import Severity


def _lists(subject: Subject) -> Iterable[Check]:
    for file in subject.files:
        patches: dict[int, list[AppliedPatch]] = {}
        for patch in applied_patches(file.reading):
            patches.setdefault(id(patch.pin), []).append(patch)
        for watched in file.pins:
            mine = patches.get(id(watched.pin))
            address = repository_of(watched.pin, subject.clones)
            revision = watched.pin.effective or watched.pin.value or "HEAD"
            if mine and address and "$" not in address + revision:
                target = Target(address, revision, watched.pin.name)
                yield Check(watched.about, partial(_check, file, watched.about, tuple(mine), target))


async def _check(
    file: WatchedFile,
    about: About,
    patches: tuple[AppliedPatch, ...],
    target: Target,
    observations: Observations,
    previous: Json,  # noqa: ARG001 - the patch and the source tell
) -> Outcome:
    missing = [patch.name for patch in patches if patch.data is None]
    paths = {path for patch in patches for hunk in patch.hunks for path in candidates(patch.path(hunk))}
    reason = f"{', '.join(missing)} is not in the build context" if missing else ""
    if not paths:
        return unknown(reason) if reason else found()
    files = dict(await observations.get(SourceFiles(target.address, target.revision, target.pin, tuple(sorted(paths)))))
    findings: list[Finding] = []
    for patch in patches:
        before = files
        placed, files = _applied(patch, before)
        bare = [one for one in placed if one.hunk.without_context and one.fit is not Fit.NOWHERE]
        history: dict[str, Landing] = {}
        for path in dict.fromkeys(patch.path(one.hunk) for one in bare):
            mine = [one.hunk for one in bare if patch.path(one.hunk) == path]
            history[path] = await landing_of(file, patch, path, mine, target, observations)
        findings.extend(findings_of(patch, placed, before, about, target, history))
    return found(*findings, unknown=reason)


def _applied(patch: AppliedPatch, files: Mapping[str, bytes]) -> tuple[list[Placed], dict[str, bytes]]:
    """Where the hunks of a patch go, and the files behind it; a hunk that is stepped over is in no place."""
    left = dict(files)
    placed: list[Placed] = []
    by_path: dict[str, list[Hunk]] = {}
    for hunk in patch.hunks:
        if not patch.skips(hunk):
            by_path.setdefault(patch.path(hunk), []).append(hunk)
    for path, hunks in by_path.items():
        name = next((one for one in candidates(path) if one in files), path)
        if name not in files and all(hunk.old for hunk in hunks):
            placed += [Placed(hunk, Fit.NOWHERE) for hunk in hunks]
            continue
        content = files.get(name, b"")
        some, left[name] = place_hunks(hunks, content)
        if not patch.by_number:
            some = [place_at_end(one.hunk, content) if one.hunk.without_context else one for one in some]
        if not patch.by_git:
            placed += some
        else:  # git leaves no line of context out
            placed += [replace(one, fit=Fit.NOWHERE) if one.fit is Fit.FUZZ else one for one in some]
    return placed, left


PATCH_CONTEXT = ListedRule(
    ID,
    Severity.ERROR,
    "A patch no longer fits the source it is applied to, or nobody can tell whether it does.",
    _lists,
)
