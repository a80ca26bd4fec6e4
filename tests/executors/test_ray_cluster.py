"""A real Ray cluster of several nodes on one machine."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from bisector import session
from bisector.model import Outcome, SmokeScript
from pins.errors import EnvironmentFailureError
from tests.executors.ray_clusters import (
    BROKEN_FROM_9,
    add_node,
    answered,
    begun,
    counted,
    keeping_notes,
    on,
    serving_nodes,
    wait_until,
)
from tests.session.conftest import Ask

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where nodes keep what they make."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def cluster(state: Path) -> Iterator[Any]:
    """One for all tests here: who kills a node adds another."""
    with serving_nodes(state) as found:
        yield found


@pytest.fixture(autouse=True)
def _disconnected() -> Iterator[None]:
    """Whatever a test did, the next one connects anew."""
    import ray

    yield
    ray.shutdown()


def agents() -> list[str]:
    """What of a run is still there: the names of actors."""
    import ray

    ray.init(address="auto", namespace="bisector", log_to_driver=False, ignore_reinit_error=True)
    return [str(actor["name"]) for actor in ray.util.list_named_actors(all_namespaces=True)]


def left_running(tmp_path: Path) -> list[str]:
    """Processes that name this test's directory."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words = " ".join(process.info["cmdline"] or ())
        if str(tmp_path) in words and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(words)
    return found


def test_probes_are_spread_the_answer_is_right_and_nothing_is_left(
    cluster: Any, ask: Ask, tmp_path: Path, state: Path
) -> None:
    result = session.bisect(on(cluster, ask(BROKEN_FROM_9)))
    answered(result)
    assert len({probe.host for probe in result.probes}) == 2
    assert agents() == []
    assert left_running(tmp_path) == []
    assert (state / "bisector" / "nodes").is_dir()
    assert list((state / "bisector" / "nodes").iterdir()) == []


def test_a_resource_that_no_node_has_is_said_and_not_waited_for(cluster: Any, ask: Ask) -> None:
    with pytest.raises(EnvironmentFailureError, match=r"what a run needs \(CPU 1, GPU 1\); there is:(?s:.*)docker 1"):
        session.bisect(on(cluster, ask(BROKEN_FROM_9), ray_resources=(("GPU", 1.0),)))
    with pytest.raises(EnvironmentFailureError, match=r"the label rack=right\); there is:(?s:.*)rack=left"):
        session.bisect(on(cluster, ask(BROKEN_FROM_9), ray_labels=(("rack", "right"),)))


def test_a_cluster_of_another_version_is_said_before_anything_starts(
    cluster: Any, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray
    from ray.experimental import internal_kv

    where = {"key": b"CLUSTER_METADATA", "namespace": b"cluster"}
    ray.init(address=cluster.address, namespace="bisector", log_to_driver=False)
    kept = internal_kv._internal_kv_get(**where)
    try:
        internal_kv._internal_kv_put(
            **where, value=json.dumps({**json.loads(kept), "ray_version": "2.9.3"}).encode(), overwrite=True
        )
        ray.shutdown()
        with pytest.raises(EnvironmentFailureError, match=r"is of another version: .*Ray: 2\.9\.3.*; here is Ray"):
            session.bisect(on(cluster, ask(BROKEN_FROM_9)))
        assert not ray.is_initialized()
    finally:
        gcs = ray._raylet.GcsClient(address=cluster.address)
        gcs.internal_kv_put(b"CLUSTER_METADATA", kept, True, b"cluster")
    monkeypatch.setattr("pins.json_document.installed_version", lambda: "99.1")
    with pytest.raises(EnvironmentFailureError, match=r"it has bisector .*, and this is 99\.1: install the same there"):
        session.bisect(on(cluster, ask(BROKEN_FROM_9)))
    assert agents() == []


def test_odd_names_pass_and_variables_that_nodes_lack_are_said(
    cluster: Any, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_DRIVER", "token-8c1f")
    request = ask(f'{BROKEN_FROM_9}\ntest "$1" = "ärg 1" -a -z "$TOKEN_OF_DRIVER"')
    script = tmp_path / "a dir é" / "smöke test.sh"
    script.parent.mkdir()
    request.smoke.path.rename(script)
    smoke = SmokeScript(script, arguments=("ärg 1",), pass_environment=("TOKEN_OF_DRIVER",))
    said: list[str] = []
    run = tmp_path / "rün 1"
    request = on(cluster, replace(request, smoke=smoke, run_directory=run))
    answered(session.bisect(request, reporter=keeping_notes(said)))
    assert any("TOKEN_OF_DRIVER (--pass-env) is not set there" in text for text in said), said
    kept = [path.read_bytes() for path in run.rglob("*") if path.is_file()]
    assert not any(b"token-8c1f" in text for text in kept)


def test_a_node_that_dies_while_it_builds_loses_nothing(cluster: Any, ask: Ask, tmp_path: Path) -> None:
    build, count = counted(tmp_path, 2)
    nodes = list(cluster.worker_nodes)

    def kill() -> None:
        wait_until(lambda: begun(count) >= 2)
        cluster.remove_node(nodes[0], allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    said: list[str] = []
    try:
        result = session.bisect(on(cluster, ask(BROKEN_FROM_9, build=build)), reporter=keeping_notes(said))
    finally:
        killer.join()
        add_node(cluster)
    answered(result)
    assert any("lost, and begun again" in text for text in said)
    assert not any(probe.outcome is Outcome.UNBUILDABLE for probe in result.probes)


def test_what_a_killed_driver_has_begun_is_taken_up(cluster: Any, ask: Ask, tmp_path: Path) -> None:
    build, count = counted(tmp_path, 0.1, first=8)
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


@pytest.mark.slow
def test_resources_that_others_hold_are_waited_for_and_that_is_said(
    cluster: Any, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    monkeypatch.setattr("bisector.executors.ray.hosts.BUSY_SECONDS", 1.0)
    ray.init(address=cluster.address, namespace="bisector", log_to_driver=False)

    hold = ray.remote(subprocess.call).options(resources={"docker": 1}, scheduling_strategy="SPREAD")
    for _ in range(2):
        hold.remote(["sleep", "8"])
    said: list[str] = []
    result = session.bisect(on(cluster, ask(BROKEN_FROM_9)), reporter=keeping_notes(said))
    answered(result)
    assert any("is busy: build p00" in text for text in said), said
