"""uv and pip, told of our configuration, find what our own client finds: the same index, asked by all three."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from uv import find_uv_bin

from pins.sources.index_configuration import (
    IndexConfiguration,
    read_index_configuration,
    without_index_variables,
)
from pins.sources.index_location import read_location
from pins.sources.package_index import PackageIndex
from pins.sources.target import target_of
from tests.local_index import LocalIndex
from tests.local_pages import ServedFile

HERE = target_of(Path(sys.executable))


class Uv:
    """uv with a cache of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.output = ""

    def finds(
        self,
        requirement: str,
        configuration: IndexConfiguration,
        *,
        exclude_newer: datetime | None,
        as_file: bool = True,
    ) -> str:
        """What uv resolves a requirement to, "" where it finds nothing."""
        variables = {**without_index_variables(os.environ), "UV_CACHE_DIR": str(self.directory / "cache")}
        arguments = [find_uv_bin(), "pip", "compile", "-v", "--no-header", "--no-annotate", "--python", sys.executable]
        if as_file:
            file = self.directory / "uv.toml"
            file.write_text(configuration.uv_configuration(exclude_newer))
            arguments += [f"--config-file={file}"]
            variables |= configuration.uv_file_environment()
        else:
            variables |= configuration.uv_environment()
        return self._run([*arguments, "-"], variables, requirement)

    def _run(self, arguments: list[str], variables: Mapping[str, str], text: str) -> str:
        ended = subprocess.run(
            arguments, env=variables, input=text, capture_output=True, text=True, cwd=self.directory, timeout=60
        )
        self.output = ended.stdout + ended.stderr
        return ended.stdout.strip() if ended.returncode == 0 else ""


@pytest.fixture
def uv(tmp_path: Path) -> Uv:
    (tmp_path / "uv").mkdir()
    return Uv(tmp_path / "uv")


def configured(index_url: str, *more: str, **variables: str) -> IndexConfiguration:
    return read_index_configuration(index_url, more, environment={"HOME": "/nowhere", **variables}, directory=Path("/"))


def test_what_we_call_usable_is_what_uv_can_install(local_index: LocalIndex, uv: Uv) -> None:
    local_index.add("spam", "1.0")
    local_index.add("spam", "1.1", requires_python=">=3.8,<3.10")
    local_index.add("spam", "1.2", requires_python=">=3.99")
    local_index.add("spam", "1.3", tag="cp27-cp27m-win_amd64")
    local_index.add("spam", "1.4", yanked="no good")
    local_index.add("spam", "1.5", wheel=False, sdist=True)
    local_index.add("spam", "1.6", tag="cp27-cp27m-win_amd64", sdist=True)
    local_index.add("spam", "1.7", tag="py2.py3-none-any")
    local_index.add("spam", "1.8", tag="cp36-abi3-manylinux_2_5_x86_64.manylinux1_x86_64")
    local_index.add("spam", "1.9", tag="py3-none-manylinux_2_99_x86_64")
    local_index.add("spam", "2.0rc1")
    local_index.add("spam", "2.0+local.1")
    local_index.add("spam", "2013.6.5.post1")
    local_index.add_file(
        ServedFile("spam", "spam-3.0.tar.bz2", b"x", None, None, None, datetime(2020, 1, 1, tzinfo=UTC))
    )
    local_index.add("spam", "9.0", upload_time=datetime(2030, 1, 1, tzinfo=UTC))
    local_index.add("spam", "9.1", upload_time=None)
    before = datetime(2025, 1, 1, tzinfo=UTC)
    configuration = configured(local_index.url)
    with PackageIndex(configuration, HERE) as index:
        releases = index.releases("spam", before=before)
    for release in releases:
        found = uv.finds(f"spam=={release.version}", configuration, exclude_newer=before)
        assert bool(found) == release.is_usable, f"{release}: {uv.output}"
    assert not uv.finds("spam==9.1", configuration, exclude_newer=before)


def test_an_index_without_upload_times_stays_usable_for_uv(uv: Uv, tmp_path: Path) -> None:
    with LocalIndex(html_only=True) as html, LocalIndex() as dated:
        html.add("spam", "1.0")
        dated.add("eggs", "1.0")
        dated.add("eggs", "2.0", upload_time=datetime(2030, 1, 1, tzinfo=UTC))
        plain = configured(html.url, dated.url)
        before = datetime(2025, 1, 1, tzinfo=UTC)
        assert uv.finds("spam", plain, exclude_newer=before) == "", "else nothing needs to be found out"
        with PackageIndex(plain, HERE) as index:
            known = index.knowing_upload_times(["spam"])
        assert uv.finds("spam\neggs", known, exclude_newer=before).split() == ["eggs==1.0", "spam==1.0"]
        html.write_tree(tmp_path)
        here = configured(str(tmp_path / "simple"))
        assert uv.finds("spam", here, exclude_newer=before) == "spam==1.0"


@pytest.mark.parametrize("as_file", [True, False], ids=["configuration file", "environment"])
def test_uv_gets_credentials_and_strategy_of_several_indexes(uv: Uv, as_file: bool, tmp_path: Path) -> None:
    with LocalIndex() as first, LocalIndex() as second, LocalIndex() as third:
        first.add("spam", "1.0")
        first.credentials("someone", "p@ss/w:rd %41")
        second.add("spam", "2.0")
        second.add("eggs", "1.0")
        second.credentials("other", "hidden-word")
        third.add("ham", "1.0")
        flat = tmp_path / "a flat, odd directory"
        flat.mkdir()
        third.write_flat(flat)
        urls = (first.url_with("someone", "p@ss/w:rd %41"), second.url_with("other", "hidden-word"))
        best = configured(*urls)
        best = replace(
            best, locations=(*best.locations, read_location(str(flat), directory=flat, origin="x", flat=True))
        )
        wanted = "spam\neggs\nham"
        found = uv.finds(wanted, best, exclude_newer=None, as_file=as_file)
        assert found.split() == ["eggs==1.0", "ham==1.0", "spam==2.0"], uv.output
        variables = {"UV_INDEX": urls[0], "UV_DEFAULT_INDEX": urls[1], "UV_NO_CONFIG": "1"}
        in_order = configured("", **variables)
        found = uv.finds("spam\neggs", in_order, exclude_newer=None, as_file=as_file)
        assert found.split() == ["eggs==1.0", "spam==1.0"], uv.output


def test_what_uv_prints_of_a_refusal_holds_no_credentials_once_masked(uv: Uv) -> None:
    with LocalIndex() as index:
        index.credentials("someone", "right-word")
        configuration = configured(index.url_with("someone", "wrong-word/%"))
        for as_file in (True, False):
            assert uv.finds("spam", configuration, exclude_newer=None, as_file=as_file) == ""
            masked = configuration.redact(uv.output)
            assert "127.0.0.1" in masked
            assert "wrong-word" not in masked


def test_pip_gets_the_same_indexes_and_credentials(tmp_path: Path) -> None:
    with LocalIndex() as first, LocalIndex() as second:
        first.add("spam", "1.0", requires=["eggs"])
        first.credentials("someone", "p@ss/w:rd %41")
        second.add("eggs", "1.0")
        configuration = configured(first.url_with("someone", "p@ss/w:rd %41"), second.url)
        variables = {**without_index_variables(os.environ), **configuration.pip_environment(), "PIP_NO_CACHE_DIR": "1"}
        arguments = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "-d", "got", "spam"]
        ended = subprocess.run(arguments, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert ended.returncode == 0, ended.stderr
        assert sorted(path.name for path in (tmp_path / "got").iterdir()) == [
            "eggs-1.0-py3-none-any.whl",
            "spam-1.0-py3-none-any.whl",
        ]
