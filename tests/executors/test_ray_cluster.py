"""A real Ray cluster of several nodes on one machine."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bisector import session
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
    assert result.verdict is Verdict.CULPRIT
    assert result.culprit is not None
    assert (result.culprit.moves[0].old, result.culprit.moves[0].new) == ("8", "9")
    assert len({probe.host for probe in result.probes}) == 2
