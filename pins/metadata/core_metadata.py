"""The metadata of one distribution: the METADATA of a wheel, the PKG-INFO of a source distribution. No I/O.

The format is that of https://packaging.python.org/specifications/core-metadata: fields as in a mail's header, then a
description. Only fields that matter here are read, by a scan of lines: an email parser takes 14 times as long.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_FIELD = re.compile(r"([!-9;-~]+):[ \t]*(.*)", re.DOTALL)
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LINE_END = re.compile(r"\r\n|\r|\n")
_MULTIPLE = ("requires-dist", "provides-extra", "dynamic")
MADE_BY_BUILD = "its requirements are made by its build (dynamic), which is not run"
"""Why it is not known what a source distribution requires."""
_SINGLE = ("metadata-version", "name", "version", "requires-python")


class NotMetadataError(ValueError):
    """What was read is not the metadata that was asked for; the message says what is wrong, as a phrase."""


@dataclass(frozen=True)
class CoreMetadata:
    """What a distribution says of itself.

    Attributes:
        name: as the author wrote it.
        version: as the author wrote it.
        requires: the Requires-Dist lines, such as 'numpy>=1.20; extra == "test"'.
        requires_python: the specifier, "" for none.
        extras: as the author wrote them.
        dynamic: names of fields, in lower case, that a build may still change (of a source distribution only).
        metadata_version: such as (2, 2): from there on, a source distribution's fields hold unless `dynamic`.
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()
    requires_python: str = ""
    extras: tuple[str, ...] = ()
    dynamic: frozenset[str] = frozenset()
    metadata_version: tuple[int, ...] = (2, 1)


def parse_core_metadata(content: bytes) -> CoreMetadata:
    """The fields of a METADATA or PKG-INFO file.

    Raises:
        NotMetadataError: it is none.
    """
    blank = _BLANK_LINE.search(content)
    header = (content[: blank.start() + 1] if blank else content).decode("utf-8", errors="replace")
    single: dict[str, str] = {}
    multiple: dict[str, list[str]] = {field: [] for field in _MULTIPLE}
    for name, value in _fields(header.removeprefix("\ufeff")):
        if name in multiple:
            multiple[name].append(value)
        elif name in _SINGLE:
            single.setdefault(name, value)
    if not re.fullmatch(r"\d+(\.\d+)*", single.get("metadata-version", "")):
        raise NotMetadataError("has no Metadata-Version")
    for field in ("name", "version"):
        if not single.get(field):
            raise NotMetadataError(f"has no {field.title()}")
    return CoreMetadata(
        name=single["name"],
        version=single["version"],
        requires=tuple(multiple["requires-dist"]),
        requires_python=single.get("requires-python", ""),
        extras=tuple(multiple["provides-extra"]),
        dynamic=frozenset(field.lower() for field in multiple["dynamic"]),
        metadata_version=tuple(map(int, single["metadata-version"].split("."))),
    )


def _fields(header: str) -> list[tuple[str, str]]:
    """Names, in lower case, and values, as a mail's header has them: up to the first line that belongs to none."""
    found: list[tuple[str, str]] = []
    for line in _LINE_END.split(header):
        if line[:1] in (" ", "\t"):
            if found:
                name, value = found[-1]
                found[-1] = (name, f"{value} {line.strip()}".strip())
            continue
        match = _FIELD.match(line)
        if match is None:
            break
        found.append((match[1].lower(), match[2].strip()))
    return found


def check_identity(metadata: CoreMetadata, project: str, version: Version) -> None:
    """Check that metadata speaks of a project's version and of no other.

    Raises:
        NotMetadataError: it does not.
    """
    if canonicalize_name(metadata.name) != canonicalize_name(project):
        raise NotMetadataError(f"names another project, {metadata.name[:80]!r}")
    try:
        same = Version(metadata.version) == version
    except InvalidVersion:
        same = False
    # A build may have added a local version to the file's name; that it is another release it may not.
    if not same and not (version.local and metadata.version == version.public):
        raise NotMetadataError(f"names another version, {metadata.version[:80]!r}")


def unreadable_requirement(metadata: CoreMetadata) -> str:
    """The first requirement that is not as PEP 508 has it, "" where all are."""
    return next((line for line in metadata.requires if not is_requirement(line)), "")


@lru_cache(maxsize=65536)
def is_requirement(line: str) -> bool:
    """Whether a line is a requirement of PEP 508; most lines are seen many times."""
    try:
        Requirement(line)
    except InvalidRequirement:
        return False
    return True
