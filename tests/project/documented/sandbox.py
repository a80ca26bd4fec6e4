"""Where the commands of the pages are run: a checkout's examples, repositories and a package index of their own.

The index has the releases of releases.json, with the names and upload times that they have on the public one; what they
hold is small and made up, but for what the examples look at.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from packaging.version import Version

from tests.local_index import LocalIndex
from tests.project.documented.pages import ROOT

RELEASES = Path(__file__).with_name("releases.json")
WITHOUT_PKG_RESOURCES = Version("82")
PKG_RESOURCES = """
class Distribution:
    version = "{version}"


def get_distribution(name):
    return Distribution()
"""
SCRIPT = "#!/bin/sh\nexit 0\n"
BREAKS = "import pybind11\n\nassert pybind11.__version__ != '3.1.0', 'incompatible function arguments'\n"
SCRIPTS = ("smoke.py", "smoke.sh", "load.py", "load.sh", "kimi.py", "kimi_load.py", "kernel.py", "flag.py", "build.sh",
           "configure.sh", "ci/smoke.py")  # fmt: skip
DOCKERFILE = """\
ARG V=1.4
FROM ubuntu:22.04
ARG V
RUN pip install foo==${V}
RUN pip install pybind11
"""
ROCM_BASE = """\
ARG BASE_IMAGE=rocm/dev-ubuntu-22.04:7.2.3-complete
ARG TRITON_BRANCH="f0b55c0" # release/internal/3.7.x as of 08/18
ARG TRITON_REPO="https://github.com/ROCm/triton.git"
ARG AITER_BRANCH="v0.1.19"
ARG AITER_REPO="https://github.com/ROCm/aiter.git"
ARG PYBIND11=3.0.4
FROM ${BASE_IMAGE} AS final
ARG TRITON_BRANCH
ARG TRITON_REPO
RUN git clone ${TRITON_REPO} && cd triton && git checkout ${TRITON_BRANCH}
RUN pip install 'setuptools<80' pybind11
"""


@dataclass
class Sandbox:
    """A directory to type commands in.

    Attributes:
        directory: where they are typed.
        variables: their environment.
    """

    directory: Path
    variables: Mapping[str, str]

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Type a line, as into bash."""
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.directory,
            env=dict(self.variables),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=1800,
        )

    @cached_property
    def recorded(self) -> Path:
        """A run that has found pybind11 3.1.0, for commands that take one."""
        place = self.directory.parent / "recorded"
        search = f"bisector run --pin pybind11=3.0.4..3.1.0 --smoke ./breaks.py --quiet --run-dir '{place}'"
        done = self.run(search)
        assert done.returncode == 0, done.stderr
        return place

    def reset(self) -> None:
        """Undo what commands have changed, but for what they have downloaded and recorded."""
        self.run("git checkout -q . && git clean -qfd")


def publish(index: LocalIndex) -> None:
    """Fill the index."""
    for name, releases in json.loads(RELEASES.read_text(encoding="utf-8")).items():
        for version, uploaded in releases.items():
            files = {f"{name.replace('-', '_')}/__init__.py": f'__version__ = "{version}"\n'}
            if name == "setuptools" and Version(version) < WITHOUT_PKG_RESOURCES:
                files["pkg_resources/__init__.py"] = PKG_RESOURCES.format(version=version)
            index.add(name, version, files=files, upload_time=datetime.fromisoformat(uploaded))


def make_sandbox(top: Path, index_url: str) -> Sandbox:
    """A repository with the examples and with the files that pages speak of, and a home of its own."""
    directory = top / "bisector"
    (directory / "docs").mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "examples", directory / "docs" / "examples")
    _write(directory / "Dockerfile", DOCKERFILE)
    for name in ("Dockerfile", "Dockerfile.rocm", "Dockerfile.rocm_base"):
        _write(directory / "docker" / name, ROCM_BASE)
    for name in ("requirements.txt", "base.txt", "old.txt"):
        _write(directory / name, "pybind11\n")
    for name in SCRIPTS:
        _write(directory / name, SCRIPT, executable=True)
    _write(directory / "breaks.py", BREAKS)
    programs = directory / "scripts"
    for name in ("bisector", "pins"):
        module = f'#!/bin/sh\nexec "{sys.executable}" -m {name} "$@"\n'
        _write(programs / name, module, executable=True)
    _write(directory / ".github" / "workflows" / "tests.yml", "on: push\n")
    home = top / "home"
    home.mkdir()
    variables = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "UV_DEFAULT_INDEX": index_url,
        "PIP_INDEX_URL": index_url,
        "PIP_CONFIG_FILE": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _PERSON},
    }
    sandbox = Sandbox(directory, variables)
    for other in ("triton", "aiter", "click"):
        _repository(sandbox, top / other)
    (directory / "click").symlink_to(top / "click")
    for line in ("git init -q -b main", "git add .", "git commit -qm First", "git tag v1.0", "git tag v0.27.0"):
        assert sandbox.run(line).returncode == 0
    return sandbox


_PERSON = (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", "2026-08-05T12:00:00Z"))


def _repository(sandbox: Sandbox, path: Path) -> None:
    path.mkdir()
    sandbox.run(f"cd '{path}' && git init -q -b main && git commit -q --allow-empty -m First && git tag v3.4.0")


def _write(path: Path, text: str, *, executable: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if executable:
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
