"""What is wrong with the engine or the docker command is ours, said with the way out, and never evidence."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bisector.environments.docker.cli import docker_programs
from bisector.environments.docker.container import create
from bisector.environments.docker.engine import engine
from bisector.environments.docker.leftovers import list_leftovers, remove_leftovers, strangers
from bisector.leftovers import collect_garbage
from bisector.model import Build, Ended
from bisector.processes import end_marked
from bisector.runs import identity_of, new_run_directory
from pins.errors import EnvironmentFailureError, UsageError
from tests.docker.docker_setting import Setting, engine_script

TINY = "FROM tiny:1\nARG DEMO_VERSION=1\nLABEL v=${DEMO_VERSION}\n"
SLEEP = "#!/bin/sh\necho begun\nsleep 300\n"


@pytest.fixture
def tiny(tmp_path: Path) -> Setting:
    return Setting(tmp_path, "tiny:1")


@pytest.mark.parametrize("host", ["unix:///no/such/docker.sock", "tcp://127.0.0.1:1"])
def test_a_missing_engine_is_said_with_the_way_out(tiny: Setting, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(EnvironmentFailureError) as caught:
        tiny.environment(TINY).check()
    for word in (host, "DOCKER_HOST", "systemctl start docker", "--env venv"):
        assert word in caught.value.message


def test_an_address_that_is_none_is_said(tiny: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "nonsense://x")
    with pytest.raises(EnvironmentFailureError, match="nonsense://x"):
        tiny.environment(TINY).check()


@pytest.mark.docker
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_no_permission_is_told_from_no_engine(setting: Setting) -> None:
    program = (
        "import os, sys\nsys.path.insert(0, os.getcwd())\nfrom bisector.environments.docker.engine import engine\n"
        "from docker import from_env\nos.setgroups([])\nos.setgid(65534)\nos.setuid(65534)\n"
        "try:\n    with engine(): pass\nexcept Exception as error: print(type(error).__name__, error)\n"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("EnvironmentFailureError no permission")
    assert "group" in printed


@pytest.mark.docker
def test_the_current_docker_context_is_honoured(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    host = os.environ.get("DOCKER_HOST")
    if not host:
        pytest.skip("the engine is not named by DOCKER_HOST")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    subprocess.run(["docker", "context", "create", "mine", "--docker", f"host={host}"], check=True, capture_output=True)
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("DOCKER_CONTEXT", "mine")
    environment = setting.environment()
    environment.check()
    assert setting.run(environment, setting.build(environment), "print('there')").output == "there\n"
    monkeypatch.setenv("DOCKER_CONTEXT", "no-such-context")
    with pytest.raises(EnvironmentFailureError, match="no-such-context"):
        setting.environment().check()


def fake_docker(directory: Path, script: str) -> Path:
    directory.mkdir()
    program = directory / "docker"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


NO_BUILDX = 'test "$1" = build && echo "ERROR: BuildKit is enabled but the buildx component is missing" >&2; exit 1'
LEGACY = 'test "$1" = build && echo "Step 1/2 : FROM scratch"'


@pytest.mark.docker
def test_a_docker_command_without_buildkit_is_noticed_before_the_first_build(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    missing = fake_docker(tmp_path / "a", NO_BUILDX)
    legacy = fake_docker(tmp_path / "b", LEGACY)
    monkeypatch.setenv("PATH", f"{missing.parent}:{legacy.parent}")
    with pytest.raises(EnvironmentFailureError) as caught:
        setting.environment().check()
    for word in (str(missing), "buildx component is missing", str(legacy), "Install the buildx plugin"):
        assert word in caught.value.message


@pytest.mark.docker
def test_a_later_docker_command_that_can_build_is_taken(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    missing = fake_docker(tmp_path / "a", NO_BUILDX)
    monkeypatch.setenv("PATH", f"{missing.parent}:{os.environ['PATH']}")
    environment = setting.environment()
    environment.check()
    assert environment.exists(setting.build(environment))


@pytest.mark.docker
def test_no_docker_command_at_all_is_noticed(setting: Setting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFailureError, match="no docker command is on PATH"):
        setting.environment().check()


def test_one_command_under_two_names_is_tried_once(tmp_path: Path) -> None:
    program = fake_docker(tmp_path / "a", "exit 0")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert docker_programs(f"{tmp_path}/b:{tmp_path}/a:{tmp_path}/none") == (str(tmp_path / "b" / "docker"),)
    program.chmod(0o644)
    assert docker_programs(f"{tmp_path}/a") == ()


@pytest.mark.docker
def test_a_syntax_line_that_cannot_be_fetched_is_noticed_before_the_first_build(setting: Setting) -> None:
    line = "# syntax=registry.invalid/some/frontend:1\n"
    with pytest.raises(EnvironmentFailureError) as caught:
        setting.environment(
            line + "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nARG DEMO_VERSION=1\nLABEL v=${DEMO_VERSION}\n"
        ).check()
    for word in ("registry.invalid/some/frontend:1", "Remove that line", "docker load", "BUILDKIT_SYNTAX"):
        assert word in caught.value.message
    assert list_leftovers([setting.run_id]) == ()


@pytest.mark.docker
def test_a_base_image_that_cannot_be_fetched_is_ours(setting: Setting) -> None:
    environment = setting.environment("FROM registry.invalid/os:1\nARG DEMO_VERSION=1\nLABEL v=${DEMO_VERSION}\n")
    with pytest.raises(EnvironmentFailureError, match=r"cannot be fetched: .*registry\.invalid"):
        setting.build(environment)


@pytest.mark.docker
def test_a_network_that_is_down_while_building_is_ours(setting: Setting) -> None:
    environment = setting.environment(
        "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nARG DEMO_VERSION=1\nLABEL v=${DEMO_VERSION}\n"
        "RUN python3 -m pip install --retries 1 --index-url https://index.invalid/simple demo==${DEMO_VERSION}\n",
        build_options=("--network=none",),
    )
    with pytest.raises(EnvironmentFailureError, match="network failed"):
        setting.build(environment)


@pytest.mark.docker
def test_the_containers_of_a_killed_client_are_found_and_removed(setting: Setting) -> None:
    environment = setting.environment()
    build = setting.build(environment)
    pid = os.fork()
    if pid == 0:  # the client: starts a run, and never comes back
        try:
            setting.run(environment, build, "import time\nprint('begun', flush=True)\ntime.sleep(300)")
        finally:
            os._exit(1)
    log = setting.room / f"{setting.number + 1}.log"
    wait_for(lambda: log.exists() and "begun" in log.read_text())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    found = list_leftovers([setting.run_id])
    assert [leftover.kind for leftover in found] == ["container", "volume", "image"]
    assert found[0].probe == f"{setting.run_id}.p1"
    assert list_leftovers(["another run"]) == ()
    assert found[0] in list_leftovers()
    assert setting.run_id in {run for _, run in strangers(["another run"])}
    assert setting.run_id not in {run for _, run in strangers([setting.run_id])}
    assert len(remove_leftovers([setting.run_id], dry_run=True)) == 3
    assert list_leftovers([setting.run_id]) == found
    removed = remove_leftovers([setting.run_id], images=False)
    assert removed[0].startswith("container ")
    assert [leftover.kind for leftover in list_leftovers([setting.run_id])] == ["image"]
    assert remove_leftovers([setting.run_id]) == [f"image {found[2].names[0]}"]
    assert remove_leftovers([setting.run_id]) == []


@pytest.mark.docker
def test_what_a_run_that_never_began_has_left_is_collected(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    directory = new_run_directory(None)
    unborn = replace(setting, run_id=identity_of(directory))
    unborn.build(unborn.environment())
    assert [leftover.kind for leftover in list_leftovers([unborn.run_id])] == ["image"]
    assert any("image" in removed.what for removed in collect_garbage().removed)
    assert list_leftovers([unborn.run_id]) == ()
    assert not directory.exists()


@pytest.mark.docker
def test_the_build_of_a_killed_client_is_found_and_ended(setting: Setting) -> None:
    text = "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nARG DEMO_VERSION=1\n"
    environment = setting.environment(text + f"RUN echo {setting.run_id} ${{DEMO_VERSION}}; sleep 300\n")
    pid = os.fork()
    if pid == 0:  # the client: starts a build, and never comes back
        try:
            setting.build(environment)
        finally:
            os._exit(1)
    log = setting.room / "1.log"
    wait_for(lambda: log.exists() and " " + setting.run_id in log.read_text())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    marker = f"{setting.run_id}.build-1"
    assert end_marked({marker}) > 0
    assert end_marked({marker}) == 0
    assert list_leftovers([setting.run_id]) == ()


def wait_for(condition: "object", seconds: float = 60.0) -> None:
    assert callable(condition)
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)


def begin(setting: Setting, build: Build | None) -> tuple[threading.Thread, list[Ended | Exception]]:
    """Run a script that sleeps, or build a Dockerfile that does, in a thread."""
    text = TINY if build else TINY + "RUN sleep 300\n"
    environment = setting.environment(text)
    came: list[Ended | Exception] = []

    def work() -> None:
        try:
            if build:
                came.append(setting.run(environment, build, SLEEP, named="smoke.sh"))
            else:
                setting.build(environment, "2")
        except Exception as error:
            came.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, came


def printed(setting: Setting, text: str) -> bool:
    return any(text in log.read_text() for log in setting.room.glob("*.log"))


@pytest.mark.docker
def test_an_engine_that_is_stopped_in_the_middle_is_ours(private_engine: Path, tiny: Setting) -> None:
    build = tiny.build(tiny.environment(TINY))
    thread, came = begin(tiny, build)
    wait_for(lambda: printed(tiny, "begun"))
    engine_script("stop", directory=private_engine)
    thread.join(60)
    assert isinstance(came[0], EnvironmentFailureError), came
    assert "engine" in str(came[0])
    with pytest.raises(EnvironmentFailureError, match="no Docker engine answers"):
        tiny.environment(TINY).exists(build)


@pytest.mark.docker
def test_an_engine_that_is_stopped_while_it_builds_is_ours(private_engine: Path, tiny: Setting) -> None:
    thread, came = begin(tiny, None)
    wait_for(lambda: printed(tiny, "RUN sleep 300"))
    engine_script("stop", directory=private_engine)
    thread.join(60)
    assert isinstance(came[0], EnvironmentFailureError), came
    assert "engine" in str(came[0])


@pytest.mark.docker
@pytest.mark.slow
def test_an_engine_that_dies_in_the_middle_is_ours_and_leaves_a_container_that_is_found(
    private_engine: Path, tiny: Setting
) -> None:
    build = tiny.build(tiny.environment(TINY))
    thread, came = begin(tiny, build)
    wait_for(lambda: printed(tiny, "begun"))
    os.kill(int((private_engine / "pid").read_text()), signal.SIGKILL)
    thread.join(60)
    assert isinstance(came[0], EnvironmentFailureError), came
    engine_script("start", "--private", directory=private_engine)
    assert "container" in [found.kind for found in list_leftovers([tiny.run_id])]
    remove_leftovers([tiny.run_id])
    assert list_leftovers([tiny.run_id]) == ()


@pytest.mark.docker
def test_an_engine_that_cannot_hand_gpus_on_is_noticed_before_the_first_build(setting: Setting) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has an NVIDIA GPU")
    with pytest.raises(EnvironmentFailureError, match="container toolkit"):
        setting.environment(gpu="nvidia").check()
    assert list_leftovers([setting.run_id]) == ()


@pytest.mark.docker
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--device=/dev/nosuch",), ["--docker-arg=--device=/dev/nosuch"]),
        (("--memory=1g", "--network=nosuch"), ["--docker-arg=--network=nosuch", "nosuch not found"]),
        (("--network", "nosuch"), ["--docker-arg=--network --docker-arg=nosuch"]),
        (("--memory=1g", "-v"), ["--docker-arg=-v", "lacks its value"]),
        (("-e",), ["--docker-arg=-e", "lacks its value"]),
        (("--memory=1k",), ["--docker-arg=--memory=1k", "inimum memory"]),
        (("--nonsense",), ["--docker-arg=--nonsense", "unknown flag"]),
    ],
)
def test_an_argument_that_docker_does_not_take_is_named(
    setting: Setting, arguments: tuple[str, ...], words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        setting.environment(docker_args=arguments).check()
    for word in words:
        assert word in caught.value.message
    assert "bisector.run" not in caught.value.message
    assert list_leftovers([setting.run_id]) == ()


@pytest.mark.docker
def test_a_user_that_the_image_does_not_know_is_named_and_one_that_it_knows_is_taken(setting: Setting) -> None:
    environment = setting.environment(docker_args=("--user=nosuch",))
    build = setting.build(environment)
    assert "nosuch is to be a user" in " ".join(environment.notes)
    with pytest.raises(UsageError, match=r"--docker-arg=--user=nosuch: .*unable to find user nosuch"):
        setting.run(environment, build, "print(1)")
    environment = setting.environment(docker_args=("--user=nobody",))
    assert setting.run(environment, build, "print(1)").output == "1\n"


@pytest.mark.docker
def test_a_build_option_without_its_value_is_named(setting: Setting) -> None:
    with pytest.raises(UsageError, match="--docker-build-option=--add-host: it lacks its value"):
        setting.environment(build_options=("--network=host", "--add-host")).check()


@pytest.fixture
def small_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A temporary directory of 80 MiB."""
    with tempfile.TemporaryDirectory(prefix="disk-") as directory:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", directory], capture_output=True)
        if mounted.returncode != 0:
            pytest.skip("this machine lets nobody mount a file system")
        monkeypatch.setattr(tempfile, "tempdir", directory)
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", directory], check=True)


@pytest.mark.docker
def test_a_full_disk_while_building_is_ours(small_disk: None, private_engine: Path, tiny: Setting) -> None:
    environment = tiny.environment(TINY + "RUN cat /dev/zero > /large\n")
    with pytest.raises(EnvironmentFailureError, match="disk is full"):
        tiny.build(environment)


GROUP = "bisector-test"


@pytest.fixture
def memory_group() -> Iterator[None]:
    """A control group whose members have 96 MiB of memory together."""
    groups = Path("/sys/fs/cgroup")
    first, limit = (
        (groups / "memory", "memory.limit_in_bytes") if (groups / "memory").is_dir() else (groups, "memory.max")
    )
    group = first / GROUP
    try:
        group.mkdir(exist_ok=True)
        (group / limit).write_text(str(96 << 20))
    except OSError as error:
        pytest.skip(f"this machine lets nobody limit memory: {error}")
    yield
    for made in groups.glob(f"**/{GROUP}"):
        for below in sorted(made.glob("**/"), reverse=True):
            below.rmdir()


@pytest.mark.docker
@pytest.mark.parametrize("private_engine", [{"cgroup-parent": f"/{GROUP}"}], indirect=True)
def test_memory_that_runs_out_while_building_is_ours(memory_group: None, private_engine: Path, tiny: Setting) -> None:
    environment = tiny.environment(TINY + "RUN x=aaaaaaaa; while :; do x=$x$x; done\n")
    with pytest.raises(EnvironmentFailureError, match="the kernel killed a process of the build"):
        tiny.build(environment)


@pytest.mark.docker
def test_a_word_taken_for_the_image_leaves_nothing_behind(setting: Setting) -> None:
    environment = setting.environment()
    build = setting.build(environment)
    with pytest.raises(Exception, match="taken for the image"):
        create(
            "docker",
            [f"--label=bisector.run={setting.run_id}", setting.base_image],
            build.location,
            ["true"],
            environment=dict(os.environ),
            marker="x",
        )
    assert [found.kind for found in list_leftovers([setting.run_id])] == ["image"]
    with engine() as client:
        assert client.api.inspect_image(setting.base_image)
