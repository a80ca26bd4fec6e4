import sys
from pathlib import Path

import pytest

from pins.errors import UsageError
from pins.metadata.base_image import told_by
from pins.metadata.gather import GatherRequest, gather, read_file
from pins.metadata.index_requirements import IndexRequirements
from pins.resolve.problem import Gathered, OriginKind, Problem
from pins.sources.index_configuration import read_index_configuration
from pins.sources.package_index import PackageIndex
from pins.sources.target import described_target
from tests.local_index import LocalIndex
from tests.metadata.repositories import SmallRepository

TARGET = described_target("3.12", glibc="2.35")
DOCKERFILE = """\
ARG BASE_IMAGE=rocm/dev-ubuntu-22.04:7.2
ARG KERNELS_BRANCH="{revision}" # main as of 08/07
FROM ${{BASE_IMAGE}} AS base
ARG PYTHON_VERSION=3.12
RUN apt-get update && apt-get install -y python${{PYTHON_VERSION}}
RUN pip install -U packaging 'cmake<4' 'setuptools<80' pybind11

FROM base AS build_kernels
ARG KERNELS_BRANCH
RUN git clone https://example.org/own/kernels.git
RUN cd kernels && git checkout ${{KERNELS_BRANCH}} && pip install -r requirements.txt
RUN cd kernels && if [ ! -f setup.py ]; then cd python; fi \\
    && PREBUILD=1 python3 setup.py bdist_wheel --dist-dir=dist \\
    && mkdir -p /app/install && cp dist/*.whl /app/install

FROM base AS unused
RUN pip install nonsense==1

FROM base AS wheels
RUN --mount=type=bind,from=build_kernels,src=/app/install/,target=/install cp /install/*.whl /wheels

FROM base AS final
COPY --from=wheels /wheels/*.whl /tmp/wheels/
RUN pip install /tmp/wheels/*.whl && pip install --no-deps einops
"""
SETUP = """\
import os
from setuptools import setup
requires = ["pybind11>=3.0.1"]
if os.environ.get("LIGHT"):
    requires = []
prepare = ["ninja"] if os.environ.get("PREBUILD") else []
setup(name="own-kernels", version="1.0", install_requires=requires, setup_requires=prepare)
"""
FILES = {
    "setup.py": SETUP,
    "pyproject.toml": '[build-system]\nrequires = ["pybind11>=3.0.0", "setuptools>=45", "cmake"]\n',
    "requirements.txt": "pybind11==3.0.4\n",
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\n",
}


@pytest.fixture
def kernels(tmp_path: Path) -> SmallRepository:
    made = SmallRepository(tmp_path / "kernels")
    made.commit({"python/setup.py": SETUP.replace("3.0.1", "2.0"), "requirements.txt": ""})
    made.commit({**FILES, "python/setup.py": None})
    return made


class Gatherer:
    def __init__(self, url: str, directory: Path) -> None:
        self.url, self.directory = url, directory

    def __call__(self, text: str, name: str = "Dockerfile", **options: object) -> Gathered:
        file = self.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        request = GatherRequest(file, **options)  # type: ignore[arg-type]
        configuration = read_index_configuration(self.url, environment={"HOME": "/nowhere"}, directory=Path("/"))
        with PackageIndex(configuration, TARGET) as index:
            read = read_file(request)
            return gather(request, read, IndexRequirements(index), TARGET, self.directory / "cache")


@pytest.fixture
def gathered(local_index: LocalIndex, tmp_path: Path) -> Gatherer:
    return Gatherer(local_index.url, tmp_path / "work")


def stated(problem: Problem) -> list[tuple[str, int]]:
    return [(one.requirement, one.origin.line) for one in problem.requirements]


def named(found: Gathered, name: str) -> Problem:
    return next(problem for problem in found.problems if problem.name == name)


def test_every_stage_that_matters_is_an_environment_of_its_own(gathered: Gatherer, kernels: SmallRepository) -> None:
    head = kernels.git("rev-parse", "--short=8", "HEAD")
    found = gathered(DOCKERFILE.format(revision=head), clones={"kernels": kernels.path})
    assert [problem.name for problem in found.problems] == [
        "stage base",
        "stage build_kernels",
        "stage build_kernels, kernels free",
        "stage final",
        "stage final, kernels free",
    ]
    base = [("packaging", 6), ("cmake<4", 6), ("setuptools<80", 6), ("pybind11", 6)]
    assert stated(found.problems[0]) == base
    assert stated(named(found, "stage build_kernels")) == [*base, ("own-kernels[build-requires]", 13)]
    final = named(found, "stage final")
    assert stated(final) == [*base, ("einops", 24), ("own-kernels[install-requires]", 24)]
    assert final.without_dependencies == {"einops"}
    assert [(one.requirement, one.origin.line) for one in final.bounds] == [(f"own-kernels==={head[:7]}", 2)]
    assert final.current["own-kernels"] == head[:7]
    assert named(found, "stage final, kernels free").bounds == ()
    assert named(found, "stage final, kernels free").targets == ("own-kernels",)
    assert not found.notes


def test_lines_of_the_tree_carry_their_file_and_line(gathered: Gatherer, kernels: SmallRepository) -> None:
    head = kernels.git("rev-parse", "--short=8", "HEAD")
    found = gathered(DOCKERFILE.format(revision=head), clones={"kernels": kernels.path})
    choices = found.source.choices(["own-kernels"])["own-kernels"].choices
    assert len(choices) == 2
    requires = found.source.requires([("own-kernels", head[:7])])["own-kernels", head[:7]]
    rows = {
        line: (origin.kind, origin.file.rpartition(":")[2], origin.line)
        for line, origin in zip(requires.lines, requires.origins, strict=True)
    }
    assert rows['pybind11>=3.0.1; extra == "install-requires"'] == (OriginKind.DECLARED, "setup.py", 3)
    assert rows['ninja; extra == "build-requires"'] == (OriginKind.DECLARED, "setup.py", 6)
    assert rows['pybind11==3.0.4; extra == "build-requires"'] == (OriginKind.DECLARED, "requirements.txt", 1)
    assert rows['pybind11>=3.0.0rc4,<3.1.0; extra == "install-requires"'][0] is OriginKind.INFERRED
    older = found.source.requires([("own-kernels", choices[0].label)])["own-kernels", choices[0].label]
    assert 'pybind11>=2.0; extra == "install-requires"' in older.lines


def test_a_rule_can_be_switched_off_for_a_question_or_in_pins_toml(
    gathered: Gatherer, kernels: SmallRepository
) -> None:
    head = kernels.git("rev-parse", "--short=8", "HEAD")
    text = DOCKERFILE.format(revision=head)

    def inferred(found: Gathered) -> int:
        origins = found.source.requires([("own-kernels", head[:7])])["own-kernels", head[:7]].origins
        return sum(origin.kind is OriginKind.INFERRED for origin in origins)

    clones = {"kernels": kernels.path}
    assert inferred(gathered(text, clones=clones)) == 1
    assert inferred(gathered(text, clones=clones, without_rules=frozenset({"pybind11-internals"}))) == 0
    (gathered.directory / "pins.toml").write_text('[inferred]\noff = ["pybind11-internals"]\n')
    assert inferred(gathered(text, clones=clones)) == 0
    with pytest.raises(UsageError, match="no rule 'nonsense'"):
        gathered(text, without_rules=frozenset({"nonsense"}))


def test_modules_that_are_installed_are_searched_for_what_they_import(
    gathered: Gatherer, kernels: SmallRepository
) -> None:
    kernels.commit(
        {
            "kernels/__init__.py": "\nimport pkg_resources\n",
            "kernels/maybe.py": "try:\n    import pkg_resources\nexcept ImportError:\n    pass\n",
            "tests/test_x.py": "import pkg_resources\n",
        }
    )
    head = kernels.git("rev-parse", "--short=8", "HEAD")
    final = named(gathered(DOCKERFILE.format(revision=head), clones={"kernels": kernels.path}), "stage final")
    bound = next(one for one in final.bounds if one.origin.kind is OriginKind.INFERRED)
    assert (bound.requirement, bound.origin.place) == ("setuptools<82", f"own/kernels@{head}:kernels/__init__.py:2")


def test_cmake_is_bounded_where_the_build_finds_it_without_asking(gathered: Gatherer, kernels: SmallRepository) -> None:
    kernels.commit(
        {
            "pyproject.toml": '[build-system]\nrequires = ["setuptools", "cmake-format"]\n',
            "CMakeLists.txt": "\ncmake_minimum_required(VERSION 3.1)\n",
            "setup.py": f"# runs cmake\n{SETUP}",
        }
    )
    head = kernels.git("rev-parse", "--short=8", "HEAD")
    found = gathered(DOCKERFILE.format(revision=head), clones={"kernels": kernels.path})
    bounds = named(found, "stage build_kernels").bounds
    assert [(one.requirement, one.origin.place) for one in bounds if one.origin.kind is OriginKind.INFERRED] == [
        ("cmake<4", f"own/kernels@{head}:CMakeLists.txt:2")
    ]
    assert not any(one.requirement == "cmake<4" for one in named(found, "stage final").bounds)


def test_what_is_not_at_hand_is_said_and_not_counted(gathered: Gatherer, kernels: SmallRepository) -> None:
    found = gathered(DOCKERFILE.format(revision="f00f00f"))
    assert [problem.name for problem in found.problems] == ["stage base", "stage build_kernels", "stage final"]
    assert any(":2: no clone of own/kernels is at hand: give --repo kernels=PATH" in note for note in found.notes)
    found = gathered(DOCKERFILE.format(revision="f00f00f"), clones={"kernels": kernels.path})
    assert any("does not have f00f00f" in note for note in found.notes)
    free = named(found, "stage final, kernels free")
    assert ("own-kernels[install-requires]", 13) in stated(free)
    assert "own-kernels" not in free.current


def test_known_bad_versions_and_holds_of_pins_toml_are_bounds(gathered: Gatherer) -> None:
    gathered.directory.mkdir(parents=True)
    (gathered.directory / "pins.toml").write_text(
        '[[known-bad]]\nrequirement = "pybind11==3.1.0"\nreason = "kernels share no types"\nfound = "run 7"\n'
        '[[hold]]\nrequirement = "setuptools<80"\nreason = "mori"\nuntil = "it is fixed"\n'
    )
    [problem] = gathered("pybind11\n", "requirements.txt").problems
    assert [
        (one.requirement, one.origin.kind.value, one.origin.line, one.origin.sentence) for one in problem.bounds
    ] == [
        ("pybind11!=3.1.0", "known-bad", 2, "kernels share no types (run 7)"),
        ("setuptools<80", "hold", 6, "mori, until it is fixed"),
    ]
    for wrong in ('[[known-bad]]\nrequirement = "x>1"\n', "[hold]\na = 1\n", '[inferred]\noff = ["x"]\n', "["):
        (gathered.directory / "pins.toml").write_text(wrong)
        with pytest.raises(UsageError, match=r"pins\.toml"):
            gathered("pybind11\n", "requirements.txt")


def test_a_later_command_replaces_what_cannot_hold_with_it(gathered: Gatherer) -> None:
    found = gathered(
        "FROM python:3.12\nRUN pip install 'setuptools<80' 'numpy<2' wheel==0.44\n"
        "RUN pip install setuptools==82.0.1 numpy\nRUN pip install -U wheel\n"
    )
    [problem] = found.problems
    assert stated(problem) == [("numpy<2", 2), ("setuptools==82.0.1", 3), ("numpy", 3), ("wheel", 4)]
    assert [note.partition(": ")[2] for note in found.notes] == [
        f"setuptools<80 is replaced by {gathered.directory}/Dockerfile:3 (setuptools==82.0.1)",
        f"wheel==0.44 is replaced by {gathered.directory}/Dockerfile:4 (wheel)",
    ]


def test_constraints_files_bound_and_requirements_files_ask(gathered: Gatherer) -> None:
    directory = gathered.directory
    directory.mkdir(parents=True)
    (directory / "requirements.txt").write_text("numpy>=1\n-c limits.txt\n./local\n")
    (directory / "limits.txt").write_text("numpy<2\n")
    (directory / "over.txt").write_text("pandas==2\n")
    found = gathered(
        "FROM python:3.12\nCOPY . /src\nWORKDIR /src\n"
        "RUN pip install -r requirements.txt -c missing.txt\nRUN uv pip install --override over.txt scipy\n"
    )
    [problem] = found.problems
    assert stated(problem) == [("numpy>=1", 1), ("scipy", 5)]
    assert [(one.requirement, one.origin.place) for one in problem.bounds] == [("numpy<2", "limits.txt:1")]
    assert [one.requirement for one in problem.overrides] == ["pandas==2"]
    assert any("missing.txt is not at hand" in note for note in found.notes)
    assert any("./local" in note for note in found.notes)


def test_files_that_variables_name_count(gathered: Gatherer) -> None:
    gathered.directory.mkdir(parents=True)
    (gathered.directory / "limits.txt").write_text("numpy<2\n")
    found = gathered(
        "FROM python:3.12\nCOPY limits.txt /l.txt\nENV PIP_CONSTRAINT=/l.txt\n"
        "RUN pip install numpy && UV_OVERRIDE=/l.txt uv pip install scipy\n"
    )
    [problem] = found.problems
    assert [one.requirement for one in problem.bounds] == ["numpy<2"]
    assert [one.requirement for one in problem.overrides] == ["numpy<2"]


def test_extras_of_a_project_are_asked_for(gathered: Gatherer, kernels: SmallRepository) -> None:
    kernels.commit({"setup.py": SETUP.replace("setup_requires", "extras_require={'dev': ['pytest']}, setup_requires")})
    head = kernels.git("rev-parse", "--short=8", "HEAD")
    text = (
        "FROM python:3.12\n"
        f"RUN git clone https://example.org/own/kernels.git /k && cd /k && git checkout {head}\n"
        "RUN pip install --no-build-isolation /k[dev]\n"
    )
    found = gathered(text, clones={"kernels": kernels.path})
    assert stated(found.problems[0]) == [
        ("own-kernels[build-requires]", 3),
        ("own-kernels[install-requires,dev]", 3),
    ]
    lines = found.source.requires([("own-kernels", head[:7])])["own-kernels", head[:7]].lines
    assert 'pytest; extra == "dev"' in lines


def test_a_project_that_is_built_from_two_commits_is_counted_once(gathered: Gatherer, kernels: SmallRepository) -> None:
    old, new = kernels.git("rev-list", "--reverse", "HEAD").split()
    clone = "RUN git clone https://example.org/own/kernels.git /k && cd /k && git checkout"
    text = (
        f"FROM python:3.12 AS one\n{clone} {old}\nRUN cd /k/python && python3 setup.py bdist_wheel\n"
        f"FROM python:3.12\nCOPY --from=one /k/python/dist/*.whl /w/\n{clone} {new}\n"
        "RUN pip install /w/*.whl\nRUN cd /k && python3 setup.py install\n"
    )
    found = gathered(text, clones={"kernels": kernels.path})
    last = named(found, "stage 1")
    assert stated(last) == [("own-kernels[install-requires]", 7)]
    assert [one.requirement for one in last.bounds] == [f"own-kernels==={old[:7]}"]
    assert any(f"is built from {old} and from {new}" in note for note in found.notes)


def test_an_isolated_build_is_a_problem_of_its_own(gathered: Gatherer, kernels: SmallRepository) -> None:
    head = kernels.git("rev-parse", "--short=8", "HEAD")
    text = (
        "FROM python:3.12\nRUN pip install numpy\n"
        f"RUN git clone https://example.org/own/kernels.git /k && cd /k && git checkout {head}\nRUN pip install /k\n"
    )
    found = gathered(text, clones={"kernels": kernels.path})
    last = named(found, "stage 0")
    assert stated(last) == [("numpy", 2), ("own-kernels[install-requires]", 4)]
    assert stated(named(found, "isolated build of kernels")) == [("own-kernels[build-requires]", 4)]


def test_a_pyproject_has_its_dependencies_and_its_build(gathered: Gatherer) -> None:
    found = gathered(
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["numpy<2"]\n[build-system]\nrequires = ["hatchling"]\n',
        "pyproject.toml",
    )
    assert [(problem.name, stated(problem)) for problem in found.problems] == [
        ("", [("numpy<2", 4)]),
        ("isolated build", [("hatchling", 6)]),
    ]


@pytest.mark.parametrize(
    ("image", "glibc", "python"),
    [
        ("rocm/dev-ubuntu-22.04:7.2.3-complete", "2.35", "3.10"),
        ("nvidia/cuda:12.8.0-devel-ubuntu24.04", "2.39", "3.12"),
        ("python:3.11-slim-bookworm", "2.36", "3.11"),
        ("registry.example/pypa/manylinux_2_28_x86_64", "2.28", ""),
        ("rocm/vllm:py3.12-x", "", "3.12"),
        ("scratch", "", ""),
        ("alpine:3.19", "", ""),
    ],
)
def test_names_of_images_tell_their_library_and_python(image: str, glibc: str, python: str) -> None:
    assert told_by(image) == (glibc, python)


def test_python_of_the_file_counts(gathered: Gatherer, tmp_path: Path) -> None:
    gathered(DOCKERFILE.format(revision="x"))
    read = read_file(GatherRequest(gathered.directory / "Dockerfile"))
    assert (read.environments.python, read.environments.glibc) == ("3.12", "2.35")
    assert sys.version_info >= (3, 11)
    with pytest.raises(UsageError):
        read_file(GatherRequest(tmp_path / "missing"))
    (tmp_path / "x.bin").write_bytes(b"\0")
    with pytest.raises(UsageError, match="Dockerfile, a requirements file"):
        read_file(GatherRequest(tmp_path / "x.bin"))


def test_a_file_that_installs_nothing_says_so(gathered: Gatherer) -> None:
    found = gathered("FROM debian:12\nRUN apt-get update\n")
    assert found.problems == ()
    assert "installs and builds nothing" in found.notes[0]
