from collections.abc import Iterator

import pytest

from tests.local_index import LocalIndex


@pytest.fixture
def local_index() -> Iterator[LocalIndex]:
    """An empty package index on localhost."""
    with LocalIndex() as index:
        yield index
