"""What a virtual environment holds: its distributions, and a digest of their files."""

import csv
import hashlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from packaging.utils import canonicalize_name

_NOTES = {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_build.json", "uv_cache.json"}
"""Files of a `.dist-info` that say how it was installed, not what it is."""


def installed_distributions(venv: Path) -> tuple[tuple[str, str], ...]:
    """Name and version of every distribution installed in a virtual environment, by name."""
    return tuple(sorted(_name_and_version(entry) for entry in _dist_infos(venv)))


def content_identity(venv: Path) -> str:
    """A digest over all installed files, as the distributions' own records list them.

    Byte code is left out, and so are the start scripts in `bin`, whose first line names the environment itself. A file
    without a hash in its record is read.
    """
    digest = hashlib.sha256()
    for entry in sorted(_dist_infos(venv), key=lambda path: path.name.lower()):
        digest.update(f"{' '.join(_name_and_version(entry))}\n".encode())
        for line in sorted(_record_lines(entry)):
            digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()


def changed_links(venv: Path, since: int) -> tuple[Path, ...]:
    """Installed files that are links to a file elsewhere, and were written to after a time.

    Args:
        venv: the environment.
        since: nanoseconds since the epoch.
    """
    return tuple(path for site in _sites(venv) for path in _links_written_after(site, since))


def _links_written_after(directory: str | Path, limit: int) -> Iterator[Path]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _links_written_after(entry.path, limit)
            elif not entry.is_symlink():
                status = entry.stat(follow_symlinks=False)
                if status.st_nlink > 1 and status.st_mtime_ns > limit:
                    yield Path(entry.path)


def owners_of(venv: Path, files: Collection[Path]) -> tuple[str, ...]:
    """The names of the distributions that have recorded these files."""
    owners = set()
    for entry in _dist_infos(venv):
        recorded = {line.rpartition(" ")[0] for line in _record_lines(entry, hashed=False)}
        if any(str(file.relative_to(entry.parent)) in recorded for file in files if file.is_relative_to(entry.parent)):
            owners.add(_name_and_version(entry)[0])
    return tuple(sorted(owners))


def _sites(venv: Path) -> list[Path]:
    return sorted({path.resolve() for path in venv.glob("lib*/python*/site-packages")})


def _dist_infos(venv: Path) -> Iterator[Path]:
    for site in _sites(venv):
        with os.scandir(site) as entries:
            for entry in entries:
                if entry.name.endswith(".dist-info") and entry.is_dir():
                    yield Path(entry.path)


def _name_and_version(dist_info: Path) -> tuple[str, str]:
    name, _, version = dist_info.name.removesuffix(".dist-info").rpartition("-")
    return canonicalize_name(name), version


def _record_lines(dist_info: Path, *, hashed: bool = True) -> Iterator[str]:
    try:
        text = (dist_info / "RECORD").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    for row in csv.reader(text.splitlines()):
        path = row[0] if row else ""
        if not path or path.endswith(".pyc") or "__pycache__" in path:
            continue
        if path.startswith(f"{dist_info.name}/") and path.rpartition("/")[2] in _NOTES:
            continue
        recorded = row[1] if len(row) > 1 else ""
        if path.startswith("../"):
            recorded = "script" if "/bin/" in path else recorded
        yield f"{path} {recorded or (_hash_of(dist_info.parent / path) if hashed else '')}\n"


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "missing"
