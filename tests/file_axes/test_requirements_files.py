"""Requirements files as ends: two files, two revisions; candidates in virtual environments."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bisector import session
from bisector.file_axes.opened import opened
from bisector.file_axes.request import FilesRequest
from bisector.model import SmokeScript
from bisector.preview import plan
from bisector.request import IndexRequest, RequirementsRequest, RunRequest
from pins.errors import UsageError
from pins.model import PinKind
from tests.docker.image_project import git
from tests.file_axes.small_repository import SmallRepository
from tests.local_index import LocalIndex

Make = Callable[..., RunRequest]


@pytest.fixture(scope="module")
def index() -> Iterator[LocalIndex]:
    with LocalIndex() as made:
        for number in range(1, 6):
            day = datetime(2026, 1, number, tzinfo=UTC)
            made.add("dish", f"{number}.0", requires=[f"sauce>={number}"], upload_time=day)
            made.add("sauce", f"{number}.0", upload_time=day, files={"sauce.py": f"HEAT = {number}\n"})
        yield made


@pytest.fixture
def make(tmp_path: Path, index: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> Make:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "smoke.py").write_text("import sauce\nassert sauce.HEAT < 4, 'too hot'\n")

    def request(files: FilesRequest, *requirements: Path) -> RunRequest:
        return RunRequest(
            (),
            SmokeScript(tmp_path / "smoke.py"),
            requirements=RequirementsRequest(requirement_files=requirements),
            index=IndexRequest(index.url),
            files=files,
            repeat=1,
        )

    return request


def test_two_files_are_ends_with_what_they_name_and_what_comes_with_it(make: Make, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad-requirements.txt"
    (tmp_path / "common.txt").write_text("sauce\n")
    good.write_text("dish==1.0\nsauce==1.0\n")
    bad.write_text("-r common.txt\ndish==5.0  # newest\n")
    request = make(FilesRequest(good_file=good, bad_file=bad))
    axes = {axis.pin: (axis.kind, axis.good, axis.bad) for axis in plan(request).axes}
    assert axes == {"dish": (PinKind.PACKAGE, "1.0", "5.0"), "sauce": (PinKind.FLOAT, "1.0", "5.0")}
    assert bad.read_text() == "-r common.txt\ndish==5.0  # newest\n"


@pytest.mark.slow
def test_the_first_bad_version_between_two_revisions_is_found(make: Make, tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    repository.commit("FROM x\n", requirements__txt="dish==1.0\nsauce==1.0\n")
    repository.commit("FROM x\n", requirements__txt="dish==2.0\nsauce==5.0\n")
    path = repository.path / "requirements.txt"
    path.write_text("dish==3.0\n")
    request = make(FilesRequest(path, repository.revisions[0], "HEAD"), path)
    result = session.bisect(request)
    assert result.culprit is not None
    assert [(move.pin, move.old, move.new) for move in result.culprit.moves] == [("sauce", "3.0", "4.0")]
    assert git(repository.path, "status", "--porcelain") == "M requirements.txt"


def test_nothing_that_moved_is_refused(make: Make, tmp_path: Path) -> None:
    same = tmp_path / "requirements.txt"
    same.write_text("dish==1.0\n")
    with pytest.raises(UsageError, match="nothing moved"):
        plan(make(FilesRequest(good_file=same, bad_file=same)))


@pytest.fixture
def dated(
    make: Make, tmp_path: Path, index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], RunRequest]:
    """A request for two dates of one line of requirements, beside a directory that holds a wheel of `sauce`."""
    wheels = tmp_path / "wheels"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))

    def request(line: str, wheel: str) -> RunRequest:
        wheels.mkdir(exist_ok=True)
        for each in wheels.iterdir():
            each.unlink()
        if wheel:
            with LocalIndex() as other:
                other.add("sauce", wheel)
                other.write_flat(wheels)
        path = tmp_path / "requirements.txt"
        path.write_text(f"{line}\n")
        good, bad = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 4, tzinfo=UTC)
        return replace(make(FilesRequest(path, good_date=good, bad_date=bad), path), index=IndexRequest())

    return request


def test_a_directory_of_wheels_that_hides_what_dates_would_show_is_named(
    dated: Callable[[str, str], RunRequest],
) -> None:
    with pytest.raises(UsageError, match=r"nothing moved .*wheels .*no upload time.*--pin NAME=GOOD\.\.BAD"):
        plan(dated("sauce", "9.0"))
    assert [(axis.good, axis.bad) for axis in plan(dated("sauce", "")).axes] == [("1.0", "3.0")]


def test_a_wheel_without_a_date_is_as_old_as_the_index_says_of_its_version(
    dated: Callable[[str, str], RunRequest],
) -> None:
    assert [(axis.good, axis.bad) for axis in plan(dated("sauce", "3.0")).axes] == [("1.0", "3.0")]
    with pytest.raises(UsageError, match="nothing moved"):  # at the good date had from the wheel alone, so it counts
        plan(dated("sauce==3.0", "3.0"))


def test_an_opened_copy_keeps_all_but_versions_and_finds_what_it_includes(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text("-c limits.txt\nspam[extra]==1.0; python_version > '3'  # why\neggs<2\nham==3\n")
    copy = opened(path, path, {"spam", "eggs"}, tmp_path / "cache")
    assert copy.read_text() == (f"-c {tmp_path}/limits.txt\nspam[extra]; python_version > '3'  # why\neggs\nham==3\n")
    path.write_text("spam==1.0 --hash=sha256:00\n")
    with pytest.raises(UsageError, match="checks hashes"):
        opened(path, path, {"spam"}, tmp_path / "cache")
