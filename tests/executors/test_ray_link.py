"""A Ray cluster over two networks that are joined by one link, which is cut."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from bisector import session
from bisector.model import Outcome
from tests.executors.network_spaces import Space, joined_space
from tests.executors.ray_clusters import BROKEN_FROM_9, ROOT, answered, begun, counted, keeping_notes, wait_until
from tests.session.conftest import Ask

pytestmark = pytest.mark.ray

RAY = Path(sys.executable).with_name("ray")


def start_node(space: Space, *words: str, inside: bool, room: Path) -> subprocess.Popen[bytes]:
    """Start the daemons of one node; they end with the process that is returned."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    command = [str(RAY), "start", "--block", "--disable-usage-stats", *words]
    log = (room / f"{'there' if inside else 'here'}.log").open("wb")
    return subprocess.Popen([*space.inside * inside, *command], env=variables, stdout=log, stderr=log)


@pytest.fixture
def space(tmp_path: Path) -> Iterator[tuple[Space, str]]:
    """A head that takes work here, a node on the other side of the link, and the head's address."""
    import ray

    with joined_space() as made:
        address = f"{made.here}:6399"
        common = ("--num-cpus=2", '--resources={"docker": 1}')
        head = ("--head", f"--node-ip-address={made.here}", "--port=6399", "--include-dashboard=false")
        nodes = [start_node(made, *head, *common, inside=False, room=tmp_path)]
        try:
            wait_until(lambda: "will now block" in (tmp_path / "here.log").read_text())
            nodes.append(
                start_node(
                    made, f"--address={address}", f"--node-ip-address={made.there}", *common, inside=True, room=tmp_path
                )
            )
            wait_until(lambda: "will now block" in (tmp_path / "there.log").read_text())
            yield made, address
        finally:
            ray.shutdown()
            for node in nodes:  # by force: a node that is cut off takes its time to take leave of the others
                for process in (*psutil.Process(node.pid).children(recursive=True), node):
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
            for node in nodes:
                node.wait(60)


@pytest.mark.slow
def test_a_head_that_is_gone_ends_the_run_in_order(space: tuple[Space, str], ask: Ask, tmp_path: Path) -> None:
    _, address = space
    build, count = counted(tmp_path, 60)

    def kill() -> None:
        wait_until(lambda: begun(count) >= 2)
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or [""]
            if words[0].endswith("gcs_server") and f"--node-ip-address={address.split(':')[0]}" in words:
                process.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    request = ask(BROKEN_FROM_9, build=build)
    words = ["run", "--pin", "widget=0..16", "--smoke", str(request.smoke.path), "--build-command", build]
    words += ["--index-url", request.index.index_url, "--workers", "2", "--heartbeat", "2s", "--format", "json"]
    words += ["--executor", "ray", "--ray-address", address]
    command = [sys.executable, "-m", "bisector", *words]  # in a process of its own, which Ray might end
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    killer.join()
    assert done.returncode == 6, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "infrastructure"
    assert f"the head of the cluster, {address}, does not answer any more" in found["summary"]
    assert not any(probe["runs"] for probe in found["probes"])


def test_a_link_that_is_cut_loses_nothing(space: tuple[Space, str], ask: Ask, tmp_path: Path) -> None:
    network, address = space
    build, count = counted(tmp_path, 2)

    def cut() -> None:
        wait_until(lambda: begun(count) >= 2)
        network.cut()

    cutter = threading.Thread(target=cut)
    cutter.start()
    said: list[str] = []
    request = ask(BROKEN_FROM_9, build=build, workers=2, heartbeat=2.0, executor="ray", ray_address=address)
    result = session.bisect(request, reporter=keeping_notes(said))
    cutter.join()
    answered(result)
    assert any("lost, and begun again" in text for text in said), said
    assert not any(probe.outcome is Outcome.UNBUILDABLE for probe in result.probes)
