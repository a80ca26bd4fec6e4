"""Our ARG and ENV values against those that an engine's BuildKit computes.

The engine on hand while this was written is 20.10: its Dockerfile frontend knows the operators ``:-`` and ``:+`` alone,
and expands the words of one ARG together; what is generated keeps to what all versions do alike.
"""

import json
import os
import random
import subprocess
import tempfile
import uuid
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bisector.environments.docker.cli import cli_environment, docker_programs
from pins.files.dockerfile.stages import Stage, read_stages
from pins.files.dockerfile.syntax import split_dockerfile
from pins.files.values import text_of

pytestmark = [pytest.mark.docker, pytest.mark.slow]

NAMES = "ABCD"
PIECES = [
    "x",
    "1.2",
    "a b",
    "",
    "$A",
    "${B}",
    "${C:-d}",
    "${D:+e}",
    "\\$A",
    '"q"',
    "'$A'",
    '"$B x"',
    "v${C:-${D:-z}}",
    "\\\\",
    "#h",
    "é",
    '${A:-"q r"}',
    "${B:-'s'}",
]


def word(random_: random.Random) -> str:
    text = "".join(random_.choices(PIECES, k=random_.randint(1, 3)))
    if random_.random() < 0.4:
        return '"' + text.replace('"', "").replace("\\", "") + '"'
    return text.replace("a b", "ab") if '"' in text or "'" in text else text.replace(" ", "_")


def dockerfile(random_: random.Random) -> tuple[str, dict[str, str]]:
    given_ = {name: random_.choice(["given", "9.9", ""]) for name in NAMES if random_.random() < 0.4}
    lines = [f"ARG {name}={word(random_)}" for name in random_.sample(NAMES, random_.randint(0, 4))]
    stages: list[str] = []
    for index in range(random_.randint(1, 3)):
        base = "scratch" if not stages or random_.random() < 0.4 else random_.choice(stages)
        lines.append(f"FROM {base} AS s{index}")
        stages.append(f"s{index}")
        for _ in range(random_.randint(0, 5)):
            name = random_.choice(NAMES)
            lines.append(
                random_.choice(
                    [
                        f"ARG {name}",
                        f"ARG {name}={word(random_)}",
                        f"ENV {name} {word(random_)}x",
                        f"ENV {name}={word(random_)}",
                        f"ENV {name}={word(random_)} \\\n   # comment\n\n  {random_.choice(NAMES)}={word(random_)}",
                        f"ARG {name}={word(random_)} OTHER",
                    ]
                )
            )
        lines.append("LABEL " + " ".join(f's{index}_{name}="${{{name}:-unset}}"' for name in NAMES))
    return "\n".join(lines) + "\n", given_


def ours(text: str, given_: dict[str, str]) -> dict[str, str] | None:
    stages = read_stages(split_dockerfile(text.encode()), "Dockerfile", given_)
    for stage in stages.stages:
        for _ in stages.walk(stage):
            pass
    if stages.problem is not None:
        return None

    def labels(stage: Stage) -> dict[str, str]:
        found = labels(stage.base_stage) if stage.base_stage else {}
        for name in NAMES:
            value = stage.final.values.get(name, ()) if stage.final else ()
            found[f"{stage.name}_{name}"] = text_of(value) or "unset"
        return found

    return labels(stages.stages[-1])


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_values_are_those_of_the_engine(engine_image: str, tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    text, given_ = dockerfile(random.Random(seed))
    expected = ours(text, given_)
    if expected is None:
        return  # a quote stays open: an old engine lets some of these pass
    assert built(tmp_path_factory.mktemp("build"), text, given_) == expected, text


@cache
def program() -> str:
    """A docker command that can build; several may be on PATH, and not each has BuildKit."""
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "Dockerfile").write_text("FROM scratch\nLABEL a=b\n")
        for candidate in docker_programs(os.environ.get("PATH", "")):
            tried = [candidate, "build", "-q", directory]
            if subprocess.run(tried, env=cli_environment(), check=False, capture_output=True).returncode == 0:
                return candidate
    pytest.skip("no docker command here can build")


def built(directory: Path, text: str, given_: dict[str, str]) -> dict[str, str]:
    (directory / "Dockerfile").write_text(text)
    arguments = [part for name, value in given_.items() for part in ("--build-arg", f"{name}={value}")]
    tag = f"pins-test-{uuid.uuid4().hex[:12]}"

    def docker(*words: str) -> bytes:
        done = subprocess.run([program(), *words], env=cli_environment(), check=False, capture_output=True)
        assert done.returncode == 0, (text, done.stderr[-300:])
        return done.stdout

    docker("build", "-q", "-t", tag, *arguments, str(directory))
    try:
        labels: dict[str, str] = json.loads(docker("inspect", "--format", "{{json .Config.Labels}}", tag))
        return labels
    finally:
        docker("rmi", "-f", tag)
