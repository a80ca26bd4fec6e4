"""The error in the middle of a build log is found.

The logs in tests/data/build_logs are real ones, their paths made neutral.
"""

from pathlib import Path

import pytest

from bisector.model import Ended, Signature
from bisector.signature import Comparison, compare, read_build_signature

LOGS = Path(__file__).parents[1] / "data" / "build_logs"
HEADER = Signature("build", "", "cext.c:<n>: fatal error: absent_header.h: No such file or directory")
CMAKE = Signature(
    "build",
    "",
    "CMake Error at CMakeLists.txt:<n> (cmake_minimum_required): Compatibility with CMake < <version> has been removed"
    " from CMake.",
)
GONE = Signature("build", "ModuleNotFoundError", "No module named 'pkg_resources'")
SOURCES = Signature("build", "AttributeError", "'build_ext' object has no attribute 'cython_sources'")
FOUND = {
    "pip-cext": HEADER,
    "uv-cext": HEADER,
    "docker-cext": HEADER,
    "pip-cm": CMAKE,
    "uv-cm": CMAKE,
    "docker-cm": CMAKE,
    "pip-gone": GONE,
    "uv-gone": GONE,
    "pip-pyyaml": SOURCES,
    "uv-pyyaml": SOURCES,
}


def read(name: str) -> Signature:
    text = (LOGS / f"{name}.txt").read_text()
    return read_build_signature(Ended(1, errors=text))


@pytest.mark.parametrize("name", FOUND)
def test_the_error_is_found_whoever_built(name: str) -> None:
    assert read(name) == FOUND[name]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("uv-conflict", "No solution found when resolving dependencies"),
        ("pip-conflict", "Cannot install flask==<version> and werkzeug<<n>"),
        ("pip-none", "No matching distribution found for flask==<n>"),
    ],
)
def test_what_cannot_be_resolved(name: str, words: str) -> None:
    assert words in read(name).message


def test_every_log_is_looked_at() -> None:
    assert {path.stem for path in LOGS.glob("*.txt")} == {*FOUND, "uv-conflict", "pip-conflict", "pip-none"}


def test_different_build_failures_differ() -> None:
    for one in (HEADER, CMAKE, GONE, SOURCES):
        for other in (HEADER, CMAKE, GONE, SOURCES):
            assert (compare(one, other) is Comparison.DIFFERENT) == (one != other)


WORDS = [
    (
        """_configtest.c:1:5: error: no such function
op.cc:7:1: error: 'x' was not declared
op.cc:9:1: error: y
""",
        "op.cc:<n>: error: 'x' was not declared",
    ),
    (
        """/usr/bin/ld: a.o: undefined reference to `hipInit'
collect2: error: ld returned 1 exit status
""",
        "undefined reference to `hipInit'",
    ),
    ("Reading package lists...\nE: Unable to locate package rocm-dev7\n", "E: Unable to locate package rocm-dev7"),
    (
        "Cloning into 'triton'...\nfatal: reference is not a tree: 3fa29b1c77\n",
        "fatal: reference is not a tree: <hash>",
    ),
    ("/bin/sh: 1: hipcc: not found\n", "<path>: <n>: hipcc: not found"),
    (
        """op.cu(12): error: identifier "x" is undefined

1 error detected in the compilation of "op.cu".
""",
        'op.cu(<n>): error: identifier "x" is undefined',
    ),
    (
        "error in legacy-mod setup command: use_2to3 is invalid.\n",
        "error in legacy-mod setup command: use_2to3 is invalid.",
    ),
    ("#9 1.2 moving on\n#9 1.3 giving up\n", "giving up"),
    ("", ""),
]


@pytest.mark.parametrize(("log", "message"), WORDS)
def test_the_words_of_many_tools(log: str, message: str) -> None:
    assert read_build_signature(Ended(1, output=log)) == Signature("build", "", message)


def test_a_build_whose_time_ran_out() -> None:
    assert read_build_signature(Ended(None, 15, timed_out=True)) == Signature("timeout")
