"""Windows of real releases: against a SAT solver, and against uv asked for each version by itself."""

import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

pytest.importorskip("pysat", reason="python-sat is the oracle")

from pins.resolve.bounds import package_windows
from pins.resolve.check import SolutionCheck
from pins.resolve.windows import Windows, windows_of
from pins.sources.target import Installer
from tests.resolve.frozen import GLIBC, FrozenIndex, FrozenUniverse, frozen
from tests.resolve.random_universes import RandomUniverse, oracle

QUESTIONS = [
    ("torch", ["torch>=2.4", "setuptools>=82", "triton"]),
    ("torch", ["torch", "numpy<2.1", "setuptools<70", "triton>=3", "cmake"]),
    ("web", ["fastapi>=0.100", "starlette", "pydantic<2.10", "httpx", "flask>=2", "werkzeug<3"]),
    ("web", ["fastapi[all]", "starlette<0.40", "pydantic"]),
    ("models", ["transformers>=4.40", "tokenizers", "huggingface-hub<1", "numpy", "pandas"]),
    ("models", ["datasets>=2", "pandas<2.3", "numpy>=2", "huggingface-hub"]),
]
QUICK = [(0, Installer.UV), (3, Installer.PIP), (4, Installer.UV)]


@pytest.mark.parametrize(
    ("name", "requirements", "installer"),
    [
        pytest.param(*question, installer, marks=[] if (number, installer) in QUICK else pytest.mark.slow)
        for number, question in enumerate(QUESTIONS)
        for installer in Installer
    ],
)
def test_windows_of_real_releases_are_those_of_a_sat_solver(
    name: str, requirements: list[str], installer: Installer
) -> None:
    universe = frozen(name)
    problem, source = universe.problem(*requirements, installer=installer), universe.source()
    found = windows_of(problem, source)
    expected = oracle(RandomUniverse(0, problem, source), only=[window.name for window in found.windows])
    assert found.possible == expected.possible
    for window in found.windows:
        assert set(window.labels(window.inside)) == expected.inside[window.name] & set(window.labels(window.asked))
    _check_witnesses(found)


def _check_witnesses(found: Windows) -> None:
    universe = found.solver.universe
    check = SolutionCheck(universe.problem, universe.source)
    for window in found.windows:
        for choice in window.witnesses:
            assert not check.broken(window.witness(choice))


def test_torch_with_a_new_setuptools_has_a_hole_and_so_has_triton() -> None:
    universe = frozen("torch")
    problem = universe.problem("torch>=2.4", "setuptools>=82", "triton")
    torch, setuptools, triton = package_windows(windows_of(problem, universe.source()))
    assert torch.text == "2.4.0 to 2.10.0, 2.13.0 and newer"
    assert setuptools.specifier == ">=82.0.0"
    assert triton.specifier == ">=3.0.0,!=3.7.0"
    above = next(bound for bound in torch.bounds if bound.version == "2.11.0")
    assert [sentence.text for sentence in above.because] == [
        "torch 2.11.0 requires setuptools<82",
        "setuptools>=82 is asked for (--require)",
    ]


def test_at_most_25_searches_find_all_windows_of_six_packages() -> None:
    universe = frozen("torch")
    found = windows_of(universe.problem(), universe.source())
    assert found.solves <= 25
    assert sum(window.inside.bit_count() for window in found.windows) > 700


@pytest.mark.slow
@pytest.mark.parametrize(("name", "requirements"), QUESTIONS[::2])
def test_windows_of_real_releases_are_those_that_uv_finds_one_by_one(
    name: str, requirements: list[str], tmp_path: Path
) -> None:
    universe = frozen(name)
    found = windows_of(universe.problem(*requirements), universe.source())
    with FrozenIndex(universe) as index:
        for window in found.windows:
            asked, inside = window.labels(window.asked), set(window.labels(window.inside))
            assert {
                label for label in asked if _resolves(universe, index, requirements, window.name, label, tmp_path)
            } == inside


def _resolves(
    universe: FrozenUniverse, index: FrozenIndex, requirements: list[str], name: str, version: str, directory: Path
) -> bool:
    """Whether uv finds a solution with this version."""
    (directory / "in.txt").write_text("\n".join(requirements))
    (directory / "bound.txt").write_text(f"{name}=={version}")
    platform = f"x86_64-manylinux_{GLIBC.replace('.', '_')}"
    where = [
        "--python",
        sys.executable,
        "--default-index",
        index.url,
        "--python-version",
        universe.python,
        "--python-platform",
        platform,
    ]
    more = ["--no-config", "--cache-dir", str(directory / "cache"), "--constraint", str(directory / "bound.txt")]
    command = [find_uv_bin(), "pip", "compile", "--quiet", *where, *more, str(directory / "in.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "No solution found" in done.stderr, done.stderr
    return done.returncode == 0
