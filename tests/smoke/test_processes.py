"""Running a program: how its end is told, and that nothing of it stays behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest

from bisector.model import Ended
from bisector.processes import KEPT_OUTPUT, end_marked, run_process
from bisector.processes.tree import MARKER, members
from pins.errors import EnvironmentFailureError

Run = Callable[..., Ended]
PYTHON = sys.executable


@pytest.fixture
def marker(request: pytest.FixtureRequest) -> str:
    return f"test-{os.getpid()}-{request.node.name}"


@pytest.fixture
def run(tmp_path: Path, marker: str) -> Run:
    def run(*arguments: str, **options: object) -> Ended:
        settings: dict[str, object] = {
            "environment": {"PATH": os.environ["PATH"]},
            "directory": tmp_path,
            "log": tmp_path / "log",
            "marker": marker,
            **options,
        }
        return run_process(arguments, **settings)  # type: ignore[arg-type]

    return run


def shell(text: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", text)


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)


def test_streams_status_and_log(run: Run, tmp_path: Path) -> None:
    ended = run(*shell("echo out; echo err >&2; exit 3"))
    assert (ended.exit_status, ended.signal, ended.output, ended.errors) == (3, None, "out\n", "err\n")
    assert sorted((tmp_path / "log").read_text().split()) == ["err", "out"]


def test_a_signal_is_told_from_a_status(run: Run) -> None:
    ended = run(*shell("kill -SEGV $$"))
    assert (ended.exit_status, ended.signal, ended.out_of_memory) == (None, signal.SIGSEGV, "")


def test_a_kill_from_outside_is_not_called_out_of_memory(run: Run) -> None:
    ended = run(*shell("kill -KILL $$"))
    assert (ended.signal, ended.out_of_memory) == (signal.SIGKILL, "")


def test_standard_input_is_closed_and_the_environment_is_what_was_given(run: Run, marker: str) -> None:
    ended = run(*shell("cat; env"), environment={"PATH": os.environ["PATH"], "ONLY": "this"})
    assert ended.exit_status == 0
    names = {line.partition("=")[0] for line in ended.output.splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "ONLY", MARKER}
    assert f"{MARKER}={marker}" in ended.output


def test_the_end_of_a_long_output_is_kept_and_the_log_is_bounded(run: Run, tmp_path: Path) -> None:
    ended = run(*shell("head -c 50000000 /dev/zero | tr '\\0' x; printf END"), log_limit=1_000_000)
    assert ended.output.endswith("xxxEND")
    assert len(ended.output) == KEPT_OUTPUT
    text = (tmp_path / "log").read_text()
    assert len(text) <= 1_000_000
    assert "bytes left out here" in text
    assert text.endswith("xxxEND")


def test_binary_output_without_a_newline(run: Run, tmp_path: Path) -> None:
    ended = run(PYTHON, "-c", "import os; os.write(1, bytes(range(256)))")
    assert (tmp_path / "log").read_bytes() == bytes(range(256))
    assert "\ufffd" in ended.output


@pytest.mark.parametrize(
    ("program", "why"),
    [("/nowhere/program", "No such file"), ("./plain", "Permission denied"), ("./orphan", "interpreter")],
)
def test_what_cannot_be_started_is_told(run: Run, tmp_path: Path, program: str, why: str) -> None:
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    (tmp_path / "orphan").write_text("#!/nowhere/interpreter\n")
    (tmp_path / "orphan").chmod(0o755)
    name = program if program.startswith("/") else str(tmp_path / program)
    ended = run(name)
    assert ended.exit_status is None
    assert why in ended.not_started


def test_a_program_name_with_a_null_byte_is_not_started(run: Run) -> None:
    assert run("/bin/echo", "a\0b").not_started


def test_a_log_that_cannot_be_written_is_our_failure(run: Run, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailureError, match="log"):
        run("/bin/true", log=tmp_path / "missing" / "log")


def test_a_full_disk_is_our_failure_and_leaves_nothing_running(run: Run, marker: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with pytest.raises(EnvironmentFailureError):
        run(*shell("while :; do echo x; done"), log=Path("/dev/full"))
    assert members({marker}) == []


def test_time_that_is_up_ends_the_whole_tree_even_what_ignores_the_polite_signal(run: Run, marker: str) -> None:
    ended = run(*shell("trap '' TERM; sleep 300 & setsid sleep 300 & sleep 300"), timeout=0.3)
    assert ended.timed_out
    assert not ended.cancelled
    assert members({marker}) == []


def test_a_polite_end_lets_the_program_tidy_up(run: Run, tmp_path: Path) -> None:
    ended = run(*shell("trap 'echo tidied; exit 7' TERM; echo ready; while :; do sleep 0.05; done"), timeout=0.5)
    assert ended.timed_out
    assert ended.exit_status == 7
    assert ended.output == "ready\ntidied\n"


def test_cancelling_ends_it(run: Run, marker: str) -> None:
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    ended = run("sleep", "300", cancel=cancel)
    assert ended.cancelled
    assert not ended.timed_out
    assert members({marker}) == []


def test_what_is_cancelled_before_it_starts_does_not_start(run: Run, tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    assert run("touch", str(tmp_path / "started"), cancel=cancel).cancelled
    assert not (tmp_path / "started").exists()


def test_a_grandchild_that_holds_the_pipe_does_not_hold_us(run: Run, marker: str) -> None:
    ended = run(*shell("sleep 300 & echo done; exit 5"))
    assert (ended.exit_status, ended.output) == (5, "done\n")
    assert members({marker}) == []


def test_a_program_that_closes_its_output_and_goes_on_is_waited_for(run: Run) -> None:
    assert run(*shell("exec >&- 2>&-; sleep 0.3; exit 9")).exit_status == 9


def alive(pid: int) -> bool:
    """Whether it runs; one that nobody has waited for yet does not."""
    return bool(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)


DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
null = os.open(os.devnull, os.O_RDWR)
for stream in (0, 1, 2): os.dup2(null, stream)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(300)
"""


def test_a_daemon_is_ended_with_the_program_that_started_it(run: Run, tmp_path: Path, marker: str) -> None:
    note = tmp_path / "pid"
    program = tmp_path / "daemon.py"
    program.write_text(DAEMON)
    ended = run(*shell(f"'{PYTHON}' '{program}' '{note}'; while [ ! -s '{note}' ]; do sleep 0.01; done"))
    assert ended.exit_status == 0
    assert not alive(int(note.read_text()))


DRIVER = """
import os, sys
from pathlib import Path
from bisector.processes import run_process
run_process(["/bin/sh", "-c", "i=0; while :; do i=$((i+1)); echo line $i; echo $i > count; sleep 0.01; done"],
            environment={"PATH": os.environ["PATH"]}, directory=Path(sys.argv[1]), log=Path(sys.argv[1], "log"),
            marker=sys.argv[2])
"""


def test_killed_we_lose_nothing_of_the_log_and_the_mark_finds_what_is_left(tmp_path: Path, marker: str) -> None:
    driver = subprocess.Popen([PYTHON, "-c", DRIVER, str(tmp_path), marker], cwd=Path(__file__).parents[2])
    count = tmp_path / "count"
    wait_for(lambda: count.exists() and len(count.read_text().strip()) >= 2)
    seen = int(count.read_text())
    time.sleep(0.05)
    driver.kill()
    driver.wait()
    assert f"line {seen}\n" in (tmp_path / "log").read_text()
    end_marked({marker})
    assert members({marker}) == []


def test_only_the_marked_are_ended(marker: str) -> None:
    ours = subprocess.Popen(["sleep", "300"], env={MARKER: marker, "PATH": os.environ["PATH"]})
    other = subprocess.Popen(["sleep", "300"], env={MARKER: marker + "-other", "PATH": os.environ["PATH"]})
    try:
        assert end_marked({marker}) == 1
        assert ours.wait() == -signal.SIGTERM
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_no_mark_ends_nothing() -> None:
    assert end_marked(()) == 0


def test_we_ourselves_are_never_ended_by_our_own_mark(tmp_path: Path, marker: str) -> None:
    program = f"from bisector.processes.tree import end_marked; print(end_marked({{{marker!r}}}))"
    ended = run_process(
        [PYTHON, "-c", program],
        environment={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])},
        directory=tmp_path,
        log=tmp_path / "log",
        marker=marker,
    )
    assert (ended.exit_status, ended.output) == (0, "0\n")


def test_no_descriptor_is_left_open(run: Run) -> None:
    run("/bin/true")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        run("/bin/true")
        run("/nowhere")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_several_threads_run_programs_at_once(tmp_path: Path, marker: str) -> None:
    results: dict[int, Ended] = {}

    def one(number: int) -> None:
        results[number] = run_process(
            shell(f"echo {number}; sleep 0.2; exit {number}"),
            environment={"PATH": os.environ["PATH"]},
            directory=tmp_path,
            log=tmp_path / f"log-{number}",
            marker=f"{marker}-{number}",
        )

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: (ended.exit_status, ended.output) for number, ended in results.items()} == {
        number: (number, f"{number}\n") for number in range(8)
    }


MEMORY = """
import os, sys
from pathlib import Path
from bisector.processes import run_process
Path(sys.argv[1], "cgroup.procs").write_text(str(os.getpid()))
ended = run_process([sys.executable, "-c", "x = bytearray(400_000_000); print(sum(x))"], environment=dict(os.environ),
                    directory=Path(sys.argv[2]), log=Path(sys.argv[2], "log"), marker=sys.argv[3])
print(ended.signal, ended.out_of_memory)
"""


def test_the_kernel_killing_for_memory_is_told(tmp_path: Path, marker: str) -> None:
    roots = [
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ]
    group = None
    for root, limit in roots:
        try:
            group = root / f"bisector-test-{os.getpid()}"
            group.mkdir()
            (group / limit).write_text("150000000")
            break
        except OSError:
            if group is not None and group.is_dir():
                group.rmdir()
            group = None
    if group is None:
        pytest.skip("no memory control group can be made here")
    try:
        done = subprocess.run(
            [PYTHON, "-c", MEMORY, str(group), str(tmp_path), marker],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
        )
    finally:
        wait_for(lambda: not (group / "cgroup.procs").read_text().strip())
        group.rmdir()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("9 the kernel killed a process")
