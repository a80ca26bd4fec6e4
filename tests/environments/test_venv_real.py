"""Virtual environments of real packages, from the index that this machine is configured for."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bisector.environments.base import BuildFailedError, InfeasibleError
from bisector.environments.python_interpreters import find_interpreter
from bisector.model import Candidate
from pins.errors import UsageError
from tests.environments.venv_setting import setting

pytestmark = [pytest.mark.network, pytest.mark.slow]
WHEN = datetime(2026, 9, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def python(version: str) -> str:
    import os

    try:
        find_interpreter(version, environment=os.environ)
    except UsageError:
        pytest.skip(f"no Python {version} here")
    return version


def test_a_yanked_release_is_installed_where_it_is_pinned(tmp_path: Path, shared_cache: Path) -> None:
    here = setting(tmp_path, when=WHEN, cache=shared_cache, python=python("3.11"))

    assert here.make(setuptools="72.0.0").installed == (("setuptools", "72.0.0"),)


def test_a_release_that_cannot_be_built_here_says_why(tmp_path: Path, shared_cache: Path) -> None:
    here = setting(tmp_path, when=WHEN, cache=shared_cache, python=python("3.11"))

    with pytest.raises(BuildFailedError) as failure:
        here.make(pyyaml="5.4")

    assert "AttributeError" in failure.value.ended.errors
    assert "cython_sources" in failure.value.ended.errors
    assert str(failure.value).startswith("Failed to build `pyyaml==5.4`: Call to `setuptools.build_meta.")
    assert str(failure.value).endswith("'build_ext' object has no attribute 'cython_sources'")


def test_packages_that_exclude_one_another_are_infeasible(tmp_path: Path, shared_cache: Path) -> None:
    here = setting(tmp_path, when=WHEN, cache=shared_cache, python=python("3.11"))

    with pytest.raises(InfeasibleError, match="pydantic"):
        here.environment.resolve(Candidate((("fastapi", "0.99.1"), ("pydantic", "2.0.3"))))


def test_an_old_source_distribution_builds_under_a_build_constraint(tmp_path: Path, shared_cache: Path) -> None:
    here = setting(
        tmp_path,
        when=WHEN,
        cache=shared_cache,
        python=python("3.9"),
        requirements=("m2r==0.2.1", "docutils==0.17.1", "setuptools==65.7.0"),
        build_constraints=("setuptools<66",),
    )

    build = here.make(mistune="0.8.4")

    assert [name for name, _ in build.installed] == ["docutils", "m2r", "mistune", "setuptools"]
    assert here.run(build, "import m2r").exit_status == 0


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.13"])
def test_other_pythons_work(tmp_path: Path, shared_cache: Path, version: str) -> None:
    here = setting(tmp_path, when=WHEN, cache=shared_cache, python=python(version))

    build = here.make(tomli="2.0.1")
    ended = here.run(build, "import sys, tomli; print('%d.%d' % sys.version_info[:2])")

    assert ended.output.strip() == version, ended.errors


def test_a_version_for_newer_pythons_is_infeasible_on_an_old_one(tmp_path: Path, shared_cache: Path) -> None:
    here = setting(tmp_path, when=WHEN, cache=shared_cache, python=python("3.9"))

    with pytest.raises(InfeasibleError, match=r"Python>=3\.11"):
        here.environment.resolve(Candidate((("numpy", "2.3.0"),)))
