import json
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pins.sources.index_page import parse_page
from pins.sources.page_cache import CachedPage, PageCache, cache_directory

PAGE = CachedPage("https://a.test/spam/", "text/html", '"1"', "", datetime(2026, 1, 1, tzinfo=UTC), b"one\ntwo\n\xff")


def test_a_page_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "deep" / "cache")
    assert cache.get("spam") is None
    cache.put("spam", PAGE)
    assert cache.get("spam") == PAGE
    assert (tmp_path / "deep" / "cache").stat().st_mode & 0o077 == 0


def test_a_damaged_page_is_as_good_as_none(tmp_path: Path) -> None:
    cache = PageCache(tmp_path)
    cache.put("spam", PAGE)
    [file] = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:20], b"", b"\n", b"{}\n", b"[]\nx", whole.replace(b"2026", b"2o26")):
        file.write_bytes(damaged)
        assert cache.get("spam") is None


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = PageCache(tmp_path / "file" / "cache")
    cache.put("spam", PAGE)
    assert cache.get("spam") is None


def test_many_writers_leave_one_whole_page(tmp_path: Path) -> None:
    bodies = [bytes([number]) * 200_000 for number in range(8)]

    def write(body: bytes) -> None:
        for _ in range(5):
            PageCache(tmp_path).put("spam", CachedPage(PAGE.url, "", "", "", PAGE.fetched, body))
            found = PageCache(tmp_path).get("spam")
            assert found is not None
            assert found.body in bodies

    threads = [threading.Thread(target=write, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(tmp_path.iterdir())) == 1


def test_old_pages_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pins.sources.page_cache._MOST_PAGES", 100)
    cache = PageCache(tmp_path)
    for number in range(240):
        cache.put(str(number), PAGE)
    assert len(list(tmp_path.iterdir())) <= 150
    assert cache.get("239") == PAGE


def test_the_cache_lies_where_the_user_keeps_caches() -> None:
    assert cache_directory({"HOME": "/h"}) == Path("/h/.cache/bisector")
    assert cache_directory({"HOME": "/h", "XDG_CACHE_HOME": "/c"}) == Path("/c/bisector")
    assert cache_directory({"HOME": "/h", "XDG_CACHE_HOME": "relative"}) == Path("/h/.cache/bisector")


def listed(body: bytes, *versions: str) -> CachedPage:
    """A page that was read; its body need not say the same, so that it shows which of the two was taken."""
    files = [{"filename": f"spam-{version}.tar.gz", "url": "x"} for version in versions]
    read = json.dumps({"files": files}).encode()
    listing = parse_page(read, "application/vnd.pypi.simple.v1+json", "https://a.test/spam/", "spam")
    return replace(PAGE, body=body, listing=listing)


def test_of_a_page_that_was_read_only_what_it_was_read_into_is_read_again(tmp_path: Path) -> None:
    cache = PageCache(tmp_path)
    cache.put("spam", listed(b"body", "1.0", "2.0"))
    found = cache.get("spam")
    assert found is not None
    assert found.body is None
    assert found.listing is not None
    assert list(map(str, found.listing.versions)) == ["1.0", "2.0"]
    assert (found.etag, found.fetched) == (PAGE.etag, PAGE.fetched)


def test_a_page_that_was_found_unchanged_keeps_its_body(tmp_path: Path) -> None:
    cache = PageCache(tmp_path)
    cache.put("spam", listed(b"one\ntwo", "1.0"))
    found = cache.get("spam")
    assert found is not None
    later = datetime(2026, 2, 1, tzinfo=UTC)
    cache.put("spam", replace(found, fetched=later))
    [file] = tmp_path.iterdir()
    assert file.read_bytes().endswith(b"\none\ntwo")
    again = cache.get("spam")
    assert again is not None
    assert again.fetched == later
    assert again.listing is not None


def test_what_a_page_was_read_into_counts_for_nothing_where_a_single_bit_of_it_is_wrong(tmp_path: Path) -> None:
    cache = PageCache(tmp_path)
    cache.put("spam", listed(b"the body", "1.0"))
    [file] = tmp_path.iterdir()
    whole = file.read_bytes()
    end_of_header = whole.index(b"\n")
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 4
        file.write_bytes(damaged)
        found = cache.get("spam")
        if position <= end_of_header:
            assert found is None
        elif position < len(whole) - len(b"the body"):
            assert found is None or (found.listing, found.body) == (None, b"the body")
        else:
            assert found is not None  # the body is not looked at
            assert found.body is None


def test_what_an_older_format_read_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PageCache(tmp_path)
    cache.put("spam", listed(b"body", "1.0"))
    monkeypatch.setattr("pins.sources.page_cache.FORMAT", 99)
    found = cache.get("spam")
    assert found is not None
    assert (found.listing, found.body) == (None, b"body")
