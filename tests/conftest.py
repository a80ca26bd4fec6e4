import os
from collections.abc import Iterator
from functools import cache

import pytest

from bisector.doctor import CHECKS
from tests.local_index import LocalIndex

NEEDS = {"docker": ("docker", "buildkit"), "network": ("index",)}
"""What a test needs that is marked so, by the names of `bisector doctor`."""


@pytest.fixture
def local_index() -> Iterator[LocalIndex]:
    """An empty package index on localhost."""
    with LocalIndex() as index:
        yield index


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, with the reason; in CI it must be able to, so there it fails."""
    for marker, names in NEEDS.items():
        if item.get_closest_marker(marker) is None:
            continue
        reason = next((lacking for name in names if (lacking := _lacking(name))), "")
        if reason and os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        if reason:
            pytest.skip(reason)


@cache
def _lacking(name: str) -> str:
    found = CHECKS[name]()
    return "" if found.found else f"needs {name}: {found.detail}"
