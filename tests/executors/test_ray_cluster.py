"""A real Ray cluster of several nodes on one machine."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bisector import session
from bisector.events import Note
from bisector.model import Outcome
from bisector.report.model import Verdict
from bisector.request import RunRequest
from tests.session.conftest import Ask

ray = pytest.importorskip("ray", reason="needs Ray: pip install 'bisector[ray]'")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BROKEN_FROM_9 = 'test "$PIN_WIDGET" -lt 9 || { echo "ValueError: broken" >&2; exit 1; }'


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head that takes no work, and two nodes that do."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        found.add_node(num_cpus=2, resources={"docker": 1})
    yield found
    ray.shutdown()
    found.shutdown()


def on(cluster: Any, request: RunRequest, **options: Any) -> RunRequest:
    return replace(
        request,
        executor="ray",
        ray_address=cluster.address,
        ray_resources=(("docker", 1.0),),
        **{"workers": 2, **options},
    )


def test_probes_are_spread_and_the_answer_is_right(cluster: Any, ask: Ask) -> None:
    result = session.bisect(on(cluster, ask(BROKEN_FROM_9)))
    assert result.verdict is Verdict.CULPRIT, result.summary
    assert result.culprit is not None
    assert (result.culprit.moves[0].old, result.culprit.moves[0].new) == ("8", "9")
    assert len({probe.host for probe in result.probes}) == 2


def counted(tmp_path: Path, seconds: float) -> tuple[str, Path]:
    """A build command that takes its time and writes down each time that it is done."""
    count = tmp_path / "builds"
    command = tmp_path / "build.sh"
    command.write_text(
        f'#!/bin/sh\necho "begun $PIN_WIDGET" >> {count}\nsleep {seconds}\necho "$PIN_WIDGET" >> {count}\n'
    )
    command.chmod(0o755)
    return str(command), count


def begun(count: Path) -> int:
    return count.read_text().count("begun") if count.exists() else 0


def wait_until(condition: Callable[[], bool], seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it has not come to that"
        time.sleep(0.1)


def test_a_node_that_dies_while_it_builds_loses_nothing(cluster: Any, ask: Ask, tmp_path: Path) -> None:
    build, count = counted(tmp_path, 3)
    nodes = list(cluster.worker_nodes)

    def kill() -> None:
        wait_until(lambda: begun(count) >= 2)
        cluster.remove_node(nodes[0], allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    said: list[str] = []
    result = session.bisect(
        on(cluster, ask(BROKEN_FROM_9, build=build)),
        reporter=lambda event: said.append(event.text) if isinstance(event, Note) else None,
    )
    killer.join()
    assert result.verdict is Verdict.CULPRIT, result.summary
    assert result.culprit is not None
    assert (result.culprit.moves[0].old, result.culprit.moves[0].new) == ("8", "9")
    assert any("lost, and begun again" in text for text in said)
    assert not any(probe.outcome is Outcome.UNBUILDABLE for probe in result.probes)


def test_what_a_killed_driver_has_begun_is_taken_up(cluster: Any, ask: Ask, tmp_path: Path) -> None:
    build, count = counted(tmp_path, 12)
    request = ask(BROKEN_FROM_9, build=build)
    words = ["run", "--pin", "widget=0..16", "--smoke", str(request.smoke.path), "--build-command", build]
    words += ["--index-url", request.index.index_url, "--executor", "ray", "--ray-address", cluster.address]
    words += ["--ray-resource", "docker=1", "--run-dir", str(tmp_path / "run"), "--repeat", "1"]
    command = [sys.executable, "-c", "import sys; from bisector.cli import main; sys.exit(main())"]
    driver = subprocess.Popen([*command, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: begun(count) == 1)
    driver.kill()
    driver.wait()
    done = subprocess.run(
        [*command, "resume", str(tmp_path / "run"), "--format", "json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    culprit = json.loads(done.stdout)["culprit"]
    assert (culprit["old"], culprit["new"]) == ("8", "9")
    versions = count.read_text().split()
    built = [line for line in count.read_text().splitlines() if not line.startswith("begun")]
    assert begun(count) == len(built) == len(set(built)), versions
