import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pins.errors import SourceError, UsageError
from pins.sources.http_reader import Patience
from pins.sources.index_configuration import IndexConfiguration, read_index_configuration
from pins.sources.index_settings import IndexStrategy
from pins.sources.package_index import PackageIndex
from pins.sources.page_cache import PageCache
from pins.sources.page_reader import PageReader
from pins.sources.target import Installer, Target, target_of
from tests.local_index import LocalIndex
from tests.local_pages import ServedFile

HERE = target_of(Path(sys.executable))
QUICK = Patience(tries=3, connect=2, read=0.3, page=1, largest=200_000)


def configured(*urls: str, strategy: IndexStrategy = IndexStrategy.UNSAFE_BEST_MATCH) -> IndexConfiguration:
    first, *more = urls
    found = read_index_configuration(first, more, environment={"HOME": "/nowhere"}, directory=Path("/"))
    return replace(found, strategy=strategy)


def opened(
    *urls: str,
    target: Target | None = HERE,
    cache: PageCache | None = None,
    patience: Patience = QUICK,
    sleep: Callable[[float], None] = lambda _: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    strategy: IndexStrategy = IndexStrategy.UNSAFE_BEST_MATCH,
    offline: bool = False,
) -> PackageIndex:
    configuration = configured(*urls, strategy=strategy)
    reader = PageReader(configuration, cache=cache, patience=patience, sleep=sleep, now=now, offline=offline)
    return PackageIndex(configuration, target, reader=reader)


def versions(index: PackageIndex, name: str = "spam", *, before: datetime | None = None) -> list[str]:
    with index:
        return [str(release.version) for release in index.releases(name, before=before) if release.is_usable]


@contextmanager
def refusal(kind: type[SourceError | UsageError]) -> Iterator[list[str]]:
    said: list[str] = []
    with pytest.raises(kind) as refused:
        yield said
    said.append(refused.value.message)


def test_releases_ascend_whatever_the_index_lists_first(local_index: LocalIndex) -> None:
    for version in ("1.10", "1.2", "2.0rc1", "1.9"):
        local_index.add("spam", version)
    assert versions(opened(local_index.url)) == ["1.2", "1.9", "1.10", "2.0rc1"]


def test_html_and_json_tell_the_same(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", requires_python=">=3.8", sdist=True)
    local_index.add("spam", "1.1", yanked="no good")
    local_index.add("spam", "1.2", yanked="", wheel=False, sdist=True)
    local_index.add("spam", "2.0", requires_python=">=4")
    with opened(local_index.url) as index:
        as_json = index.releases("Spam")
    local_index.html_only = True
    with opened(local_index.url) as index:
        as_html = index.releases("Spam")
    assert [replace(one, upload_time=None) for one in as_json] == list(as_html)
    assert [(one.has_wheel, one.has_sdist, one.yanked) for one in as_json] == [
        (True, True, False),
        (True, False, True),
        (False, True, True),
        (False, False, False),
    ]
    assert as_json[1].yanked_reason == "no good"
    assert as_json[3].unusable == "needs Python >=4"
    assert as_json[0].upload_time == datetime(2020, 1, 1, tzinfo=UTC)


def test_a_wheel_for_another_platform_makes_no_release_usable_and_an_sdist_does(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", tag="cp27-cp27m-win_amd64")
    local_index.add("spam", "1.1", tag="cp27-cp27m-win_amd64", sdist=True)
    with opened(local_index.url) as index:
        first, second = index.releases("spam")
    assert not first.is_usable
    assert "cp27 on win_amd64" in first.unusable
    assert HERE.description in first.unusable
    assert (second.has_wheel, second.has_sdist) == (False, True)


def test_without_a_target_every_file_is_usable(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", tag="cp27-cp27m-win_amd64", requires_python="<3")
    assert versions(opened(local_index.url, target=None)) == ["1.0"]


def test_a_release_is_yanked_only_when_every_usable_file_is(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", yanked="x")
    local_index.add("spam", "1.0", wheel=False, sdist=True)
    local_index.add("spam", "1.1", yanked="x")
    local_index.add("spam", "1.1", tag="cp27-cp27m-win_amd64")
    with opened(local_index.url) as index:
        assert [release.yanked for release in index.releases("spam")] == [False, True]


def test_an_archive_that_uv_does_not_take_counts_for_pip(local_index: LocalIndex) -> None:
    local_index.add_file(ServedFile("spam", "spam-1.0.tar.bz2", b"x"))
    with opened(local_index.url) as index:
        assert "spam-1.0.tar.bz2" in index.releases("spam")[0].unusable
    assert versions(opened(local_index.url, target=replace(HERE, installer=Installer.PIP))) == ["1.0"]


def test_files_that_have_no_version_are_no_crash(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0")
    for name in ("spam-2013-06-05.tar.gz", "spam-1.0-py3.8.egg", "spam-1.1.win32.exe", "spam-.tar.gz", "other-1.0.zip"):
        local_index.add_file(ServedFile("spam", name, b"x"))
    assert versions(opened(local_index.url)) == ["1.0"]


def test_the_index_is_read_as_of_a_time(local_index: LocalIndex) -> None:
    for version in ("1.0", "1.1", "1.2"):
        local_index.add("spam", version)
    local_index.add("spam", "1.3", upload_time=None)
    index = opened(local_index.url)
    assert versions(index, before=datetime(2020, 1, 2, tzinfo=UTC)) == ["1.0"]
    with opened(local_index.url) as again:
        late = again.releases("spam", before=datetime(2020, 1, 2, tzinfo=UTC))[-1]
    assert "2020-01-03" in late.unusable
    local_index.upload_times = False
    assert versions(opened(local_index.url), before=datetime(2020, 1, 2, tzinfo=UTC)) == ["1.0", "1.1", "1.2", "1.3"]


def test_several_indexes_count_as_their_owner_means_them(local_index: LocalIndex) -> None:
    with LocalIndex() as other:
        local_index.add("spam", "1.0")
        other.add("spam", "1.1")
        other.add("eggs", "1.0")
        assert versions(opened(local_index.url, other.url)) == ["1.0", "1.1"]
        assert versions(opened(local_index.url, other.url, strategy=IndexStrategy.FIRST_INDEX)) == ["1.0"]
        assert versions(opened(local_index.url, other.url, strategy=IndexStrategy.FIRST_INDEX), "eggs") == ["1.0"]


def test_directories_and_lists_of_files_are_indexes_too(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    local_index.write_tree(tmp_path)
    assert versions(opened((tmp_path / "simple").as_uri())) == ["1.0"]
    (tmp_path / "flat").mkdir()
    local_index.write_flat(tmp_path / "flat")
    variables = {"HOME": "/nowhere", "UV_NO_INDEX": "1", "UV_FIND_LINKS": str(tmp_path / "flat"), "UV_NO_CONFIG": "1"}
    found = PackageIndex(read_index_configuration(environment=variables, directory=tmp_path), HERE)
    assert versions(found) == ["1.0"]
    with refusal(UsageError) as said:
        versions(opened((tmp_path / "simple").as_uri()), "spamm")
    assert "Did you mean spam?" in said[0]


def test_an_unknown_package_names_the_indexes_that_were_asked(local_index: LocalIndex) -> None:
    local_index.credentials("someone", "hidden-word")
    with refusal(UsageError) as said:
        versions(opened(local_index.url_with("someone", "hidden-word")), "nothing-of-this-name")
    assert f"unknown package nothing-of-this-name: asked {local_index.url}" in said[0]
    assert "hidden-word" not in said[0]


@pytest.mark.parametrize("name", ["../etc", "-e", "a b", "$(id)", "a\nb", "", "naïve", "a/../b"])
def test_what_is_no_package_name_is_never_asked_for(local_index: LocalIndex, name: str) -> None:
    with refusal(UsageError):
        versions(opened(local_index.url), name)
    assert local_index.requests == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(local_index: LocalIndex, status: int) -> None:
    local_index.add("spam", "1.0")
    local_index.fail_with(status, times=2)
    waited: list[float] = []
    assert versions(opened(local_index.url, sleep=waited.append)) == ["1.0"]
    assert waited == [0.5, 1.0]


def test_the_index_may_say_how_long_to_wait(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0")
    local_index.fail_with(429, times=1, headers={"Retry-After": "7"})
    waited: list[float] = []
    assert versions(opened(local_index.url, sleep=waited.append)) == ["1.0"]
    assert waited == [7.0]


def test_a_lasting_failure_names_the_page_the_answer_and_the_tries(local_index: LocalIndex) -> None:
    local_index.fail_with(500)
    with refusal(SourceError) as said:
        versions(opened(local_index.url))
    assert f"{local_index.url}spam/" in said[0]
    assert "500" in said[0]
    assert "tried 3 times" in said[0]
    assert "--index-url" in said[0]
    assert len(local_index.requests) == 3


def test_missing_and_wrong_credentials_say_so_and_are_not_repeated(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0")
    local_index.credentials("someone", "hidden-word")
    assert versions(opened(local_index.url_with("someone", "hidden-word"))) == ["1.0"]
    with refusal(SourceError) as said:
        versions(opened(local_index.url))
    assert "401" in said[0]
    with refusal(SourceError) as said:
        versions(opened(local_index.url_with("someone", "wrong-word")))
    assert "401" in said[0]
    assert "wrong-word" not in said[0]
    assert [request.status for request in local_index.requests].count(401) == 2


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"files": [', "application/vnd.pypi.simple.v1+json"),
        (b"<html><form>log in</form></html>", "text/html"),
        (b"\x00\x01", "application/octet-stream"),
        (b"", ""),
    ],
)
def test_what_is_no_index_page_is_tried_again_and_then_refused(
    local_index: LocalIndex, body: bytes, content_type: str
) -> None:
    local_index.add("spam", "1.0")
    local_index.garbage(body, content_type, times=1)
    assert versions(opened(local_index.url)) == ["1.0"]
    local_index.garbage(body, content_type)
    with refusal(SourceError) as said:
        versions(opened(local_index.url))
    assert "tried 3 times" in said[0]


def test_a_connection_that_ends_early_is_tried_again(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0")
    local_index.hang_up(times=1)
    assert versions(opened(local_index.url)) == ["1.0"]


def test_a_slow_index_comes_to_an_end(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0")
    local_index.delay(5)
    with refusal(SourceError) as said:
        versions(opened(local_index.url))
    assert "sent nothing for 0.3 s" in said[0]


def test_an_index_that_is_not_there_comes_to_an_end() -> None:
    with LocalIndex() as gone:
        url = gone.url
    with refusal(SourceError) as said:
        versions(opened(url))
    assert "tried 3 times" in said[0]


def test_redirects_in_a_loop_and_huge_pages_come_to_an_end(local_index: LocalIndex) -> None:
    local_index.fail_with(302, headers={"Location": local_index.url})
    with refusal(SourceError) as said:
        versions(opened(local_index.url))
    assert "loop" in said[0]
    local_index.garbage(b" " * 300_000)
    with refusal(SourceError) as said:
        versions(opened(local_index.url))
    assert "larger than" in said[0]


def test_one_broken_index_of_several_is_an_error_not_a_shorter_list(local_index: LocalIndex) -> None:
    with LocalIndex() as other:
        other.add("spam", "1.0")
        local_index.fail_with(500)
        with refusal(SourceError):
            versions(opened(other.url, local_index.url))


def test_credentials_do_not_follow_a_redirect_to_another_host(local_index: LocalIndex) -> None:
    with LocalIndex() as other:
        other.add("spam", "1.0")
        local_index.fail_with(302, headers={"Location": other.url + "spam/"})
        assert versions(opened(local_index.url_with("someone", "hidden-word"))) == ["1.0"]
        assert other.requests[0].headers.get("Authorization") is None
        assert local_index.requests[0].headers.get("Authorization") is not None


def test_a_page_is_read_once_whoever_asks(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0")
    with opened(local_index.url) as index:
        threads = [threading.Thread(target=index.releases, args=("spam",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        index.releases("SPAM", before=datetime(2021, 1, 1, tzinfo=UTC))
    assert len(local_index.requests) == 1


def test_a_kept_page_is_validated_where_the_index_can(local_index: LocalIndex, tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "cache")
    local_index.add("spam", "1.0")
    assert versions(opened(local_index.url, cache=cache)) == ["1.0"]
    assert versions(opened(local_index.url, cache=cache)) == ["1.0"]
    assert [request.status for request in local_index.requests] == [200, 304]
    local_index.add("spam", "1.1")
    assert versions(opened(local_index.url, cache=cache)) == ["1.0", "1.1"]


@pytest.mark.parametrize(
    ("said", "seconds", "asks"),
    [
        *[("max-age=600, public", 300, False), ("max-age=600", 601, True), ("max-age=86400", 700, True)],
        *[("max-age=600, no-cache", 1, True), ("max-age=x", 1, True), ("public", 1, True), ("max-age=0", 0, True)],
    ],
)
def test_a_kept_page_is_not_asked_about_for_as_long_as_the_index_has_said(
    local_index: LocalIndex, tmp_path: Path, said: str, seconds: float, *, asks: bool
) -> None:
    cache = PageCache(tmp_path / "cache")
    local_index.add("spam", "1.0")
    local_index.cache_control = said
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    assert versions(opened(local_index.url, cache=cache, now=lambda: begun)) == ["1.0"]
    later = begun + timedelta(seconds=seconds)
    assert versions(opened(local_index.url, cache=cache, now=lambda: later)) == ["1.0"]
    assert [request.status for request in local_index.requests] == ([200, 304] if asks else [200])
    if asks:  # found to be unchanged, it holds as long again
        versions(opened(local_index.url, cache=cache, now=lambda: later + timedelta(seconds=1)))
        assert len(local_index.requests) == (2 if said in ("max-age=600", "max-age=86400") else 3)


def test_a_kept_page_without_validator_lives_ten_minutes(local_index: LocalIndex, tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "cache")
    local_index.validators = False
    local_index.add("spam", "1.0")
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    assert versions(opened(local_index.url, cache=cache, now=lambda: begun)) == ["1.0"]
    local_index.add("spam", "1.1")
    soon, later = begun + timedelta(minutes=9), begun + timedelta(minutes=11)
    assert versions(opened(local_index.url, cache=cache, now=lambda: soon)) == ["1.0"]
    assert versions(opened(local_index.url, cache=cache, now=lambda: later)) == ["1.0", "1.1"]


def test_a_page_kept_by_a_clock_that_ran_ahead_is_asked_for_again(local_index: LocalIndex, tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "cache")
    local_index.validators = False
    local_index.add("spam", "1.0")
    ahead, now = datetime(2031, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    assert versions(opened(local_index.url, cache=cache, now=lambda: ahead)) == ["1.0"]
    local_index.add("spam", "1.1")
    assert versions(opened(local_index.url, cache=cache, now=lambda: now)) == ["1.0", "1.1"]


def test_a_kept_page_does_not_answer_for_a_time_after_it_was_read(local_index: LocalIndex, tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "cache")
    local_index.validators = False
    local_index.add("spam", "1.0")
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    assert versions(opened(local_index.url, cache=cache, now=lambda: begun)) == ["1.0"]
    local_index.add("spam", "1.1")
    soon = begun + timedelta(minutes=5)
    assert versions(opened(local_index.url, cache=cache, now=lambda: soon), before=begun) == ["1.0"]
    assert versions(opened(local_index.url, cache=cache, now=lambda: soon), before=soon) == ["1.0", "1.1"]


def test_offline_only_kept_pages_are_used(local_index: LocalIndex, tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "cache")
    local_index.add("spam", "1.0")
    versions(opened(local_index.url, cache=cache))
    local_index.fail_with(500)
    late = datetime.now(UTC) + timedelta(days=9)
    assert versions(opened(local_index.url, cache=cache, offline=True, now=lambda: late)) == ["1.0"]
    with refusal(SourceError) as said:
        versions(opened(local_index.url, cache=cache, offline=True), "eggs")
    assert "--offline" in said[0]


def test_nothing_that_was_read_with_credentials_is_kept(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    local_index.credentials("someone", "hidden-word")
    versions(opened(local_index.url_with("someone", "hidden-word"), cache=PageCache(tmp_path / "cache")))
    assert not (tmp_path / "cache").exists()


def test_an_index_that_knows_no_upload_times_is_found_out(local_index: LocalIndex, tmp_path: Path) -> None:
    with LocalIndex(html_only=True) as html, LocalIndex(upload_times=False) as silent:
        local_index.add("spam", "1.0")
        silent.add("spam", "1.0")
        html.add("eggs", "1.0")
        html.write_tree(tmp_path)
        here = (tmp_path / "simple").as_uri() + "/"
        with opened(local_index.url, html.url, silent.url, here) as index:
            found = index.knowing_upload_times(["spam"])
        assert found.without_upload_times == {html.url, silent.url, here}
