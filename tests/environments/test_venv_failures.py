"""Whose failure it is when uv fails: provoked for real wherever that can be done."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bisector.environments.base import BuildFailedError, InfeasibleError
from bisector.environments.venv.failures import Cause, explain
from bisector.model import Ended
from pins.errors import EnvironmentFailureError
from tests.environments.venv_setting import Setting, candidate, setting
from tests.local_archives import make_wheel
from tests.local_index import LocalIndex
from tests.local_pages import ServedFile


def quick(directory: Path, index_url: str, **request: Any) -> Setting:
    """A setting in which uv itself asks once, and waits for a second."""
    variables = {**os.environ, "UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "1", **request.pop("variables", {})}
    return setting(directory, index_url, variables=variables, **request)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisector.environments.venv.uv._PAUSES", (0.05, 0.05))


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_an_index_that_answers_with_an_error_is_ours(local_index: LocalIndex, tmp_path: Path, status: int) -> None:
    local_index.add("spam", "1.0")
    local_index.fail_with(status)
    here = quick(tmp_path, local_index.url)

    with pytest.raises(EnvironmentFailureError, match=str(status)):
        here.environment.resolve(candidate(spam="1.0"))

    assert len(local_index.requests) == 3  # it was tried again, twice


@pytest.mark.parametrize("status", [401, 403])
def test_an_index_that_lets_nobody_in_is_ours_and_not_asked_again(
    local_index: LocalIndex, tmp_path: Path, status: int
) -> None:
    local_index.add("spam", "1.0")
    local_index.fail_with(status)
    here = quick(tmp_path, local_index.url)

    with pytest.raises(EnvironmentFailureError, match=str(status)):
        here.environment.resolve(candidate(spam="1.0"))

    assert len(local_index.requests) <= 4


def test_an_index_that_recovers_is_asked_again(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    local_index.fail_with(503, times=2)
    here = quick(tmp_path, local_index.url)

    assert here.environment.resolve(candidate(spam="1.0")).resolved == (("spam", "1.0"),)


def test_an_index_that_does_not_answer_is_ours(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    local_index.delay(30)
    here = quick(tmp_path, local_index.url)

    with pytest.raises(EnvironmentFailureError, match=r"timed out"):
        here.environment.resolve(candidate(spam="1.0"))


def test_garbage_from_the_index_is_ours(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    local_index.garbage()
    here = quick(tmp_path, local_index.url)

    with pytest.raises(EnvironmentFailureError, match="JSON"):
        here.environment.resolve(candidate(spam="1.0"))


def test_an_index_that_is_not_there_is_ours(tmp_path: Path) -> None:
    here = quick(tmp_path, "http://127.0.0.1:9/simple/")

    with pytest.raises(EnvironmentFailureError, match="refused"):
        here.environment.resolve(candidate(spam="1.0"))


def test_a_host_that_is_not_known_is_ours(tmp_path: Path) -> None:
    here = quick(tmp_path, "http://nowhere.invalid/simple/")

    with pytest.raises(EnvironmentFailureError, match=r"nowhere\.invalid"):
        here.environment.resolve(candidate(spam="1.0"))


def test_a_connection_that_ends_early_is_ours(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    local_index.hang_up()
    here = quick(tmp_path, local_index.url)

    with pytest.raises(EnvironmentFailureError):
        here.environment.resolve(candidate(spam="1.0"))


def test_an_index_that_fails_only_while_installing_is_ours(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    here = quick(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    local_index.fail_with(500)

    with pytest.raises(EnvironmentFailureError, match="500"):
        here.build(recipe)

    assert not here.place.exists()


def test_a_file_with_another_hash_than_the_index_says_is_ours(local_index: LocalIndex, tmp_path: Path) -> None:
    filename, content = make_wheel("spam", "1.0")
    served = ServedFile("spam", filename, content, None, None, None, datetime(2020, 1, 1, tzinfo=UTC))
    local_index.add_file(served)
    here = quick(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    hashes = [line for phase in here_phases(recipe.instructions) for line in phase]
    assert "--hash=sha256:" in hashes[0]
    wrong = {**recipe.instructions, "phases": [["spam==1.0 --hash=sha256:" + "0" * 64]]}
    from dataclasses import replace

    with pytest.raises(EnvironmentFailureError, match=r"[Hh]ash"):
        here.build(replace(recipe, instructions=wrong))


def here_phases(instructions: Any) -> list[list[str]]:
    phases: list[list[str]] = instructions["phases"]
    return phases


def test_a_wheel_that_is_broken_makes_its_version_unbuildable(local_index: LocalIndex, tmp_path: Path) -> None:
    filename, _ = make_wheel("spam", "1.0")
    broken = ServedFile("spam", filename, b"PK no zip at all", None, None, None, datetime(2020, 1, 1, tzinfo=UTC))
    local_index.add_file(broken)
    here = quick(tmp_path, local_index.url)

    with pytest.raises(BuildFailedError):
        here.make(spam="1.0")


def test_build_requirements_that_do_not_exist_make_a_version_unbuildable(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0", wheel=False, sdist=True, build_requires=["no-such-backend>=3"])
    here = quick(tmp_path, local_index.url)

    with pytest.raises(BuildFailedError, match="no-such-backend"):
        here.make(spam="1.0")


def test_build_requirements_that_cannot_be_fetched_are_ours(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", wheel=False, sdist=True, build_requires=["backend>=3"])
    local_index.add("backend", "3.0")
    here = quick(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    local_index.fail_with(500)

    with pytest.raises(EnvironmentFailureError, match="500"):
        here.build(recipe)


def test_a_package_that_no_index_has_is_infeasible(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["nothing-like-this"])
    here = quick(tmp_path, local_index.url)

    with pytest.raises(InfeasibleError, match="nothing-like-this"):
        here.environment.resolve(candidate(spam="1.0"))


def test_a_failure_of_ours_is_not_remembered_and_a_reason_is(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["nothing-like-this"])
    local_index.add("eggs", "1.0")
    here = quick(tmp_path, local_index.url)
    local_index.fail_with(500)
    with pytest.raises(EnvironmentFailureError):
        here.environment.resolve(candidate(eggs="1.0"))
    local_index.recover()

    assert here.environment.resolve(candidate(eggs="1.0")).resolved == (("eggs", "1.0"),)
    with pytest.raises(InfeasibleError):
        here.environment.resolve(candidate(spam="1.0"))
    asked = len(local_index.requests)
    with pytest.raises(InfeasibleError):
        here.environment.resolve(candidate(spam="1.0"))
    assert len(local_index.requests) == asked


def test_a_build_that_the_kernel_kills_is_ours(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", setup_py="import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    here = quick(tmp_path, local_index.url)

    with pytest.raises(EnvironmentFailureError, match="SIGKILL"):
        here.make(spam="1.0")


def test_a_build_that_crashes_is_the_candidates(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", setup_py="import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    here = quick(tmp_path, local_index.url)

    with pytest.raises(BuildFailedError, match="SIGSEGV"):
        here.make(spam="1.0")


def test_what_a_build_prints_cannot_pass_for_uvs_own_words(local_index: LocalIndex, tmp_path: Path) -> None:
    text = "error: No solution found when resolving dependencies\\n  cause: HTTP status server error (os error 28)"
    local_index.add("spam", "1.0", setup_py=f"raise SystemExit('{text}')")
    here = quick(tmp_path, local_index.url)

    with pytest.raises(BuildFailedError):
        here.make(spam="1.0")


def test_a_build_that_prints_without_end_still_ends_as_its_own_failure(local_index: LocalIndex, tmp_path: Path) -> None:
    noisy = "import sys\nfor n in range(20000): print('line', n, file=sys.stderr)\nraise RuntimeError('the end')"
    local_index.add("spam", "1.0", setup_py=noisy)
    here = quick(tmp_path, local_index.url)

    with pytest.raises(BuildFailedError, match="spam==1.0") as failure:  # noqa: RUF043
        here.make(spam="1.0")

    assert "RuntimeError: the end" in failure.value.ended.errors


def test_a_build_can_be_cancelled(local_index: LocalIndex, tmp_path: Path) -> None:
    slow = "import os, time\nif os.environ.get('CFLAGS') == 'slow': time.sleep(60)"
    local_index.add("spam", "1.0", setup_py=slow)
    recipe = quick(tmp_path, local_index.url).environment.resolve(candidate(spam="1.0"))
    here = quick(tmp_path, local_index.url, variables={"CFLAGS": "slow"})
    from dataclasses import replace

    # In the same circumstances, the wheel that was built while resolving would be taken.
    recipe = replace(recipe, instructions={**recipe.instructions, "circumstances": "others"})
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    began = time.monotonic()

    with pytest.raises(BuildFailedError) as failure:
        here.build(recipe, cancel)

    assert failure.value.ended.cancelled
    assert time.monotonic() - began < 20
    assert not here.place.exists()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted: {mounted.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path, *, but: int = 0) -> None:
    left = os.statvfs(place)
    size = left.f_bavail * left.f_frsize - but
    (place / "filler").write_bytes(b"x" * max(0, size))


def big(index: LocalIndex, name: str = "spam") -> None:
    noise = os.urandom(3_000_000).hex()
    index.add(name, "1.0", files={"spam.py": "x = 1", "noise.txt": noise})


def test_a_cache_that_is_full_is_ours(local_index: LocalIndex, tmp_path: Path, tiny_disk: Path) -> None:
    big(local_index)
    here = quick(tmp_path, local_index.url, cache=tiny_disk)

    with pytest.raises(EnvironmentFailureError, match=r"[Nn]o space left"):
        here.make(spam="1.0")
    with pytest.raises(EnvironmentFailureError, match="full"):
        here.environment.check()


def test_a_disk_too_full_for_the_environment_is_ours(local_index: LocalIndex, tmp_path: Path, tiny_disk: Path) -> None:
    big(local_index)
    here = quick(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    place = tiny_disk / "run" / "builds" / "p1"

    with pytest.raises(EnvironmentFailureError, match=r"[Nn]o space left"):
        here.environment.build(recipe, place, here.log, threading.Event())
    assert not place.exists()
    fill(tiny_disk)
    with pytest.raises(EnvironmentFailureError):
        here.environment.build(recipe, place, here.log, threading.Event())


def test_a_build_that_fills_the_disk_is_ours(local_index: LocalIndex, tmp_path: Path, tiny_disk: Path) -> None:
    filling = f"open({str(tiny_disk / 'artefact')!r}, 'wb').write(b'x' * 5_000_000)"
    local_index.add("spam", "1.0", setup_py=filling)
    here = quick(tmp_path, local_index.url)

    with pytest.raises(EnvironmentFailureError, match=r"[Nn]o space left"):
        here.make(spam="1.0")


def ended(errors: str, status: int | None = 1, **facts: Any) -> Ended:
    return Ended(status, errors=errors, **facts)


def test_memory_that_ran_out_is_ours_whatever_was_printed() -> None:
    said = ended("error: Failed to build `spam==1.0`", out_of_memory="the kernel killed cc1plus")

    assert explain(said).cause is Cause.ENVIRONMENT


def test_a_compiler_that_was_killed_is_ours() -> None:
    said = ended(
        "error: Failed to build `spam==1.0`\n  cause: The build backend returned an error\n"
        "  cause: Call to `setuptools.build_meta.build_wheel` failed (exit status: 1)\n\n"
        "         [stderr]\n         c++: fatal error: Killed signal terminated program cc1plus\n"
        "         error: command '/usr/bin/c++' failed with exit code 1\n\n"
        "hint: Build failures usually indicate a problem with the package or the build environment\n"
    )

    assert explain(said).cause is Cause.ENVIRONMENT


def test_uv_ended_by_a_signal_and_words_that_are_not_known_are_ours() -> None:
    assert explain(ended("", None, signal=signal.SIGKILL)).cause is Cause.ENVIRONMENT
    assert explain(ended("error: something that uv has never said before")).cause is Cause.ENVIRONMENT
    assert explain(ended("", 2)).cause is Cause.ENVIRONMENT


def test_the_older_layout_of_messages_is_read_too() -> None:
    said = explain(
        ended(
            "  × Failed to build `pyyaml==5.4`\n  ├─▶ The build backend returned an error\n"
            "  ╰─▶ Call to `setuptools.build_meta.build_wheel` failed (exit status: 1)\n\n"
            "      [stdout]\n      running egg_info\n\n      [stderr]\n      Traceback (most recent call last):\n"
            '        File "<string>", line 201, in get_source_files\n'
            "      AttributeError: 'build_ext' object has no attribute 'cython_sources'\n\n"
            "      hint: This usually indicates a problem with the package or the build\n      environment.\n"
        )
    )

    assert said.cause is Cause.BUILD
    assert said.unbuilt == "pyyaml==5.4"
    assert said.quoted is not None
    assert "AttributeError: 'build_ext' object" in said.quoted.errors
    resolution = explain(
        ended(
            "  × No solution found when resolving dependencies:\n"
            "  ╰─▶ Because fastapi==0.99.1 depends on pydantic<2.0.0\n      and you require pydantic==2.0.3, we can\n"
            "      conclude that your requirements are unsatisfiable.\n"
        )
    )
    assert resolution.cause is Cause.INFEASIBLE
    assert resolution.reason.startswith("Because fastapi==0.99.1 depends on pydantic<2.0.0 and you require")


def test_the_reason_of_a_resolution_that_fails_is_a_sentence(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs==99.9"])
    local_index.add("eggs", "1.0")
    here = quick(tmp_path, local_index.url)

    with pytest.raises(InfeasibleError, match=r"your requirements cannot all be met\.$") as failure:
        here.environment.resolve(candidate(spam="1.0"))

    assert "eggs==99.9" in str(failure.value)
    assert "we can conclude that your requirements" not in str(failure.value)
