import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local_index import LocalIndex
from tests.project.installations import Installation, NoInterpreterError, installations

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose one commit is the checkout as it is now, whoever goes on working there."""
    place = tmp_path_factory.mktemp("snapshot")
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.invalid", "-C", str(place)]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=as it is"]):
        subprocess.run([*git, *words], check=True)
    return place


@pytest.fixture(scope="session")
def distributions(snapshot: Path) -> Path:
    """A directory with the wheel and the source distribution of the checkout."""
    subprocess.run([sys.executable, str(snapshot / "scripts" / "distributions.py")], check=True)
    return snapshot / "dist"


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
