"""Ray clusters of several nodes on this machine, and runs over them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bisector.events import Event, Note
from bisector.report.model import Result, Verdict
from bisector.request import RunRequest

ROOT = Path(__file__).resolve().parents[2]
BROKEN_FROM_9 = 'test "$PIN_WIDGET" -lt 9 || { echo "ValueError: broken" >&2; exit 1; }'


@contextmanager
def serving_nodes(state: Path) -> Iterator[Any]:
    """A head that takes no work, and two nodes that do, which keep what they make below `state`."""
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        monkeypatch.setenv("XDG_STATE_HOME", str(state))
        monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        try:
            for _ in range(2):
                add_node(found)
            yield found
        finally:
            ray.shutdown()
            found.shutdown()


def add_node(cluster: Any) -> None:
    """One more node that takes work."""
    cluster.add_node(num_cpus=2, resources={"docker": 1}, labels={"rack": "left"})


def on(cluster: Any, request: RunRequest, **options: Any) -> RunRequest:
    """The request, over this cluster."""
    return replace(
        request,
        executor="ray",
        ray_address=cluster.address,
        **{"workers": 2, "ray_resources": (("docker", 1.0),), **options},
    )


def answered(result: Result, old: str = "8", new: str = "9") -> None:
    """Hold a result against the known answer."""
    assert result.verdict is Verdict.CULPRIT, result.summary
    assert result.culprit is not None
    assert (result.culprit.moves[0].old, result.culprit.moves[0].new) == (old, new)


def keeping_notes(said: list[str]) -> Callable[[Event], None]:
    """A reporter that keeps what the user is told."""
    return lambda event: said.append(event.text) if isinstance(event, Note) else None


def counted(tmp_path: Path, seconds: float, *, first: float | None = None) -> tuple[str, Path]:
    """A build command that takes its time, the first time another one, and writes down each time that it is done."""
    first = seconds if first is None else first
    count = tmp_path / "builds"
    command = tmp_path / "build.sh"
    command.write_text(
        f"#!/bin/sh\n[ -e {count} ] && pause={seconds} || pause={first}\n"
        f'echo "begun $PIN_WIDGET" >> {count}\nsleep $pause\necho "$PIN_WIDGET" >> {count}\n'
    )
    command.chmod(0o755)
    return str(command), count


def begun(count: Path) -> int:
    """How many builds were begun."""
    return count.read_text().count("begun") if count.exists() else 0


def wait_until(condition: Callable[[], bool], seconds: float = 90.0) -> None:
    """Wait for something to come about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it has not come to that"
        time.sleep(0.1)
