"""Images of a run within the room that they may take."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bisector.environments.docker.engine import engine
from bisector.environments.docker.leftovers import list_leftovers
from tests.docker.docker_setting import Setting, tiny_archive, variables_of_its_own
from tests.docker.test_file_candidates import script
from tests.file_axes.small_repository import SmallRepository

pytestmark = pytest.mark.docker

LARGE = """FROM {base}
ARG TOOL_VERSION={tool}
RUN for part in 1 2 3 4 5 6 7 8; do cat /bin/sh /bin/sh /bin/sh; done > /large; echo "${{TOOL_VERSION}}" > /tool
"""
"""Some megabytes that are each candidate's own."""


@pytest.fixture
def base(setting: Setting) -> Iterator[str]:
    name = f"bisector-test-disk-{setting.run_id}"
    with engine() as client:
        client.api.import_image_from_data(tiny_archive(), repository=name, tag="1", changes=["ENV PATH=/bin"])
    yield f"{name}:1"
    with engine() as client:
        client.api.remove_image(f"{name}:1", force=True)


@pytest.mark.slow
def test_images_are_removed_to_keep_to_the_budget_and_the_answer_stays(base: str, tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    mark = tmp_path.parent.name
    for number in range(16):
        repository.commit(LARGE.format(base=base, tool=f"1.{number}-{mark}"))
    smoke = script(tmp_path, "read tool < /tool; tool=${tool#1.}; test ${tool%%-*} -lt 11")
    words = ["run", "--dockerfile", str(repository.dockerfile), "--good", repository.revisions[0], "--bad", "HEAD"]
    variables = variables_of_its_own(tmp_path)
    command = [sys.executable, "-m", "bisector", *words, "--smoke", smoke, "--format", "json", "--disk", "11M"]
    ran = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["culprit"]["old"], found["culprit"]["new"]) == (f"1.10-{mark}", f"1.11-{mark}")
    removed = [line for line in ran.stderr.splitlines() if "is removed to keep to --disk" in line]
    assert removed
    assert f"1.0-{mark}" not in removed[0], "the ends stay longest"
    assert f"1.15-{mark}" not in removed[0]
    assert list_leftovers([run.run for run in list_leftovers() if run.run.startswith(found["run_id"])]) == ()
