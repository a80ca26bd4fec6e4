"""Pins installed from commits in virtual environments. The projects bring their own build backend along."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.git.conftest import clone_of
from tests.git.repository_builder import RepositoryBuilder
from tests.local_index import LocalIndex

PYPROJECT = """\
[build-system]
requires = []
build-backend = "own_backend"
backend-path = ["."]
[project]
name = "{name}"
version = "1.0"
{more}
"""
BACKEND = """\
import os, zipfile

def build_wheel(directory, settings=None, metadata=None):
    if os.path.exists("broken"):
        raise SystemExit("this commit does not build")
    left = os.path.exists("left-by-a-build")
    open("left-by-a-build", "w").close()
    name = "{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("{name}.py", open("module.py").read() + f"\\nleft = {{left}}\\n")
        wheel.writestr("{name}-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n")
        kind = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr("{name}-1.0.dist-info/WHEEL", kind)
        wheel.writestr("{name}-1.0.dist-info/RECORD", "{name}.py,,\\n")
    return name
"""


def project(name: str, module: str, below: str = "", **more: str) -> dict[str, str]:
    """The files of a project whose version never changes, and whose pyproject.toml does not either."""
    files = {
        "pyproject.toml": PYPROJECT.format(name=name, more=""),
        "own_backend.py": BACKEND.format(name=name),
        "module.py": module,
        **more,
    }
    return {f"{below}{path}": content for path, content in files.items()}


class Bisector:
    """Runs the command in an empty state, against an index of its own."""

    def __init__(self, directory: Path, index: LocalIndex) -> None:
        self.directory = directory
        self.index = index

    def run(self, *words: str, script: str, command: str = "run") -> tuple[int, dict[str, Any], str]:
        smoke = self.directory / "smoke.py"
        smoke.write_text(script)
        variables = {
            "XDG_STATE_HOME": str(self.directory / "state"),
            "XDG_CACHE_HOME": str(self.directory / "cache"),
            "UV_DEFAULT_INDEX": self.index.url,
        }
        done = subprocess.run(
            [sys.executable, "-m", "bisector", command, *words, "--smoke", str(smoke), "--format", "json", "-q"],
            capture_output=True,
            text=True,
            env=os.environ | variables,
            check=False,
        )
        return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


@pytest.fixture
def bisector(tmp_path: Path, local_index: LocalIndex) -> Bisector:
    return Bisector(tmp_path, local_index)


def test_the_commit_is_what_is_installed_though_its_version_is_always_the_same(
    builder: RepositoryBuilder, bisector: Bisector
) -> None:
    for number in range(7):
        more = {"broken": ""} if number == 3 else {}
        builder.add(
            f"c{number}", *([f"c{number - 1}"] if number else []), files=project("thing", f"n = {number}", **more)
        )
    builder.write()
    code, result, said = bisector.run(
        *("--pin", "thing=main~6..main", "--repo", f"thing={builder.directory}", "--repeat", "2"),
        script="import os, thing\nassert not thing.left\nassert os.environ['CHECKOUT_THING'] == os.environ['CHECKOUT']"
        "\n"
        "print(open(os.environ['CHECKOUT'] + '/module.py').read())\nassert thing.n < 5, thing.n\n",
    )  # fmt: skip
    assert code == 0, said
    assert (result["culprit"]["kind"], result["culprit"]["subject"]) == ("git", "change c5")
    assert builder.name_of(result["culprit"]["old"]) == "c4"
    probes = {builder.name_of(probe["candidate"]["thing"]): probe["outcome"] for probe in result["probes"]}
    assert probes.get("c3", "UNBUILDABLE") == "UNBUILDABLE"


def test_a_project_may_lie_below_the_top_of_its_repository(builder: RepositoryBuilder, bisector: Bisector) -> None:
    builder.add("a", files=project("thing", "n = 1", "python/dir/"))
    builder.write()
    code, result, said = bisector.run(
        *("--pin", "thing==main", "--repo", f"thing={builder.directory}#subdirectory=python/dir"),
        script="import thing\nassert thing.n == 1\n",
        command="probe",
    )
    assert code == 0, said
    assert result["candidate"]["thing"] == builder.ids["a"]


def test_a_project_of_another_name_is_said_with_what_to_write(builder: RepositoryBuilder, bisector: Bisector) -> None:
    builder.add("a", files=project("thing", "n = 1"))
    builder.write()
    code, result, _ = bisector.run(
        *("--pin", "other==main", "--repo", f"other={builder.directory}"), script="", command="probe"
    )
    assert code == 1
    assert "write --pin thing=... and --repo thing=..." in result["reason"]
    assert f"other {builder.ids['a'][:12]}" in result["reason"]
    assert "trees" not in result["reason"]


@pytest.mark.slow
def test_a_checkout_only_pin_is_not_installed_and_packages_move_beside_it(
    builder: RepositoryBuilder, bisector: Bisector, local_index: LocalIndex
) -> None:
    builder.line("c", 3)
    builder.write()
    for version in ("1.0", "2.0"):
        local_index.add("widget", version)
    script = (
        "import importlib.metadata, os, subprocess\n"
        "assert not [d for d in importlib.metadata.distributions() if d.metadata['Name'] == 'thing']\n"
        "name = open(os.environ['CHECKOUT'] + '/name').read()\n"
        "version = importlib.metadata.version('widget')\n"
        "assert (name, version) not in [('c1', '2.0'), ('c2', '2.0')], (name, version)\n"
    )
    code, result, said = bisector.run(
        *("--pin", "widget=1.0..2.0", "--pin", "thing=main~2..main", "--repo", f"thing={builder.directory}"),
        *("--checkout-only", "thing", "--repeat", "1"),
        script=script,
    )
    assert code == 0, said
    moved = {move["pin"] for move in result["culprit"]["moves"]} | {one["pin"] for one in result["culprit"]["partners"]}
    assert moved == {"thing", "widget"}


@pytest.mark.slow
def test_a_pin_held_at_a_revision_is_installed_from_it(builder: RepositoryBuilder, bisector: Bisector) -> None:
    builder.add("a", files=project("thing", "n = 1"))
    builder.add("b", "a", files=project("thing", "n = 2"))
    builder.write()
    for version in ("1.0", "2.0"):
        bisector.index.add("widget", version)
    code, result, said = bisector.run(
        *("--pin", "widget=1.0..2.0", "--fix", "thing=main~1", "--repo", f"thing={builder.directory}", "--repeat", "1"),
        script="import importlib.metadata, os, thing\nassert thing.n == 1 and len(os.environ['PIN_THING']) == 40\n"
        "assert importlib.metadata.version('widget') == '1.0'\n",
    )
    assert code == 0, said
    assert result["culprit"]["new"] == "2.0"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pin", "thing=a..main"], "has no branch, tag or commit 'a'"),
        (["--pin", "other=main~1..main"], "no pin is called so"),
        (["--pin", "thing=main~1..main", "--checkout-only", "other"], "it has no repository"),
        (["--pin", "thing=main~1..main", "--require-path", "../x"], "is no path from the top of a tree"),
        (["--pin", "thing=main~1..main", "--repo", "x=/nowhere"], "there is no repository /nowhere"),
        (["--pin", "thing=main~1..main x"], "is no revision"),
    ],
)
def test_mistakes_are_said_before_anything_is_built(
    builder: RepositoryBuilder, bisector: Bisector, words: list[str], said: str
) -> None:
    builder.line("c", 2)
    builder.write()
    code, _, errors = bisector.run(*words, "--repo", f"thing={builder.directory}", script="")
    assert (code, said in errors) == (2, True), errors


def test_what_a_tree_requires_keeps_candidates_from_being_built_that_cannot_be(
    builder: RepositoryBuilder, bisector: Bisector, local_index: LocalIndex
) -> None:
    for number, wanted in enumerate(("widget<2", "widget<2", "widget>=2", "widget>=2")):
        files = project("thing", f"n = {number}")
        files["pyproject.toml"] = PYPROJECT.format(name="thing", more=f'dependencies = ["{wanted}"]')
        builder.add(f"c{number}", *([f"c{number - 1}"] if number else []), files=files)
    builder.write()
    for version in ("1.0", "1.5", "2.0", "3.0"):
        local_index.add("widget", version)
    words = ("--pin", "thing=main~3..main", "--pin", "widget=1.0..3.0", "--repo", f"thing={builder.directory}")
    code, plan, said = bisector.run(*words, "--plan", script="")
    assert code == 0, said
    told = json.dumps(plan)
    assert f"thing {builder.ids['c2'][:12]} requires widget>=2 (pyproject.toml:8), and widget is 1.0" in told
    script = "import importlib.metadata as m, thing\nassert thing.n < 3, thing.n\n"
    code, result, said = bisector.run(*words, "--repeat", "1", script=script)
    assert code == 0, said
    assert builder.name_of(result["culprit"]["new"]) == "c3"
    for probe in result["probes"]:
        commit, version = builder.name_of(probe["candidate"]["thing"]), probe["candidate"]["widget"]
        fits = (commit in ("c0", "c1")) == (version < "2")
        assert fits or probe["outcome"] == "UNBUILDABLE"
        assert fits or "requires widget" in json.dumps(probe), "the reason is our own, and nothing was built"


def test_what_a_tree_requires_is_not_believed_where_an_end_breaks_it(
    builder: RepositoryBuilder, local_index: LocalIndex, tmp_path: Path
) -> None:
    from bisector.environments.base import InfeasibleError
    from bisector.feasibility.commits import CommitProject, FeasibleCommits
    from bisector.model import Candidate

    wanted = ["widget<2", "gadget==1; sys_platform == 'x'"]
    setup = f"from setuptools import setup\nsetup(name='thing', install_requires={wanted})\n"
    builder.add("a", files={"setup.py": setup})
    builder.write()
    clone = clone_of(builder, tmp_path / "cache")

    class Asked:
        interpreter = None
        resolved: list[Candidate] = []  # noqa: RUF012 - one test

        def resolve(self, candidate: Candidate) -> None:
            self.resolved.append(candidate)

    def candidate(commit: str, **pins: str) -> Candidate:
        return Candidate((("thing", builder.ids[commit]), *pins.items()))

    ends: list[Candidate] = []
    asked = Asked()
    environment = FeasibleCommits(asked, [CommitProject("thing", clone)], lambda: ends)  # type: ignore[arg-type]
    with pytest.raises(InfeasibleError, match=r"requires widget<2 \(setup.py:2\), and Widget is 2.1"):
        environment.resolve(candidate("a", Widget="2.1"))
    environment.resolve(candidate("a", Widget="1.9", gadget="7"))
    assert len(asked.resolved) == 1, "one fits, and the other requirement is for another platform"
    believing = FeasibleCommits(asked, [CommitProject("thing", clone)], lambda: [candidate("a", widget="3.0")])  # type: ignore[arg-type]
    believing.resolve(candidate("a", widget="2.1"))
    assert len(asked.resolved) == 2, "an end breaks it, so that it cannot be as the files say"
