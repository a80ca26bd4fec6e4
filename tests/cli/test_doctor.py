"""`bisector doctor` with each thing made to fail: it says what is wrong, and how to get it."""

import importlib.metadata
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from bisector.cli import machine_checks, remedies
from bisector.cli.doctor import lacking, render_findings
from bisector.cli.machine_checks import CHECKS, Finding


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is all of PATH; the package manager is Debian's."""
    directory = tmp_path / "bin"
    directory.mkdir()
    program(directory, "apt-get", "exit 0")
    monkeypatch.setenv("PATH", str(directory))
    return directory


def program(directory: Path, name: str, body: str) -> None:
    (directory / name).write_text(f"#!/bin/sh\n{body}\n")
    (directory / name).chmod(0o755)


def missing(name: str) -> Finding:
    found = CHECKS[name]()
    assert not found.found
    assert found.name == name
    return found


def test_git_that_is_not_there_is_named_with_the_command_that_installs_it(programs: Path) -> None:
    found = missing("git")
    assert "no git command on PATH" in found.detail
    assert found.remedy == "`sudo apt-get install git`"
    program(programs, "git", "echo 'git: broken' >&2; exit 1")
    assert "git: broken" in missing("git").detail


def test_no_python_that_could_be_named_is_told_with_the_way_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks, "PYTHONS", ("3.99",))
    assert "uv python install" in missing("python").remedy


def test_uv_without_its_program_is_installed_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError("no uv here")

    monkeypatch.setattr("uv.find_uv_bin", gone)
    assert "reinstall" in missing("uv").remedy


def test_an_index_that_does_not_answer_is_told_with_where_it_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    found = missing("index")
    assert "127.0.0.1:9" in found.detail
    assert "pip config" in found.remedy


def test_docker_that_is_not_there_at_all_is_installed(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    found = missing("docker")
    assert "no such socket" in found.detail
    assert found.remedy == "`sudo apt-get install docker.io`"
    assert missing("buildkit").remedy == "`sudo apt-get install docker.io`"


def test_a_docker_daemon_that_has_gone_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    found = missing("docker")
    assert "nothing listens there" in found.detail
    assert "systemctl start docker" in found.detail


def test_a_docker_command_without_buildkit_needs_buildx(programs: Path) -> None:
    program(programs, "docker", "exit 1")
    found = missing("buildkit")
    assert "no buildx component" in found.detail
    assert found.remedy == "`sudo apt-get install docker-buildx`"


def test_ray_that_is_not_installed_is_told_with_who_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    found = missing("ray")
    assert "--executor ray" in found.detail
    assert "bisector[ray]" in found.remedy


def test_gpus_that_are_not_there_or_do_not_answer_are_told(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KFD", "NVIDIACTL"):
        monkeypatch.setattr(machine_checks, name, tmp_path / name)
    assert "--gpu rocm" in missing("rocm").detail
    assert "amdgpu-install" in missing("rocm").remedy
    assert "--gpu nvidia" in missing("nvidia").detail
    (tmp_path / "NVIDIACTL").touch()
    assert "no nvidia-smi" in missing("nvidia").detail
    program(programs, "nvidia-smi", "echo 'Driver/library version mismatch'; exit 18")
    assert "version mismatch" in missing("nvidia").detail
    (tmp_path / "KFD").touch()
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "usermod -aG render,video" in missing("rocm").remedy


def test_a_disk_that_is_nearly_full_or_not_ours_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(machine_checks, "LITTLE_DISK", 2**62)
    assert "bisector gc" in missing("disk").remedy
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "not writable" in missing("disk").remedy


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[timedelta]]:
    """An index whose clock is ahead by what is put here."""
    ahead: list[timedelta] = [timedelta()]

    class Index(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response_only(404)
            self.send_header("Date", format_datetime(datetime.now(UTC) + ahead[0]))
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple/")
    yield ahead
    server.shutdown()
    server.server_close()


def test_a_clock_that_is_wrong_is_told_with_how_far_and_which_way(told: list[timedelta]) -> None:
    assert CHECKS["clock"]().found
    told[0] = timedelta(hours=1)
    found = missing("clock")
    assert found.detail.endswith("behind the package index's")
    assert 3500 < float(found.detail.split()[0]) < 3700
    told[0] = timedelta(hours=-1)
    assert "ahead of" in missing("clock").detail
    assert "set-ntp" in found.remedy


def test_a_clock_that_nobody_can_be_asked_about_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    found = CHECKS["clock"]()
    assert found.found
    assert "not compared" in found.detail


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("dnf", "`sudo dnf install moby-engine docker-cli`"),
        ("apk", "`sudo apk add docker`"),
        ("brew", "`brew install docker`"),
        ("", "the package docker of your distribution (Debian, Ubuntu: `sudo apt-get install docker.io`)"),
    ],
)
def test_what_installs_is_the_package_manager_of_this_machine(manager: str, command: str) -> None:
    assert remedies.install("docker", lambda name: name if name == manager else None) == command


def test_what_is_missing_is_shown_with_its_remedy_below_it() -> None:
    findings = [
        Finding("git", True, "git 2"),
        Finding("nvidia", False, "none", "install it"),
        Finding("rocm", False, "no"),
    ]
    assert render_findings(findings, "text").splitlines() == [
        "ok       git     git 2",
        "missing  nvidia  none",
        "                 -> install it",
        "missing  rocm    no",
    ]
    assert "\x1b[" in render_findings(findings, "text", color=True)
    (gpu,) = lacking(["git", "gpu"], findings)
    assert gpu.name == "gpu"
    assert "install it" in gpu.remedy
