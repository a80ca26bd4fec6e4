"""What is remembered of findings, looked up by who makes no check."""

import os
from pathlib import Path

from pins.drift.state.document import DamagedError, Remembered, read
from pins.drift.state.places import default_file, state_store
from pins.errors import PinsError


def remembered(state: str, push: str, directory: Path) -> list[Remembered]:
    """What is remembered: in the place that is named, or in all of the default ones of this user."""
    if state or push:
        with state_store(state, directory=directory, targets=(), push=push).held() as held:
            return [held.remembered]
    found = []
    for path in sorted(default_file(directory, (), os.environ).parent.glob("*.json")):
        try:
            found.append(read(path.read_bytes()))
        except (OSError, DamagedError, PinsError):
            continue
    return found
