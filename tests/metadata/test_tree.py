import pytest

from pins.metadata.declarations import Subject
from pins.metadata.tree import TreeRequirements, read_tree

PROJECT = '[project]\nname = "Spam"\nversion = "1.0"\nrequires-python = ">=3.9"\n'


def tree(directory: str = "", **files: str) -> TreeRequirements:
    named = {
        name.replace("_py", ".py").replace("_cfg", ".cfg").replace("_toml", ".toml"): text
        for name, text in files.items()
    }
    return read_tree({name: text.encode() for name, text in named.items()}.get, directory)


def texts(found: TreeRequirements) -> list[tuple[str, str, int]]:
    return [(one.text, one.file, one.line) for one in found.runtime]


def test_a_project_table_has_the_last_word_and_disagreements_are_named() -> None:
    found = tree(
        pyproject_toml=PROJECT + 'dependencies = [\n  "a>=2",\n]\n',
        setup_py="from setuptools import setup\nsetup(version='2.0', install_requires=['a>=1', 'b'])\n",
    )
    assert (found.name, found.version, found.requires_python) == ("spam", "1.0", ">=3.9")
    assert texts(found) == [("a>=2", "pyproject.toml", 6)]
    assert found.disagreements == (
        "pyproject.toml:3 says '1.0' and setup.py:2 says '2.0'; pyproject.toml counts",
        "pyproject.toml:6 says 'a>=2' and setup.py:2 says 'a>=1'; pyproject.toml counts",
        "setup.py:2 says 'b' and pyproject.toml does not; pyproject.toml counts",
    )


def test_what_is_the_same_in_other_words_is_no_disagreement() -> None:
    found = tree(
        setup_py="from setuptools import setup\nsetup(name='x', install_requires=['A >= 1'])\n",
        setup_cfg="[options]\ninstall_requires =\n    a>=1\n",
    )
    assert found.disagreements == ()
    assert texts(found) == [("A >= 1", "setup.py", 2)]


def test_setup_cfg_fills_in_what_setup_py_leaves_out() -> None:
    found = tree(
        setup_py="from setuptools import setup\nsetup()\n",
        setup_cfg=(
            "[metadata]\nname = spam\nversion = attr: spam.__version__\n[options]\npython_requires = >=3.8\n"
            "install_requires =\n    a>=1  # why\n    # not this\n    b; python_version < '3.9'\n"
            "setup_requires = wheel;; ninja\n[options.extras_require]\ntest = pytest\n"
        ),
    )
    assert (found.name, found.version, found.requires_python) == ("spam", "", ">=3.8")
    assert texts(found) == [
        ("a>=1", "setup.cfg", 7),
        ("b; python_version < '3.9'", "setup.cfg", 9),
        ('pytest; extra == "test"', "setup.cfg", 12),
    ]
    assert [one.text for one in found.build] == ["wheel", "ninja"]
    assert set(found.unknown) == {Subject.VERSION}


def test_requirements_that_setup_cfg_or_setuptools_read_from_files() -> None:
    lines = {"requirements.txt": "a\n# no\nb>=2\n"}
    found = tree(setup_cfg="[options]\ninstall_requires = file: requirements.txt\n", **lines)
    assert texts(found) == [("a", "requirements.txt", 1), ("b>=2", "requirements.txt", 3)]
    dynamic = PROJECT.replace('version = "1.0"\n', 'dynamic = ["dependencies", "version"]\n')
    told = '[tool.setuptools.dynamic]\ndependencies = {file = ["requirements.txt"]}\n'
    assert texts(tree(pyproject_toml=dynamic + told, **lines)) == texts(found)
    missing = tree(pyproject_toml=dynamic + told)
    assert "not in the tree" in missing.unknown[Subject.RUNTIME]
    assert "leaves its version" in missing.unknown[Subject.VERSION]
    assert "leaves its runtime" in tree(pyproject_toml=dynamic).unknown[Subject.RUNTIME]


def test_another_backend_does_not_look_at_setup_py() -> None:
    found = tree(
        pyproject_toml='[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n' + PROJECT,
        setup_py="from setuptools import setup\nsetup(install_requires=['a'])\n",
    )
    assert texts(found) == []
    assert found.backend == "hatchling.build"
    assert [one.text for one in found.build] == ["hatchling"]


def test_extras_and_build_requirements_have_their_lines() -> None:
    found = tree(
        pyproject_toml=(
            '[build-system]\nrequires = ["setuptools>=45", "pybind11 >= 3.0.1",\n  "wheel"]\n'
            + PROJECT
            + '[project.optional-dependencies]\n"Te_st" = ["x @ https://example.org/x.whl",'
            " \"y; os_name == 'nt' or 1 == 1\"]\n"
        )
    )
    assert [(one.text, one.line) for one in found.build] == [
        ("setuptools>=45", 2),
        ("pybind11 >= 3.0.1", 2),
        ("wheel", 3),
    ]
    assert [one.text for one in found.runtime] == ['x @ https://example.org/x.whl ; extra == "te-st"']
    assert "no requirement" in found.unknown[Subject.RUNTIME]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "no pyproject.toml or setup.py"),
        ({"pyproject_toml": "["}, "not valid TOML"),
        ({"pyproject_toml": "[tool.poetry.dependencies]\na = '^1'\n"}, "tool.poetry"),
        ({"pyproject_toml": "[project]\nname = 'x'\ndependencies = 'a'\n"}, "no lists of strings"),
        ({"pyproject_toml": "[build-system]\nrequires = ['x']\n"}, "no file of the tree declares"),
        ({"setup_py": "raise SystemExit\n"}, "no call of setup"),
    ],
)
def test_what_cannot_be_told_is_unknown(files: dict[str, str], reason: str) -> None:
    assert reason in tree(**files).unknown[Subject.RUNTIME]


def test_a_project_below_the_top() -> None:
    found = read_tree(
        {
            "python/setup.py": b"from setuptools import setup\nsetup(name='t', install_requires=list(open('r.txt')))\n",
            "python/r.txt": b"a\nb\n",
            "setup.py": b"from setuptools import setup\nsetup(name='other')\n",
        }.get,
        "python",
    )
    assert (found.name, texts(found)) == ("t", [("a", "python/setup.py", 2), ("b", "python/setup.py", 2)])
