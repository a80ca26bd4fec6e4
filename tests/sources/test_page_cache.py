import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

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
