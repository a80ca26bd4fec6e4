"""What builds take from one another: layers of a registry, and the caches that a Dockerfile mounts."""

import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bisector.environments.docker.cli import docker_programs
from bisector.environments.docker.leftovers import remove_leftovers
from bisector.leftovers import collect_garbage
from bisector.model import Candidate
from pins.errors import UsageError
from tests.docker.docker_setting import Setting

pytestmark = pytest.mark.docker

COMPILED = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}}
ARG DEMO_VERSION=1.0
RUN --mount=type=cache,id={name},target=/compiled echo "${{DEMO_VERSION}}" >> /compiled/log && cat /compiled/log > /seen
"""


def test_compiler_caches_are_kept_between_candidates_and_left_alone_by_gc(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    environment = setting.environment(COMPILED.format(name=f"bisector-test-{secrets.token_hex(4)}"))
    for version in ("1.0", "2.0"):
        setting.build(environment, version)
    remove_leftovers([setting.run_id])
    collect_garbage(everything=True, caches=True)
    environment.forget(environment.resolve(Candidate((("demo", "2.0"),))))
    setting.build(environment, "2.0")
    build = setting.build(environment, "3.0")
    ended = setting.run(environment, build, "print(open('/seen').read())")
    assert ended.output.split() == ["1.0", "2.0", "2.0", "3.0"], "once more where it was to be built afresh"


@pytest.fixture
def registry_beside(private_engine: Path) -> Iterator[str]:
    """A registry in the network of the private engine."""
    program = shutil.which("docker-registry")
    if program is None or shutil.which("nsenter") is None:
        pytest.skip("no docker-registry or nsenter here; Debian's packages have them")
    inside = ["nsenter", "--target", (private_engine / "pid").read_text().strip(), "--net"]
    subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
    configuration = private_engine / "registry.yml"
    configuration.write_text(
        f"version: 0.1\nlog: {{level: error}}\n"
        f"storage: {{filesystem: {{rootdirectory: {private_engine / 'images'}}}}}\n"
        "http: {addr: '127.0.0.1:5000'}\n"
    )
    server = subprocess.Popen([*inside, program, "serve", str(configuration)], stderr=subprocess.DEVNULL)
    try:
        yield "127.0.0.1:5000"
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
def test_layers_are_taken_from_a_registry(private_engine: Path, registry_beside: str, tmp_path: Path) -> None:
    setting = Setting(tmp_path, "tiny:1")
    text = 'FROM tiny:1\nARG DEMO_VERSION=1.0\nRUN ["/bin/sh", "-c", "echo printed; echo $DEMO_VERSION > /demo"]\n'
    name = f"{registry_beside}/team/cache:1"
    program = docker_programs(os.environ["PATH"])[-1]
    keeping = setting.environment(text, build_args=(("BUILDKIT_INLINE_CACHE", "1"),))
    build = setting.build(keeping)
    assert "printed\n" in _log(setting)
    for _ in range(20):
        if subprocess.run([program, "tag", build.location, name]).returncode == 0 and (
            subprocess.run([program, "push", "--quiet", name]).returncode == 0
        ):
            break
        time.sleep(0.5)
    keeping.remove(build)
    subprocess.run([program, "rmi", "--force", name], check=True)
    subprocess.run([program, "builder", "prune", "--all", "--force"], check=True)  # of an engine of this test's own

    setting.build(setting.environment(text, build_args=(("BUILDKIT_INLINE_CACHE", "1"),)))
    assert "printed\n" in _log(setting), "the cache is gone"
    subprocess.run([program, "builder", "prune", "--all", "--force"], check=True)
    remove_leftovers([setting.run_id])

    build_args = (("BUILDKIT_INLINE_CACHE", "1"),)
    setting.build(setting.environment(text, build_args=build_args, build_options=(f"--cache-from={name}",)))
    log = _log(setting)
    assert re.search(r"importing cache manifest from 127\.0\.0\.1:5000/team/cache:1", log)
    assert "printed\n" not in log
    assert "CACHED" in log


def _log(setting: Setting) -> str:
    return (setting.room / f"{setting.number}.log").read_text()


def test_an_engine_that_cannot_write_caches_says_so_before_the_first_build(setting: Setting) -> None:
    environment = setting.environment(build_options=("--cache-to=type=local,dest=/nowhere",))
    programs = docker_programs(os.environ["PATH"])
    if any(subprocess.run([program, "buildx", "version"], capture_output=True).returncode == 0 for program in programs):
        pytest.skip("a docker command here has buildx, which can")
    with pytest.raises(UsageError, match=r"--cache-to=type=local,dest=/nowhere: refused"):
        environment.check()
