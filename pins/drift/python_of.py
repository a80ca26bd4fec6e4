"""Which Python a file installs for: as it says itself, else as the paths in it show."""

import re
from functools import lru_cache

from pins.drift.model import WatchedFile

_PATH = re.compile(rb"lib/python(3\.\d{1,2})/")


def python_of(file: WatchedFile) -> str:
    """A version such as "3.12", "" where the file does not tell."""
    environments = file.environments()
    if environments is not None and environments.python:
        return environments.python
    return _in_paths(file.reading.data)


def tells_python(file: WatchedFile) -> bool:
    """Whether a file says itself which Python it is for; names of base images and paths only let one guess."""
    return any(pin.name == "python" and pin.value for pin in file.reading.pin_set.pins)


@lru_cache(maxsize=512)
def _in_paths(data: bytes) -> str:
    """The version in paths such as /opt/venv/lib/python3.12/site-packages, where they agree."""
    versions = set(_PATH.findall(data))
    return versions.pop().decode() if len(versions) == 1 else ""
