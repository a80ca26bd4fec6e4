"""What a built image holds, and floats that are replayed from dates and from two images."""

import shutil
import subprocess
from pathlib import Path

import pytest

from bisector.environments.docker.cli import cli_environment
from bisector.environments.docker.engine import engine
from bisector.environments.docker.inventory import read_inventory
from pins.errors import UsageError
from tests.docker.docker_setting import Setting
from tests.docker.test_file_candidates import bisector

pytestmark = pytest.mark.docker

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "pybind11"

RECORDING = """ARG BASE_IMAGE
FROM ${BASE_IMAGE}
ARG DEMO_VERSION=1.0
RUN mkdir /app && echo "TRITON_BRANCH: 532137f" > /app/versions.txt && echo "not ${DEMO_VERSION}" >> /app/versions.txt
LABEL org.example.AITER_BRANCH=v0.1.19
"""


def test_an_image_tells_its_distributions_and_what_its_build_has_written_down(setting: Setting) -> None:
    built = setting.build(setting.environment(RECORDING))
    found = read_inventory(built.location, setting.run_id)
    assert found.image == built.location
    assert found.created.tzinfo is not None
    assert "pip" in dict(found.installed)
    recorded = dict(found.recorded)
    assert recorded["TRITON_BRANCH"] == "532137f"
    assert recorded["AITER_BRANCH"] == "v0.1.19"
    assert "not" not in recorded


def test_an_image_that_the_engine_lacks_is_named_with_the_way_out(setting: Setting) -> None:
    with pytest.raises(UsageError, match="docker pull no-such-image:1"):
        read_inventory("no-such-image:1", setting.run_id)


def project(directory: Path) -> Path:
    """The image that broke: an early stage has pybind11 pinned to 3.0.4, the final one leaves it open."""
    context = directory / "project"
    shutil.copytree(EXAMPLE, context)
    text = (EXAMPLE / "Dockerfile").read_text()
    text = text.replace("ARG PYBIND11_SPEC\n", "").replace('"pybind11${PYBIND11_SPEC}"', "pybind11")
    assert "install pybind11\n" in text
    (context / "Dockerfile").write_text(text)
    return context


@pytest.mark.network
@pytest.mark.slow
def test_a_bare_requirement_that_moved_between_two_dates_is_named(engine_image: str, tmp_path: Path) -> None:
    context = project(tmp_path)
    dates = ("--good-date", "2026-08-01", "--bad-date", "2026-08-10")
    words = ("--dockerfile", str(context / "Dockerfile"), *dates, "--smoke", str(context / "smoke.py"))
    found = bisector(tmp_path, engine_image, *words)
    culprit = found["culprit"]
    assert (culprit["pin"], culprit["kind"], culprit["old"], culprit["new"]) == ("pybind11", "float", "3.0.4", "3.1.0")
    assert (culprit["alone_on_good"], culprit["removed_from_bad"]) == ("fail", "pass")
    assert sum(1 for probe in found["probes"] if probe["step"] is not None) <= 4


@pytest.mark.network
@pytest.mark.slow
def test_a_bare_requirement_that_two_images_hold_otherwise_is_named(engine_image: str, tmp_path: Path) -> None:
    context = project(tmp_path)
    names = []
    for version in ("3.0.4", "3.1.0"):
        text = (context / "Dockerfile").read_text().replace("install pybind11\n", f"install pybind11=={version}\n")
        (tmp_path / "Dockerfile").write_text(text)
        names.append(f"bisector-test-float:{version}")
        build(engine_image, tmp_path / "Dockerfile", context, names[-1])
    images = ("--good-image", names[0], "--bad-image", names[1])
    words = ("--dockerfile", str(context / "Dockerfile"), *images, "--smoke", str(context / "smoke.py"))
    try:
        culprit = bisector(tmp_path, engine_image, *words)["culprit"]
    finally:
        with engine() as client:
            for name in names:
                client.api.remove_image(name, force=True)
    assert (culprit["pin"], culprit["old"], culprit["new"]) == ("pybind11", "3.0.4", "3.1.0")


def build(image: str, dockerfile: Path, context: Path, name: str) -> None:
    """Build with whichever docker command here can."""
    from bisector.environments.docker.cli import trial

    with trial("test-float", syntax="", options=(), variables=cli_environment()) as (builder, _):
        options = ["--network=host", f"--build-arg=BASE_IMAGE={image}", f"--tag={name}"]
        subprocess.run(
            builder.command(options, dockerfile, context), check=True, env=cli_environment(), capture_output=True
        )
