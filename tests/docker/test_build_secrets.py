"""Build secrets and agents reach the builds that need them, and nothing that is kept: neither image nor record."""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bisector.environments.docker.cli import docker_programs
from bisector.environments.docker.engine import RUN_LABEL, engine
from bisector.environments.docker.leftovers import list_leftovers, remove_leftovers
from tests.docker.docker_setting import Setting, tiny_archive, variables_of_its_own
from tests.docker.test_file_candidates import script
from tests.file_axes.small_repository import SmallRepository

pytestmark = pytest.mark.docker

SECRET = "planted-4f1c9e-secret"
HIDDEN = 'planted-"4f1c9e"-secret'
"""The same to a shell, which the file itself may hold."""

DOCKERFILE = """FROM {base} AS made
ARG TOOL_VERSION={tool}
RUN --mount=type=secret,id=token --mount=type=ssh \\
    [ "$(cat /run/secrets/token)" = {hidden} ] && [ -S "$SSH_AUTH_SOCK" ] && cat /run/secrets/token \\
    && echo "${{TOOL_VERSION}}" > /tool
FROM {base}
COPY --from=made /tool /tool
RUN --mount=type=secret,id=token cat /run/secrets/token; exit 0
"""


@pytest.fixture
def base(setting: Setting) -> Iterator[str]:
    """A small image with a shell."""
    name = f"bisector-test-tiny-{setting.run_id}:1"
    with engine() as client:
        client.api.import_image_from_data(
            tiny_archive(), repository=name.partition(":")[0], tag="1", changes=["ENV PATH=/bin"]
        )
    yield name
    with engine() as client:
        client.api.remove_image(name, force=True)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An ssh agent with a key of its own: a line of the private key."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    socket = tmp_path / "agent-socket"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        while not socket.exists():
            assert process.poll() is None
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        subprocess.run(["ssh-add", "-q", str(key)], check=True, capture_output=True)
        yield key.read_text().splitlines()[2]
    finally:
        process.terminate()
        process.wait()


def everything_in(image: str) -> bytes:
    """History, configuration, and every file of every layer of an image."""
    program = docker_programs(os.environ["PATH"])[0]
    history = subprocess.run([program, "history", "--no-trunc", image], capture_output=True, check=True).stdout
    with engine() as client:
        inspected = json.dumps(client.api.inspect_image(image)).encode()
        saved = b"".join(client.images.get(image).save())
    found = [history, inspected]
    with tarfile.open(fileobj=io.BytesIO(saved)) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is None:
                continue
            found.append(content.read())
            if member.name.endswith("layer.tar") or "blobs/" in member.name:
                found += _files_in(found[-1])
    return b"\n".join(found)


def _files_in(layer: bytes) -> list[bytes]:
    try:
        with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
            return [file.read() for member in archive if (file := archive.extractfile(member))]
    except tarfile.ReadError:  # a configuration or manifest
        return []


@pytest.mark.slow
def test_planted_secrets_are_in_no_image_journal_log_or_report(
    base: str, agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_TOKEN", SECRET)
    repository = SmallRepository(tmp_path / "repository")
    for tool in ("1.0", "1.1", "1.2"):
        repository.commit(DOCKERFILE.format(base=base, tool=f"{tool}-{tmp_path.parent.name}", hidden=HIDDEN))
    smoke = script(tmp_path, 'read tool < /tool; case "$tool" in 1.0*) ;; *) exit 1;; esac')
    variables = variables_of_its_own(tmp_path)
    words = ["run", "--dockerfile", str(repository.dockerfile), "--good", repository.revisions[0], "--bad", "HEAD"]
    words += ["--smoke", smoke, "--repeat", "1", "--secret", "id=token,env=BUILD_TOKEN", "--ssh", "default", "--keep"]

    def bisector(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "bisector", *words]
        return subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)

    ran = bisector(*words, "--format", "json", "-v")
    runs = {left.run for left in list_leftovers() if left.run.startswith(json.loads(ran.stdout)["run_id"])}
    try:
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["culprit"]["new"].startswith("1.1")
        with engine() as client:
            images = [
                str(image.id) for run in runs for image in client.images.list(filters={"label": f"{RUN_LABEL}={run}"})
            ]
        assert len(images) >= 3
        kept = b"\n".join(everything_in(image) for image in images)
        assert b"1.1-" in kept, "the layers were read"
    finally:
        remove_leftovers(runs)
    reports = [bisector("report", "--format", form).stdout for form in ("text", "md", "html", "json")]
    assert all("1.1-" in report for report in reports)
    state = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert any(path.name.endswith("build.log") and "***" in path.read_text() for path in state), (
        "it was printed, masked"
    )
    recorded = b"\n".join(path.read_bytes() for path in state)
    said = "\n".join([ran.stdout, ran.stderr, *reports]).encode()
    for planted in (SECRET, agent, str(tmp_path / "agent-socket")):
        for place, content in (("images", kept), ("records", recorded), ("output", said)):
            assert planted.encode() not in content, f"{planted} is in the {place}"
