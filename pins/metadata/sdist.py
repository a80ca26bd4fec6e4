"""The metadata of a source distribution, as far as it can be known without building it."""

import io
import tarfile
import tomllib
import zipfile
import zlib
from collections.abc import Mapping

from pins.metadata.archive_errors import ARCHIVE_ERRORS
from pins.metadata.core_metadata import MADE_BY_BUILD, CoreMetadata, NotMetadataError, parse_core_metadata

_LARGEST_MEMBER = 8 * 2**20
_WANTED = ("PKG-INFO", "pyproject.toml")


def files_of_sdist(content: bytes, filename: str) -> dict[str, bytes]:
    """PKG-INFO and pyproject.toml at the top of a source distribution, as far as its beginning holds them.

    Args:
        content: of the archive; of a tar archive, the beginning will do.
        filename: its name, which says what sort of archive it is.

    Raises:
        NotMetadataError: it is no archive.
    """
    if filename.endswith(".zip"):
        return _of_zip(content)
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r|*") as archive:
            for member in archive:
                name = _top_level(member.name)
                if name in _WANTED and member.isreg() and member.size <= _LARGEST_MEMBER:
                    file = archive.extractfile(member)
                    found[name] = file.read() if file else b""
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError) as error:
        if not found:
            raise NotMetadataError(f"is no archive that can be read ({str(error)[:100]})") from error
    return found


def _of_zip(content: bytes) -> dict[str, bytes]:
    found = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.infolist():
                name = _top_level(entry.filename)
                if name in _WANTED and entry.file_size <= _LARGEST_MEMBER:
                    found[name] = archive.read(entry)
    except ARCHIVE_ERRORS as error:
        raise NotMetadataError(f"is no archive that can be read ({str(error)[:100]})") from error
    return found


def _top_level(path: str) -> str:
    parts = path.removeprefix("./").split("/")
    return parts[1] if len(parts) == 2 else ""


def metadata_of_sdist(files: Mapping[str, bytes]) -> tuple[CoreMetadata, str]:
    """What a source distribution says, and why its requirements are not known ("" where they are).

    They are where its PKG-INFO follows version 2.2 of the format and does not call them dynamic (PEP 643), or where
    its pyproject.toml declares them (PEP 621) and does not call them dynamic.

    Raises:
        NotMetadataError: it has no PKG-INFO that can be read.
    """
    if "PKG-INFO" not in files:
        raise NotMetadataError("has no PKG-INFO")
    metadata = parse_core_metadata(files["PKG-INFO"])
    if metadata.metadata_version >= (2, 2) and "requires-dist" not in metadata.dynamic:
        return metadata, ""
    declared = _declared(files.get("pyproject.toml", b""))
    if declared is None:
        return metadata, MADE_BY_BUILD
    return CoreMetadata(
        name=metadata.name,
        version=metadata.version,
        requires=declared,
        requires_python=metadata.requires_python,
        extras=metadata.extras,
        metadata_version=metadata.metadata_version,
    ), ""


def _declared(content: bytes) -> tuple[str, ...] | None:
    """Requirements as a [project] table declares them, extras as markers; None where it leaves them to the build."""
    from pins.metadata.pyproject import project_requirements

    try:
        table = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    return project_requirements(table)
