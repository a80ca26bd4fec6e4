"""What is told to the nodes of a cluster: nothing that Ray's dashboard must not show. Needs no Ray."""

import os
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bisector.environment_making import make_environment, read_index
from bisector.executors.ray.cluster import as_options, parse_resources
from bisector.executors.ray.hosts import reason_of
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
    assert as_options(parse_resources(["memory=1e9"])) == {"num_cpus": 1.0, "num_gpus": 0.0, "memory": 1e9}


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        *((text, "must be NAME=AMOUNT") for text in ("docker", "=1", "docker=-1", "docker=many", "docker=nan")),
        ("GPU=1.5", "a part of one, or whole ones"),
        ("docker=0.00001", "in parts of 0.0001"),
        ("object_store_memory=1", "keeps that name for itself"),
        ("bundle_group=1", "keeps that name for itself"),
        ("GPU=1 num_gpus=1", "names GPU twice"),
    ],
)
def test_resources_that_ray_would_refuse_later_are_refused(texts: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"--ray-resource .*{said}"):
        parse_resources(texts.split())


def test_what_ray_says_is_told_without_its_traceback() -> None:
    traceback = (
        "The actor died because of an error raised in its creation task, \x1b[36mray::Agent.__init__()\x1b[39m\n"
        "  File \"a.py\", line 1, in f\nModuleNotFoundError: No module named '{}'"
    )
    assert reason_of(RuntimeError(traceback.format("bisector"))).startswith("the Python that Ray runs on there has no")
    assert reason_of(RuntimeError(traceback.format("numpy"))) == (
        "RuntimeError: ModuleNotFoundError: No module named 'numpy'"
    )
    unavailable = type("ActorUnavailableError", (RuntimeError,), {})
    assert reason_of(unavailable("RpcError: ipv4:10.0.0.1:1 rpc_code: 14")) == "its agent cannot be reached"
    assert reason_of(RuntimeError("the node\n is gone")) == "RuntimeError: the node is gone"
