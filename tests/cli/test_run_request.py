"""From the options of `bisector run` to the request: every option arrives, and what cannot be meant is refused."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bisector.cli.options import RunOptions, key_of, kind_of
from bisector.cli.reproduction import worth_repeating
from bisector.cli.request import ONLY_FOR, request_for_one, request_from
from bisector.model import SmokeScript
from bisector.request import BuildFailureIs, DockerRequest, IndexRequest, PinRange, RequirementsRequest, TimeoutIs
from pins.errors import UsageError

HERE = Path("/here")
LEAST = RunOptions(pin=("setuptools=80.9.0..82.0.1",), smoke="smoke.py")


def test_the_least_that_must_be_said() -> None:
    request = request_from(LEAST, HERE)
    assert request.pins == (PinRange("setuptools", "80.9.0", "82.0.1"),)
    assert request.smoke == SmokeScript(HERE / "smoke.py")
    assert request.environment == "venv"
    assert (request.confidence, request.workers, request.repeat, request.budget) == (0.99, 1, None, None)
    assert request.timeout_is is TimeoutIs.AUTO
    assert request.build_failure_is is BuildFailureIs.AUTO


def test_every_option_of_virtual_environments_arrives() -> None:
    options = replace(
        LEAST,
        fix=("numpy=1.26.4",),
        expect="Import.*",
        any_failure=True,
        timeout="20m",
        timeout_is="fail",
        smoke_env=("A=b",),
        pass_env=("HF_TOKEN",),
        share_cache="cache",
        with_=("pandas==2.0.3",),
        requirements=("base.txt",),
        constraint=("/c.txt",),
        build_constraint=("cmake<4",),
        python="3.11",
        no_build_isolation=True,
        build_timeout="2h",
        build_failure_is="fail",
        exclude_newer="2026-08-01",
        index_url="https://user:secret@index.invalid/x",
        extra_index_url=("file:///more",),
        confidence="0.95",
        max_runs="40",
        budget="6h",
        repeat="3",
        rebuild_witnesses=True,
        workers="2",
        keep=True,
        run_dir="run",
    )
    request = request_from(options, HERE, ("--fast", "x y"), ("bisector", "run"))
    assert request.smoke == SmokeScript(
        HERE / "smoke.py", ("--fast", "x y"), (("A", "b"),), 1200.0, HERE / "cache", ("HF_TOKEN",)
    )
    assert request.requirements == RequirementsRequest(
        ("pandas==2.0.3",), (HERE / "base.txt",), (Path("/c.txt"),), ("cmake<4",), "3.11", False
    )
    assert request.index == IndexRequest("https://user:secret@index.invalid/x", ("file:///more",))
    assert request.exclude_newer == datetime(2026, 8, 1, tzinfo=UTC)
    assert request.fixed == (("numpy", "1.26.4"),)
    assert (request.timeout_is, request.build_failure_is) == (TimeoutIs.FAIL, BuildFailureIs.FAIL)
    assert (request.build_timeout, request.budget) == (7200.0, 21600.0)
    assert (request.expect, request.any_failure, request.keep) == ("Import.*", True, True)
    assert (request.confidence, request.max_runs, request.repeat, request.workers) == (0.95, 40, 3, 2)
    assert request.rebuild_witnesses
    assert request.run_directory == HERE / "run"
    assert request.command_line == ("bisector", "run")


def test_every_option_of_images_arrives() -> None:
    options = replace(
        LEAST,
        dockerfile="docker/Dockerfile",
        context=".",
        target="final",
        build_arg=("SPEC=setuptools=={setuptools}",),
        secret=("id=token,src=/t",),
        ssh=("default",),
        gpu="rocm",
        mount=("m:/m",),
        models="/models",
        docker_arg=("--shm-size=8g",),
        docker_build_option=("--network=host",),
        no_index_time=True,
    )
    request = request_from(options, HERE)
    assert request.environment == "docker"
    assert request.docker == DockerRequest(
        dockerfile=HERE / "docker/Dockerfile",
        context=HERE,
        target="final",
        build_args=(("SPEC", "setuptools=={setuptools}"),),
        docker_args=("--shm-size=8g",),
        mounts=("/here/m:/m:rw",),
        gpu="rocm",
        models=Path("/models"),
        secrets=("id=token,src=/t",),
        ssh=("default",),
        build_options=("--network=host",),
        index_time=False,
    )


def test_a_build_command_implies_its_environment() -> None:
    request = request_from(replace(LEAST, build_command=("make deps",)), HERE)
    assert (request.environment, request.build_command) == ("command", ("make deps",))


def test_arguments_of_the_script_that_were_typed_replace_those_of_a_file() -> None:
    options = replace(LEAST, smoke_args=("--slow",))
    assert request_from(options, HERE).smoke.arguments == ("--slow",)
    assert request_from(options, HERE, ("--fast",)).smoke.arguments == ("--fast",)


def test_a_path_to_python_is_made_absolute_and_a_version_is_left() -> None:
    assert request_from(replace(LEAST, python="env/bin/python"), HERE).requirements.python == "/here/env/bin/python"
    assert request_from(replace(LEAST, python="3.9"), HERE).requirements.python == "3.9"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pin": ()}, "nothing to search"),
        ({"smoke": None}, "no smoke script"),
        ({"environment": "podman"}, "venv, docker, command or image"),
        ({"environment": "docker"}, "needs a Dockerfile"),
        ({"environment": "command"}, "--build-command"),
        ({"fix": ("setuptools=81.0.0",)}, "both searched (--pin) and held still (--fix)"),
        ({"gpu": "rocm"}, "--gpu: of use in --env docker or image alone"),
        ({"dockerfile": "D", "gpu": "intel"}, "rocm or nvidia"),
        ({"dockerfile": "D", "with_": ("x",)}, "--with: of use in --env venv alone"),
        ({"dockerfile": "D", "environment": "venv"}, "--dockerfile: of use in --env docker or image alone"),
        ({"dockerfile": "D", "python": "3.12"}, "a Dockerfile brings its own Python"),
        ({"python": ""}, "--python is empty"),
        ({"timeout_is": "bad"}, "auto, fail or skip"),
        ({"build_failure_is": "bad"}, "auto, fail or skip"),
    ],
)
def test_what_cannot_be_meant_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        request_from(replace(LEAST, **change), HERE)
    assert said in refusal.value.message


def test_an_option_of_one_environment_is_refused_with_another() -> None:
    given: dict[str, Any] = {"texts": ("A=b",), "flag": True, "text": "x"}
    known = {each.name for each in fields(RunOptions)}
    for owner, names in ONLY_FOR.items():
        other: dict[str, Any] = {"dockerfile": "D"} if owner == "venv" else {}
        for name in names:
            assert name in known
            options = replace(LEAST, **{**other, name: given[kind_of(name)]})
            if owner == "command" or name == "dockerfile":  # these choose their environment unless it is named
                options = replace(options, environment="venv")
            with pytest.raises(UsageError, match=f"--{key_of(name)}: of use in --env {owner} alone"):
                request_from(options, HERE)


def test_a_single_probe_has_one_value_for_each_pin() -> None:
    request = request_for_one(replace(LEAST, pin=("setuptools==82.0.0", "wheel=0.45")), HERE)
    assert request.pins == (PinRange("setuptools", "82.0.0", "82.0.0"), PinRange("wheel", "0.45", "0.45"))
    with pytest.raises(UsageError, match="is a range"):
        request_for_one(LEAST, HERE)
    with pytest.raises(UsageError, match="nothing to build"):
        request_for_one(replace(LEAST, pin=()), HERE)


def test_what_follows_an_option_with_a_value_is_its_value() -> None:
    words = ["bisector", "run", "--docker-arg", "-v", "--docker-arg", "/a:/b", "--keep", "-v", "--expect", "--output"]
    assert worth_repeating(words) == (*words[:7], "--expect", "--output")
