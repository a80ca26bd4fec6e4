"""What one file of an index says of itself: from the metadata file beside it, or from the file's own end."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from packaging.utils import canonicalize_name

from pins.metadata.core_metadata import (
    MADE_BY_BUILD,
    CoreMetadata,
    NotMetadataError,
    check_identity,
    parse_core_metadata,
    unreadable_requirement,
)
from pins.sources.file_reader import FileReader, UnreadableFileError
from pins.sources.index_file import FileKind, IndexFile

_LARGEST_METADATA = 8 * 2**20
_LARGEST_SDIST = 64 * 2**20
_SDIST_BEGINNING = 128 * 2**10
_STATIC_SDISTS = datetime(2020, 10, 1, tzinfo=UTC)
"""No source distribution before could say that its requirements hold: PEP 643 and PEP 621 were accepted that autumn."""


@dataclass(frozen=True)
class FileMetadata:
    """What a file requires.

    Attributes:
        requires: Requires-Dist lines.
        requires_python: the specifier, "" for none.
        unknown: why `requires` does not tell all, as a phrase; "" where it does.
        lasting: whether the file itself says so, and will say so again: then it can be kept.
    """

    requires: tuple[str, ...] = ()
    requires_python: str = ""
    unknown: str = ""
    lasting: bool = True

    def to_text(self) -> str:
        """As it is kept in a cache."""
        return json.dumps([self.requires, self.requires_python, self.unknown], separators=(",", ":"))


def from_text(text: str) -> FileMetadata | None:
    """What a cache kept, None where that cannot be read."""
    try:
        requires, requires_python, unknown = json.loads(text)
        return FileMetadata(tuple(map(str, requires)), str(requires_python), str(unknown))
    except (ValueError, TypeError):
        return None


def read_file_metadata(file: IndexFile, project: str, reader: FileReader) -> FileMetadata:
    """What a file requires, with as few bytes read as will do; a file that cannot be read is unknown.

    Raises:
        SourceError: its server seems broken.
    """
    try:
        if file.kind is FileKind.SDIST:
            return _of_sdist(file, project, reader)
        return _known(_beside(file, project, reader) or _inside(file, project, reader))
    except NotMetadataError as error:
        return FileMetadata(unknown=f"{file.filename} {error}")
    except (UnreadableFileError, OSError) as error:
        return FileMetadata(unknown=f"{file.filename} could not be read: {error}", lasting=False)


def _known(metadata: CoreMetadata) -> FileMetadata:
    odd = unreadable_requirement(metadata)
    said = f"it requires {odd[:80]!r}, which is no requirement of PEP 508" if odd else ""
    return FileMetadata(metadata.requires, metadata.requires_python, said)


def _beside(file: IndexFile, project: str, reader: FileReader) -> CoreMetadata | None:
    """The metadata file that the index serves beside a wheel, None where there is none."""
    if not file.metadata and not reader.expects_metadata(file.url):
        return None
    content = reader.beside(file.url, advertised=file.metadata, largest=_LARGEST_METADATA)
    if content is None:
        return None
    if file.metadata_hash and hashlib.sha256(content).hexdigest() != file.metadata_hash:
        raise NotMetadataError("has a metadata file without the hash that the index gives for it")
    try:
        return _checked(parse_core_metadata(content), file, project)
    except NotMetadataError:
        if file.metadata:
            raise
        return None  # a page that says in a friendly way that there is nothing


def _inside(file: IndexFile, project: str, reader: FileReader) -> CoreMetadata:
    from pins.metadata.wheel import TAIL, RangeFile, metadata_in_wheel

    size, tail = reader.tail(file.url, TAIL)
    parts = RangeFile(size, tail, lambda start, end: reader.part(file.url, start, end))
    return _checked(parse_core_metadata(metadata_in_wheel(parts, file.filename)), file, project)


def _of_sdist(file: IndexFile, project: str, reader: FileReader) -> FileMetadata:
    from pins.metadata.sdist import files_of_sdist, metadata_of_sdist

    if file.upload_time is not None and file.upload_time < _STATIC_SDISTS:
        return FileMetadata(unknown=MADE_BY_BUILD)
    if file.filename.endswith(".tar.gz") and (file.size or 0) > _SDIST_BEGINNING:
        early = _of_beginning(file, project, reader)
        if early is not None:
            return early
    if (file.size or 0) > _LARGEST_SDIST:
        return FileMetadata(unknown=f"{file.filename} is too large to be looked into")
    content = reader.whole(file.url, largest=_LARGEST_SDIST)
    _check_hash(file, content)
    metadata, unknown = metadata_of_sdist(files_of_sdist(content, file.filename))
    return _sdist_says(_checked(metadata, file, project), unknown)


def _of_beginning(file: IndexFile, project: str, reader: FileReader) -> FileMetadata | None:
    """What the first bytes of a source distribution settle, None where they do not."""
    from pins.metadata.sdist import files_of_sdist, metadata_of_sdist

    try:
        content = reader.part(file.url, 0, _SDIST_BEGINNING)
        files = files_of_sdist(content, file.filename)
        metadata, unknown = metadata_of_sdist(files)
    except (NotMetadataError, UnreadableFileError):
        return None
    if unknown and "pyproject.toml" not in files:
        return None  # it may come later, and settle it
    return _sdist_says(_checked(metadata, file, project), unknown)


def _sdist_says(metadata: CoreMetadata, unknown: str) -> FileMetadata:
    known = _known(metadata)
    return FileMetadata(known.requires, known.requires_python, unknown or known.unknown)


def _checked(metadata: CoreMetadata, file: IndexFile, project: str) -> CoreMetadata:
    check_identity(metadata, canonicalize_name(project), file.version)
    return metadata


def _check_hash(file: IndexFile, content: bytes) -> None:
    expected = dict(file.hashes).get("sha256", "")
    if expected and hashlib.sha256(content).hexdigest() != expected.lower():
        raise NotMetadataError("does not have the hash that the index gives for it")
