"""Virtual environments of candidates, against a real small index."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bisector.environments.base import BuildFailedError, InfeasibleError
from pins.errors import UsageError
from tests.environments.venv_setting import candidate, setting
from tests.local_index import LocalIndex


def test_a_candidate_is_installed_as_pinned_and_the_script_runs_with_its_python(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0", requires=["eggs>=1"])
    local_index.add("spam", "2.0")
    local_index.add("eggs", "1.5")
    here = setting(tmp_path, local_index.url)
    here.environment.check()

    recipe = here.environment.resolve(candidate(spam="1.0"))
    build = here.build(recipe)
    ended = here.run(build, "import spam, eggs, sys; print(spam.__version__, eggs.__version__, sys.prefix)")

    assert recipe.resolved == (("eggs", "1.5"), ("spam", "1.0"))
    assert build.installed == recipe.resolved
    assert ended.exit_status == 0, ended.errors
    assert ended.output.rstrip().split(" ", 2) == ["1.0", "1.5", str(Path(build.location) / "venv")]
    assert here.environment.exists(build)


def test_a_script_that_is_no_python_finds_the_environment_active(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url)
    build = here.make(spam="1.0")

    ended = here.run(build, '#!/bin/sh\npython -c "import spam; print(spam.__version__)"\necho "$VIRTUAL_ENV"', "s.sh")

    assert ended.output.splitlines() == ["1.0", str(Path(build.location) / "venv")]


def test_pins_that_exclude_one_another_are_infeasible_with_the_reason(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs<2"])
    local_index.add("eggs", "2.0")
    here = setting(tmp_path, local_index.url)

    with pytest.raises(InfeasibleError, match=r"depend on eggs<2 and you require spam==1\.0"):
        here.environment.resolve(candidate(spam="1.0", eggs="2.0"))


def test_a_version_without_a_wheel_for_this_platform_is_infeasible(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", tag="cp27-cp27m-win32")
    here = setting(tmp_path, local_index.url)

    with pytest.raises(InfeasibleError, match="no wheels with a matching"):
        here.environment.resolve(candidate(spam="1.0"))


@pytest.mark.parametrize("version", ["2.0rc1", "2.0.dev3", "1.5"])
def test_prereleases_and_yanked_releases_are_installed_where_they_are_pinned(
    local_index: LocalIndex, tmp_path: Path, version: str
) -> None:
    local_index.add("spam", "1.0")
    local_index.add("spam", "1.5", yanked="broken")
    local_index.add("spam", "2.0.dev3")
    local_index.add("spam", "2.0rc1")
    here = setting(tmp_path, local_index.url)

    assert here.make(spam=version).installed == (("spam", version),)


def test_the_index_is_read_as_of_the_date(local_index: LocalIndex, tmp_path: Path) -> None:
    from datetime import UTC, datetime

    local_index.add("spam", "1.0", requires=["eggs"], upload_time=datetime(2021, 1, 1, tzinfo=UTC))
    local_index.add("eggs", "1.0", upload_time=datetime(2021, 1, 1, tzinfo=UTC))
    local_index.add("eggs", "2.0", upload_time=datetime(2022, 1, 1, tzinfo=UTC))
    here = setting(tmp_path, local_index.url, when=datetime(2021, 6, 1, tzinfo=UTC))

    assert here.environment.resolve(candidate(spam="1.0")).resolved == (("eggs", "1.0"), ("spam", "1.0"))


def test_an_index_without_upload_times_can_still_be_used(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.upload_times = False
    local_index.add("spam", "1.0", requires=["eggs"])
    local_index.add("eggs", "1.0", requires=["ham"])
    local_index.add("ham", "1.0")
    here = setting(tmp_path, local_index.url)

    assert [name for name, _ in here.make(spam="1.0").installed] == ["eggs", "ham", "spam"]


def test_an_exact_pin_in_a_requirement_file_gives_way_and_a_range_does_not(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    for version in ("1.0", "2.0", "3.0"):
        local_index.add("spam", version)
    local_index.add("eggs", "1.0")
    (tmp_path / "nested.txt").write_text("Spam == 1.0 ; python_version >= '3' # pinned\neggs\n".replace(" ;", "  # ;"))
    (tmp_path / "base.txt").write_text("-r nested.txt\nspam<3\n")
    here = setting(tmp_path, local_index.url, requirement_files=(tmp_path / "base.txt",))

    assert here.environment.resolve(candidate(spam="2.0")).resolved == (("eggs", "1.0"), ("spam", "2.0"))
    with pytest.raises(InfeasibleError):
        here.environment.resolve(candidate(spam="3.0"))


def test_constraints_hold(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    local_index.add("eggs", "1.0")
    local_index.add("eggs", "2.0")
    (tmp_path / "c.txt").write_text("eggs<2\n")
    here = setting(tmp_path, local_index.url, constraint_files=(tmp_path / "c.txt",))

    assert here.environment.resolve(candidate(spam="1.0")).resolved[0] == ("eggs", "1.0")


def test_a_source_distribution_that_does_not_build_is_unbuildable_with_what_its_build_printed(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0", setup_py="raise AttributeError('no cython_sources')")
    here = setting(tmp_path, local_index.url)

    with pytest.raises(BuildFailedError) as failure:
        here.make(spam="1.0")

    assert "spam==1.0" in str(failure.value)
    assert failure.value.ended.errors.splitlines()[-1] == "AttributeError: no cython_sources"
    assert not here.place.exists()


def test_a_build_that_takes_too_long_is_unbuildable(local_index: LocalIndex, tmp_path: Path) -> None:
    slow = "import os, time\nif os.environ.get('CFLAGS') == 'slow': time.sleep(60)"
    local_index.add("spam", "1.0", setup_py=slow)
    here = setting(tmp_path, local_index.url, build_timeout=1.0)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    slow_here = setting(tmp_path, local_index.url, build_timeout=1.0, variables={**os.environ, "CFLAGS": "slow"})
    # In the same circumstances, the wheel that was built while resolving would be taken.
    recipe = replace(recipe, instructions={**recipe.instructions, "circumstances": "others"})

    with pytest.raises(BuildFailedError, match="not built within 1 s") as failure:
        slow_here.build(recipe)

    assert failure.value.ended.timed_out
    assert not slow_here.place.exists()


def test_hashes_are_equal_where_all_that_decides_the_build_is(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs<2"])
    local_index.add("spam", "1.1", requires=["eggs<2"])
    local_index.add("eggs", "1.0")
    here = setting(tmp_path, local_index.url).environment
    other = setting(tmp_path, local_index.url).environment
    constrained = setting(tmp_path, local_index.url, build_constraints=("setuptools<66",)).environment

    assert here.resolve(candidate(spam="1.0")).input_hash == other.resolve(candidate(spam="1.0")).input_hash
    assert here.resolve(candidate(spam="1.0")).input_hash == here.resolve(candidate(spam="1")).input_hash
    assert here.resolve(candidate(spam="1.0")).input_hash != here.resolve(candidate(spam="1.1")).input_hash
    # Nothing is built from source, so what holds for builds changes nothing.
    assert here.resolve(candidate(spam="1.0")).input_hash == constrained.resolve(candidate(spam="1.0")).input_hash


def test_hashes_differ_where_a_build_would_be_made_differently(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", wheel=False, sdist=True)

    def input_hash(**request: Any) -> str:
        return setting(tmp_path, local_index.url, **request).environment.resolve(candidate(spam="1.0")).input_hash

    hashes = {
        input_hash(),
        input_hash(build_constraints=("setuptools<66",)),
        input_hash(build_isolation=False),
        input_hash(variables={**os.environ, "CFLAGS": "-O0"}),
    }
    assert len(hashes) == 4


def test_the_same_content_has_the_same_identity_and_other_content_another(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0", files={"spam.py": "x = 1"})
    local_index.add("spam", "1.1", files={"spam.py": "x = 1"})
    here = setting(tmp_path, local_index.url)

    first, again, other = here.make(spam="1.0"), here.make(spam="1.0"), here.make(spam="1.1")

    assert first.location != again.location
    assert first.content_identity == again.content_identity != other.content_identity
    here.run(first, "import spam")  # which leaves byte code
    from bisector.environments.venv.content import content_identity

    assert content_identity(Path(first.location) / "venv") == first.content_identity


def test_what_a_killed_build_left_is_built_over(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    left = here.directory / "a run" / "builds" / "p1"
    (left / "venv" / "lib").mkdir(parents=True)
    (left / "venv" / "lib" / "half").write_text("")
    (left / "venv" / "lib").chmod(0o500)

    build = here.build(recipe)

    assert here.environment.exists(build)
    assert not (left / "venv" / "lib" / "half").exists()


def test_a_build_is_there_only_when_it_is_whole_and_gone_when_removed(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url)
    build = here.make(spam="1.0")
    stamp = Path(build.location) / "whole.json"
    kept = stamp.read_text()

    stamp.unlink()
    assert not here.environment.exists(build)
    stamp.write_text(kept)
    assert here.environment.exists(build)
    here.environment.remove(build)
    assert not here.environment.exists(build)
    assert not Path(build.location).exists()
    here.environment.remove(build)


def test_files_are_links_into_the_cache(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url)
    build = here.make(spam="1.0")

    [module] = Path(build.location).glob("venv/lib/*/site-packages/spam.py")
    assert module.stat().st_nlink > 1


def test_recipes_are_json_and_survive_it(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", sdist=True, wheel=False)
    here = setting(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))

    read_again = replace(recipe, instructions=json.loads(json.dumps(recipe.instructions)))

    assert here.build(read_again).installed == (("spam", "1.0"),)


def test_nothing_is_left_beside_builds_and_cache(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", sdist=True, wheel=False)
    local_index.add("eggs", "1.0", requires=["ham"])
    here = setting(tmp_path, local_index.url)
    here.make(spam="1.0")
    with pytest.raises(InfeasibleError):
        here.environment.resolve(candidate(eggs="1.0"))

    assert not list((tmp_path / "cache" / "work").iterdir())
    assert sorted(path.name for path in here.place.iterdir()) == ["venv", "whole.json"]


def test_the_pythons_own_variables_and_the_users_uv_settings_do_not_reach_a_build(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0")
    (tmp_path / "mine.toml").write_text("this is no TOML")
    variables = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "nowhere"),
        "PYTHONHOME": "/nonexistent",
        "UV_CONFIG_FILE": str(tmp_path / "mine.toml"),
        "UV_INDEX_URL": "http://127.0.0.1:9/simple",
        "UV_RESOLUTION": "lowest",
        "UV_CONSTRAINT": str(tmp_path / "none"),
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    }
    here = setting(tmp_path, local_index.url, variables=variables)

    assert here.make(spam="1.0").installed == (("spam", "1.0"),)


def test_candidates_can_be_resolved_and_built_by_several_threads(local_index: LocalIndex, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    for version in ("1.0", "1.1", "1.2"):
        local_index.add("spam", version, requires=["eggs"])
    local_index.add("eggs", "1.0", sdist=True, wheel=False)
    here = setting(tmp_path, local_index.url)

    def make(version: str) -> str:
        from threading import Event

        recipe = here.environment.resolve(candidate(spam=version))
        place = tmp_path / "run" / "builds" / version
        build = here.environment.build(recipe, place, tmp_path / f"{version}.log", Event())
        python = place / "venv" / "bin" / "python"
        code = "import spam, eggs; print(spam.__version__)"
        return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip() + str(
            len(build.installed)
        )

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(make, ["1.0", "1.1", "1.2"])) == ["1.02", "1.12", "1.22"]


def test_an_unknown_python_is_a_usage_error_that_lists_those_found(local_index: LocalIndex, tmp_path: Path) -> None:
    here = setting(tmp_path, local_index.url, python="3.99")

    with pytest.raises(UsageError, match=r"no Python 3\.99") as failure:
        here.environment.check()

    assert sys.executable in str(failure.value)


LEAVES_SOMETHING = """
import os, pathlib, zipfile
left = pathlib.Path("object-file")
if not left.exists():
    left.write_text(os.environ.get("CFLAGS", ""))
[wheel] = pathlib.Path("payload").iterdir()
with zipfile.ZipFile(wheel, "a") as archive:
    archive.writestr("compiled.py", f"flags = {left.read_text()!r}")
"""


def test_what_a_build_leaves_in_its_source_does_not_reach_a_build_in_other_circumstances(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0", setup_py=LEAVES_SOMETHING)

    def compiled_with(number: int, flags: str) -> str:
        here = setting(tmp_path, local_index.url, variables={**os.environ, "CFLAGS": flags})
        here.number = number
        return here.run(here.make(spam="1.0"), "import compiled; print(compiled.flags)").output.strip()

    assert [compiled_with(10 * n, flags) for n, flags in enumerate(["-O1", "-O2", "-O1"])] == ["-O1", "-O2", "-O1"]


def test_what_was_downloaded_is_shared_by_all_circumstances(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs"], sdist=True, wheel=False)
    local_index.add("eggs", "1.0")
    for number, flags in enumerate(["-O0", "-O1", "-O2", "-O3"]):
        here = setting(tmp_path, local_index.url, variables={**os.environ, "CFLAGS": flags})
        here.number = number * 10
        here.make(spam="1.0")

    paths = [request.path for request in local_index.requests if request.method == "GET"]
    assert sum(path.endswith(".whl") for path in paths) == 1
    assert sum(path.endswith(".tar.gz") for path in paths) == 4


def test_the_log_of_a_build_holds_no_warning_of_how_bisector_uses_uv(tmp_path: Path) -> None:
    with LocalIndex(upload_times=False) as index:
        index.add("spam", "1.0")
        here = setting(tmp_path, index.url)
        here.make(spam="1.0")

    assert "spam==1.0" in here.log.read_text()
    assert "warning" not in here.log.read_text()


def test_nothing_is_written_beside_the_script_and_what_runs_compile_is_kept_with_their_build(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url)
    build = here.make(spam="1.0")
    script = tmp_path / "scripts"
    script.mkdir()
    (script / "companion.py").write_text("x = 1\n")

    text = "import companion, spam; print(companion.__cached__, spam.__cached__, sep=chr(10))"
    printed = here.run(build, text, "scripts/smoke.py").output.splitlines()
    elsewhere = here.run(build, text, "scripts/smoke.py", variables=(("PYTHONPYCACHEPREFIX", "there"),)).output

    assert sorted(path.name for path in script.iterdir()) == ["companion.py", "smoke.py"]
    assert all(Path(path).is_file() and Path(build.location) in Path(path).parents for path in printed)
    assert len(printed) == 2
    assert build.location + "/bytecode" not in elsewhere
    here.environment.remove(build)
    assert not Path(build.location).exists()
