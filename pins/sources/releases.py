"""Which releases lie between a good and a bad version: the axis of a pin. No I/O."""

import re
from collections.abc import Sequence

from packaging.version import InvalidVersion, Version

from pins.errors import UsageError
from pins.release import Release
from pins.sources.usable_files import is_too_new


def releases_between(releases: Sequence[Release], good: str, bad: str, *, name: str) -> tuple[Release, ...]:
    """The releases from the good end to the bad end, both included, ascending.

    Yanked releases and pre-releases are left out, unless they are an end; where an end is a pre-release, so are the
    others in. Of several builds of one version (`+cpu`, `+rocm7.2`), those of the ends' kind count. Only releases with
    a usable file count. Neighbours are an axis of one step.

    Args:
        releases: all of them, ascending, as `PackageIndex.releases` gives them.
        good: the version that works; `80.9` finds 80.9.0.
        bad: the version that does not.
        name: of the package, for messages.

    Raises:
        UsageError: an end is no version, is not among the releases or has no usable file; the ends are equal, or the
            good one is newer than the bad one.
    """
    first = _named(name, releases, good)
    last = _named(name, releases, bad)
    if first.version == last.version:
        raise UsageError(f"{name}: the good and the bad version are the same, {first.version}: give two different ones")
    if first.version > last.version:
        raise UsageError(
            f"{name}: the good version {first.version} is newer than the bad version {last.version}: "
            f"write the older one first, {name}={last.version}..{first.version}, if that is what works"
        )
    for end in (first, last):
        _check_usable(name, releases, end)
    with_pre_releases = first.version.is_prerelease or last.version.is_prerelease
    inner = [
        release
        for release in releases
        if first.version < release.version < last.version
        and release.is_usable
        and not release.yanked
        and (with_pre_releases or not release.version.is_prerelease)
    ]
    return (first, *_of_one_flavour(inner, first, last), last)


def _of_one_flavour(inner: Sequence[Release], first: Release, last: Release) -> list[Release]:
    """Those releases that are builds of the same kind as the ends, as their local versions tell.

    `2.13.0`, `2.13.0+cpu` and `2.13.0+rocm7.2` are three builds of one version. Between `+rocm6.4` and `+rocm7.2` only
    other `+rocm` builds are steps. Between two ends without a local version each version is one step: without a local
    version where that exists (installers take `==2.13.0` for all three), else its highest build. Where the ends
    themselves are of different kinds, everything between them is a step.
    """
    flavours = {_flavour(first.version), _flavour(last.version)}
    if len(flavours) > 1:
        return list(inner)
    [flavour] = flavours
    if flavour:
        return [release for release in inner if _flavour(release.version) == flavour]
    chosen: dict[str, Release] = {first.version.public: first, last.version.public: last}
    for release in inner:  # ascending: a version without a local part comes before its local forms
        if release.version.public not in chosen or chosen[release.version.public].version.local:
            chosen[release.version.public] = release
    return [release for release in chosen.values() if release not in (first, last)]


def _flavour(version: Version) -> str:
    """The word that a local version begins with: "rocm" of `+rocm7.2`, "cu" of `+cu126`, "" without one."""
    match = re.match(r"[a-z]*", version.local or "")
    return match[0] or "+" if match and version.local else ""


def release_named(releases: Sequence[Release], text: str, *, name: str) -> Release:
    """The release of this version, in whatever spelling; raises as `releases_between` does of an end."""
    found = _named(name, releases, text)
    _check_usable(name, releases, found)
    return found


def _check_usable(name: str, releases: Sequence[Release], release: Release) -> None:
    if release.is_usable:
        return
    if is_too_new(release):
        uploaded = release.unusable.partition(",")[0]
        raise UsageError(
            f"{name} {release.version} {uploaded}, after the time as of which the index is read; choose a later date"
            " with --exclude-newer, or a version that was there by then"
        )
    raise UsageError(
        f"{name} {release.version} cannot be installed here: it {release.unusable or 'has no usable file'}."
        f"{_usable_neighbours(releases, release)}"
    )


def _named(name: str, releases: Sequence[Release], text: str) -> Release:
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise UsageError(f"{name}: {text!r} is not a version{_examples(releases)}") from error
    for release in releases:
        if release.version == version:
            return release
    raise UsageError(f"{name} has no version {text}. {_neighbours(releases, version)}")


def _neighbours(releases: Sequence[Release], version: Version) -> str:
    """The releases next to a version that does not exist: local forms of it, then those around it."""
    same = [release for release in releases if release.version.public == version.public]
    below = [release for release in releases if release.version < version][-2:]
    above = [release for release in releases if release.version > version][:2]
    near = same or [*below, *above]
    shown = ", ".join(_described(release) for release in near)
    newest = releases[-1].version if releases else None
    return f"The nearest that exist: {shown}; the newest is {newest}." if near else "There are no versions at all."


def _described(release: Release) -> str:
    return f"{release.version} (yanked)" if release.yanked else str(release.version)


def _usable_neighbours(releases: Sequence[Release], end: Release) -> str:
    fit = [one for one in releases if one.is_usable and not one.yanked and not one.version.is_prerelease]
    below = [release for release in fit if release.version < end.version][-1:]
    above = [release for release in fit if release.version > end.version][:1]
    shown = " and ".join(str(release.version) for release in (*below, *above))
    return (
        f" The nearest that can: {shown}; or choose another Python with --python."
        if shown
        else (" No version of it can; choose another Python with --python.")
    )


def _examples(releases: Sequence[Release]) -> str:
    newest = [str(release.version) for release in releases if release.is_usable][-3:]
    return f": versions look like {', '.join(newest)}" if newest else ""
