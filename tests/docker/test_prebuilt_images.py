"""Prebuilt images as candidates, with a real registry and a real engine."""

import base64
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bisector.environments.base import BuildFailedError
from bisector.environments.docker.cli import docker_programs
from bisector.environments.docker.engine import engine
from bisector.environments.docker.images import ImageEnvironment
from bisector.environments.docker.leftovers import list_leftovers, remove_leftovers
from bisector.image_axes.request import ImagesRequest, TaggedImage
from bisector.image_axes.settling import settled_images
from bisector.model import Candidate
from bisector.request import DockerRequest
from pins.errors import SourceError, UsageError
from tests.docker.docker_setting import Setting, variables_of_its_own
from tests.docker.local_registry import PASSWORD, USER, LocalRegistry, serving_images
from tests.docker.test_file_candidates import script

pytestmark = pytest.mark.docker

NIGHTS = [f"nightly-2026-08-{day:02}" for day in range(1, 11)]


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[LocalRegistry]:
    if shutil.which("docker-registry") is None:
        pytest.skip("no docker-registry here; Debian's package of that name has it")
    with serving_images(tmp_path / "registry") as found:
        yield found


def nightly(registry: LocalRegistry, repository: str = "team/engine") -> str:
    """A repository of ten nights, the seventh of which broke something; two other tags beside them."""
    for number, tag in enumerate(NIGHTS, 1):
        labels = {"REVISION": f"rev{number}"}
        registry.publish(repository, tag, {"level": f"{number}\n"}, f"2026-08-{number:02}T03:00:00Z", labels)
    registry.publish(repository, "latest", {"level": "10\n"}, "2026-08-10T03:00:00Z")
    registry.publish(repository, "cuda-nightly-2026-08-05", {"level": "99\n"}, "2026-08-05T03:00:00Z")
    return f"{registry.host}/{repository}"


def run(directory: Path, *words: str, code: int = 0) -> dict[str, Any]:
    """The JSON result of a run in its own state directory; nothing of it is left with the engine."""
    variables = variables_of_its_own(directory)
    command = [sys.executable, "-m", "bisector", "run", "--env", "image", "--repeat", "1", "--format", "json", *words]
    ran = subprocess.run(command, cwd=directory, env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stdout[-2000:] + ran.stderr[-3000:]
    if code not in (0, 3, 4):
        return {"said": ran.stderr}
    found: dict[str, Any] = json.loads(ran.stdout)
    assert list_leftovers([found["run_id"]]) == ()
    return found


def held(name: str) -> list[str]:
    with engine() as client:
        return sorted(tag for image in client.images.list(name=name) for tag in image.tags)


def test_the_first_bad_tag_between_two_is_named_and_what_was_fetched_is_gone(
    registry: LocalRegistry, engine_image: str, tmp_path: Path
) -> None:
    repository = nightly(registry)
    mine = f"{repository}:{NIGHTS[3]}"
    subprocess.run([docker_programs(os.environ["PATH"])[0], "pull", "--quiet", mine], check=True, capture_output=True)
    smoke = script(tmp_path, "read level < /level; test $level -lt 7")
    try:
        found = run(tmp_path, "--pin", f"{repository}={NIGHTS[0]}..{NIGHTS[-1]}", "--smoke", smoke)
        assert held(repository) == [mine], "what the user had stays, and nothing else"
    finally:
        with engine() as client:
            client.api.remove_image(mine, force=True)
    culprit = found["culprit"]
    assert (culprit["pin"], culprit["kind"], culprit["old"], culprit["new"]) == (
        repository,
        "image",
        NIGHTS[5],
        NIGHTS[6],
    )
    assert found["chain_length"] == len(NIGHTS)
    assert len(found["probes"]) <= 4 + 2
    assert any("REVISION rev6 -> rev7" in note for note in found["notes"])
    assert any(f"--good-image {repository}@sha256:" in note for note in found["notes"])


def test_without_a_good_end_one_is_looked_for_one_two_and_four_tags_back(
    registry: LocalRegistry, engine_image: str, tmp_path: Path
) -> None:
    repository = nightly(registry)
    smoke = script(tmp_path, "read level < /level; test $level -lt 7")
    found = run(tmp_path, "--bad", f"{repository}:{NIGHTS[-1]}", "--smoke", smoke)
    assert (found["culprit"]["old"], found["culprit"]["new"]) == (NIGHTS[5], NIGHTS[6])
    tried = [probe["candidate"][repository] for probe in found["probes"]]
    assert tried[:4] == [NIGHTS[9], NIGHTS[8], NIGHTS[7], NIGHTS[5]]
    assert set(tried[4:]) == {NIGHTS[6]}


@pytest.mark.slow
def test_where_no_tag_passes_the_oldest_is_tried_and_no_culprit_is_named(
    registry: LocalRegistry, engine_image: str, tmp_path: Path
) -> None:
    repository = nightly(registry)
    smoke = script(tmp_path, "exit 1")
    found = run(tmp_path, "--pin", f"{repository}=..{NIGHTS[4]}", "--smoke", smoke, code=4)
    assert found["culprit"] is None
    tried = {probe["candidate"][repository] for probe in found["probes"]}
    assert tried == {NIGHTS[4], NIGHTS[3], NIGHTS[2], NIGHTS[0]}


def settle(
    repository: str, good: str, bad: str, only: tuple[str, ...] = (), exclude: tuple[str, ...] = ()
) -> ImagesRequest:
    return settled_images(ImagesRequest(repository, good, bad, only, exclude))


def test_tags_are_held_at_the_digests_they_had_when_the_run_began(
    registry: LocalRegistry, setting: Setting, tmp_path: Path
) -> None:
    repository = nightly(registry)
    images = settle(repository, NIGHTS[0], NIGHTS[2])
    assert [image.tag for image in images.tags] == NIGHTS[:3]
    before = images.named(NIGHTS[1]).digest
    assert registry.publish("team/engine", NIGHTS[1], {"level": "moved\n"}) != before
    environment = ImageEnvironment(DockerRequest(), images, run_id=setting.run_id)
    candidate = Candidate(((repository, NIGHTS[1]),))
    recipe = environment.resolve(candidate)
    assert recipe.instructions["image"] == f"{repository}@{before}"
    build = environment.build(recipe, tmp_path / "build", setting.log(), threading.Event())
    ended = setting.run(environment, build, "#!/bin/sh\nread level < /level; echo $level\n", named="smoke.sh")  # type: ignore[arg-type]
    assert ended.output.split() == ["2"]
    assert held(repository) == []
    [left] = list_leftovers([setting.run_id])
    assert left.kind == "image", "found again by its name, where the run was killed"
    assert remove_leftovers([setting.run_id])
    assert not environment.exists(build)


def test_two_tags_of_one_image_are_one_candidate(registry: LocalRegistry, setting: Setting) -> None:
    repository = nightly(registry)
    registry.publish(
        "team/engine", "nightly-2026-08-11", {"level": "10\n"}, "2026-08-10T03:00:00Z", {"REVISION": "rev10"}
    )
    images = settle(repository, NIGHTS[0], "nightly-2026-08-11")
    environment = ImageEnvironment(DockerRequest(), images, run_id=setting.run_id)
    hashes = {
        environment.resolve(Candidate(((repository, tag),))).input_hash for tag in (NIGHTS[9], "nightly-2026-08-11")
    }
    assert len(hashes) == 1


def test_an_image_that_is_gone_from_the_registry_is_no_evidence(registry: LocalRegistry, setting: Setting) -> None:
    repository = nightly(registry)
    images = settle(repository, NIGHTS[0], NIGHTS[1])
    gone = TaggedImage(NIGHTS[0], "sha256:" + "0" * 64)
    images = ImagesRequest(repository, NIGHTS[0], NIGHTS[1], tags=(gone, images.tags[1]))
    environment = ImageEnvironment(DockerRequest(), images, run_id=setting.run_id)
    recipe = environment.resolve(Candidate(((repository, NIGHTS[0]),)))
    with pytest.raises(BuildFailedError, match="is gone"):
        environment.build(recipe, setting.room / "build", setting.log(), threading.Event())


def test_patterns_choose_other_tags_than_those_like_the_ends(registry: LocalRegistry, engine_image: str) -> None:
    repository = nightly(registry)
    images = settle(repository, NIGHTS[3], NIGHTS[5], only=("*nightly-*",), exclude=(NIGHTS[4],))
    assert [image.tag for image in images.tags] == [NIGHTS[3], "cuda-nightly-2026-08-05", NIGHTS[5]]


def test_ends_that_are_not_there_or_in_the_wrong_order_are_said(registry: LocalRegistry, engine_image: str) -> None:
    repository = nightly(registry)
    with pytest.raises(UsageError, match=f"has no tag nightly-2026-09-01 .*it has {NIGHTS[0]}"):
        settle(repository, NIGHTS[0], "nightly-2026-09-01")
    with pytest.raises(UsageError, match="the ends are in the wrong order: by the date in the tag"):
        settle(repository, NIGHTS[4], NIGHTS[0])
    with pytest.raises(UsageError, match=r"no such repository|neither"):
        settle(f"{registry.host}/team/nothing", "a", "b")


def test_tags_without_a_date_are_ordered_by_when_their_images_were_made(
    registry: LocalRegistry, engine_image: str
) -> None:
    for tag, day in (("v0.9.0", 1), ("v0.10.0", 3), ("v0.9.1", 2)):
        registry.publish("team/release", tag, {"level": tag}, f"2026-08-{day:02}T00:00:00Z")
    images = settle(f"{registry.host}/team/release", "v0.9.0", "v0.10.0")
    assert [image.tag for image in images.tags] == ["v0.9.0", "v0.9.1", "v0.10.0"]
    assert "the time at which the image was made" in images.said[0]


@pytest.mark.slow
def test_images_that_the_engine_alone_has_are_a_range_of_their_own(
    engine_image: str, setting: Setting, tmp_path: Path
) -> None:
    from tests.docker.docker_setting import tiny_archive

    name = f"bisector-test-{setting.run_id}"
    with engine() as client:
        for tag in ("n1", "n2", "n3"):
            client.api.import_image_from_data(tiny_archive(), repository=name, tag=tag, changes=[f"ENV LEVEL={tag[1]}"])
    try:
        found = run(tmp_path, "--pin", f"{name}=n1..n3", "--smoke", script(tmp_path, "test $LEVEL -lt 3"))
        assert held(name) == [f"{name}:n1", f"{name}:n2", f"{name}:n3"]
    finally:
        with engine() as client:
            for tag in ("n1", "n2", "n3"):
                client.api.remove_image(f"{name}:{tag}", force=True)
    assert (found["culprit"]["old"], found["culprit"]["new"]) == ("n2", "n3")


@pytest.mark.slow
def test_credentials_of_the_docker_configuration_open_a_registry_and_are_kept_nowhere(
    engine_image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("docker-registry") is None:
        pytest.skip("no docker-registry here; Debian's package of that name has it")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    (tmp_path / "docker").mkdir()
    with serving_images(tmp_path / "registry", closed=True) as registry:
        repository = nightly(registry)
        with pytest.raises(SourceError, match="docker login"):
            settle(repository, NIGHTS[0], NIGHTS[2])
        encoded = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        (tmp_path / "docker" / "config.json").write_text(json.dumps({"auths": {registry.host: {"auth": encoded}}}))
        smoke = script(tmp_path, "read level < /level; test $level -lt 2")
        found = run(tmp_path, "--pin", f"{repository}={NIGHTS[0]}..{NIGHTS[2]}", "--smoke", smoke)
    assert found["culprit"]["new"] == NIGHTS[1]
    kept = [path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert kept
    assert not [content for content in kept if PASSWORD.encode() in content or encoded.encode() in content]


DISTRIBUTIONS = "FROM {image}\nRUN pip install --quiet packaging=={packaging} six=={six}\n"


@pytest.mark.network
@pytest.mark.slow
def test_the_search_goes_on_among_the_distributions_that_moved_between_two_images(
    registry: LocalRegistry, engine_image: str, tmp_path: Path
) -> None:
    from tests.docker.test_inventories import build

    repository = f"{registry.host}/team/base"
    program = docker_programs(os.environ["PATH"])[0]
    for number, (packaging, six) in enumerate((("23.0", "1.15.0"), ("23.1", "1.15.0"), ("24.0", "1.16.0")), 1):
        (tmp_path / "Dockerfile").write_text(DISTRIBUTIONS.format(image=engine_image, packaging=packaging, six=six))
        name = f"{repository}:v0.{number}"
        build(engine_image, tmp_path / "Dockerfile", tmp_path, name)
        for command in (["push", "--quiet", name], ["rmi", name]):
            subprocess.run([program, *command], check=True, capture_output=True)
    (tmp_path / "smoke.py").write_text('import packaging\nassert packaging.__version__ < "23.2", "too new"\n')
    words = ("--bad", f"{repository}:v0.3", "--smoke", str(tmp_path / "smoke.py"), "--descend")
    found = run(tmp_path, *words, "--docker-build-option=--network=host")
    assert found["culprit"]["new"] == "v0.3"
    said = " ".join(found["notes"])
    assert "packaging 23.1 -> 24.0, six 1.15.0 -> 1.16.0" in said
    assert "(approximate), it is packaging 23.1 -> 23.2" in said


RECORDED = """ARG BASE_IMAGE
FROM ${BASE_IMAGE}
ARG TOOL_VERSION=1.0
RUN mkdir -p /app && echo "TOOL_VERSION: ${TOOL_VERSION}" > /app/versions.txt && echo "${TOOL_VERSION}" > /tool
"""


@pytest.mark.slow
def test_the_search_goes_on_among_the_pins_of_the_dockerfile_that_the_images_come_from(
    registry: LocalRegistry, engine_image: str, tmp_path: Path
) -> None:
    from tests.docker.test_inventories import build

    repository = f"{registry.host}/team/recorded"
    program = docker_programs(os.environ["PATH"])[0]
    (tmp_path / "project").mkdir()
    dockerfile = tmp_path / "project" / "Dockerfile"
    for number, tool in enumerate(("1.0", "1.1"), 1):
        dockerfile.write_text(RECORDED.replace("=1.0", f"={tool}"))
        build(engine_image, dockerfile, dockerfile.parent, f"{repository}:v0.{number}")
        for command in (["push", "--quiet", f"{repository}:v0.{number}"], ["rmi", f"{repository}:v0.{number}"]):
            subprocess.run([program, *command], check=True, capture_output=True)
    smoke = script(tmp_path, 'test "$(cat /tool)" = 1.0')
    words = ("--bad", f"{repository}:v0.2", "--smoke", smoke, "--dockerfile", str(dockerfile), "--descend")
    found = run(tmp_path, *words, "--build-arg", f"BASE_IMAGE={engine_image}", "--docker-build-option=--network=host")
    assert found["culprit"]["new"] == "v0.2"
    said = " ".join(found["notes"])
    assert "TOOL_VERSION 1.0 -> 1.1" in said
    assert "among the pins that moved, built from the Dockerfile, it is tool 1.0 -> 1.1" in said
