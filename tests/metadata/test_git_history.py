import shutil
from pathlib import Path

import pytest

from pins.metadata.declarations import Subject
from pins.metadata.environments.model import Project
from pins.metadata.git_history import ProjectHistory
from pins.metadata.git_requirements import GitProject
from pins.metadata.inferred.rules import RULES
from pins.metadata.project_state import ProjectPlace
from pins.sources.git.address import parse_address
from pins.sources.git.branches import line_of
from pins.sources.git.clone import Clone, open_clone
from pins.sources.git.trees import MissingObjectsError, Trees
from pins.sources.metadata_cache import MetadataCache
from pins.sources.target import described_target
from tests.metadata.repositories import SmallRepository

TARGET = described_target("3.12")
SETUP = "from setuptools import setup\nsetup(name='spam', version='1.0', install_requires={})\n"


@pytest.fixture
def repository(tmp_path: Path) -> SmallRepository:
    return SmallRepository(tmp_path / "spam")


def cloned(path: Path, tmp_path: Path) -> Clone:
    return open_clone(parse_address(str(path), tmp_path), tmp_path / "cache")


def project(revision: str, clone: Clone | None, **more: object) -> GitProject:
    pinned = Project("spam", "https://example.org/own/spam.git", revision, 3, "", "build", 9, "/spam", **more)  # type: ignore[arg-type]
    return GitProject(pinned, clone, dict(TARGET.markers), TARGET.python)


def filled(repository: SmallRepository) -> list[str]:
    return [
        repository.commit({"setup.py": SETUP.format("['a>=1']"), "other.txt": "0"}),
        repository.commit({"other.txt": "1"}),
        repository.commit({"setup.py": "# moved by a line\n" + SETUP.format("['a>=1']")}),
        repository.commit({"setup.py": SETUP.format("['a>=2']")}),
        repository.commit({"setup.py": SETUP.format("read()")}),
        repository.commit({"setup.py": SETUP.format("['a>=1']")}),
    ]


def test_neighbouring_commits_that_require_the_same_are_one_range(repository: SmallRepository, tmp_path: Path) -> None:
    commits = filled(repository)
    clone = cloned(repository.path, tmp_path)
    history = ProjectHistory(Trees(clone), ProjectPlace(), dict(TARGET.markers))
    ranges = history.ranges(line_of(clone, commits[-1], "main", most=100), commits[1])
    assert [[commit.id for commit in one.commits] for one in ranges] == [
        commits[:3],
        [commits[3]],
        [commits[4]],
        [commits[5]],
    ]
    assert [[one.text for one in found.state.tree.runtime] for found in ranges] == [["a>=1"], ["a>=2"], [], ["a>=1"]]
    assert Subject.RUNTIME in ranges[2].state.tree.unknown
    assert ranges[0].at == commits[1]
    assert ranges[0].state.tree.runtime[0].line == 2
    assert ranges[0].label() == f"{commits[0][:7]}..{commits[2][:7]}"


def test_states_are_kept_and_read_alike_the_second_time(repository: SmallRepository, tmp_path: Path) -> None:
    commits = filled(repository)
    clone = cloned(repository.path, tmp_path)
    cache = MetadataCache(tmp_path / "kept.sqlite")
    found = []
    for _ in range(2):
        place = ProjectPlace(rules=RULES)
        found.append(ProjectHistory(Trees(clone), place, dict(TARGET.markers), cache).states(commits))
    assert found[0] == found[1]


def test_a_file_that_setup_py_reads_tells_commits_apart(repository: SmallRepository, tmp_path: Path) -> None:
    setup = SETUP.format("open('requirements.txt').read().splitlines()")
    commits = [
        repository.commit({"setup.py": setup, "requirements.txt": "a>=1\n"}),
        repository.commit({"requirements.txt": "a>=2\n"}),
        repository.commit({"requirements.txt": None}),
    ]
    clone = cloned(repository.path, tmp_path)
    states = ProjectHistory(Trees(clone), ProjectPlace(), dict(TARGET.markers)).states(commits)
    assert [[one.text for one in states[commit].tree.runtime] for commit in commits] == [["a>=1"], ["a>=2"], []]
    assert Subject.RUNTIME in states[commits[2]].tree.unknown


def test_lines_of_building_and_of_being_installed_are_told_apart(repository: SmallRepository, tmp_path: Path) -> None:
    commit = repository.commit(
        {
            "setup.py": SETUP.format("['pybind11>=3.0.1']"),
            "pyproject.toml": '[build-system]\nrequires = ["pybind11>=3.0.0", "cmake"]\n',
            "requirements.txt": "-r more.txt\npybind11==3.0.4\n",
            "more.txt": "ninja\n",
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.1)\n",
        }
    )
    found = project(commit[:9], cloned(repository.path, tmp_path), requirement_files=("requirements.txt",))
    requires = found.requires(found.current)
    told = {
        line: (origin.file.partition(":")[2], origin.line, origin.kind.value)
        for line, origin in zip(requires.lines, requires.origins, strict=True)
    }
    assert told == {
        'pybind11>=3.0.1; extra == "install-requires"': ("setup.py", 2, "declared"),
        'ninja; extra == "build-requires"': ("more.txt", 1, "declared"),
        'pybind11==3.0.4; extra == "build-requires"': ("requirements.txt", 2, "declared"),
        'pybind11>=3.0.0; extra == "build-requires"': ("pyproject.toml", 2, "declared"),
        'cmake; extra == "build-requires"': ("pyproject.toml", 2, "declared"),
        'cmake<4; extra == "build-requires"': ("CMakeLists.txt", 1, "inferred"),
        'pybind11>=3.0.0rc4,<3.1.0; extra == "install-requires"': ("requirements.txt", 2, "inferred"),
    }
    assert requires.unknown == ""
    assert requires.origins[0].file.startswith(f"own/spam@{commit[:9]}:")
    [choice] = found.choices().choices
    assert (choice.label, str(choice.version)) == (commit[:7], "1.0")


def test_without_a_clone_nothing_is_known(tmp_path: Path) -> None:
    found = project("abcdef1", None)
    assert "no clone of own/spam is at hand" in found.why_unknown
    assert "no clone" in found.requires("abcdef1").unknown
    assert [(one.label, one.version) for one in found.choices().choices] == [("abcdef1", None)]


def test_a_commit_that_the_clone_does_not_have_is_unknown_and_its_branch_is_not(
    repository: SmallRepository, tmp_path: Path
) -> None:
    filled(repository)
    found = project("f00f00f", cloned(repository.path, tmp_path))
    assert "does not have f00f00f" in found.why_unknown
    assert found.current == ""
    assert len(found.choices().choices) == 4


def test_a_bare_repository_without_a_configuration_is_read(repository: SmallRepository, tmp_path: Path) -> None:
    commits = filled(repository)
    bare = tmp_path / "bare.git"
    shutil.copytree(repository.path / ".git", bare)
    (bare / "config").unlink()
    found = project(commits[-1], cloned(bare, tmp_path))
    assert len(found.choices().choices) == 4
    assert found.current == commits[-1][:7]


def test_a_shallow_clone_says_that_its_line_is_not_complete(repository: SmallRepository, tmp_path: Path) -> None:
    commits = filled(repository)
    shallow = tmp_path / "shallow"
    repository.git("clone", "-q", "--depth", "2", f"file://{repository.path}", str(shallow))
    found = project(commits[-1], cloned(shallow, tmp_path))
    assert [one.label for one in found.choices().choices] == [commits[4][:7], commits[5][:7]]
    assert any("the newest 2 commits were read" in note for note in found.notes)
    assert "does not have" in project(commits[0], cloned(shallow, tmp_path)).why_unknown


def removed(repository: SmallRepository, name: str) -> None:
    (repository.path / ".git" / "objects" / name[:2] / name[2:]).unlink()


def test_a_missing_content_leaves_its_commits_unknown_and_no_others(
    repository: SmallRepository, tmp_path: Path
) -> None:
    commits = filled(repository)
    removed(repository, repository.git("rev-parse", f"{commits[3]}:setup.py"))
    clone = cloned(repository.path, tmp_path)
    states = ProjectHistory(Trees(clone), ProjectPlace(), dict(TARGET.markers)).states(commits)
    assert "lacks the content" in states[commits[3]].tree.unknown[Subject.RUNTIME]
    assert [one.text for one in states[commits[0]].tree.runtime] == ["a>=1"]
    assert not states[commits[3]].lasting


def test_a_missing_directory_is_told_from_a_file_that_does_not_exist(
    repository: SmallRepository, tmp_path: Path
) -> None:
    commits = [
        repository.commit({"python/setup.py": SETUP.format("['a']")}),
        repository.commit({"python/setup.py": SETUP.format("['b']")}),
        repository.commit({"python/setup.py": None, "x": "y"}),
    ]
    removed(repository, repository.git("rev-parse", f"{commits[1]}:python"))
    clone = cloned(repository.path, tmp_path)
    trees = Trees(clone)
    nodes = trees.nodes(commits, ["python/setup.py"])
    assert set(nodes) == {commits[0], commits[2]}
    assert nodes[commits[2]] == {}
    assert "lacks the directory" in trees.unreadable[commits[1]]
    with pytest.raises(MissingObjectsError):
        trees.everything(commits[1])


def test_a_missing_commit_ends_in_a_note(repository: SmallRepository, tmp_path: Path) -> None:
    commits = filled(repository)
    removed(repository, commits[2])
    found = project(commits[-1], cloned(repository.path, tmp_path))
    assert [one.label for one in found.choices().choices] == [commits[-1][:7]]
    assert any("cannot be followed" in note for note in found.notes)


def test_a_release_is_told_by_its_tag(repository: SmallRepository, tmp_path: Path) -> None:
    setup = SETUP.replace("version='1.0', ", "use_scm_version=True, ")
    first = repository.commit({"setup.py": setup.format("['a>=1']")})
    repository.git("tag", "v1.1")
    repository.git("tag", "spam-v1.2rc1")
    repository.git("tag", "no-version")
    repository.commit({"setup.py": setup.format("['a>=2']")})
    repository.git("tag", "-a", "-m", "x", "v2.0")
    repository.commit({"x": "y"})
    found = project(first, cloned(repository.path, tmp_path)).choices().choices
    assert [(str(one.version), one.detail.partition(", r")[2]) for one in found] == [
        ("1.2rc1", "elease 1.2rc1"),
        ("None", "elease 2.0"),
    ]


def test_contents_that_a_partial_clone_lacks_are_fetched_together(repository: SmallRepository, tmp_path: Path) -> None:
    commits = filled(repository)
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = open_clone(parse_address(f"file://{repository.path}", tmp_path), tmp_path / "cache")
    asked = []
    real = clone.git

    def counted(*arguments: str, given: bytes = b"") -> bytes:
        asked.append(arguments[0])
        return real(*arguments, given=given)

    clone.git = counted  # type: ignore[method-assign]
    states = ProjectHistory(Trees(clone), ProjectPlace(), dict(TARGET.markers)).states(commits)
    assert [one.text for one in states[commits[3]].tree.runtime] == ["a>=2"]
    assert not states[commits[0]].tree.unknown
    assert 1 <= asked.count("fetch") <= 4
