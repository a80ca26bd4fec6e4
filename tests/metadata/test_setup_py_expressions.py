"""What is read of a `setup.py` without running it, expression by expression, held against what Python makes of it."""

import os
import sys
from pathlib import Path

import pytest

from pins.metadata.declarations import Subject
from pins.metadata.setup_py.read import read_setup_py
from tests.metadata.test_setup_py import pretended

PRELUDE = """\
import os, platform, sys, pathlib
from os import environ
from pathlib import Path
from setuptools import setup
here = os.path.dirname(os.path.abspath(__file__))
words = ['one', 'two', 'three']
table = {'one': '1', 'two': '2', **{'three': '3'}}
pairs = ('a', 'b', 'c')
"""
FILES = {"requirements.txt": b"spam\neggs\n", "about/version.txt": b" 1.5 \n"}
VARIABLES = {"FLAVOUR": "rocm"}
KNOWN = [
    # texts
    "'spam' + 'x' * 0 if False else 'spam'",
    "f'spam{1 + 1}'",
    "'spam%s' % 3",
    "'%s%s' % ('a', 'b')",
    "'{}{}'.format('a', 1)",
    "'{1}{0}'.format('a', 'b')",
    "'A-B'.lower().replace('-', '')",
    "'a b c'.split()[1]",
    "'abcdef'[1:3]",
    "'abcdef'[-1]",
    "'abcdef'[::2]",
    "','.join(words).split(',')[2]",
    "' a '.strip()",
    # conditions
    "'a' if 1 < 2 <= 2 else 'b'",
    "'a' if 'one' in words and 'four' not in words else 'b'",
    "'a' if not words else 'b'",
    "'a' if words is None else 'b'",
    "'a' if -1 < 0 else 'b'",
    "'' or 'fallback'",
    "'first' or unknown()",
    "'a' and 'b'",
    "'a' if len(words) == 3 else 'b'",
    "'a' if any([False, True]) else 'b'",
    "'a' if all([False, True]) else 'b'",
    # containers
    "table['two'] + 'x'",
    "table.get('two')",
    "table.get('four', 'four')",
    "words[0]",
    "words[-1]",
    "pairs[1]",
    "list(pairs)[2]",
    "[*words, 'four'][3]",
    "(pairs + ('d',))[3]",
    "[word for word in words if word != 'one'][0]",
    "[word + other for word in words for other in pairs][4]",
    "[name for name in table][1]",
    "list(word for word in words)[1]",
    # where the file is built
    "sys.platform",
    "os.name",
    "'a' if sys.version_info >= (3, 8) else 'b'",
    "'a' if sys.version_info[0] == 3 else 'b'",
    "'a' if sys.version_info.major == 3 else 'b'",
    "platform.system()",
    "os.environ['FLAVOUR']",
    "os.environ.get('FLAVOUR', 'cpu')",
    "os.getenv('MISSING', 'cpu')",
    "'a' if 'FLAVOUR' in os.environ else 'b'",
    "'a' if 'MISSING' in os.environ else 'b'",
    "'a' if 'MISSING' not in environ else 'b'",
    # paths and files
    "os.path.basename(os.path.join(here, 'spam'))",
    "Path('a/spam.txt').stem",
    "Path('a/spam.txt').parent.name",
    "pathlib.Path('a', 'spam').name",
    "Path(__file__).resolve().parent.joinpath('spam').name",
    "(Path('a') / 'spam').name",
    "open(os.path.join(here, 'requirements.txt')).read().splitlines()[1]",
    "open('requirements.txt').readlines()[0].strip()",
    "[line.strip() for line in open('requirements.txt')][1]",
    "(Path(here) / 'about' / 'version.txt').read_text().strip()",
    "'a' if os.path.exists('requirements.txt') else 'b'",
    "'a' if os.path.isfile(os.path.join(here, 'version.txt')) else 'b'",
    "'a' if Path('requirements.txt').exists() else 'b'",
    "'a' if __name__ == '__main__' else 'b'",
]
NOT_FOLLOWED = [
    "f'{1.5:.3f}'",
    "f'{words!r}'",
    "'%d' % 'a' if False else unknown()",
    "'{:>5}'.format('a')",
    "words[unknown_number()]",
    "'abc'[:unknown_number()]",
    "table['one' if unknown() else 'two']",
    "[*unknown_words()][0]",
    "{**unknown_table(), 'one': '1'}['one']",
    "[word for word, _ in zip(words, pairs)][0]",
    "[word for word in words if unknown()][0]",
    "unknown() or 'b'",
    "os.environ['FLAVOUR'] + unknown()",
    "-unknown_number() if False else 'b' + unknown()",
    "'a' if unknown() < 'b' else 'b'",
    "(lambda: 'a')()",
    "platform.python_implementation()",
    "Path('setup.py').read_text()[:4]",
    "open('secret').read().strip()",
]
UNKNOWN = {
    "unknown": lambda: "a",
    "unknown_number": lambda: 1,
    "unknown_words": lambda: ["a"],
    "unknown_table": lambda: {"a": "b"},
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in {**FILES, "secret": b"secret\n", "setup.py": b"from x import y\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MISSING", raising=False)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def run(text: str, place: Path) -> list[str]:
    captured: dict[str, list[str]] = {}
    with pretended(captured):
        exec(
            compile(text, "setup.py", "exec"), {"__file__": str(place / "setup.py"), "__name__": "__main__", **UNKNOWN}
        )
    return captured["install_requires"]


def read(text: str) -> tuple[list[str], bool]:
    markers = {
        "sys_platform": sys.platform,
        "os_name": os.name,
        "python_full_version": ".".join(map(str, sys.version_info[:3])),
        "platform_system": "Linux",
    }
    found = read_setup_py(text.encode(), "setup.py", read=FILES.get, variables=VARIABLES, markers=markers)
    return [one.text for one in found.says.get(Subject.RUNTIME, ())], Subject.RUNTIME not in found.unknown


@pytest.mark.parametrize("expression", KNOWN)
def test_what_is_followed_comes_to_what_python_makes_of_it(expression: str, place: Path) -> None:
    text = f"{PRELUDE}setup(install_requires=['x-' + str({expression})])\n"
    assert read(text) == (run(text, place), True)


@pytest.mark.parametrize("expression", NOT_FOLLOWED)
def test_what_is_not_followed_is_unknown_and_no_guess(expression: str, place: Path) -> None:
    text = f"{PRELUDE}setup(install_requires=['sure', 'x-' + str({expression})])\n"
    told, known = read(text)
    assert run(text, place)[0] == "sure"
    assert (told, known) == (["sure"], False)
