"""Trouble with files of an index: each ends in a message or an unknown, never in wrong requirements."""

import io
import random
import struct
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pins.errors import SourceError
from pins.metadata.core_metadata import NotMetadataError
from pins.metadata.index_requirements import IndexRequirements
from pins.metadata.sdist import files_of_sdist
from pins.metadata.wheel import RangeFile, metadata_in_wheel
from pins.sources.http_reader import Patience
from pins.sources.index_configuration import read_index_configuration
from pins.sources.metadata_cache import MetadataCache
from pins.sources.package_index import PackageIndex
from pins.sources.page_reader import PageReader
from pins.sources.target import target_of
from tests.local_archives import core_metadata
from tests.local_index import LocalIndex
from tests.local_pages import ServedFile

HERE = target_of(Path(sys.executable))
QUICK = Patience(tries=2, connect=2, read=0.3, page=1, largest=200_000)
LATE = datetime(2024, 1, 1, tzinfo=UTC)
WHEEL = "spam-1.0-py3-none-any.whl"


@pytest.fixture
def source(local_index: LocalIndex) -> Iterator[IndexRequirements]:
    configuration = read_index_configuration(local_index.url, environment={"HOME": "/nowhere"}, directory=Path("/"))
    reader = PageReader(configuration, patience=QUICK, sleep=lambda _: None)
    with PackageIndex(configuration, HERE, reader=reader) as index:
        yield IndexRequirements(index, threads=2)


def unknown(source: IndexRequirements) -> str:
    found = source.requires([("spam", "1.0")])["spam", "1.0"]
    assert found.lines == ()
    return found.unknown


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return buffer.getvalue()


def served(local_index: LocalIndex, content: bytes) -> None:
    local_index.add_file(ServedFile("spam", WHEEL, content))


def test_metadata_that_redirects_in_a_loop(local_index: LocalIndex, source: IndexRequirements) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    source.choices(["spam"])
    local_index.fail_with(302, headers={"Location": "/files/again"})
    assert "redirects in a loop" in unknown(source)


def test_metadata_that_comes_too_slowly(local_index: LocalIndex, source: IndexRequirements) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    source.choices(["spam"])
    local_index.delay(1)
    assert "sent nothing for 0.3 s" in unknown(source)


def test_metadata_that_is_larger_than_any(local_index: LocalIndex, source: IndexRequirements) -> None:
    beside = core_metadata("spam", "1.0", ["eggs"]) + b"\n" + b"x" * (9 * 2**20)
    local_index.add_file(ServedFile("spam", WHEEL, b"", metadata=beside))
    assert "larger than 8 MiB" in unknown(source)


def test_metadata_that_asks_for_a_password(local_index: LocalIndex, source: IndexRequirements) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    source.choices(["spam"])
    local_index.credentials("me", "secret")
    assert "401" in unknown(source)


def test_a_connection_that_is_cut(local_index: LocalIndex, source: IndexRequirements) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    source.choices(["spam"])
    local_index.hang_up()
    assert "could not be read" in unknown(source)


def test_pages_of_the_wrong_type_or_size_are_errors(local_index: LocalIndex, source: IndexRequirements) -> None:
    local_index.add("spam", "1.0")
    local_index.garbage(b"\x89PNG", "image/png")
    with pytest.raises(SourceError, match="image/png"):
        source.choices(["spam"])
    local_index.garbage(b"x" * 1_000_000)
    with pytest.raises(SourceError, match="larger than"):
        source.choices(["spam"])
    local_index.recover()
    assert len(source.choices(["spam"])["spam"].choices) == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (archive(**{"spam-1.0.dist-info/METADATA": b"\0" * (9 * 2**20)}), "larger than any"),
        (archive(**{"../spam-1.0.dist-info/METADATA": core_metadata("spam", "1.0", ["eggs"])}), "no metadata"),
        (archive(**{"x/spam-1.0.dist-info/METADATA": core_metadata("spam", "1.0", ["eggs"])}), "no metadata"),
        (archive(**{"spam-2.0.dist-info/METADATA": core_metadata("spam", "2.0", ["eggs"])}), "another version"),
        (
            archive(
                **{
                    "Spam-1.0.dist-info/METADATA": core_metadata("spam", "1.0"),
                    "SPAM-1.0.dist-info/METADATA": core_metadata("spam", "1.0", ["eggs"]),
                }
            ),
            "several versions",
        ),
        (archive(**{"spam-1.0.dist-info/METADATA": core_metadata("spam", "1.0")})[:-30], "no archive"),
    ],
    ids=["a bomb", "outside", "below", "another version", "two of them", "cut off"],
)
def test_wheels_that_lie(local_index: LocalIndex, source: IndexRequirements, content: bytes, reason: str) -> None:
    served(local_index, content)
    assert reason in unknown(source)


def test_a_wheel_whose_contents_are_damaged(local_index: LocalIndex, source: IndexRequirements) -> None:
    whole = archive(**{"spam-1.0.dist-info/METADATA": core_metadata("spam", "1.0", ["eggs" * 200])})
    served(local_index, whole[:60] + b"\xff" * 8 + whole[68:])
    assert "no archive that can be read" in unknown(source)


def test_a_table_of_contents_that_claims_to_be_huge() -> None:
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 0xF0000000, 0, 0)
    asked: list[tuple[int, int]] = []

    def fetch(start: int, stop: int) -> bytes:
        asked.append((start, stop))
        return b"\0" * (stop - start)

    file = RangeFile(2**33, end.rjust(1000, b"\0"), fetch)
    with pytest.raises(NotMetadataError):
        metadata_in_wheel(file, WHEEL)
    assert sum(stop - start for start, stop in asked) < 2**20


def sdist(*members: tuple[str, bytes, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as made:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.size = kind, len(content)
            made.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def test_only_plain_files_at_the_top_of_an_sdist_are_read() -> None:
    info = core_metadata("spam", "1.0", ["eggs"])
    assert files_of_sdist(sdist(("spam-1.0/PKG-INFO", tarfile.REGTYPE, info)), "spam-1.0.tar.gz") == {"PKG-INFO": info}
    link = tarfile.TarInfo("spam-1.0/PKG-INFO")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as made:
        made.addfile(link)
    assert files_of_sdist(buffer.getvalue(), "spam-1.0.tar.gz") == {}
    for name in ("PKG-INFO", "spam-1.0/src/PKG-INFO"):
        assert files_of_sdist(sdist((name, tarfile.REGTYPE, info)), "spam-1.0.tar.gz") == {}


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b" + b"\0" * 50, b"PK\3\4junk"])
@pytest.mark.parametrize("name", ["spam-1.0.tar.gz", "spam-1.0.zip"])
def test_broken_sdists(local_index: LocalIndex, source: IndexRequirements, content: bytes, name: str) -> None:
    local_index.add_file(ServedFile("spam", name, content, upload_time=LATE))
    assert unknown(source).startswith(name)


def test_a_cache_that_is_no_database_or_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"not a database at all, but long enough to be looked at" * 30)
    cache = MetadataCache(broken)
    assert cache.get(["a"]) == {}
    cache.put({"a": "1"}, now)
    assert MetadataCache(broken).get(["a", "b"]) == {"a": "1"}
    assert MetadataCache(broken).get(["a"], since=datetime(2999, 1, 1, tzinfo=UTC)) == {}
    (tmp_path / "file").write_text("")
    nowhere = MetadataCache(tmp_path / "file" / "x.sqlite")
    nowhere.put({"a": "1"}, now)
    assert nowhere.get(["a"]) == {}


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_cache_gives_nothing_else_than_was_put_in_and_mends(tmp_path: Path, seed: int) -> None:
    now, file, draw = datetime.now(UTC), tmp_path / "kept.sqlite", random.Random(seed)
    entries = {f"key {i}": f'["spam>={i}"]' * 40 for i in range(300)}
    whole = MetadataCache(file)
    whole.put(entries, now)
    whole.close()
    content = bytearray(file.read_bytes())
    for _ in range(1 + 20 * seed):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    file.write_bytes(content)
    damaged = MetadataCache(file)
    found = damaged.get(entries)
    assert found.items() <= entries.items()
    for _ in range(2):  # the first may find that it has to begin anew
        damaged.put({"new": "2"}, now)
    damaged.close()
    again = MetadataCache(file)
    again.put(entries, now)
    again.put(entries, now)
    assert len(again.get(entries)) > 200
