"""What the resolver says cannot be installed is not built, with a real engine and a real index."""

from pathlib import Path

import pytest

from bisector.environments.docker.engine import engine
from tests.docker.test_file_candidates import bisector, script
from tests.file_axes.small_repository import SmallRepository

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.slow]

TEXT = """ARG BASE_IMAGE
FROM ${{BASE_IMAGE}} AS base
ARG PYTHON_VERSION=3.11
RUN pip install urllib3=={urllib3} requests=={requests}
"""


def test_a_pin_that_another_one_holds_back_moves_after_it_and_no_build_fails(engine_image: str, tmp_path: Path) -> None:
    plain = f"python:{tmp_path.parent.name}"  # a plain system, as its name says
    with engine() as client:
        client.images.get(engine_image).tag(plain)
    repository = SmallRepository(tmp_path / "repository")
    repository.commit(TEXT.format(urllib3="1.26.18", requests="2.29.0"), "Old")
    repository.commit(TEXT.format(urllib3="2.0.2", requests="2.31.0"), "New")
    smoke = script(tmp_path, "pip list 2>/dev/null | grep -q '^urllib3 *1[.]'")
    words = ("--dockerfile", str(repository.dockerfile), "--good", "HEAD~1", "--bad", "HEAD", "--smoke", smoke)
    try:
        found = bisector(tmp_path, plain, *words)
    finally:
        with engine() as client:
            client.images.remove(plain)
    assert (found["culprit"]["pin"], found["culprit"]["new"][:2]) == ("urllib3", "2.")
    ran = [probe for probe in found["probes"] if probe["runs"]]
    assert found["builds"] == len(ran), "what cannot be installed is found out without a build"
    assert found["culprit"]["alone_on_good"] == "infeasible", "requests 2.29.0 takes no urllib3 2"
