"""What this machine can run: `bisector doctor`. Each check looks, changes nothing, and never fails itself."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pins.errors import PinsError, UsageError
from pins.json_document import opening

SCHEMA = "bisector.doctor/1"
PATIENCE = 20.0
"""Seconds that a program may take to answer."""
PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
LITTLE_DISK = 5 * 2**30
GPUS = ("rocm", "nvidia")
ANY_GPU = "gpu"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: what `--need` calls it.
        found: whether it is there and works.
        detail: what was found; where it is missing, why, and the way out.
    """

    name: str
    found: bool
    detail: str


def examine() -> list[Finding]:
    """Look at everything, in the order in which a run would need it."""
    return [check() for check in CHECKS.values()]


def check_names(names: Sequence[str]) -> None:
    """Refuse a name that no check has.

    Raises:
        UsageError: there is one.
    """
    for name in names:
        if name not in CHECKS and name != ANY_GPU:
            raise UsageError(f"--need {name!r} is none of what is looked at: {', '.join(CHECKS)}, or {ANY_GPU} for any")


def lacking(needed: Sequence[str], findings: Sequence[Finding]) -> list[Finding]:
    """What is needed and not there; `gpu` needs a GPU of any make."""
    found = {finding.name: finding for finding in findings}
    gpus = [found[name] for name in GPUS if name in found]
    made = "; ".join(gpu.detail for gpu in gpus)
    found[ANY_GPU] = Finding(ANY_GPU, any(gpu.found for gpu in gpus), made)
    return [found[name] for name in dict.fromkeys(needed) if name in found and not found[name].found]


def render_findings(findings: Sequence[Finding], output_format: str) -> str:
    """As a table, in text, Markdown or HTML, or as a `bisector.doctor/1` document."""
    if output_format == "json":
        document = {
            **opening(SCHEMA, "bisector"),
            "findings": [asdict(finding) for finding in findings],
        }
        return json.dumps(document, indent=2, ensure_ascii=False)
    if output_format != "text":
        from bisector.cli.output import drawn
        from pins.report.blocks import Document, Table, literal, prose
        from pins.report.tones import Tone

        rows = tuple(
            (prose("ok" if finding.found else "missing"), literal(finding.name), literal(finding.detail))
            for finding in findings
        )
        table = Table(("state", "what", "detail"), rows)
        return drawn(Document("What this machine can run", Tone.PLAIN, (table,), ()), output_format)
    width = max(len(finding.name) for finding in findings)
    return "\n".join(
        f"{'ok     ' if finding.found else 'missing'}  {finding.name:{width}}  {finding.detail}" for finding in findings
    )


def _python() -> Finding:
    from bisector.environments.python_interpreters import find_interpreter

    found = []
    for wanted in PYTHONS:
        try:
            found.append(find_interpreter(wanted, environment=os.environ))
        except PinsError:
            continue
    detail = ", ".join(each.version for each in found) or "none that --python could name; install one"
    return Finding("python", bool(found), detail)


def _uv() -> Finding:
    from uv import find_uv_bin

    try:
        program = find_uv_bin()
    except FileNotFoundError as error:
        return Finding("uv", False, f"the package uv holds no program here ({error}); install bisector afresh")
    answer = _ask([program, "--version"])
    return Finding("uv", answer.ok, answer.line)


def _index() -> Finding:
    from bisector.environment_making import read_index
    from bisector.request import IndexRequest
    from pins.sources.package_index import PackageIndex

    try:
        configuration = read_index(IndexRequest(), os.environ, Path.cwd())
        with PackageIndex(configuration, None) as index:
            newest = index.releases("uv")[-1]
    except PinsError as error:
        return Finding("index", False, error.message)
    return Finding("index", True, f"{', '.join(configuration.public())} (newest uv there: {newest.version})")


def _git() -> Finding:
    answer = _ask(["git", "--version"])
    return Finding("git", answer.ok, answer.line)


def _docker() -> Finding:
    from bisector.environments.docker.engine import engine

    try:
        with engine() as client:
            told = client.version()
    except PinsError as error:
        return Finding("docker", False, error.message)
    return Finding("docker", True, f"engine {told.get('Version', '?')}, API {told.get('ApiVersion', '?')}")


def _buildkit() -> Finding:
    programs = _on_path("docker")
    if not programs:
        return Finding("buildkit", False, "no docker command on PATH; images are built with it (apt: docker.io)")
    for program in programs:
        answer = _ask([program, "buildx", "version"])
        if answer.ok:
            return Finding("buildkit", True, f"{program}: {answer.line}")
    for program in programs:
        answer = _ask([program, "build", "--help"], variables={"DOCKER_BUILDKIT": "1"})
        if answer.ok and "--secret" in answer.text:
            return Finding("buildkit", True, f"{program}: built in")
    return Finding("buildkit", False, f"{', '.join(programs)}: no buildx component (apt: docker-buildx)")


def _ray() -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Finding("ray", True, f"Ray {version('ray')}, for --executor ray")
    except PackageNotFoundError:
        return Finding("ray", False, "not installed, and needed by --executor ray alone: pip install 'bisector[ray]'")


def _rocm() -> Finding:
    nodes = sorted(Path("/dev/dri").glob("renderD*")) if Path("/dev/dri").is_dir() else []
    if not Path("/dev/kfd").exists():
        return Finding("rocm", False, "no /dev/kfd: no AMD GPU driver here")
    usable = os.access("/dev/kfd", os.R_OK | os.W_OK)
    detail = f"/dev/kfd and {len(nodes)} render nodes"
    return Finding("rocm", usable, detail if usable else f"{detail}, but no right to use them: join the group render")


def _nvidia() -> Finding:
    if not Path("/dev/nvidiactl").exists():
        return Finding("nvidia", False, "no /dev/nvidiactl: no NVIDIA GPU driver here")
    answer = _ask(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    return Finding("nvidia", answer.ok, "; ".join(answer.text.splitlines()) if answer.ok else answer.line)


def _disk() -> Finding:
    from bisector.runs import state_directory
    from pins.sources.page_cache import cache_directory

    parts, enough = [], True
    for what, directory in (("runs", state_directory()), ("cache", cache_directory(os.environ))):
        there = next(path for path in (directory, *directory.parents) if path.exists())
        free = shutil.disk_usage(there).free
        enough = enough and free >= LITTLE_DISK and os.access(there, os.W_OK)
        parts.append(f"{free / 2**30:.0f} GiB free for the {what} in {directory}")
    return Finding("disk", enough, "; ".join(parts) + ("" if enough else " (little, or not writable)"))


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
