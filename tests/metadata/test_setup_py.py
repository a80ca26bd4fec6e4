import contextlib
import os
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pins.metadata.declarations import Declarations, Subject
from pins.metadata.setup_py.read import read_setup_py

MARKERS = {"sys_platform": "linux", "os_name": "posix", "python_full_version": "3.12.0", "platform_system": "Linux"}


def read(
    text: str, files: Mapping[str, bytes] | None = None, *, file: str = "setup.py", **variables: str
) -> Declarations:
    return read_setup_py(text.encode(), file, read=(files or {}).get, variables=variables, markers=MARKERS)


def runtime(found: Declarations) -> list[str]:
    return [one.text for one in found.says.get(Subject.RUNTIME, ())]


AITER = """\
import os, sys
from setuptools import setup
FLYDSL = "flydsl==0.2.4"
IS_WINDOWS = sys.platform == "win32"
TRITON_ONLY = os.environ.get("AITER_TRITON_ONLY", "0") == "1" or IS_WINDOWS
PREBUILD = int(os.environ.get("PREBUILD_KERNELS", 0))
def jobs():
    try:
        import psutil
        return psutil.cpu_count()
    except ImportError:
        return 1
setup_requires = ["packaging"]
if PREBUILD != 0:
    setup_requires.append("pandas")
if TRITON_ONLY:
    install_requires = ["einops"]
else:
    install_requires = [
        "pybind11>=3.0.1",
        FLYDSL,
    ]
setup(name="amd-aiter", use_scm_version=True, python_requires=">=3.8",
      install_requires=install_requires, setup_requires=setup_requires)
"""


def test_requirements_have_their_lines_and_what_they_rest_on() -> None:
    found = read(AITER)
    assert [(one.text, one.line, one.assumption) for one in found.says[Subject.RUNTIME]] == [
        ("pybind11>=3.0.1", 20, "AITER_TRITON_ONLY is not set"),
        ("flydsl==0.2.4", 3, "AITER_TRITON_ONLY is not set"),
    ]
    assert [one.text for one in found.says[Subject.BUILD]] == ["packaging"]
    assert "tags" in found.unknown[Subject.VERSION]
    assert Subject.RUNTIME not in found.unknown


def test_the_environment_of_the_build_counts() -> None:
    assert runtime(read(AITER, AITER_TRITON_ONLY="1")) == ["einops"]
    found = read(AITER, PREBUILD_KERNELS="1")
    assert [one.text for one in found.says[Subject.BUILD]] == ["packaging", "pandas"]


@pytest.mark.parametrize(
    "text",
    [
        "setup(install_requires=compute())",
        "x = ['a']\nmutate(x)\nsetup(install_requires=x)",
        "x = ['a']\nfor line in open('/etc/passwd'):\n    x.append(line)\nsetup(install_requires=x)",
        "import torch\nx = ['a']\nif torch.cuda.is_available():\n    x.append('b')\nsetup(install_requires=x)",
        "try:\n    import torch\n    x = ['a']\nexcept ImportError:\n    x = ['a', 'b']\nsetup(install_requires=x)",
        "x = ['a']\nwhile unknown():\n    x = x + ['b']\nsetup(install_requires=x)",
        "x = ['a']\nx[0] = 'b' + unknown()\nsetup(install_requires=x)",
        "setup(**options())",
        "import subprocess\nsetup(install_requires=subprocess.check_output(['x']).split())",
        "x = []\nfor i in 'a', 'b':\n    if unknown(i):\n        continue\n    x.append(i)\nsetup(install_requires=x)",
        "if unknown():\n    setup(install_requires=['a'])\nelse:\n    setup(install_requires=['b'])",
        "x = ['a']\ndel x[0]\nsetup(install_requires=x)",
        "x = ['a']\nx.remove('a')\nsetup(install_requires=x)",
        "def f():\n    if unknown():\n        return ['a']\n    return ['b']\nsetup(install_requires=f())",
        "x = ['a', unknown()]\nsetup(install_requires=x)",
        "x = ['a' for _ in unknown()]\nsetup(install_requires=x)",
    ],
)
def test_what_is_computed_is_unknown_and_no_guess(text: str) -> None:
    found = read(f"from setuptools import setup\n{text}\n")
    assert Subject.RUNTIME in found.unknown
    assert "b" not in runtime(found) or "may" in found.unknown[Subject.RUNTIME]


def test_what_both_ways_agree_on_is_known_all_the_same() -> None:
    found = read(
        "from setuptools import setup\nx = ['a']\nif unknown():\n    x.append('b')\nx.append('c')\n"
        "setup(install_requires=x)"
    )
    assert runtime(found) == ["a", "c"]
    assert "depends on whether unknown()" in found.unknown[Subject.RUNTIME]


def test_files_of_the_tree_are_read_and_others_are_not() -> None:
    text = (
        "import os\nfrom pathlib import Path\nfrom setuptools import setup\n"
        "here = os.path.dirname(os.path.abspath(__file__))\n"
        "def lines(name):\n    with open(os.path.join(here, name)) as f:\n        return f.read().splitlines()\n"
        "setup(name='x', version=(Path(__file__).parent / 'VERSION').read_text().strip(), install_requires=lines('{}'))"
    )
    files = {"python/requirements.txt": b"a>=1\n# note\nb\n", "python/VERSION": b"1.2\n", "secret": b"c\n"}
    found = read(text.format("requirements.txt"), files, file="python/setup.py")
    assert runtime(found) == ["a>=1", "b"]
    assert found.says[Subject.VERSION][0].text == "1.2"
    for outside in ("../../etc/passwd", "/etc/passwd", "missing.txt"):
        assert Subject.RUNTIME in read(text.format(outside), files, file="python/setup.py").unknown


def test_extras_become_markers() -> None:
    found = read(
        "from setuptools import setup\nsetup(install_requires='a\\nb',"
        " extras_require={'T_est': ['c; os_name == \"nt\"'],"
        " ':python_version<\"3\"': ['d'], 'x:python_version<\"3\"': ['e']})"
    )
    assert runtime(found) == [
        "a",
        "b",
        'c; os_name == "nt" and extra == "t-est"',
        'd; python_version<"3"',
        'e; python_version<"3" and extra == "x"',
    ]


@pytest.mark.parametrize(
    "text", ["", "print 'python 2'", "\0", "setup(", "x = 1", "(" * 500, "x = " + "+".join(["[1]"] * 3000), "\ud800"]
)
def test_odd_files_are_unknown(text: str) -> None:
    found = read_setup_py(text.encode("utf-8", "surrogatepass"))
    assert set(found.unknown) == set(Subject)


def test_a_file_that_works_without_end_is_given_up() -> None:
    loops = "from setuptools import setup\n" + "".join(
        f"{'    ' * depth}for x{depth} in [1,2,3,4,5,6,7,8,9,10]:\n" for depth in range(9)
    )
    found = read(f"{loops}{'    ' * 9}y = x0\nsetup(install_requires=[])")
    assert "more than is followed" in found.unknown[Subject.RUNTIME]
    doubling = "from setuptools import setup\nx = 'a'\n" + "x = x + x\n" * 60 + "setup(install_requires=[x])"
    assert Subject.RUNTIME in read(doubling).unknown


NAMES = ("x", "y")
CALLS = [
    "spoil(x)",
    "print(x)",
    "y.reverse()",
    "x.sort()",
    "z = spoil(x)",
    "spoil(z)",
    "z = [spoil(y)]",
    "grow(x)",
    "z = [(y or [0]).pop()]",
    "z = y",
    "z = [x]",
    "spoil([x])",
    "z.append('n')",
]
CONDITIONS = st.sampled_from(
    ["os.environ.get('A') == '1'", "'B' in os.environ", "sys.platform == 'linux'", "secret()", "len(x) > 1", "not y"]
)
VALUES = st.sampled_from(
    ["['a']", "['b', 'c']", "x + ['d']", "list(y)", "[z for z in x if z != 'a']", "hidden()", "made()"]
)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> str:
    indent = "    " * depth
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(NAMES))
        kind = draw(st.sampled_from(["assign", "append", "extend", "add", "if", "for", "try", "call"]))
        if kind == "assign" or depth > 2:
            lines.append(f"{indent}{name} = {draw(VALUES)}")
        elif kind == "append":
            added = draw(st.sampled_from("efg"))
            lines.append(f"{indent}{name}.append('{added}')")
        elif kind == "extend":
            lines.append(f"{indent}{name}.extend({draw(VALUES)})")
        elif kind == "add":
            lines.append(f"{indent}{name} += {draw(VALUES)}")
        elif kind == "call":
            lines.append(f"{indent}{draw(st.sampled_from(CALLS))}")
        elif kind == "for":
            lines.append(f"{indent}for w in {draw(VALUES)}:\n{indent}    {name}.append(w)")
            if draw(st.booleans()):
                jump = draw(st.sampled_from(["break", "continue"]))
                lines.append(f"{indent}    if {draw(CONDITIONS)}:\n{indent}        {jump}")
                lines.append(f"{indent}    {name}.append('h')")
        elif kind == "try":
            lines.append(f"{indent}try:\n{indent}    risky()\n{draw(blocks(depth + 1))}")
            lines.append(f"{indent}except ValueError:\n{draw(blocks(depth + 1))}")
        else:
            lines.append(f"{indent}if {draw(CONDITIONS)}:\n{draw(blocks(depth + 1))}")
            if draw(st.booleans()):
                lines.append(f"{indent}else:\n{draw(blocks(depth + 1))}")
    return "\n".join(lines)


@contextlib.contextmanager
def pretended(captured: dict[str, Any]) -> Iterator[None]:
    module = types.ModuleType("setuptools")
    module.setup = lambda **given: captured.update(given)  # type: ignore[attr-defined]
    kept = sys.modules.get("setuptools")
    sys.modules["setuptools"] = module
    try:
        yield
    finally:
        del sys.modules["setuptools"]
        if kept is not None:
            sys.modules["setuptools"] = kept


@settings(max_examples=80, deadline=None)
@given(blocks(), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_what_is_read_is_what_running_it_gives(body: str, a: bool, b: bool, chance: bool, risk: bool) -> None:
    text = (
        "import os, sys\nfrom setuptools import setup\nx = ['a', 'q']\ny = ['b']\nz = []\n"
        "def made():\n    return ['m'] + x\ndef grow(values):\n    values.append('g')\n    x.append('k')\n"
        f"{body}\nsetup(install_requires=x)\n"
    )
    variables = {**({"A": "1"} if a else {}), **({"B": ""} if b else {})}

    def risky() -> None:
        if risk:
            raise ValueError

    hidden = {
        "secret": lambda: chance,
        "hidden": lambda: ["h"] if chance else [],
        "risky": risky,
        "spoil": lambda value: value.append("s") or value,
        "print": lambda *_: None,
    }
    captured: dict[str, Any] = {}
    kept = dict(os.environ)
    os.environ.pop("A", None)
    os.environ.pop("B", None)
    os.environ.update(variables)
    try:
        with pretended(captured):
            exec(compile(text, "setup.py", "exec"), {"__file__": "setup.py", "__name__": "__main__", **hidden})
    finally:
        os.environ.clear()
        os.environ.update(kept)
    truth = captured["install_requires"]
    found = read(text, None, **variables)
    told = runtime(found)
    if Subject.RUNTIME in found.unknown:
        assert set(told) <= set(truth)
    else:
        assert told == truth
