"""One file of a project, as an index lists it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache

from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version


class FileKind(StrEnum):
    """What sort of file installs a project; eggs and installers of old are none."""

    WHEEL = "wheel"
    SDIST = "sdist"


@dataclass(frozen=True)
class IndexFile:
    """One file of a project.

    Attributes:
        filename: as the index spells it.
        url: where it is, absolute; without credentials of ours.
        version: the release that it belongs to.
        kind: wheel or source distribution.
        tags: a wheel's tags, empty for a source distribution.
        requires_python: the specifier as the index gives it, "" for none.
        yanked, yanked_reason: whether it was withdrawn, and why where that is said.
        upload_time: aware; None where the index does not say.
        hashes: (algorithm, hex digest).
        metadata: whether the index serves its metadata at `url + ".metadata"`.
        metadata_hash: SHA-256 of the metadata as the index gives it, "" where it does not.
        size: bytes, None where the index does not say.
    """

    filename: str
    url: str
    version: Version
    kind: FileKind
    tags: frozenset[Tag] = frozenset()
    requires_python: str = ""
    yanked: bool = False
    yanked_reason: str = ""
    upload_time: datetime | None = None
    hashes: tuple[tuple[str, str], ...] = ()
    metadata: bool = False
    metadata_hash: str = ""
    size: int | None = None


@lru_cache(maxsize=16384)
def version_of(text: str) -> Version | None:
    """A version, None for what is none; projects have many in common."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


@lru_cache(maxsize=4096)
def tags_of(text: str) -> frozenset[Tag]:
    """A wheel's tags, of the part of its name that holds them; pages repeat the same few for every release."""
    try:
        return parse_wheel_filename(f"name-1-{text}.whl")[3]
    except InvalidWheelFilename:
        return frozenset()


def moment_of(text: object) -> datetime | None:
    """A time as pages have it; None for what is none."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
