"""What the options say that name other machines, and which of them do not go together."""

from pathlib import Path

import pytest

from bisector.cli.options import RunOptions
from bisector.cli.request import request_from
from pins.errors import UsageError

REGISTRY = "registry.example.org/team/probes"


@pytest.fixture
def options(tmp_path: Path):  # type: ignore[no-untyped-def]
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    (tmp_path / "smoke.sh").write_text("#!/bin/sh\n")

    def make(**given: object) -> RunOptions:
        common = {"pin": ("widget=0..9",), "smoke": "smoke.sh", "dockerfile": "Dockerfile"}
        return RunOptions(**{**common, **given})  # type: ignore[arg-type]

    return make


def test_builder_and_smoke_machines(options, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    request = request_from(options(build_on="ssh://cpu", run_on="ssh://a,ssh://b", registry=REGISTRY), tmp_path)
    assert (request.build_on, request.run_on, request.registry) == ("ssh://cpu", ("ssh://a", "ssh://b"), REGISTRY)
    assert request.workers == 2
    assert request_from(options(run_on="ssh://a", registry=REGISTRY), tmp_path).build_on == "local"
    built = request_from(options(dockerfile=None, build_on="command:./ci --wait", run_on="gpu-context"), tmp_path)
    assert (built.environment, built.build_on, built.run_on) == ("docker", "command:./ci --wait", ("gpu-context",))


def test_hosts_and_resources(options, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    request = request_from(options(hosts="ssh://a,context-b", health="rocm-smi --showuse"), tmp_path)
    assert (request.hosts, request.workers) == (("ssh://a", "context-b"), 2)
    assert request.health == ("rocm-smi", "--showuse")
    assert request_from(options(hosts="ssh://a", heartbeat="5s"), tmp_path).heartbeat == 5.0
    request = request_from(options(executor="ray", ray_resource=("GPU=1",), ray_label=("rack=left",)), tmp_path)
    assert (request.ray_resources, request.ray_labels) == ((("GPU", 1.0),), (("rack", "left"),))


def test_images_built_elsewhere_for_the_nodes_of_a_cluster(options, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    given = {"registry": REGISTRY, "ray_resource": ("GPU=1",)}
    for request in (
        request_from(options(build_on="ssh://cpu", run_on="ray", **given), tmp_path),
        request_from(options(build_on="ssh://cpu", executor="ray", **given), tmp_path),
    ):
        assert (request.executor, request.build_on, request.run_on) == ("ray", "ssh://cpu", ())
        assert request.ray_resources == (("GPU", 1.0),)
    assert request_from(options(run_on="ray", **given), tmp_path).build_on == "local"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"build_on": "ssh://a"}, "images pass through a registry"),
        ({"registry": REGISTRY}, "of use with --build-on and --run-on alone"),
        ({"run_on": "ssh://a", "registry": f"{REGISTRY}:latest"}, "without a tag"),
        ({"run_on": "ssh://a", "registry": "--force"}, "must be the name of a repository"),
        ({"run_on": "--force", "registry": REGISTRY}, "neither an engine's address"),
        ({"build_on": "ssh://a,ssh://b", "registry": REGISTRY}, "names one machine"),
        ({"build_on": "command:"}, "names no command"),
        ({"build_on": "command:./ci"}, "no Dockerfile and no --repo is of use"),
        ({"build_on": "command:'"}, "quote it as for a shell"),
        ({"run_on": "ssh://a", "hosts": "ssh://b", "registry": REGISTRY}, "--hosts beside"),
        ({"run_on": "ssh://a", "executor": "ray", "registry": REGISTRY}, "--run-on beside --executor ray"),
        ({"run_on": "ray", "executor": "local", "registry": REGISTRY}, "leave it out"),
        ({"run_on": "ray"}, "images pass through a registry"),
        ({"dockerfile": None, "environment": "venv", "run_on": "ssh://a"}, "--env venv"),
        ({"hosts": "ssh://me:secret@a"}, "holds a password"),
        ({"hosts": "ssh://a,ssh://a"}, "twice"),
        ({"heartbeat": "5s"}, "of use with other machines alone"),
        ({"heartbeat": "0.5", "hosts": "ssh://a"}, "--heartbeat"),
        ({"heartbeat": "1h", "hosts": "ssh://a"}, "between 1 and 600 seconds"),
        ({"health": ""}, "--health is empty"),
        ({"health": "'"}, "quote it as for a shell"),
        ({"ray_label": ("rack=left",)}, "of use with --executor ray alone"),
        ({"executor": "ray", "ray_label": ("rack",)}, "must be KEY=VALUE"),
        ({"executor": "ray", "ray_address": "--head"}, "is no address"),
    ],
)
def test_what_cannot_be_is_refused(options, tmp_path: Path, given: dict[str, object], said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=said) as caught:
        request_from(options(**given), tmp_path)
    assert "secret" not in caught.value.message
