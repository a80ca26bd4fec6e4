"""What virtual environments withstand: kills, shared files, other file systems."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from bisector.environments.venv.workplace import remove_abandoned
from bisector.processes import end_marked
from bisector.runs import marker_of
from pins.errors import EnvironmentFailureError
from tests.environments.venv_setting import candidate, setting
from tests.local_index import LocalIndex

WRITE_IN_PLACE = "import eggs\nwith open(eggs.__file__, 'a') as file: file.write('y = 2')"


def test_a_script_that_writes_into_a_shared_file_is_refused_and_the_cache_is_mended(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    local_index.add("spam", "1.1", requires=["eggs"])
    local_index.add("eggs", "1.0", files={"eggs.py": "x = 1\n"})
    here = setting(tmp_path, local_index.url)
    build = here.make(spam="1.0")

    with pytest.raises(EnvironmentFailureError, match=r"eggs\.py"):
        here.run(build, WRITE_IN_PLACE)

    assert here.run(here.make(spam="1.1"), "import eggs; assert not hasattr(eggs, 'y')").exit_status == 0


def test_a_script_may_write_where_files_are_copies_and_replace_files_anywhere(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    local_index.add("eggs", "1.0", files={"eggs.py": "x = 1\n"})
    copying = setting(tmp_path, local_index.url, variables={**os.environ, "UV_LINK_MODE": "copy"})
    assert copying.run(copying.make(spam="1.0"), WRITE_IN_PLACE).exit_status == 0

    linking = setting(tmp_path, local_index.url)
    linking.number = 10
    replace = "import eggs, os, pathlib\nnew = pathlib.Path(eggs.__file__ + '.new')\nnew.write_text('z = 3')"
    ended = linking.run(linking.make(spam="1.0"), f"{replace}\nos.replace(new, eggs.__file__)")
    assert ended.exit_status == 0


def test_cache_and_environment_may_lie_in_different_file_systems(local_index: LocalIndex, tmp_path: Path) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system")
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    place = other / f"bisector-test-{os.getpid()}" / "builds" / "p1"
    try:
        build = here.environment.build(recipe, place, here.log, Event())

        assert build.installed == (("spam", "1.0"),)
        assert "hardlink" not in here.log.read_text()
    finally:
        here.environment.remove(build)
        place.parent.rmdir()
        place.parent.parent.rmdir()


def test_a_build_asks_the_index_for_nothing_but_files_and_the_next_run_reads_it_anew(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    local_index.add("eggs", "1.0")
    here = setting(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    asked = len(local_index.requests)

    here.build(recipe)

    assert all(request.path.startswith("/files/") for request in local_index.requests[asked:])
    local_index.add("eggs", "1.1")
    time.sleep(2.1)  # the index tells the time in whole seconds
    later = setting(tmp_path, local_index.url)
    assert later.environment.resolve(candidate(spam="1.0")).resolved[0] == ("eggs", "1.1")


KILLED = """
import sys
from pathlib import Path
from threading import Event
from tests.environments.venv_setting import candidate, setting

here = setting(Path(sys.argv[1]), sys.argv[2])
print("begun", flush=True)
here.make(spam="1.0")
"""
SLOW = "import pathlib, time\npathlib.Path({flag!r}).write_text('x')\ntime.sleep(120)"


def test_nothing_is_left_of_a_resolution_whose_run_was_killed(local_index: LocalIndex, tmp_path: Path) -> None:
    flag = tmp_path / "building"
    local_index.add("spam", "1.0", setup_py=SLOW.format(flag=str(flag)))
    run = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path), local_index.url], stdout=subprocess.PIPE)
    try:
        until = time.monotonic() + 60
        while not flag.exists() and time.monotonic() < until:
            assert run.poll() is None
            time.sleep(0.05)
    finally:
        run.send_signal(signal.SIGKILL)
        run.communicate()
    left = list((tmp_path / "cache" / "work").iterdir())
    assert len(left) == 1

    removed = remove_abandoned(tmp_path / "cache")

    assert len(removed) == 1
    assert not left[0].exists()
    assert not processes_mentioning(str(tmp_path))


def test_a_build_whose_run_was_killed_is_found_by_its_mark_and_made_again(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    import threading
    from dataclasses import replace

    flag = tmp_path / "building"
    slow = f"import os\nif os.environ.get('CFLAGS') == 'slow':\n    exec({SLOW.format(flag=str(flag))!r})"
    local_index.add("spam", "1.0", setup_py=slow)
    here = setting(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    slowly = setting(tmp_path, local_index.url, variables={**os.environ, "CFLAGS": "slow"})
    again = replace(recipe, instructions={**recipe.instructions, "circumstances": "others"})
    failures: list[BaseException] = []

    def build() -> None:
        try:
            slowly.build(again)
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=build)
    thread.start()
    until = time.monotonic() + 60
    while not flag.exists() and time.monotonic() < until:
        time.sleep(0.05)

    assert end_marked({marker_of(tmp_path / "a run", "p1")}) > 0
    thread.join(30)
    assert isinstance(failures[0], EnvironmentFailureError)
    assert here.build(recipe).installed == (("spam", "1.0"),)


def processes_mentioning(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in words and "pytest" not in words.split(text)[0]:
            found.append(words)
    return found
