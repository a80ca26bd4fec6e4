"""What bisecting two revisions of an image's Dockerfile costs, beside building each candidate from nothing.

    scripts/bench/images [--planted git|package|text|both] [--parts N] [--reuse] [--sample N]

The project of tests/docker/image_project.py is made: a Dockerfile with a history, modelled on vLLM's ROCm base (a base
with pinned packages, a framework that takes long to compile, a C++ extension from a repository of some 200 commits with
merges and a release branch, a second wheel, a final stage), and a culprit is planted and searched for. Then every
candidate that was built is built once more without any cache, from the same copy of the Dockerfile and the same
context, and both totals are printed beside one another, with ceil(log2(S)) + 2 for S steps. With `--sample` only so
many are, and the others are counted at their mean.

`--parts` is how many sources the framework has; each takes some seconds, so that this says how much of a build is the
part that candidates share. With `--reuse` the framework's stage is taken as built once (`--reuse-stage`); candidates of
which no full copy is there are counted at the mean of the others. It needs an engine, and the package index that pip is
configured for.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bisector.environments.docker.cli import Builder, cli_environment, trial  # noqa: E402
from tests.docker.docker_setting import engine_script  # noqa: E402
from tests.docker.image_project import Extension, served  # noqa: E402
from tests.docker.test_file_candidates import SMOKES, planted_project  # noqa: E402

FROM_NOTHING = "bisector-bench:from-nothing"
"""What the image of a build without cache is called, as long as it is there."""


def bisector(room: Path, *words: str) -> dict[str, Any]:
    """The JSON result of a run."""
    variables = {
        **os.environ,
        "XDG_STATE_HOME": str(room / "state"),
        "XDG_CACHE_HOME": str(room / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "bisector", *words, "--format", "json"]
    printed = subprocess.run(command, cwd=room, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(printed)
    return found


def from_nothing(image: str, build: Path, builder: Builder) -> float:
    """Seconds of one build without cache, of a candidate's Dockerfile in its context."""
    options = ["--no-cache", "--network=host", f"--build-arg=BASE_IMAGE={image}", f"--tag={FROM_NOTHING}"]
    command = builder.command(options, build / "Dockerfile", build / "context")
    began = time.monotonic()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=cli_environment())
    seconds = time.monotonic() - began
    subprocess.run([builder.program, "rmi", FROM_NOTHING], check=True, stdout=subprocess.DEVNULL, env=cli_environment())
    return seconds


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planted", choices=sorted(SMOKES), default="git")
    parser.add_argument("--parts", type=int, default=10, help="sources of the framework")
    parser.add_argument("--reuse", action="store_true", help="with --reuse-stage build_framework")
    parser.add_argument("--sample", type=int, default=1000, help="candidates that are built from nothing")
    chosen = parser.parse_args()
    os.environ.update(engine_script("start"))
    image = engine_script("image")["BASE_IMAGE"]
    with tempfile.TemporaryDirectory(prefix="bench-images-") as directory:
        room = Path(directory)
        extension = Extension.make(room / "extension")
        (room / "smoke.py").write_text(SMOKES[chosen.planted])
        with served(extension.path) as address:
            project = planted_project(room / "images", address, extension, chosen.parts)
            found = bisector(
                room,
                *("run", "--dockerfile", str(project.dockerfile), "--good", project.revisions[0], "--bad", "HEAD"),
                *("--repo", f"ext={extension.path}", "--build-arg", f"BASE_IMAGE={image}", "--repeat", "1", "--keep"),
                *("--docker-build-option=--network=host", "--smoke", str(room / "smoke.py")),
                *(["--reuse-stage=build_framework"] if chosen.reuse else []),
            )
            try:
                whole = all_from_nothing(found, image, chosen.sample)
            finally:
                bisector_gc(found)
        report(found, whole, project.path)


def all_from_nothing(found: dict[str, Any], image: str, sample: int) -> dict[str, float]:
    """Seconds of a build without cache of candidates whose full copy is there, by probe."""
    with trial("bench-images", syntax="", options=(), variables=cli_environment()) as (builder, _):
        pass
    seconds: dict[str, float] = {}
    for probe in found["probes"]:
        at = ", ".join(f"{pin} {value[:12]}" for pin, value in probe["candidate"].items())
        print(f"{probe['id']}  {probe['build_seconds'] or 0:6.0f} s  {probe['outcome']}  {at}", flush=True)
    for probe in found["probes"]:
        build = Path(found["run_directory"]) / "builds" / probe["id"]
        copy = build / "Dockerfile"
        if len(seconds) < sample and copy.is_file() and "bisector/reused" not in copy.read_text():
            seconds[probe["id"]] = from_nothing(image, build, builder)
            print(
                f"{probe['id']}  {probe['build_seconds']:6.0f} s  from nothing {seconds[probe['id']]:6.0f} s",
                flush=True,
            )
    return seconds


def bisector_gc(found: dict[str, Any]) -> None:
    """Remove what `--keep` has kept."""
    from bisector.environments.docker.leftovers import list_leftovers, remove_leftovers

    remove_leftovers({left.run for left in list_leftovers() if left.run.startswith(found["run_id"])})


def report(found: dict[str, Any], whole: dict[str, float], project: Path) -> None:
    """Print what was measured."""
    culprit = found["culprit"]
    subject = ""
    if culprit["kind"] == "text":
        log = ["git", "-C", str(project), "log", "-1", "--format=%s", culprit["new"]]
        subject = f" ({subprocess.run(log, capture_output=True, text=True, check=False).stdout.strip()})"
    steps, builds, seconds = found["chain_length"] - 1, found["builds"], found["build_seconds"]
    searching = sum(1 for probe in found["probes"] if probe["step"] is not None and probe["build_seconds"])
    bound = math.ceil(math.log2(steps)) + 2
    mean = sum(whole.values()) / len(whole)
    total = sum(whole.values()) + mean * (builds - len(whole))
    print(f"culprit           {culprit['pin']} {culprit['old']} -> {culprit['new']}{subject}")
    print(f"steps             {steps}")
    print(f"builds            {searching} of the search (bound {bound}), {builds} with the swap test")
    print(f"time of builds    {seconds:.0f} s; from nothing {total:.0f} s, {len(whole)} of {builds} measured")
    print(f"share             {seconds / total:.0%}")


if __name__ == "__main__":
    main()
