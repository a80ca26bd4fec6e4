"""What came out of a build."""

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.docker.container import create, remove, run_container
from bisector.environments.docker.files import room_archive
from bisector.environments.docker.run import ROOM, own_options
from pins.errors import PinsError

if TYPE_CHECKING:
    import docker

PYTHONS = ("python3", "python")
"""Names under which an image may hold its Python."""

LISTING_TIMEOUT = 60.0

_LISTING = """
import json, sys
try:
    from importlib.metadata import distributions
except ImportError:
    sys.exit(0)
found = {}
for distribution in distributions():
    name = distribution.metadata["Name"]
    if name:
        found.setdefault(name.replace("_", "-").replace(".", "-").lower(), distribution.version)
print(json.dumps(sorted(found.items())))
"""


def content_identity(client: "docker.DockerClient", image: str) -> str:
    """Digest over an image's layers and what it says about how it is run.

    Equal means equal content. Unequal may also mean the same files with other times: a layer that was built twice
    differs, one taken from the cache does not. The image's own id tells less, it holds the time of the build.
    """
    found = client.api.inspect_image(image)
    settings = found.get("Config") or {}
    kept = {key: settings.get(key) for key in ("Env", "User", "WorkingDir", "Shell", "ExposedPorts", "Volumes")}
    content = json.dumps([found["RootFS"].get("Layers") or [], kept], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def installed(
    program: str, image: str, python: str, log: Path, *, run_id: str, probe: str, environment: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The distributions that an image's Python finds; empty where it cannot say, which is no failure of the build."""
    options = [*own_options(run_id, probe), "--log-driver=none", "--network=none"]
    command = [python, "-c", _LISTING]
    try:
        container = create(program, options, image, command, environment=environment, marker=probe)
        try:
            ended = run_container(
                container,
                room_archive(None),
                str(ROOM),
                log,
                LISTING_TIMEOUT,
                threading.Event(),
                killed_here=lambda: False,
            )
        finally:
            remove(container.id)
        listed = json.loads(ended.output.strip().splitlines()[-1])
        return tuple((str(name), str(version)) for name, version in listed)
    except (PinsError, ValueError, IndexError, TypeError):
        return ()
