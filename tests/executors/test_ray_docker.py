"""Images built and run by the nodes of a Ray cluster, with one engine."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bisector import session
from bisector.request import DockerRequest
from tests.docker.conftest import SYSTEM
from tests.docker.docker_setting import engine_script
from tests.executors.ray_clusters import answered, on, serving_nodes
from tests.executors.test_docker_hosts import BROKEN_FROM_9, DOCKERFILE, Engine, nothing_bad, over_files
from tests.session.conftest import Ask

pytestmark = [pytest.mark.docker, pytest.mark.ray, pytest.mark.slow]


@pytest.fixture
def over_engine(short_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Engine]]:
    """A cluster whose nodes talk to a private engine, and the engine."""
    if shutil.which("dockerd", path=SYSTEM) is None:
        pytest.skip("no dockerd here; `scripts/docker-engine start` as root installs it")
    made = Engine(short_directory)
    made.start()
    try:
        made.give_tiny_image([])
        monkeypatch.setenv("DOCKER_HOST", made.address)
        with serving_nodes(tmp_path / "state") as cluster:
            yield cluster, made
    finally:
        engine_script("stop", directory=short_directory)


def test_images_are_built_and_run_by_nodes(over_engine: tuple[Any, Engine], ask: Ask, tmp_path: Path) -> None:
    cluster, made = over_engine
    context = tmp_path / "context"
    context.mkdir()
    (context / "Dockerfile").write_text(DOCKERFILE.format(seconds=0.2))
    docker = DockerRequest(context / "Dockerfile", build_args=(("WIDGET_VERSION", "{widget}"),))
    request = on(cluster, replace(ask(BROKEN_FROM_9), environment="docker", build_command=(), docker=docker))
    result = session.bisect(request)
    answered(result)
    nothing_bad(result)
    assert made.left() == []
    between_revisions = session.bisect(over_files(request, tmp_path / "a répository"))
    answered(between_revisions, "1.1", "1.2")
    assert made.left() == []
