"""Against the package index that pip or uv is configured for here."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pins.errors import UsageError
from pins.sources.index_configuration import read_index_configuration
from pins.sources.package_index import PackageIndex
from pins.sources.releases import releases_between
from pins.sources.target import target_of

pytestmark = pytest.mark.network

AS_OF = datetime(2026, 9, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def index() -> PackageIndex:
    configuration = read_index_configuration(environment=os.environ, directory=Path.cwd())
    return PackageIndex(configuration, target_of(Path(sys.executable)))


def axis(index: PackageIndex, name: str, good: str, bad: str) -> list[str]:
    found = releases_between(index.releases(name, before=AS_OF), good, bad, name=name)
    return [str(release.version) for release in found]


def test_the_releases_of_pybind11_between_two_internals_versions(index: PackageIndex) -> None:
    assert axis(index, "pybind11", "3.0.0", "3.1.0") == ["3.0.0", "3.0.1", "3.0.2", "3.0.3", "3.0.4", "3.1.0"]


def test_a_yanked_release_of_setuptools_is_a_step_only_as_an_end(index: PackageIndex) -> None:
    known = ["71.0.0", "71.0.1", "71.0.2", "71.0.3", "71.0.4", "71.1.0"]
    assert axis(index, "setuptools", "71", "72.0.0") == [v for v in known if v != "71.0.1"] + ["72.0.0"]
    assert "72.0.0" not in axis(index, "setuptools", "71", "72.1")


def test_old_releases_of_pyyaml_are_source_distributions_only(index: PackageIndex) -> None:
    by_version = {str(release.version): release for release in index.releases("PyYAML", before=AS_OF)}
    assert by_version["3.13"].has_sdist
    assert not by_version["3.13"].has_wheel
    assert by_version["6.0"].upload_time is not None


def test_an_unknown_package_and_an_unknown_version_are_refused(index: PackageIndex) -> None:
    with pytest.raises(UsageError, match="unknown package"):
        index.releases("bisector-has-no-such-package-0")
    with pytest.raises(UsageError, match=r"no version 3\.0\.99"):
        axis(index, "pybind11", "3.0.0", "3.0.99")
