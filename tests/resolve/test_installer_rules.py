"""Where uv and pip differ, windows follow each: held against both, on an index on localhost."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version
from uv import find_uv_bin

from pins.resolve.other_installer import is_the_same_by_both
from pins.resolve.windows import windows_of
from pins.sources.index_configuration import without_index_variables
from pins.sources.target import Installer
from tests.local_index import LocalIndex
from tests.resolve.memory_source import MemorySource, problem
from tests.resolve.random_universes import random_universe


@dataclass(frozen=True)
class Release:
    """One release of a scenario."""

    name: str
    version: str
    requires: tuple[str, ...] = ()
    yanked: bool = False


RELEASES = (
    Release("final-first", "1.0"),
    Release("final-first", "2.0b1"),
    Release("only-early", "1.0b1"),
    Release("only-early", "2.0b1"),
    Release("needs-newer", "1", ("final-first>=1.5",)),
    Release("names-early", "1", ("final-first>=2.0b1",)),
    Release("any", "1", ("final-first",)),
    Release("withdrawn", "0.9"),
    Release("withdrawn", "1.0", yanked=True),
    Release("pins-withdrawn", "1", ("withdrawn==1.0",)),
    Release("pins-its-text", "1", ("withdrawn===1.0",)),
    Release("at-least-withdrawn", "1", ("withdrawn>=1.0",)),
    Release("star-withdrawn", "1", ("withdrawn==1.*",)),
    Release("broken-final", "1.0", ("not-there",)),
    Release("broken-final", "2.0b1"),
    Release("withdrawn-final", "1.0"),
    Release("withdrawn-final", "1.5", yanked=True),
    Release("withdrawn-final", "2.0b1"),
    Release("wants-any-and-newer", "1", ("any", "needs-newer")),
    Release("either", "0.9"),
    Release("either", "1.0", ("final-first>=1.5",)),
    Release("local", "1.0"),
    Release("local", "1.0+cpu"),
    Release("local", "2.0+cpu"),
    Release("wants-local", "1", ("local==2.0",)),
    Release("at-most-local", "1", ("local<=1.0",)),
    Release("above-local", "1", ("local>1.0",)),
    Release("never-local", "1", ("local!=2.0", "local>1.0")),
)

QUESTIONS = (
    ("final-first>=1.5",),
    ("needs-newer",),
    ("names-early",),
    ("names-early", "any"),
    ("any", "final-first>=2.0b1"),
    ("only-early",),
    ("final-first", "needs-newer"),
    ("wants-any-and-newer",),
    ("final-first!=1.0",),
    ("broken-final",),
    ("broken-final>=1.0",),
    ("broken-final>1.0",),
    ("withdrawn-final>=1.2",),
    ("withdrawn-final>1.5",),
    ("either>0.9", "final-first"),
    ("either", "final-first<2"),
    ("withdrawn>=1.0",),
    ("withdrawn==1.0",),
    ("withdrawn===1.0",),
    ("pins-withdrawn",),
    ("pins-its-text",),
    ("pins-withdrawn", "withdrawn"),
    ("pins-withdrawn", "at-least-withdrawn"),
    ("at-least-withdrawn", "withdrawn==1.0"),
    ("star-withdrawn",),
    ("wants-local",),
    ("at-most-local", "local"),
    ("above-local", "local"),
    ("never-local",),
    ("local==1.0",),
    ("local==1.0+cpu",),
)


@pytest.fixture(scope="module")
def index() -> Iterator[LocalIndex]:
    with LocalIndex() as index:
        for one in RELEASES:
            index.add(one.name, one.version, requires=one.requires, yanked="" if one.yanked else None)
        yield index


def _source() -> MemorySource:
    source = MemorySource()
    for one in RELEASES:
        source.add(one.name, one.version, one.requires, yanked=one.yanked)
    return source


@pytest.mark.slow
@pytest.mark.parametrize("installer", list(Installer))
@pytest.mark.parametrize("requirements", QUESTIONS, ids=" ".join)
def test_there_is_a_solution_where_the_installer_finds_one(
    requirements: tuple[str, ...], installer: Installer, index: LocalIndex, tmp_path: Path
) -> None:
    if installer is Installer.PIP and Version(version("pip")) < Version("26"):
        pytest.skip("the rules are those of pip 26")
    found = windows_of(problem(*requirements, installer=installer), _source())
    where = ["--index-url", index.url]
    variables = {**without_index_variables(os.environ), "PIP_CONFIG_FILE": os.devnull}
    if installer is Installer.UV:
        (tmp_path / "in.txt").write_text("\n".join(requirements))
        command = [
            find_uv_bin(),
            "pip",
            "compile",
            "--python",
            sys.executable,
            "--no-config",
            "--no-cache",
            *where,
            str(tmp_path / "in.txt"),
        ]
    else:
        options = ["--dry-run", "--ignore-installed", "--no-cache-dir", "--disable-pip-version-check"]
        command = [sys.executable, "-m", "pip", "install", *options, *where, "--", *requirements]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert found.possible == (done.returncode == 0), done.stdout + done.stderr


def test_where_windows_are_called_the_same_by_both_installers_solving_by_the_other_finds_them_so() -> None:
    same = 0
    for seed in range(120):
        universe = random_universe(seed)
        found = windows_of(universe.problem, universe.source)
        if is_the_same_by_both(found):
            same += 1
            other = Installer.PIP if universe.problem.installer is Installer.UV else Installer.UV
            theirs = windows_of(replace(universe.problem, installer=other), universe.source)
            assert [(w.inside, w.unknown) for w in theirs.windows] == [(w.inside, w.unknown) for w in found.windows]
    assert same > 2, "it is never plain: nothing is saved"
