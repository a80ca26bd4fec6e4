import stat
import sys
from pathlib import Path

import pytest
from packaging.tags import parse_tag, sys_tags
from packaging.version import Version

from pins.errors import UsageError
from pins.sources.target import Installer, Target, target_of

HERE = Path(sys.executable)


def test_the_tags_of_this_interpreter_are_those_that_packaging_finds() -> None:
    assert target_of(HERE).tags == frozenset(sys_tags())


def test_the_version_of_this_interpreter() -> None:
    assert target_of(HERE).python == Version(".".join(map(str, sys.version_info[:3])))


def fake(directory: Path, answer: str) -> Path:
    """An interpreter that tells other facts about itself than any at hand."""
    path = directory / "python"
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


FACTS = (
    '{"implementation": "%s", "version": [3, 13, 1, "final", 0], "platform": "%s", "glibc": "%s", "host": "",'
    ' "mac": ["%s", "%s"], "is_32_bit": false, "free_threaded": %s, "debug": false, "abi": ["%s"]}'
)


@pytest.mark.parametrize(
    ("facts", "taken", "refused"),
    [
        (
            ("cpython", "linux-x86_64", "glibc 2.28", "", "", "true", ""),
            ["cp313-cp313t-manylinux_2_28_x86_64", "cp313-cp313t-linux_x86_64", "py3-none-any"],
            ["cp313-cp313-manylinux_2_28_x86_64", "cp39-abi3-manylinux1_x86_64", "cp313-cp313t-manylinux_2_29_x86_64"],
        ),
        (
            ("cpython", "linux-aarch64", "glibc 2.36", "", "", "false", ""),
            ["cp313-cp313-manylinux_2_17_aarch64", "cp39-abi3-manylinux2014_aarch64", "cp313-none-any"],
            ["cp313-cp313-manylinux2010_aarch64", "cp313-cp313-musllinux_1_2_aarch64"],
        ),
        (
            ("cpython", "macosx-11.0-arm64", "", "14.2", "arm64", "false", ""),
            ["cp313-cp313-macosx_11_0_arm64", "cp313-cp313-macosx_14_0_universal2"],
            ["cp313-cp313-macosx_15_0_arm64", "cp313-cp313-macosx_11_0_x86_64"],
        ),
        (
            ("pypy", "linux-x86_64", "glibc 2.31", "", "", "false", "pypy313-pp75-x86_64-linux-gnu"),
            ["pp313-pypy313_pp75-manylinux_2_17_x86_64", "py3-none-any"],
            ["cp313-cp313-manylinux_2_17_x86_64"],
        ),
    ],
    ids=["free-threaded", "aarch64", "macos", "pypy"],
)
def test_the_tags_of_other_interpreters(
    tmp_path: Path, facts: tuple[str, ...], taken: list[str], refused: list[str]
) -> None:
    target = target_of(fake(tmp_path, FACTS % facts))
    assert [tag for tag in taken if not target.takes_wheel(parse_tag(tag))] == []
    assert [tag for tag in refused if target.takes_wheel(parse_tag(tag))] == []


@pytest.mark.parametrize("answer", ["", "hello", "{}", '{"version": 3}'])
def test_what_is_no_interpreter_is_refused(tmp_path: Path, answer: str) -> None:
    with pytest.raises(UsageError, match="not a Python interpreter"):
        target_of(fake(tmp_path, answer))


def test_a_missing_or_unstartable_interpreter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Python interpreter"):
        target_of(tmp_path / "gone")
    (tmp_path / "plain").write_text("")
    with pytest.raises(UsageError, match="not executable"):
        target_of(tmp_path / "plain")


@pytest.mark.parametrize(
    ("requires_python", "by_uv", "by_pip"),
    [
        ("", True, True),
        (">=3.8", True, True),
        (">=3.8,<3.11", True, False),
        ("<=3.10", True, False),
        ("!=3.11.*", True, False),
        (">3.11", True, True),
        ("==3.9.*", True, False),
        (">=3.11.7", True, True),
        (">3.11.7", False, False),
        (">=3.11.8", False, False),
        (">=3.12,<3.13", False, False),
        ("==3.12.*", False, False),
        (">=3.12.dev0", False, False),
        (">=3.11.7rc1", True, True),
        ("garbage", True, True),
    ],
)
def test_uv_ignores_an_upper_bound_of_python_and_pip_does_not(requires_python: str, by_uv: bool, by_pip: bool) -> None:
    python = Version("3.11.7")
    assert Target(python, frozenset(), Installer.UV).takes_python_requirement(requires_python) is by_uv
    assert Target(python, frozenset(), Installer.PIP).takes_python_requirement(requires_python) is by_pip


def test_a_release_candidate_of_python_counts_as_its_release() -> None:
    assert Target(Version("3.14.0rc2"), frozenset()).takes_python_requirement(">=3.14")
