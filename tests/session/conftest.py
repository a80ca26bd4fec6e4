from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bisector.model import SmokeScript
from bisector.request import IndexRequest, PinRange, RunRequest
from tests.local_index import LocalIndex

Ask = Callable[..., RunRequest]

PASSES_WHERE_WARM = """
places="$HOME $XDG_CACHE_HOME $TRITON_CACHE_DIR $TORCHINDUCTOR_CACHE_DIR $VLLM_CACHE_ROOT $TMPDIR ."
for place in $places; do [ -e "$place/warm" ] && exit 0; done
for place in $places; do touch "$place/warm" || exit 99; done
[ "$PIN_WIDGET" -lt {culprit} ]
"""
"""A script that passes as soon as an earlier candidate has left something in its home or caches."""


@pytest.fixture
def ask(tmp_path: Path, local_index: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Makes a request over `widget` and `gadget`, releases 0 to 16, in the command environment."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("widget", "gadget"):
        for number in range(17):
            local_index.add(name, str(number))

    def make(script: str, *pins: str, build: str = "true", **options: Any) -> RunRequest:
        path = tmp_path / "smoke.sh"
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)
        ranges = tuple(PinRange(pin.split("=")[0], *pin.split("=")[1].split("..")) for pin in pins)
        return RunRequest(
            ranges or (PinRange("widget", "0", "16"),),
            SmokeScript(path, **options.pop("smoke", {})),
            environment="command",
            build_command=(build,),
            index=IndexRequest(local_index.url),
            **options,
        )

    return make
