"""What is said to have no solution is refused by the installers themselves, over random indexes."""

import random
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from pins.metadata.index_requirements import IndexRequirements
from pins.resolve.contradiction import contradiction
from pins.resolve.problem import Constraint, Problem
from pins.sources.index_configuration import read_index_configuration
from pins.sources.package_index import PackageIndex
from pins.sources.target import Installer, target_of
from tests.local_index import LocalIndex

pytestmark = pytest.mark.slow
NAMES = ("alpha", "beta", "gamma", "delta")
VERSIONS = ("1.0", "2.0", "3.0")
ASKED_OF_PIP = 3
"""Of each index; pip takes a second for each."""


def random_index(index: LocalIndex, rng: random.Random) -> None:
    for name in NAMES:
        for version in VERSIONS:
            requires = []
            for other in rng.sample([each for each in NAMES if each != name], rng.randrange(0, 3)):
                operator = rng.choice(("<", "<=", "==", ">=", ">", "!=", "~="))
                requires.append(f"{other}{operator}{rng.choice(VERSIONS)}")
            index.add(name, version, requires=requires)


def refused(command: list[str], room: Path) -> bool:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=room)
    said = done.stderr
    assert done.returncode == 0 or "No solution found" in said or "ResolutionImpossible" in said, said
    return done.returncode != 0


@pytest.mark.parametrize("seed", range(8))
def test_installers_refuse_what_is_never_built(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    with LocalIndex() as served:
        random_index(served, rng)
        configuration = read_index_configuration(served.url, (), environment={}, directory=tmp_path)
        target = target_of(Path(sys.executable), Installer.PIP)
        excluded: list[list[str]] = []
        with PackageIndex(configuration, target) as index:
            source = IndexRequirements(index)
            for first, second in (("alpha", "beta"), ("beta", "gamma"), ("alpha", "delta")):
                for one, other in product(VERSIONS, VERSIONS):
                    asked = [f"{first}=={one}", f"{second}=={other}"]
                    problem = Problem(
                        tuple(map(Constraint, asked)), markers=dict(target.markers), installer=Installer.PIP
                    )
                    if contradiction(problem, source):
                        excluded.append(asked)
        for asked in excluded:
            (tmp_path / "asked.in").write_text("\n".join(asked))
            compiled = ["uv", "pip", "compile", "-q", "--no-cache", "--index-url", served.url, "asked.in"]
            assert refused([str(Path(sys.executable).parent / "uv"), *compiled[1:]], tmp_path), asked
        for asked in rng.sample(excluded, min(ASKED_OF_PIP, len(excluded))):
            pip = [sys.executable, "-m", "pip", "--isolated", "install", "--dry-run", "--ignore-installed"]
            assert refused([*pip, "--no-cache-dir", "--index-url", served.url, *asked], tmp_path), asked
