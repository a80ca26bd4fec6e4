"""What is looked at on a machine. Each check looks, changes nothing, and never fails itself."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bisector.cli.remedies import install
from pins.errors import PinsError

PATIENCE = 20.0
"""Seconds that a program may take to answer."""
PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
LITTLE_DISK = 5 * 2**30
CLOCK_MAY_BE_OFF = 300.0
"""Seconds by which a clock may differ before it matters."""
KFD, DRI, NVIDIACTL = Path("/dev/kfd"), Path("/dev/dri"), Path("/dev/nvidiactl")
AFRESH = "`uv tool install --reinstall bisector`, or `pip install --force-reinstall uv`"
RAY = "pip install 'bisector[ray]'"
AMDGPU = "install AMD's driver (amdgpu-install) on the host; into a container hand /dev/kfd and /dev/dri"
NVIDIA = "install NVIDIA's driver and nvidia-smi on the host; for containers nvidia-container-toolkit, too"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: what `--need` calls it.
        found: whether it is there and works.
        detail: what was found, or what is wrong.
        remedy: where it is missing, how to get it.
    """

    name: str
    found: bool
    detail: str
    remedy: str = ""


def _python() -> Finding:
    from bisector.environments.python_interpreters import find_interpreter

    found = []
    for wanted in PYTHONS:
        try:
            found.append(find_interpreter(wanted, environment=os.environ))
        except PinsError:
            continue
    versions = ", ".join(each.version for each in found)
    if found:
        return Finding("python", True, f"{versions} (others: `uv python install 3.12`)")
    return Finding("python", False, "none that --python could name", "`uv python install 3.12`, or your distribution's")


def _uv() -> Finding:
    from uv import find_uv_bin

    try:
        program = find_uv_bin()
    except FileNotFoundError as error:
        return Finding("uv", False, f"the package uv holds no program here ({error})", AFRESH)
    answer = _ask([program, "--version"])
    return Finding("uv", answer.ok, answer.line, "" if answer.ok else AFRESH)


def _index() -> Finding:
    from bisector.environment_making import read_index
    from bisector.request import IndexRequest
    from pins.sources.package_index import PackageIndex

    try:
        configuration = read_index(IndexRequest(), os.environ, Path.cwd())
        with PackageIndex(configuration, None) as index:
            newest = index.releases("uv")[-1]
    except PinsError as error:
        return Finding(
            "index",
            False,
            error.message,
            "`pip config list` shows what is configured; `pip config set global.index-url URL` names another, and"
            " HTTPS_PROXY a proxy",
        )
    return Finding("index", True, f"{', '.join(configuration.public())} (newest uv there: {newest.version})")


def _git() -> Finding:
    answer = _ask(["git", "--version"])
    return Finding("git", answer.ok, answer.line, "" if answer.ok else install("git"))


def _docker() -> Finding:
    from bisector.environments.docker.engine import engine

    try:
        with engine() as client:
            told = client.version()
    except PinsError as error:
        return Finding("docker", False, error.message, "" if _on_path("docker") else install("docker"))
    return Finding("docker", True, f"engine {told.get('Version', '?')}, API {told.get('ApiVersion', '?')}")


def _buildkit() -> Finding:
    programs = _on_path("docker")
    if not programs:
        return Finding("buildkit", False, "no docker command on PATH; images are built with it", install("docker"))
    for program in programs:
        answer = _ask([program, "buildx", "version"])
        if answer.ok:
            return Finding("buildkit", True, f"{program}: {answer.line}")
    for program in programs:
        answer = _ask([program, "build", "--help"], variables={"DOCKER_BUILDKIT": "1"})
        if answer.ok and "--secret" in answer.text:
            return Finding("buildkit", True, f"{program}: built in")
    return Finding("buildkit", False, f"{', '.join(programs)}: no buildx component", install("docker-buildx"))


def _ray() -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Finding("ray", True, f"Ray {version('ray')}, for --executor ray")
    except PackageNotFoundError:
        return Finding("ray", False, "not installed; needed by --executor ray alone", f"`{RAY}`")


def _rocm() -> Finding:
    nodes = sorted(DRI.glob("renderD*")) if DRI.is_dir() else []
    if not KFD.exists():
        return Finding("rocm", False, "no /dev/kfd: no AMD GPU driver here; needed by --gpu rocm alone", AMDGPU)
    usable = os.access(KFD, os.R_OK | os.W_OK)
    detail = f"/dev/kfd and {len(nodes)} render nodes"
    if usable:
        return Finding("rocm", True, detail)
    return Finding(
        "rocm", False, f"{detail}, but no right to use them", "`sudo usermod -aG render,video $USER`, then log in again"
    )


def _nvidia() -> Finding:
    if not NVIDIACTL.exists():
        return Finding(
            "nvidia", False, "no /dev/nvidiactl: no NVIDIA GPU driver here; needed by --gpu nvidia alone", NVIDIA
        )
    answer = _ask(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    if answer.ok:
        return Finding("nvidia", True, "; ".join(answer.text.splitlines()))
    return Finding("nvidia", False, answer.line, NVIDIA)


def _disk() -> Finding:
    from bisector.runs import state_directory
    from pins.sources.page_cache import cache_directory

    parts, lacks = [], []
    for what, variable, directory in (
        ("runs", "XDG_STATE_HOME", state_directory()),
        ("cache", "XDG_CACHE_HOME", cache_directory(os.environ)),
    ):
        there = next(path for path in (directory, *directory.parents) if path.exists())
        free = shutil.disk_usage(there).free
        if not os.access(there, os.W_OK):
            lacks.append(f"{there} is not writable: give it to yourself, or set {variable} to a directory that is")
        elif free < LITTLE_DISK:
            lacks.append(f"free some with `bisector gc --older-than 30d --caches`, or set {variable} to a larger disk")
        parts.append(f"{free / 2**30:.0f} GiB free for the {what} in {directory}")
    return Finding("disk", not lacks, "; ".join(parts), "; ".join(dict.fromkeys(lacks)))


def _clock() -> Finding:
    """Dates of releases and certificates are compared with the clock: the index's own says whether it is right."""
    away = _seconds_away()
    if away is None:
        return Finding("clock", True, "not compared with any other: no package index that tells the time answers")
    if abs(away) <= CLOCK_MAY_BE_OFF:
        return Finding("clock", True, "agrees with the package index's")
    how = "ahead of" if away > 0 else "behind"
    return Finding(
        "clock",
        False,
        f"{abs(away):.0f} s {how} the package index's",
        "`sudo timedatectl set-ntp true`, or `sudo date -s`",
    )


def _seconds_away() -> float | None:
    """By how much the clock here is ahead of the first index that tells the time; None where none does."""
    import urllib.error
    import urllib.request
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    from bisector.environment_making import read_index
    from bisector.request import IndexRequest

    try:
        urls = read_index(IndexRequest(), os.environ, Path.cwd()).public()
    except PinsError:
        return None
    for url in urls:
        if not url.startswith(("http://", "https://")):
            continue
        try:
            with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=5) as answer:  # noqa: S310
                told = answer.headers.get("Date", "")
        except urllib.error.HTTPError as error:
            told = error.headers.get("Date", "")
        except (OSError, ValueError):
            continue
        try:
            return (datetime.now(UTC) - parsedate_to_datetime(told)).total_seconds()
        except (TypeError, ValueError):
            continue
    return None


CHECKS: dict[str, Callable[[], Finding]] = {
    "python": _python,
    "uv": _uv,
    "index": _index,
    "git": _git,
    "docker": _docker,
    "buildkit": _buildkit,
    "ray": _ray,
    "rocm": _rocm,
    "nvidia": _nvidia,
    "disk": _disk,
    "clock": _clock,
}


@dataclass(frozen=True)
class _Answer:
    ok: bool
    text: str

    @property
    def line(self) -> str:
        return self.text.strip().split("\n", 1)[0]


def _ask(arguments: list[str], variables: dict[str, str] | None = None) -> _Answer:
    try:
        ended = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            env={**os.environ, **(variables or {})},
            check=False,
        )
    except FileNotFoundError:
        return _Answer(False, f"no {arguments[0]} command on PATH")
    except OSError as error:
        return _Answer(False, f"{arguments[0]} cannot be started: {error.strerror}")
    except subprocess.TimeoutExpired:
        return _Answer(False, f"{arguments[0]} did not answer within {PATIENCE:.0f} s")
    text = ended.stdout.decode(errors="replace")
    if ended.returncode:
        text = ended.stderr.decode(errors="replace") or text or f"{arguments[0]} failed (exit {ended.returncode})"
    return _Answer(ended.returncode == 0, text)


def _on_path(name: str) -> list[str]:
    directories = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = [shutil.which(name, path=directory) for directory in directories if directory]
    return list(dict.fromkeys(str(Path(program).resolve()) for program in found if program))
