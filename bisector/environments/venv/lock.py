"""What uv has resolved: read from the lock file that it writes (PEP 751), and turned into lines to install."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from packaging.utils import canonicalize_name

from pins.errors import EnvironmentFailureError
from pins.sources.redaction import redact


@dataclass(frozen=True)
class LockedPackage:
    """One distribution that will be installed.

    Attributes:
        name: canonical.
        version: "" where only a build can tell.
        line: the requirement that installs exactly this, free of credentials.
        hashes: of the file that is taken, "sha256:...".
        built: it has no wheel that fits, so it is built from source.
        identity: all that its source is: version and file hashes, commit, or directory.
    """

    name: str
    version: str
    line: str
    hashes: tuple[str, ...]
    built: bool
    identity: str

    @property
    def requirement(self) -> str:
        """The line with its hashes, as an installer reads it."""
        return " ".join([self.line, *(f"--hash={value}" for value in self.hashes)])


def read_lock(text: str, directory: Path) -> tuple[LockedPackage, ...]:
    """The packages of a lock file, by name.

    Args:
        text: the file's text.
        directory: where the file lies; paths in it are relative to that.

    Raises:
        EnvironmentFailureError: it is not what is expected of uv.
    """
    try:
        packages = [_package(entry, directory) for entry in tomllib.loads(text).get("packages", [])]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise EnvironmentFailureError(f"uv wrote a lock file that bisector cannot read: {error!r}") from error
    return tuple(sorted(packages, key=lambda package: package.name))


def _package(entry: Mapping[str, Any], directory: Path) -> LockedPackage:
    name = canonicalize_name(str(entry["name"]))
    version = str(entry.get("version", ""))
    if "vcs" in entry:
        source = cast("Mapping[str, str]", entry["vcs"])
        subdirectory = f"#subdirectory={source['subdirectory']}" if source.get("subdirectory") else ""
        place = source.get("url") or (directory / source["path"]).resolve().as_uri()
        url = redact(f"{source['type']}+{place}@{source['commit-id']}{subdirectory}", ())
        return LockedPackage(name, version, f"{name} @ {url}", (), True, f"{version} {url}")
    if "archive" in entry:
        archive = cast("Mapping[str, Any]", entry["archive"])
        subdirectory = f"#subdirectory={archive['subdirectory']}" if archive.get("subdirectory") else ""
        url = redact(str(archive.get("url") or (directory / archive["path"]).resolve().as_uri()) + subdirectory, ())
        hashes = _hashes(archive)
        built = not url.partition("#")[0].endswith(".whl")
        return LockedPackage(name, version, f"{name} @ {url}", hashes, built, f"{version} {url} {hashes}")
    if "directory" in entry:
        tree = cast("Mapping[str, Any]", entry["directory"])
        path = Path(os.path.normpath(directory / tree["path"] / tree.get("subdirectory", "")))
        line = f"{name} @ {path.as_uri()}"
        return LockedPackage(name, version, line, (), True, f"{version} {line}")
    files = list(entry.get("wheels", ())) or [entry["sdist"]]
    hashes = tuple(value for file in files for value in _hashes(file))
    known = hashes or tuple(str(file.get("url") or file.get("path")) for file in files)
    return LockedPackage(
        name, version, f"{name}=={version}", hashes, "wheels" not in entry, f"{version} {' '.join(sorted(known))}"
    )


def _hashes(file: Mapping[str, Any]) -> tuple[str, ...]:
    hashes = cast("Mapping[str, str]", file.get("hashes", {}))
    return (f"sha256:{hashes['sha256']}",) if "sha256" in hashes else ()


def installation_order(packages: Sequence[LockedPackage], asked_for: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """In which order packages are installed where builds see the environment itself (no build isolation).

    First all that needs no build; then what is built, one by one: what nobody asked for by name, since others may
    need it, then what was asked for, in that order.

    Args:
        packages: what was resolved.
        asked_for: names in the order in which the user gave them, the pins last.

    Returns:
        The names of each phase.
    """
    place = {name: number for number, name in enumerate(asked_for)}
    ready = tuple(package.name for package in packages if not package.built)
    built = sorted((package.name for package in packages if package.built), key=lambda name: place.get(name, -1))
    return ((ready,) if ready else ()) + tuple((name,) for name in built)
