import io
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pins.errors import SourceError
from pins.metadata.index_requirements import IndexRequirements
from pins.resolve.problem import Requires
from pins.sources.http_reader import Patience
from pins.sources.index_configuration import read_index_configuration
from pins.sources.metadata_cache import MetadataCache
from pins.sources.package_index import PackageIndex
from pins.sources.page_cache import PageCache
from pins.sources.page_reader import PageReader
from pins.sources.target import target_of
from tests.local_archives import core_metadata, make_wheel
from tests.local_index import LocalIndex
from tests.local_pages import JSON_TYPE, ServedFile

HERE = target_of(Path(sys.executable))
QUICK = Patience(tries=3, connect=2, read=0.3, page=1, largest=200_000)
LATE = datetime(2024, 1, 1, tzinfo=UTC)


@contextmanager
def opened(url: str, directory: Path | None = None, *, offline: bool = False) -> Iterator[IndexRequirements]:
    configuration = read_index_configuration(url, environment={"HOME": "/nowhere"}, directory=Path("/"))
    pages = PageCache(directory / "pages") if directory else None
    reader = PageReader(configuration, cache=pages, patience=QUICK, sleep=lambda _: None, offline=offline)
    cache = MetadataCache(directory / "metadata.sqlite") if directory else None
    with PackageIndex(configuration, HERE, reader=reader) as index:
        yield IndexRequirements(index, cache=cache, threads=4)


def required(url: str, version: str = "1.0", directory: Path | None = None, *, offline: bool = False) -> Requires:
    with opened(url, directory, offline=offline) as source:
        return source.requires([("spam", version)])["spam", version]


def wheel_requests(index: LocalIndex) -> list[tuple[str, str, int]]:
    return [
        (one.path.rpartition("/")[2], one.headers.get("Range", ""), one.status)
        for one in index.requests
        if ".whl" in one.path
    ]


def test_choices_are_all_releases_with_what_keeps_them_from_being_used(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.10")
    local_index.add("spam", "1.9", yanked="x")
    local_index.add("spam", "2.0rc1", requires_python=">=4")
    with opened(local_index.url) as source:
        found = source.choices(["spam", "nothing"])
    assert [(one.label, one.yanked, one.unusable) for one in found["spam"].choices] == [
        ("1.9", True, ""),
        ("1.10", False, ""),
        ("2.0rc1", False, "needs Python >=4"),
    ]
    assert found["nothing"].choices == ()
    assert "no index has a project nothing" in found["nothing"].missing
    assert local_index.url in found["nothing"].missing


def test_advertised_metadata_is_read_and_the_wheel_is_not(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", requires=["eggs>=1", 'ham; extra == "x"'])
    assert required(local_index.url) == Requires(("eggs>=1", 'ham; extra == "x"'))
    assert wheel_requests(local_index) == [("spam-1.0-py3-none-any.whl.metadata", "", 200)]


def test_metadata_that_is_not_advertised_is_tried(local_index: LocalIndex) -> None:
    name, content = make_wheel("spam", "1.0", requires=["eggs>=1"])
    local_index.add_file(ServedFile("spam", name, content))
    beside = core_metadata("spam", "1.0", ["eggs>=1"])
    local_index.add_file(ServedFile("else", f"{name}.metadata", beside))
    assert required(local_index.url).lines == ("eggs>=1",)
    assert wheel_requests(local_index) == [(f"{name}.metadata", "", 200)]


def large_wheel(entries: int, *, junk: int) -> bytes:
    """A wheel whose table of contents and metadata both lie far from its end."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("spam-1.0.dist-info/METADATA", core_metadata("spam", "1.0", ["eggs>=1"]))
        archive.writestr("spam/junk.bin", b"\0" * junk)
        for number in range(entries):
            archive.writestr(f"spam/a_long_name_that_fills_the_table_of_contents_{number}.py", b"")
    return buffer.getvalue()


def test_a_wheel_without_metadata_beside_it_is_read_in_parts_never_whole(local_index: LocalIndex) -> None:
    content = large_wheel(3000, junk=3_000_000)
    local_index.add_file(ServedFile("spam", "spam-1.0-py3-none-any.whl", content))
    assert required(local_index.url).lines == ("eggs>=1",)
    first, *parts = wheel_requests(local_index)
    assert first == ("spam-1.0-py3-none-any.whl.metadata", "", 404)
    assert all(status == 206 and given for _, given, status in parts)
    assert len(parts) <= 3
    read = sum(
        int(last) - int(start) + 1 for start, last in (bounds(given) for _, given, _ in parts if given[6] != "-")
    )
    assert read < len(content) / 4


def bounds(given: str) -> list[str]:
    return given.removeprefix("bytes=").split("-")


def test_a_server_that_gives_whole_files_only_leaves_it_unknown(local_index: LocalIndex) -> None:
    local_index.ranges = False
    local_index.add_file(ServedFile("spam", "spam-1.0-py3-none-any.whl", large_wheel(10, junk=1000)))
    found = required(local_index.url)
    assert "whole files only" in found.unknown
    assert found.lines == ()


def test_a_host_without_metadata_files_is_not_asked_for_one_each_time(local_index: LocalIndex) -> None:
    for number in range(12):
        name, content = make_wheel("spam", f"1.{number}")
        local_index.add_file(ServedFile("spam", name, content))
    with opened(local_index.url) as source:
        for number in range(12):
            assert not source.requires([("spam", f"1.{number}")])["spam", f"1.{number}"].unknown
    assert sum(name.endswith(".metadata") for name, _, _ in wheel_requests(local_index)) == 4


def test_an_sdist_that_does_not_call_its_requirements_dynamic_is_believed(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", requires=["eggs>=1"], sdist=True, wheel=False, upload_time=LATE)
    local_index.add("spam", "1.1", setup_py="1 / 0", upload_time=LATE)
    assert required(local_index.url) == Requires(("eggs>=1",))
    found = required(local_index.url, "1.1")
    assert "dynamic" in found.unknown


def test_an_sdist_from_before_there_were_static_ones_is_not_even_read(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", sdist=True, wheel=False)
    assert "dynamic" in required(local_index.url).unknown
    assert not [one for one in local_index.requests if "tar.gz" in one.path]


def test_answers_are_kept_and_can_be_had_offline(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs>=1"])
    local_index.add("spam", "1.1", requires=["eggs>=2"])
    assert required(local_index.url, directory=tmp_path).lines == ("eggs>=1",)
    before = len(local_index.requests)
    assert required(local_index.url, directory=tmp_path).lines == ("eggs>=1",)
    assert not [one for one in local_index.requests[before:] if ".whl" in one.path]
    local_index.fail_with(500)
    assert required(local_index.url, directory=tmp_path, offline=True).lines == ("eggs>=1",)
    assert "--offline" in required(local_index.url, "1.1", tmp_path, offline=True).unknown
    with opened(local_index.url, tmp_path, offline=True) as source:
        assert "--offline" in source.choices(["eggs"])["eggs"].unknown


def test_what_was_read_with_credentials_is_not_kept(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs>=1"])
    local_index.credentials("me", "s3cret-word")
    assert required(local_index.url_with("me", "s3cret-word"), directory=tmp_path).lines == ("eggs>=1",)
    assert not (tmp_path / "metadata.sqlite").exists()
    assert not list(tmp_path.glob("pages/*"))


BROKEN: Mapping[str, tuple[bytes, str]] = {
    "html": (b"<!DOCTYPE html><html>hello</html>", "no Metadata-Version"),
    "other project": (core_metadata("ham", "1.0"), "another project"),
    "other version": (core_metadata("spam", "1.1"), "another version"),
    "odd requirement": (core_metadata("spam", "1.0", ["eggs>=1", "ham>=1.*,??"]), "ham>=1.*,??"),
    "binary": (bytes(range(256)) * 10, "no Metadata-Version"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_metadata_is_unknown_and_says_why(local_index: LocalIndex, case: str) -> None:
    content, reason = BROKEN[case]
    name, wheel = make_wheel("spam", "1.0")
    local_index.add_file(ServedFile("spam", name, wheel, metadata=content))
    assert reason in required(local_index.url).unknown


def test_metadata_without_the_advertised_hash_is_unknown(local_index: LocalIndex) -> None:
    name, wheel = make_wheel("spam", "1.0")
    served = ServedFile("spam", name, wheel, metadata=core_metadata("spam", "1.0"))
    local_index.add_file(served)
    with opened(local_index.url) as source:
        source.choices(["spam"])
        local_index.add_file(replace(served, metadata=core_metadata("spam", "1.0", ["changed"])))
        assert "hash" in source.requires([("spam", "1.0")])["spam", "1.0"].unknown


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        b"PK\5\6" + b"\xff" * 18,
        b"\0" * 100_000,
        large_wheel(3, junk=10)[:-30],
        large_wheel(3, junk=10).replace(b"METADATA", b"METADATX"),
        large_wheel(3, junk=10).replace(b"spam-1.0.dist-info", b"ham0-1.0.dist-info"),
    ],
    ids=["empty", "text", "end mark only", "zeros", "cut off", "without metadata", "of another project"],
)
def test_a_broken_wheel_is_unknown(local_index: LocalIndex, content: bytes) -> None:
    local_index.add_file(ServedFile("spam", "spam-1.0-py3-none-any.whl", content))
    found = required(local_index.url)
    assert found.unknown.startswith("spam-1.0-py3-none-any.whl ")


def test_one_file_that_fails_is_unknown_and_a_host_that_fails_is_an_error(local_index: LocalIndex) -> None:
    for number in range(8):
        local_index.add("spam", f"1.{number}", requires=["eggs"])
    with opened(local_index.url) as source:
        source.choices(["spam"])
        local_index.fail_with(500, times=3)
        found = source.requires([("spam", "1.0")])["spam", "1.0"]
        assert "500" in found.unknown
        assert source.requires([("spam", "1.1")])["spam", "1.1"].lines == ("eggs",)
        local_index.fail_with(500)
        with pytest.raises(SourceError, match="could not be read"):
            source.requires([("spam", f"1.{number}") for number in range(2, 8)])


def test_a_failing_page_is_an_error(local_index: LocalIndex) -> None:
    local_index.garbage(b'{"files": [', JSON_TYPE)
    with opened(local_index.url) as source, pytest.raises(SourceError, match="tried 3 times"):
        source.choices(["spam", "eggs"])


def test_file_names_lead_nowhere_else(local_index: LocalIndex) -> None:
    for name in (
        "../../etc/spam-1.0-py3-none-any.whl",
        "spam-1.0-py3-none-any.whl\n",
        "spam-1.0/../x-py3-none-any.whl",
    ):
        local_index.add_file(ServedFile("spam", name, b"x"))
    local_index.add("spam", "1.1")
    with opened(local_index.url) as source:
        assert [one.label for one in source.choices(["spam"])["spam"].choices] == ["1.1"]


def test_an_index_on_this_machine_is_read_too(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs>=1"])
    local_index.write_tree(tmp_path)
    assert required((tmp_path / "simple").as_uri()).lines == ("eggs>=1",)


def test_of_several_wheels_the_one_that_fits_best_counts(local_index: LocalIndex) -> None:
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    local_index.add("spam", "1.0", requires=["general"])
    local_index.add("spam", "1.0", requires=["special"], tag=f"{python}-{python}-manylinux_2_17_x86_64")
    local_index.add("spam", "1.0", requires=["other"], tag="cp27-cp27m-win_amd64")
    assert required(local_index.url).lines == ("special",)


def test_wheels_of_a_release_that_differ_are_named(local_index: LocalIndex) -> None:
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    for version, requires in (("1.0", ["special"]), ("1.1", ["general"])):
        local_index.add("spam", version, requires=["general"])
        local_index.add("spam", version, requires=requires, tag=f"{python}-{python}-manylinux_2_17_x86_64")
    first, second = required(local_index.url), required(local_index.url, "1.1")
    assert first.lines == ("special",)
    assert "differ in what they require; the first counts" in first.note
    assert (second.lines, second.note) == (("general",), "")
    assert sum(name.endswith(".metadata") for name, _, _ in wheel_requests(local_index)) == 3
