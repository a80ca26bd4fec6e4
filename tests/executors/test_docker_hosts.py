"""Two Docker engines of this machine, each with its own socket and data, as two hosts."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bisector import session
from bisector.environments.docker.engine import at_endpoint, engine
from bisector.events import BuildStarted, Event
from bisector.file_axes.request import FilesRequest
from bisector.model import Outcome
from bisector.report.model import Result, Verdict
from bisector.request import DockerRequest, RunRequest
from tests.docker.conftest import SYSTEM
from tests.docker.docker_setting import SCRIPT, engine_script, tiny_archive
from tests.executors.ray_clusters import answered, keeping_notes
from tests.file_axes.small_repository import SmallRepository
from tests.session.conftest import Ask

pytestmark = [pytest.mark.docker, pytest.mark.slow]

DOCKERFILE = """FROM tiny:1
ARG WIDGET_VERSION
RUN sleep 1; echo layer > /layer
RUN sleep {seconds}; echo "$WIDGET_VERSION" > /version
"""
BROKEN_FROM_9 = 'read version < /version; test "$version" -lt 9 || { echo "ValueError: broken" >&2; exit 1; }'


@dataclass
class Engine:
    """A private engine in its directory; `inside` are the words before a command that start it in another network."""

    directory: Path
    address: str = ""
    inside: tuple[str, ...] = ()

    def start(self) -> None:
        """Start it, or start it again."""
        if not self.inside:
            self.address = engine_script("start", "--private", directory=self.directory)["DOCKER_HOST"]
            return
        variables = {**os.environ, "BISECTOR_ENGINE_DIR": str(self.directory), "DOCKER_HOST": "unix:///nowhere.sock"}
        subprocess.run([*self.inside, SCRIPT, "start"], env=variables, check=True, capture_output=True, timeout=300)
        self.address = f"unix://{self.directory}/docker.sock"

    def give_tiny_image(self, others: "list[Engine]") -> None:
        """Make the image, and have the others hold the same one."""
        with at_endpoint(self.address), engine() as client:
            client.api.import_image_from_data(tiny_archive(), repository="tiny", tag="1")
            saved = b"".join(client.images.get("tiny:1").save(named=True))
        for other in others:
            with at_endpoint(other.address), engine() as client:
                client.images.load(saved)

    def stop(self) -> None:
        """Stop it; what it holds stays."""
        engine_script("stop", directory=self.directory)

    def left(self) -> list[str]:
        """Names of images that a run has left, and ids of containers."""
        with at_endpoint(self.address), engine() as client:
            images = [tag for image in client.images.list() for tag in image.tags if not tag.startswith("tiny")]
            return images + [str(container.id) for container in client.containers.list(all=True)]


@pytest.fixture
def engines() -> Iterator[tuple[Engine, Engine]]:
    if shutil.which("dockerd", path=SYSTEM) is None:
        pytest.skip("no dockerd here; `scripts/docker-engine start` as root installs it")
    with ExitStack() as stack:
        made = []
        for _ in range(2):
            directory = Path(tempfile.mkdtemp(prefix="engine-"))  # short, for a socket's name has a limit
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            stack.callback(engine_script, "stop", directory=directory)
            made.append(Engine(directory))
            made[-1].start()
        made[0].give_tiny_image(made[1:])
        yield made[0], made[1]


@pytest.fixture
def request_over(engines: tuple[Engine, Engine], ask: Ask, tmp_path: Path) -> Callable[..., RunRequest]:
    """A run over both, with builds of so many seconds."""

    def make(seconds: float = 1.0) -> RunRequest:
        context = tmp_path / "context"
        context.mkdir(exist_ok=True)
        (context / "Dockerfile").write_text(DOCKERFILE.format(seconds=seconds))
        docker = DockerRequest(context / "Dockerfile", build_args=(("WIDGET_VERSION", "{widget}"),))
        addresses = tuple(each.address for each in engines)
        asked = ask(BROKEN_FROM_9, workers=2)
        return replace(asked, environment="docker", build_command=(), docker=docker, hosts=addresses)

    return make


def nothing_bad(result: Result) -> None:
    for probe in result.probes:
        bad = int(probe.candidate["widget"]) >= 9
        assert {run.outcome for run in probe.runs} <= {Outcome.FAIL if bad else Outcome.PASS}, probe
        assert probe.outcome is not Outcome.UNBUILDABLE


def test_probes_are_spread_caches_are_used_and_nothing_is_left(
    engines: tuple[Engine, Engine], request_over: Callable[..., RunRequest]
) -> None:
    result = session.bisect(request_over())
    answered(result)
    nothing_bad(result)
    assert {probe.host for probe in result.probes} == {each.address for each in engines}
    assert [each.left() for each in engines] == [[], []]
    logs = [Path(probe.build_log).read_text() for probe in result.probes if probe.build_log]
    assert sum("CACHED" in log for log in logs) >= len(logs) - 2, "the common layer is built once on each"


def test_a_host_with_another_base_image_is_not_used(
    engines: tuple[Engine, Engine], request_over: Callable[..., RunRequest]
) -> None:
    engines[1].give_tiny_image([])
    said: list[str] = []
    result = session.bisect(request_over(), reporter=keeping_notes(said))
    answered(result)
    assert {probe.host for probe in result.probes} == {engines[0].address}
    assert any("base image tiny:1: another there than on" in text for text in said), said


def test_an_engine_that_stops_in_the_middle_of_a_build_loses_nothing(
    engines: tuple[Engine, Engine], request_over: Callable[..., RunRequest]
) -> None:
    said: list[str] = []
    note, builds = keeping_notes(said), threading.Semaphore(0)

    def reporter(event: Event) -> None:
        note(event)
        if isinstance(event, BuildStarted):
            builds.release()

    def stop() -> None:
        for _ in range(3):
            builds.acquire()
        threading.Event().wait(2.0)
        engines[1].stop()

    stopper = threading.Thread(target=stop)
    stopper.start()
    result = session.bisect(request_over(4.0), reporter=reporter)
    stopper.join()
    answered(result)
    nothing_bad(result)
    assert any(f"the host {engines[1].address} is gone, and set aside" in text for text in said), said
    assert engines[0].left() == []


def test_when_both_engines_stop_the_run_ends_and_goes_on_later(
    engines: tuple[Engine, Engine], request_over: Callable[..., RunRequest]
) -> None:
    builds = threading.Semaphore(0)

    def stop() -> None:
        for _ in range(3):
            builds.acquire()
        for each in engines:
            each.stop()

    stopper = threading.Thread(target=stop)
    stopper.start()
    result = session.bisect(
        request_over(4.0), reporter=lambda event: builds.release() if isinstance(event, BuildStarted) else None
    )
    stopper.join()
    assert result.verdict is Verdict.INFRASTRUCTURE, result.summary
    assert "no host is left to build and run on" in result.summary
    nothing_bad(result)
    for each in engines:
        each.start()
    resumed = session.resume(None)
    answered(resumed)
    nothing_bad(resumed)
    assert [each.left() for each in engines] == [[], []]


FILE = """ARG BASE_IMAGE=tiny:1
FROM ${{BASE_IMAGE}} AS base
ARG TOOL_VERSION={tool}
RUN echo "${{TOOL_VERSION}}" > /tool
FROM base AS final
COPY data.txt /data
"""


def history(path: Path) -> tuple[Path, str]:
    """A Dockerfile whose tool broke in 1.2, in a repository of four revisions, and the first of them."""
    repository = SmallRepository(path)
    for number, tool in enumerate(("1.0", "1.1", "1.2", "1.3")):
        repository.commit(FILE.format(tool=tool), f"Tool {tool}", data__txt=f"{number // 2}\n")
    return repository.dockerfile, repository.revisions[0]


TOOL_BROKEN = 'read tool < /tool; case "$tool" in 1.[23]) echo "ValueError: broken" >&2; exit 1;; esac'


def over_files(asked: RunRequest, path: Path) -> RunRequest:
    """The same run, between two revisions of a file."""
    dockerfile, good = history(path)
    asked.smoke.path.write_text(f"#!/bin/sh\n{TOOL_BROKEN}\n")
    docker = replace(asked.docker, dockerfile=dockerfile, build_args=())
    return replace(asked, pins=(), docker=docker, files=FilesRequest(dockerfile, good, "HEAD"))


def test_ends_that_are_revisions_of_a_file_are_spread_over_hosts(
    engines: tuple[Engine, Engine], request_over: Callable[..., RunRequest], tmp_path: Path
) -> None:
    result = session.bisect(over_files(request_over(), tmp_path / "a répository"))
    answered(result, "1.1", "1.2")
    assert {probe.host for probe in result.probes} == {each.address for each in engines}
    assert [each.left() for each in engines] == [[], []]
