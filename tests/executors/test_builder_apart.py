"""Images built on one engine, put into a registry, and run on another engine, by digest."""

import base64
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from bisector import session
from bisector.environments.docker.engine import at_endpoint, engine
from bisector.events import Event, SmokeEnded
from bisector.report.model import Verdict
from bisector.request import DockerRequest, RunRequest
from tests.docker.conftest import SYSTEM
from tests.docker.local_registry import PASSWORD, USER, LocalRegistry, serving_images
from tests.executors.network_spaces import Space, joined_space
from tests.executors.ray_clusters import answered, on, serving_nodes
from tests.executors.test_docker_hosts import BROKEN_FROM_9, DOCKERFILE, Engine, nothing_bad, over_files
from tests.session.conftest import Ask

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture
def space() -> Iterator[Space]:
    """Both engines live in it, for an engine takes a network's bridge away from the others there."""
    with joined_space() as made:
        yield made


@pytest.fixture
def registry(tmp_path: Path, space: Space) -> Iterator[LocalRegistry]:
    if shutil.which("docker-registry") is None:
        pytest.skip("no docker-registry here; Debian's package of that name has it")
    with serving_images(tmp_path / "registry", address=space.here) as found:
        yield found


@pytest.fixture
def engines(space: Space) -> Iterator[tuple[Engine, Engine]]:
    """A builder and a smoke machine, both of which reach the registry of this machine."""
    if shutil.which("dockerd", path=SYSTEM) is None:
        pytest.skip("no dockerd here; `scripts/docker-engine start` as root installs it")
    with ExitStack() as stack:
        made = []
        for _ in range(2):
            directory = Path(tempfile.mkdtemp(prefix="engine-"))
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            setting = {"bridge": "none", "iptables": False, "insecure-registries": [f"{space.here}/32"]}
            (directory / "daemon.json").write_text(json.dumps(setting))
            made.append(Engine(directory, inside=tuple(space.inside)))
            made[-1].start()
            stack.callback(made[-1].stop)
        made[0].give_tiny_image([])
        yield made[0], made[1]


@pytest.fixture
def request_over(
    engines: tuple[Engine, Engine], registry: LocalRegistry, ask: Ask, tmp_path: Path
) -> Callable[..., RunRequest]:
    def make(**options: object) -> RunRequest:
        context = tmp_path / "context"
        context.mkdir(exist_ok=True)
        (context / "Dockerfile").write_text(DOCKERFILE.format(seconds=0.1))
        docker = DockerRequest(
            context / "Dockerfile",
            build_args=(("WIDGET_VERSION", "{widget}"),),
            build_options=("--network=host",),
            docker_args=("--network=host",),
        )
        asked = replace(
            ask(BROKEN_FROM_9, repeat=1),
            environment="docker",
            build_command=(),
            docker=docker,
            build_on=engines[0].address,
            run_on=(engines[1].address,),
            registry=f"{registry.host}/team/probes",
        )
        return replace(asked, **options)  # type: ignore[arg-type]

    return make


def stopping(after: int) -> Callable[[Event], None]:
    """A reporter that stops the run after so many runs of the script."""
    ended: list[Event] = []

    def reporter(event: Event) -> None:
        if isinstance(event, SmokeEnded):
            ended.append(event)
            if len(ended) == after:
                raise KeyboardInterrupt

    return reporter


def built(journal: Path) -> dict[str, str]:
    """Where the build of each candidate lies, and that each was built once."""
    rows = sqlite3.connect(journal).execute("SELECT probe, build FROM builds WHERE status = 'built'").fetchall()
    assert len({probe for probe, _ in rows}) == len(rows)
    return {probe: json.loads(build)["location"] for probe, build in rows}


def test_images_pass_by_digest_and_a_resume_rebuilds_nothing_whatever_becomes_of_tags(
    engines: tuple[Engine, Engine], registry: LocalRegistry, request_over: Callable[..., RunRequest], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with pytest.raises(session.InterruptedRunError):
        session.bisect(request_over(run_directory=run), reporter=stopping(3))
    before = built(run / "journal.sqlite")
    assert len(before) >= 3
    assert all(location.startswith(f"{registry.host}/team/probes@sha256:") for location in before.values())
    tags = registry.client.get("team/probes/tags/list").json()["tags"]
    # One tag is moved to another image, and one is deleted.
    registry.publish("team/probes", tags[0], {"version": "99\n"})
    kept = tmp_path / "registry" / "images" / "docker" / "registry" / "v2" / "repositories" / "team" / "probes"
    shutil.rmtree(kept / "_manifests" / "tags" / tags[1])
    with at_endpoint(engines[1].address), engine() as client:  # and the machine has lost what it had fetched
        for image in client.images.list():
            client.api.remove_image(image.id, force=True)
    result = session.resume(str(run))
    answered(result)
    nothing_bad(result)
    after = built(run / "journal.sqlite")
    assert {probe: after[probe] for probe in before} == before
    digests = {probe.image_digest for probe in result.probes if probe.image_digest}
    assert digests <= {location.rpartition("@")[2] for location in after.values()}
    assert engines[0].left() == []
    assert engines[1].left() == []


def test_credentials_that_are_refused_stop_the_run_and_it_goes_on_with_new_ones(
    engines: tuple[Engine, Engine],
    request_over: Callable[..., RunRequest],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    space: Space,
) -> None:
    with serving_images(tmp_path / "closed", closed=True, address=space.here) as closed:
        result = session.bisect(request_over(registry=f"{closed.host}/team/probes", run_directory=tmp_path / "run"))
        assert result.verdict is Verdict.INFRASTRUCTURE
        assert "could not be put into the registry" in result.summary
        assert "docker login" in result.summary
        assert not any(probe.runs for probe in result.probes)
        login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        (tmp_path / "docker").mkdir()
        (tmp_path / "docker" / "config.json").write_text(json.dumps({"auths": {closed.host: {"auth": login}}}))
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
        answered(session.resume(str(tmp_path / "run")))
        journal = (tmp_path / "run" / "journal.sqlite").read_bytes()
        logs = [path.read_bytes() for path in (tmp_path / "run").rglob("*.log")]
        assert not any(secret.encode() in text for secret in (PASSWORD, login) for text in (journal, *logs))


def test_a_command_that_prints_a_digest_builds(
    engines: tuple[Engine, Engine], registry: LocalRegistry, request_over: Callable[..., RunRequest], tmp_path: Path
) -> None:
    digests = {
        str(number): registry.publish("ci/images", f"v{number}", {"version": f"{number}\n"}) for number in range(17)
    }
    table = tmp_path / "digests"
    table.write_text("".join(f"{number} {registry.host}/ci/images@{digest}\n" for number, digest in digests.items()))
    command = tmp_path / "ci.sh"
    command.write_text(
        f'#!/bin/sh\necho queued\nwhile read n d; do [ "$n" = "$PIN_WIDGET" ] && echo "$d"; done < {table}\nexit 0\n'
    )
    command.chmod(0o755)
    docker = DockerRequest(docker_args=("--network=host",))
    result = session.bisect(request_over(build_on=f"command:{command}", registry="", docker=docker))
    answered(result)
    assert {probe.image_digest for probe in result.probes} <= set(digests.values())
    assert engines[1].left() == []


@pytest.mark.ray
def test_images_built_by_one_engine_are_run_by_the_nodes_of_a_cluster(
    engines: tuple[Engine, Engine],
    request_over: Callable[..., RunRequest],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", engines[1].address)  # as nodes see it
    with serving_nodes(tmp_path / "nodes") as cluster:
        monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
        result = session.bisect(on(cluster, request_over(run_on=())))
    answered(result)
    nothing_bad(result)
    assert len({probe.host for probe in result.probes}) == 2
    assert all(probe.image_digest for probe in result.probes if probe.runs)
    assert [each.left() for each in engines] == [[], []]


def test_ends_that_are_revisions_of_a_file_are_built_apart(
    engines: tuple[Engine, Engine], request_over: Callable[..., RunRequest], tmp_path: Path
) -> None:
    result = session.bisect(over_files(request_over(), tmp_path / "a répository"))
    answered(result, "1.1", "1.2")
    assert all(probe.image_digest for probe in result.probes if probe.runs)
    assert [each.left() for each in engines] == [[], []]
