"""Record what real regressions print: `record_signatures.py CASE_DIRECTORY... --into DIRECTORY`.

A case directory holds `smoke.py`, `case.json` (packages with their bad version, extra requirements, Python) and
`truth.json` (the result of each version). Each failing version is installed into a fresh virtual environment, one after
the other, the script is run on it, and what it printed goes to `DIRECTORY/<case>.json`, with the paths of this machine
made neutral. Versions that print the same share an entry; a version that cannot be installed is recorded as a build.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uv
from packaging.version import InvalidVersion, Version

from bisector.model import Candidate, Ended, SmokeRun, SmokeScript
from bisector.processes import run_process
from bisector.smoke import WORK, smoke_command, smoke_environment

MOST = 25
"""Versions of one case that are recorded."""
KEPT = 6000
"""Characters of each stream that are kept."""


@dataclass(frozen=True)
class Case:
    """One regression."""

    directory: Path
    settings: dict[str, Any]
    truth: dict[str, dict[str, Any]]

    @property
    def package(self) -> str:
        (name,) = self.settings["packages"]
        return str(name)

    def failing(self) -> list[str]:
        """Versions to record: all, or some spread evenly, both ends among them."""
        bad = self.settings["packages"][self.package]["bad"]
        found = [version for version, row in self.truth.items() if row["result"] != "PASS"]
        found = sorted({*found, bad}, key=_order)
        if len(found) <= MOST:
            return found
        chosen = {found[round(index * (len(found) - 1) / (MOST - 1))] for index in range(MOST)} | {bad}
        return sorted(chosen, key=_order)


def _order(version: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        return Version("0")


def interpreter(version: str) -> str:
    """An interpreter of this version, by its absolute path: the shims of pyenv fail where uv looks for one."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True).stdout.strip()
    found = sorted(Path(root, "versions").glob(f"{version}.*/bin/python{version}"))
    if not found:
        raise SystemExit(f"no Python {version} below {root}")
    return str(found[-1])


def record(case: Case, version: str, scratch: Path, cache: Path) -> Ended | tuple[Ended, None]:
    """Install one version and run the script; (ended, None) where it cannot be installed."""
    venv = scratch / "candidate"
    python = interpreter(case.settings["python"])
    environment = {**os.environ, "UV_CACHE_DIR": str(cache), "UV_NO_CONFIG": "1", "VIRTUAL_ENV": str(venv)}
    constraints = scratch / "build-constraints.txt"
    constraints.write_text("\n".join(case.settings.get("build_constraints", [])) + "\n")
    tool = uv.find_uv_bin()
    requirements = [f"{case.package}=={version}", *case.settings["extra_requirements"]]
    for command in (
        [tool, "venv", "-q", "--python", python, str(venv)],
        [tool, "pip", "install", "--python", str(venv), "--build-constraints", str(constraints), "--", *requirements],
    ):
        ended = run_process(
            command, environment=environment, directory=scratch, log=scratch / "log", marker="record", timeout=900
        )
        if ended.exit_status != 0:
            return ended, None
    smoke = SmokeRun(
        SmokeScript(case.directory / "smoke.py", variables=tuple(case.settings.get("env", {}).items())),
        Candidate(((case.package, version),)),
        "record",
        scratch / "run",
        scratch / "output",
        scratch / "log",
    )
    variables = smoke_environment(smoke, os.environ)
    variables["PATH"] = f"{venv}/bin:{variables['PATH']}"
    return run_process(
        smoke_command(smoke.script, f"{venv}/bin/python"),
        environment=variables,
        directory=smoke.scratch / WORK,
        log=smoke.log,
        marker=smoke.probe,
        timeout=300,
    )


def neutral(text: str, replacements: list[tuple[str, str]]) -> str:
    """Text without the paths and sites of this machine."""
    text = re.sub(r"\b(https?)://[^/\s'\"<>]+", r"\1://site", text)
    for path, name in replacements:
        text = text.replace(path, name)
    text = re.sub(r"/[^\s'\"]*/versions/(\d+\.\d+)[.\d]*/", r"/opt/python\1/", text)
    return text[-KEPT:]


def record_case(case: Case, into: Path, cache: Path) -> None:
    """Record all failing versions of a case."""
    entries: list[dict[str, Any]] = []
    for version in case.failing():
        with tempfile.TemporaryDirectory(prefix="record-") as directory:
            scratch = Path(directory)
            found = record(case, version, scratch, cache)
            built = isinstance(found, Ended)
            ended = found if isinstance(found, Ended) else found[0]
            replacements = [(str(case.directory), "/smoke"), (str(cache), "/cache"), (directory, "/scratch")]
            if ended.exit_status == 0:
                print(f"{case.directory.name} {version}: passes", flush=True)
                continue
            entry: dict[str, Any] = {
                "stage": "run" if built else "build",
                "exit_status": ended.exit_status,
                "signal": ended.signal,
                "output": neutral(ended.output, replacements),
                "errors": neutral(ended.errors, replacements),
            }
            twin = next((old for old in entries if {**old, "versions": 0} == {**entry, "versions": 0}), None)
            if twin is None:
                entries.append({"versions": [version], **entry})
            else:
                twin["versions"].append(version)
            print(f"{case.directory.name} {version}: {entry['stage']} {ended.exit_status}", flush=True)
    document = {
        "case": case.directory.name,
        "package": case.package,
        "bad": case.settings["packages"][case.package]["bad"],
        "script": neutral((case.directory / "smoke.py").read_text(), []),
        "failures": entries,
    }
    (into / f"{case.directory.name}.json").write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    """Record each case that has one package."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="+", type=Path)
    parser.add_argument("--into", required=True, type=Path)
    parser.add_argument("--cache", type=Path, help="uv's cache; a temporary one by default")
    arguments = parser.parse_args()
    os.nice(10)
    arguments.into.mkdir(parents=True, exist_ok=True)
    cache = arguments.cache or Path(tempfile.mkdtemp(prefix="record-cache-"))
    try:
        for directory in arguments.case:
            settings = json.loads((directory / "case.json").read_text())
            truth = json.loads((directory / "truth.json").read_text())
            case = Case(directory.resolve(), settings, truth)
            if len(settings["packages"]) == 1 and not (arguments.into / f"{directory.name}.json").exists():
                record_case(case, arguments.into, cache.resolve())
    finally:
        if arguments.cache is None:
            shutil.rmtree(cache)


if __name__ == "__main__":
    main()
