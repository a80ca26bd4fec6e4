"""What is told to the nodes of a cluster: nothing that Ray's dashboard must not show. Needs no Ray."""

import os
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bisector.environment_making import make_environment, read_index
from bisector.executors.ray.cluster import as_options, parse_resources
from bisector.executors.ray.spreading import over_cluster
from bisector.request import IndexRequest
from pins.errors import UsageError
from tests.session.conftest import Ask


def test_an_index_with_a_password_is_told_to_no_node(ask: Ask) -> None:
    request = replace(ask("true"), index=IndexRequest("https://me:pass-8c1f@packages.example.org/simple"))
    index = read_index(request.index, os.environ, request.smoke.path.parent)
    local = make_environment(request, ("widget",), index, datetime.now(UTC), "run")
    with pytest.raises(UsageError, match="a password in an address would be told to every node") as caught:
        over_cluster(request, local, ("widget",), index, datetime.now(UTC), "run")
    assert "pass-8c1f" not in caught.value.message


def test_resources_go_by_the_names_of_ray() -> None:
    found = parse_resources(["num_gpus=1", "docker=1", "accelerator_type:H100=0.001"])
    assert as_options(found) == {
        "num_cpus": 1.0,
        "num_gpus": 1.0,
        "resources": {"docker": 1.0, "accelerator_type:H100": 0.001},
    }
    for text in ("docker", "=1", "docker=-1", "docker=many", "docker=nan"):
        with pytest.raises(UsageError, match="--ray-resource"):
            parse_resources([text])
