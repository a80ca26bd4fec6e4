"""From the files of a project to its releases, as far as they can be used. No I/O."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from packaging.version import Version

from pins.release import Release
from pins.sources.index_file import FileKind, IndexFile
from pins.sources.target import Installer, Target

_UV_SDISTS = (".tar.gz", ".zip")
_TOO_NEW = "was uploaded on"


def releases_of(
    files: Iterable[IndexFile], target: Target | None = None, before: datetime | None = None
) -> tuple[Release, ...]:
    """The releases that these files make up, ascending by version.

    A release without a usable file is among them; it says why in `unusable`.

    Args:
        files: of one project, from one or more indexes.
        target: what wheels and Requires-Python must fit; None takes every file.
        before: files uploaded later are not usable. Where an upload time is unknown, the file is.
    """
    by_version: dict[Version, list[IndexFile]] = {}
    for file in files:
        by_version.setdefault(file.version, []).append(file)
    return tuple(release_of(by_version[version], target, before)[0] for version in sorted(by_version))


def release_of(
    files: Sequence[IndexFile], target: Target | None = None, before: datetime | None = None
) -> tuple[Release, list[int]]:
    """The release that files of one version make up, and the places of those that count; as `releases_of` has it.

    Files of one version from several places are one release: where one place tells that it came after `before`, the
    files of another that tells no times, a copy of the first, are no older.
    """
    reasons = [why_unusable(file, target, before) for file in files]
    dated = [reason for file, reason in zip(files, reasons, strict=True) if file.upload_time is not None]
    if dated and all(reason.startswith(_TOO_NEW) for reason in dated):
        reasons = [reason if file.upload_time else dated[0] for file, reason in zip(files, reasons, strict=True)]
    usable = [file for file, reason in zip(files, reasons, strict=True) if not reason]
    places = [place for place, reason in enumerate(reasons) if not reason or not usable]
    shown = [files[place] for place in places]
    times = [file.upload_time for file in shown if file.upload_time is not None]
    release = Release(
        version=files[0].version,  # spellings of one version are equal ("1.0", "1.0.0"): that which comes first
        upload_time=min(times, default=None),
        yanked=all(file.yanked for file in shown),
        yanked_reason=next((file.yanked_reason for file in shown if file.yanked_reason), ""),
        has_wheel=any(file.kind is FileKind.WHEEL for file in usable),
        has_sdist=any(file.kind is FileKind.SDIST for file in usable),
        unusable="" if usable else _together(files, reasons, target),
    )
    return release, places


def is_too_new(release: Release) -> bool:
    """Whether a release is unusable because it came after the time as of which the index is read."""
    return release.unusable.startswith(_TOO_NEW)


def names_its_file(release: Release) -> bool:
    """Whether the reason for which a release is unusable holds of it alone, since it names a file."""
    return release.unusable.startswith("has a source")


def why_unusable(file: IndexFile, target: Target | None, before: datetime | None = None) -> str:
    """Why a file cannot be used, as a phrase that follows the release's name; "" where it can."""
    if before is not None and file.upload_time is not None and file.upload_time >= before:
        return f"{_TOO_NEW} {file.upload_time:%Y-%m-%d %H:%M} UTC, after the index is read"
    if target is None:
        return ""
    if not target.takes_python_requirement(file.requires_python):
        return f"needs Python {file.requires_python}"
    if file.kind is FileKind.WHEEL and not target.takes_wheel(file.tags):
        return "has a wheel for another platform"
    if file.kind is FileKind.SDIST and target.installer is Installer.UV and not file.filename.endswith(_UV_SDISTS):
        return f"has a source distribution that uv does not take ({file.filename})"
    return ""


def _together(files: Sequence[IndexFile], reasons: Sequence[str], target: Target | None) -> str:
    """One reason for a release from those of its files: the one that says most."""
    for start in (_TOO_NEW, "needs Python", "has a source"):
        found = [reason for reason in reasons if reason.startswith(start)]
        if found:
            return found[0]
    pythons = sorted({tag.interpreter for file in files for tag in file.tags}, key=lambda name: (len(name), name))
    platforms = sorted({tag.platform for file in files for tag in file.tags})
    here = target.description if target and target.description else "this Python and platform"
    return f"has no wheel for {here} (only for {_some(pythons)} on {_some(platforms)}) and no source distribution"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
