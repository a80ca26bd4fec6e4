"""What a virtual environment holds: its distributions, and a digest of their files."""

import csv
import hashlib
import os
from collections.abc import Iterator
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


def _dist_infos(venv: Path) -> Iterator[Path]:
    for site in sorted({path.resolve() for path in venv.glob("lib*/python*/site-packages")}):
        with os.scandir(site) as entries:
            for entry in entries:
                if entry.name.endswith(".dist-info") and entry.is_dir():
                    yield Path(entry.path)


def _name_and_version(dist_info: Path) -> tuple[str, str]:
    name, _, version = dist_info.name.removesuffix(".dist-info").rpartition("-")
    return canonicalize_name(name), version


def _record_lines(dist_info: Path) -> Iterator[str]:
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
        yield f"{path} {recorded or _hash_of(dist_info.parent / path)}\n"


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "missing"
