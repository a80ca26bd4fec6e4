"""Engines of other machines by ssh: real servers of ssh on this machine, each in front of an engine of its own."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from getpass import getuser
from pathlib import Path

import pytest

from bisector import session
from bisector.environments.docker.engine import at_endpoint, engine
from bisector.environments.docker.ssh import ssh_words
from bisector.executors.docker_hosts import parse_endpoints
from bisector.request import RunRequest
from pins.errors import EnvironmentFailureError, UsageError
from tests.docker.conftest import SYSTEM
from tests.executors.ray_clusters import answered, wait_until
from tests.executors.test_docker_hosts import Engine, engines, nothing_bad, request_over

__all__ = ["engines", "request_over"]


def program(tmp_path: Path, text: str) -> None:
    """A program called ssh, before any other on PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(f"#!/bin/sh\n{text}\n")
    (tmp_path / "bin" / "ssh").chmod(0o755)


@contextmanager
def serving(tmp_path: Path, number: int, address: str) -> Iterator[str]:
    """A server of ssh whose sessions find the engine at this address; its own address, as an engine's."""
    server = shutil.which("sshd", path=SYSTEM)
    assert server is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    settings = [
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {tmp_path}/host",
        f"AuthorizedKeysFile {tmp_path}/user.pub",
        "StrictModes no",
        "UsePAM no",
        "PidFile none",
        f"SetEnv DOCKER_HOST={address} PATH={os.environ['PATH']}",
    ]
    file = tmp_path / f"sshd-{number}"
    file.write_text("\n".join(settings) + "\n")
    running = subprocess.Popen([server, "-D", "-e", "-f", str(file)], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
        yield f"ssh://{getuser()}@127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()


@pytest.fixture
def servers(engines: tuple[Engine, Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """One in front of each engine, which this user's ssh may enter without a question."""
    if shutil.which("sshd", path=SYSTEM) is None:
        pytest.skip("no sshd here; Debian's package openssh-server has it")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    settings = ["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", f"IdentityFile {tmp_path}/user"]
    (tmp_path / "config").write_text("\n".join(settings) + "\nLogLevel ERROR\n")
    program(tmp_path, f'exec {shutil.which("ssh")} -F {tmp_path}/config "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    with ExitStack() as stack:
        yield [stack.enter_context(serving(tmp_path, number, each.address)) for number, each in enumerate(engines)]


@pytest.mark.docker
@pytest.mark.slow
def test_engines_are_reached_by_ssh(
    servers: list[str], engines: tuple[Engine, Engine], request_over: Callable[..., RunRequest], tmp_path: Path
) -> None:
    asks = ("sh", "-c", f'echo "asked $DOCKER_HOST" >> {tmp_path}/health')
    result = session.bisect(replace(request_over(0.2), hosts=tuple(servers), health=asks))
    answered(result)
    nothing_bad(result)
    assert {probe.host for probe in result.probes} == set(servers)
    assert [each.left() for each in engines] == [[], []]
    assert {f"asked {each.address}" for each in engines} == set((tmp_path / "health").read_text().splitlines())


def test_what_ssh_says_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, 'echo "you@node1: Permission denied (publickey)." >&2; exit 255')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    with (
        at_endpoint("ssh://you@node1"),
        pytest.raises(EnvironmentFailureError, match=r"at ssh://you@node1: you@node1: Permission denied \(publickey\)"),
        engine(),
    ):
        pass


def test_words_of_ssh() -> None:
    words = ssh_words("ssh://me@Node_1:2222", ("echo", "a b"))
    assert words is not None
    assert words[-4:] == ("2222", "--", "me@Node_1", "echo 'a b'")
    assert "BatchMode=yes" in words
    assert ssh_words("tcp://node1:2376", ("true",)) is None
    for text in ("ssh://-oProxyCommand=x", "ssh://me@-oProxyCommand=x", "ssh://-l@host"):
        with pytest.raises(UsageError, match="begins with '-'"):
            parse_endpoints(text)
