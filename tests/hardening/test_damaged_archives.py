"""Wheels and source distributions with any byte changed, or cut off anywhere: read, or said to be no archive."""

import io
import random
import tarfile
import zipfile
from contextlib import suppress

import pytest

from pins.metadata.core_metadata import NotMetadataError
from pins.metadata.sdist import files_of_sdist, metadata_of_sdist
from pins.metadata.wheel import metadata_in_wheel

METADATA = b"Metadata-Version: 2.2\nName: foo\nVersion: 1.0\nRequires-Dist: bar>1\n"
WAYS = {
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
    "stored": zipfile.ZIP_STORED,
}


def zipped(name: str, way: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", way) as archive:
        archive.writestr(name, METADATA * 20)
        archive.writestr("f\u00fc", b"x")  # marks its name as UTF-8
    return content.getvalue()


def tarred(name: str, way: str) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=f"w:{way}") as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo(name)
        member.size = len(METADATA)
        archive.addfile(member, io.BytesIO(METADATA))
    return content.getvalue()


def damaged(content: bytes, times: int) -> list[bytes]:
    chance = random.Random(1)
    found = [content[: chance.randrange(len(content))] for _ in range(times // 4)]
    for _ in range(times):
        changed = bytearray(content)
        for _ in range(chance.choice([1, 1, 3])):
            changed[chance.randrange(len(changed))] = chance.choice([0, 0xFF, chance.randrange(256)])
        found.append(bytes(changed))
    return found


@pytest.mark.parametrize("way", WAYS)
def test_damaged_zip_archives(way: str) -> None:
    for content in damaged(zipped("foo-1.0.dist-info/METADATA", WAYS[way]), 300):
        with suppress(NotMetadataError):
            metadata_in_wheel(io.BytesIO(content), "foo-1.0-py3-none-any.whl")  # type: ignore[arg-type]
    for content in damaged(zipped("foo-1.0/PKG-INFO", WAYS[way]), 300):
        with suppress(NotMetadataError):
            metadata_of_sdist(files_of_sdist(content, "foo-1.0.zip"))


@pytest.mark.parametrize("way", ["gz", "bz2", "xz", ""])
def test_damaged_tar_archives(way: str) -> None:
    for content in damaged(tarred("foo-1.0/PKG-INFO", way), 300):
        with suppress(NotMetadataError):
            metadata_of_sdist(files_of_sdist(content, f"foo-1.0.tar.{way}"))
