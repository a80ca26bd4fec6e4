import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local_index import LocalIndex
from tests.project.installations import Installation, NoInterpreterError, installations

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the wheel and the source distribution of the checkout as it is."""
    directory = tmp_path_factory.mktemp("distributions")
    script = [sys.executable, str(ROOT / "scripts" / "distributions.py"), "--work-tree", f"--output={directory}"]
    subprocess.run(script, check=True)
    return directory


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (built,) = distributions.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def spam() -> Iterator[LocalIndex]:
    """An index with spam 1 to 6, of which some need an older ham."""
    with LocalIndex() as index:
        for number in range(1, 7):
            index.add("spam", str(number), requires=["ham<3"] if number > 4 else [])
            index.add("ham", str(number))
        yield index


@pytest.fixture(scope="session", params=installations(), ids=lambda each: each.name)
def installed(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """The wheel, installed in one of the ways in which people do it."""
    try:
        yield request.param.make(wheel, tmp_path_factory.mktemp("installed"))
    except NoInterpreterError as error:
        pytest.skip(str(error))
