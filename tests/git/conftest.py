from pathlib import Path

import pytest

from pins.sources.git.address import parse_address
from pins.sources.git.clone import Clone, open_clone
from tests.git.repository_builder import RepositoryBuilder


@pytest.fixture
def builder(tmp_path: Path) -> RepositoryBuilder:
    """A repository to be filled."""
    return RepositoryBuilder(tmp_path / "source")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def clone_of(builder: RepositoryBuilder, cache: Path) -> Clone:
    """Our clone of a repository on this machine, opened afresh."""
    return open_clone(parse_address(str(builder.directory), Path("/")), cache)
