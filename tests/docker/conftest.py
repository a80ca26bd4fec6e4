import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docker.docker_setting import Setting, engine_script, tiny_archive

SYSTEM = "/usr/sbin:/usr/bin:/sbin"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Have an engine answer before it is looked for."""
    if item.get_closest_marker("docker") is not None:
        _start_engine()


@cache
def _start_engine() -> str:
    """Start an engine where one is installed, but install none: the name of the base image, or why there is none."""
    if shutil.which("docker") is None or shutil.which("dockerd", path=SYSTEM) is None:
        return "no Docker here; `scripts/docker-engine start` as root installs it"
    try:
        os.environ.update(engine_script("start"))
    except RuntimeError as error:
        return f"scripts/docker-engine: {error}"
    return ""


@pytest.fixture(scope="session")
def engine_image() -> str:
    """The name of the base image."""
    lacking = _start_engine()
    try:
        image = os.environ.get("BASE_IMAGE") or ("" if lacking else engine_script("image")["BASE_IMAGE"])
    except RuntimeError as error:
        lacking = f"scripts/docker-engine: {error}"
    if lacking:
        pytest.skip(lacking)
    return image


@pytest.fixture
def setting(engine_image: str, tmp_path: Path) -> Iterator[Setting]:
    """A run with an engine; what it leaves there is removed."""
    from bisector.environments.docker.leftovers import remove_leftovers

    made = Setting(tmp_path, engine_image)
    yield made
    remove_leftovers([made.run_id])


@pytest.fixture
def private_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A second engine, that a test may stop, with the image `tiny`. Its directory; DOCKER_HOST names it.

    Its parameter, where it has one, is the engine's configuration.
    """
    import docker

    if shutil.which("dockerd", path=SYSTEM) is None:
        pytest.skip("no dockerd here; `scripts/docker-engine start` as root installs it")
    # Short, for a socket's name has a limit.
    directory = Path(tempfile.mkdtemp(prefix="engine-"))
    (directory / "daemon.json").write_text(json.dumps(getattr(request, "param", {})))
    try:
        try:
            variables = engine_script("start", "--private", directory=directory)
        except RuntimeError as error:
            pytest.skip(f"scripts/docker-engine: {error}")
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        client = docker.from_env()
        client.api.import_image_from_data(tiny_archive(), repository="tiny", tag="1")
        client.close()
        yield directory
    finally:
        engine_script("stop", directory=directory)
        shutil.rmtree(directory, ignore_errors=True)
