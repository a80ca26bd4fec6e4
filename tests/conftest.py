import os
import signal
import threading
from collections.abc import Iterator
from functools import cache

import pytest

from bisector.cli.machine_checks import CHECKS
from tests.local_index import LocalIndex

NEEDS = {"docker": ("docker", "buildkit"), "network": ("index",), "ray": ("ray",)}
"""What a test needs that is marked so, by the names of `bisector doctor`."""


def pytest_configure() -> None:
    """Have signals work in what tests start: a shell that runs pytest in the background, or nohup, ignores them."""
    if threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)  # ignored here as before; what is started begins with the default


@pytest.fixture
def local_index() -> Iterator[LocalIndex]:
    """An empty package index on localhost."""
    with LocalIndex() as index:
        yield index


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run for want of an index or of Ray, with the reason; in CI all must run: the want is a failure.

    Tests that need an engine start one where they can (tests/docker), so that they are asked in CI alone.
    """
    in_ci = bool(os.environ.get("CI"))
    for marker, names in NEEDS.items():
        if item.get_closest_marker(marker) is None or (marker == "docker" and not in_ci):
            continue
        reason = next((lacking for name in names if (lacking := _lacking(name))), "")
        if reason and in_ci:
            pytest.fail(reason, pytrace=False)
        if reason:
            pytest.skip(reason)


@cache
def _lacking(name: str) -> str:
    found = CHECKS[name]()
    return "" if found.found else f"needs {name}: {found.detail}"
