import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pins.metadata.declarations import Statement
from pins.metadata.inferred.cmake import old_minimums
from pins.metadata.inferred.facts import INTERNALS, NEWEST_INTERNALS, internals_of
from pins.metadata.inferred.imports import needed_imports
from pins.metadata.inferred.pybind11 import implied_by_internals
from pins.metadata.inferred.rules import RULES, implied_by
from pins.metadata.project_state import ProjectState
from pins.metadata.tree import TreeRequirements

CMAKE = TreeRequirements(build=(Statement("cmake>=3.18", "pyproject.toml", 2),))


def implied(files: dict[str, str], tree: TreeRequirements = CMAKE, **more: object) -> list[tuple[str, str, str, int]]:
    found = implied_by(
        lambda path: files[path].encode() if path in files else None,
        "",
        tree,
        **{"python": "3.12", **more},  # type: ignore[arg-type]
    )
    return [(one.rule, one.text, one.file, one.line) for one in found]


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("cmake_minimum_required(VERSION 3.1)", True),
        ("CMAKE_MINIMUM_REQUIRED( VERSION 2.8.12 FATAL_ERROR )", True),
        ("cmake_minimum_required(VERSION 3.4.9)", True),
        ("cmake_minimum_required(VERSION 3.5)", False),
        ("cmake_minimum_required(VERSION 3.1...3.20)", False),
        ("cmake_minimum_required(VERSION 3.0...3.4)", True),
        ("# cmake_minimum_required(VERSION 3.1)", False),
        ("#[[ a\ncmake_minimum_required(VERSION 3.1)\n]]", False),
        ("#[==[ a ]]\ncmake_minimum_required(VERSION 3.1)\n]==]", False),
        ("cmake_minimum_required(VERSION ${X})", False),
        ("", False),
    ],
)
def test_minimums_that_cmake_4_refuses(text: str, old: bool) -> None:
    assert bool(list(old_minimums({"CMakeLists.txt": text.encode()}.get, ""))) is old


def test_directories_and_files_that_the_build_goes_through_are_read() -> None:
    files = {
        "CMakeLists.txt": b"cmake_minimum_required(VERSION 3.20)\nadd_subdirectory(third)\ninclude(cmake/a.cmake)\n",
        "third/CMakeLists.txt": b"add_subdirectory(deep)\nadd_subdirectory(..)\nadd_subdirectory(../../../etc)\n",
        "third/deep/CMakeLists.txt": b"\n\ncmake_minimum_required(VERSION 3.2)\n",
        "cmake/a.cmake": b"cmake_minimum_required(VERSION 3.3)",
        "unused/CMakeLists.txt": b"cmake_minimum_required(VERSION 2.8)",
    }
    assert set(old_minimums(files.get, "")) == {
        ("third/deep/CMakeLists.txt", 3, "3.2"),
        ("cmake/a.cmake", 1, "3.3"),
    }


def test_an_old_minimum_counts_only_where_cmake_builds() -> None:
    files = {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.1)", "setup.py": "from setuptools import setup\n"}
    assert implied(files) == [("cmake-minimum", "cmake<4", "CMakeLists.txt", 1)]
    assert implied(files, TreeRequirements()) == []
    assert implied(files | {"setup.py": "subprocess.run(['cmake'])"}, TreeRequirements()) != []


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("import pkg_resources\n", "setuptools<82"),
        ("from pkg_resources import parse_version\n", "setuptools<82"),
        ("try:\n    import pkg_resources\nexcept ImportError:\n    pass\n", ""),
        ("if x:\n    import pkg_resources\n", ""),
        ("def f():\n    import pkg_resources\n", ""),
        ("# import pkg_resources\n'import pkg_resources'\n", ""),
        ("from setuptools.command.test import test\n", "setuptools!=72.0.*"),
        ("from setuptools.command import test\n", "setuptools!=72.0.*"),
        ("setup(use_2to3=True)\n", "setuptools<58.0.2"),
        ("setup(use_2to3=False)\n", ""),
        ("other(use_2to3=True)\n", ""),
        ("import pkg_resources_like\n", ""),
        ("from setuptools import Feature, setup\n", "setuptools<46"),
        ("import setuptools.package_index\n", "setuptools<80.3"),
    ],
)
def test_what_setup_py_uses_excludes_releases_without_it(text: str, requirement: str) -> None:
    found = implied({"setup.py": text}, TreeRequirements())
    assert [one for _, one, _, _ in found] == ([requirement] if requirement else [])


def test_distutils_takes_setuptools_from_python_3_12_on() -> None:
    files = {"setup.py": "\nfrom distutils.core import setup\n"}
    assert implied(files) == [("distutils", "setuptools", "setup.py", 2)]
    assert implied(files, python="3.11") == []


def test_hyphens_in_setup_cfg() -> None:
    files = {"setup.cfg": "[metadata]\nname = x\ndescription-file = README\n[tool:pytest]\nmy-key = 1\n"}
    assert implied(files) == [("setuptools-keys", "setuptools!=78.0.0,!=78.0.1", "setup.cfg", 3)]
    assert implied({"setup.cfg": "[metadata]\nName = x\n"})[0][3] == 2
    assert implied({"setup.cfg": "[bdist_wheel]\nbuild-number = 1\n[options.package_data]\nx-y = *\n"}) == []


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_be_switched_off(rule: str) -> None:
    files = {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.1)",
        "setup.py": "import pkg_resources, distutils, setuptools.extern\n"
        "from setuptools.command.test import test\nsetup(use_2to3=True)\n",
        "setup.cfg": "[metadata]\ndescription-file = x\n",
    }
    everything = {one[0] for one in implied(files)}
    assert everything == set(RULES) - {"pybind11-internals"}
    left = {one[0] for one in implied(files, rules=[one for one in RULES if one != rule])}
    assert left == everything - {rule}


def test_the_internals_of_releases_that_are_known() -> None:
    def number(version: str, python: str = "3.12") -> int | None:
        found = internals_of(Version(version), Version(python))
        return found.number if found else None

    assert [number(one) for one in ("2.10.4", "2.13.6", "3.0.0", "3.0.4", "3.1.0")] == [4, 5, 11, 11, 12]
    assert number("2.13.6", "3.11") == 4
    assert number("3.1.1") is None
    assert number("2.0.0") is None
    assert number("3.0.0rc2") == 9
    for one in INTERNALS:
        assert SpecifierSet(one.releases)
    assert internals_of(NEWEST_INTERNALS, Version("3.12")) is not None


def aiter_like(runtime: str, installed: str, build: str = "pybind11>=3.0.1") -> ProjectState:
    return ProjectState(
        TreeRequirements(
            runtime=(Statement(runtime, "setup.py", 467),), build=(Statement(build, "pyproject.toml", 3),)
        ),
        installed=(Statement(installed, "requirements.txt", 26),),
    )


def test_modules_that_share_types_take_equal_internals() -> None:
    found, note = implied_by_internals(aiter_like("pybind11>=3.0.1", "pybind11==3.0.4"), Version("3.12"), "stage build")
    assert found is not None
    assert (found.text, found.file, found.line, note) == ("pybind11>=3.0.0rc4,<3.1.0", "requirements.txt", 26, "")
    assert "3.0.4 in stage build" in found.sentence


@pytest.mark.parametrize(
    "state",
    [
        aiter_like("numpy", "pybind11==3.0.4"),
        aiter_like('pybind11; extra == "x"', "pybind11==3.0.4"),
        aiter_like("pybind11>=3.0.1", "pybind11>=3"),
        aiter_like("pybind11>=3.0.1", "pybind11==3.0.*"),
    ],
)
def test_internals_bound_nothing_where_modules_share_none_or_the_release_is_open(state: ProjectState) -> None:
    assert implied_by_internals(state, Version("3.12"), "x") == (None, "")


def test_internals_of_a_release_that_is_not_known_are_said_to_be_so() -> None:
    found, note = implied_by_internals(aiter_like("pybind11", "pybind11==3.9.0"), Version("3.12"), "x")
    assert found is None
    assert "3.9.0 are not known" in note


def test_broken_python_needs_nothing_that_is_known() -> None:
    assert needed_imports(b"import (") == ()
    assert needed_imports(b"\0") == ()
