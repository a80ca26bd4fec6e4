"""What the tests that talk to an engine have in common."""

import io
import os
import secrets
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bisector.environments.docker.environment import DockerEnvironment
from bisector.model import Build, Candidate, Ended, SmokeRun, SmokeScript
from bisector.request import DockerRequest

SCRIPT = Path(__file__).parents[2] / "scripts" / "docker-engine"

DEMO = """ARG BASE_IMAGE
FROM ${BASE_IMAGE}
ARG DEMO_VERSION=1.0
RUN echo "demo ${DEMO_VERSION}" > /demo
"""


def engine_script(*arguments: str, directory: Path | None = None) -> dict[str, str]:
    """Run scripts/docker-engine: the variables that it prints."""
    variables = os.environ | ({"BISECTOR_ENGINE_DIR": str(directory)} if directory else {})
    printed = subprocess.run([SCRIPT, *arguments], env=variables, capture_output=True, text=True, timeout=900)
    if printed.returncode != 0:
        raise RuntimeError(printed.stderr.strip()[-500:])
    return dict(line.split("=", 1) for line in printed.stdout.splitlines() if "=" in line)


def variables_of_its_own(directory: Path) -> dict[str, str]:
    """The environment of a command that keeps its runs and caches below a directory."""
    return {
        **os.environ,
        "XDG_STATE_HOME": str(directory / "state"),
        "XDG_CACHE_HOME": str(directory / "cache"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }


@dataclass
class Setting:
    """One test's run: its id, its room, and the image that its Dockerfiles start from."""

    room: Path
    base_image: str
    run_id: str = field(default_factory=lambda: f"test-{secrets.token_hex(4)}")
    number: int = 0

    def environment(
        self,
        dockerfile: str = DEMO,
        *,
        pins: Sequence[str] = ("demo",),
        time: datetime | None = None,
        build_timeout: float | None = None,
        **request: Any,
    ) -> DockerEnvironment:
        """An environment over a Dockerfile with this text, in a directory of its own."""
        context = self.room / "context"
        context.mkdir(exist_ok=True)
        path = context / request.pop("named", "Dockerfile")
        path.write_text(dockerfile)
        arguments = (*(("BASE_IMAGE", self.base_image),) * ("BASE_IMAGE" in dockerfile), *request.pop("build_args", ()))
        made = DockerRequest(dockerfile=path, build_args=arguments, **request)
        return DockerEnvironment(made, pins, time, run_id=self.run_id, build_timeout=build_timeout)

    def log(self) -> Path:
        """A file for the next log."""
        self.number += 1
        return self.room / f"{self.number}.log"

    def build(
        self, environment: DockerEnvironment, version: str = "1.0", cancel: threading.Event | None = None
    ) -> Build:
        """Build the candidate `demo=version`."""
        recipe = environment.resolve(Candidate((("demo", version),)))
        log = self.log()
        return environment.build(recipe, self.room / f"build-{self.number}", log, cancel or threading.Event())

    def smoke(self, script: str, *, named: str = "smoke.py", probe: str = "p1", **options: Any) -> SmokeRun:
        """A run of a script with this text."""
        path = self.room / named
        path.write_text(script)
        path.chmod(0o755)
        log = self.log()
        scratch, output = self.room / f"scratch-{self.number}", self.room / f"output-{self.number}"
        scratch.mkdir()
        output.mkdir()
        candidate = Candidate((("demo", "1.0"),))
        return SmokeRun(SmokeScript(path, **options), candidate, f"{self.run_id}.{probe}", scratch, output, log)

    def run(self, environment: DockerEnvironment, build: Build, script: str, **options: Any) -> Ended:
        """Run a script with this text once."""
        return environment.run(build, self.smoke(script, **options), threading.Event())


def tiny_archive() -> bytes:
    """A root directory with a shell, `sleep` and `cat` of this machine, for an engine that has no image."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as archive:
        added: set[str] = set()
        for name in ("sh", "sleep", "cat"):
            program = shutil.which(name)
            assert program is not None
            needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
            libraries = [word for word in needed.split() if word.startswith("/")]
            for path, inside in [(program, f"bin/{name}"), *((library, library.lstrip("/")) for library in libraries)]:
                if inside not in added:
                    added.add(inside)
                    archive.add(path, inside)
    return buffer.getvalue()
