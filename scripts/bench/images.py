"""What bisecting two revisions of an image's Dockerfile costs, beside building each candidate from nothing.

    scripts/bench/images [--planted git|package|text|both] [--docker COMMAND]

The project of tests/docker/image_project.py is made: a Dockerfile with a history, modelled on vLLM's ROCm base, and a
C++ extension with some 180 commits. A culprit is planted and searched for. Printed are the answer, the number of builds
beside ceil(log2(S)) + 2 for S steps, and the time of all builds as a share of what they would take from nothing; for
that, one candidate is built without any cache. It needs an engine, and the package index that pip is configured for.
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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.docker.docker_setting import engine_script  # noqa: E402
from tests.docker.image_project import Extension, served  # noqa: E402
from tests.docker.test_file_candidates import SMOKES, planted_project  # noqa: E402


def bisector(room: Path, *words: str) -> dict[str, object]:
    """The JSON result of a run."""
    variables = {
        **os.environ,
        "XDG_STATE_HOME": str(room / "state"),
        "XDG_CACHE_HOME": str(room / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "bisector", *words, "--format", "json"]
    printed = subprocess.run(command, cwd=room, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout
    found: dict[str, object] = json.loads(printed)
    return found


def from_nothing(image: str, context: Path, docker: str) -> float:
    """Seconds of one build without cache."""
    began = time.monotonic()
    command = [
        docker,
        "build",
        "--no-cache",
        "--network=host",
        f"--build-arg=BASE_IMAGE={image}",
        "--quiet",
        str(context),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "DOCKER_BUILDKIT": "1"})
    return time.monotonic() - began


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planted", choices=sorted(SMOKES), default="git")
    parser.add_argument("--docker", default="docker", help="the docker command that builds")
    chosen = parser.parse_args()
    os.environ.update(engine_script("start"))
    image = engine_script("image")["BASE_IMAGE"]
    with tempfile.TemporaryDirectory(prefix="bench-images-") as directory:
        room = Path(directory)
        extension = Extension.make(room / "extension")
        (room / "smoke.py").write_text(SMOKES[chosen.planted])
        with served(extension.path) as address:
            project = planted_project(room / "images", address, extension)
            found = bisector(
                room,
                *("run", "--dockerfile", str(project.dockerfile), "--good", project.revisions[0], "--bad", "HEAD"),
                *("--repo", f"ext={extension.path}", "--build-arg", f"BASE_IMAGE={image}", "--repeat", "1"),
                *("--docker-build-option=--network=host", "--smoke", str(room / "smoke.py")),
            )
            whole = from_nothing(image, project.path, chosen.docker)
    report(found, whole)


def report(found: dict[str, object], whole: float) -> None:
    """Print what was measured."""
    culprit = found["culprit"]
    assert isinstance(culprit, dict)
    length, builds, seconds = (float(str(found[key])) for key in ("chain_length", "builds", "build_seconds"))
    probes = found["probes"]
    assert isinstance(probes, list)
    searching = sum(1 for probe in probes if probe["step"] is not None)
    bound = math.ceil(math.log2(length - 1)) + 2
    print(f"culprit           {culprit['pin']} {culprit['old']} -> {culprit['new']}")
    print(f"steps             {length - 1:.0f}")
    print(f"builds            {searching} of the search (bound {bound}), {builds:.0f} with the swap test")
    print(f"time of builds    {seconds:.0f} s; from nothing {whole:.0f} s each, {builds * whole:.0f} s in all")
    print(f"share             {seconds / (builds * whole):.0%}")


if __name__ == "__main__":
    main()
