"""Commits that change a file are suspected: `--suspect NAME:PATH`."""

from dataclasses import replace
from pathlib import Path

import pytest

from bisector.cli.search_arguments import parse_suspect
from bisector.git_axes import git_axis
from bisector.model import Axis, SmokeScript
from bisector.request import PinRange, RunRequest, Suspect
from bisector.search_order import in_search_order, weights_of
from bisector.space import chain_through
from pins.errors import UsageError
from tests.git.conftest import clone_of
from tests.git.repository_builder import RepositoryBuilder


@pytest.fixture
def axis(builder: RepositoryBuilder, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Axis:
    """Six commits: the second and the fifth change what lies in lib/, the fourth README.md, the sixth a merged file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    files: dict[str, str] = {"lib/amd/tune.py": "1", "README.md": "1", "top.py": "1"}
    changes = [{}, {"lib/amd/tune.py": "2"}, {"top.py": "2"}, {"README.md": "2"}, {"lib/amd/new.py": "1"}]
    before: tuple[str, ...] = ()
    for number, change in enumerate(changes):
        files = {**files, **change}
        before = (builder.add(f"c{number}", *before, files=files),)
    builder.add("side", "c3", files={**files, "side.py": "1"})
    builder.add("merge", "c4", "side", files={**files, "side.py": "1"})
    builder.add("more", "c3", files=files)
    builder.ref("refs/heads/other", "more")
    builder.ref("refs/heads/main", "merge")
    builder.write()
    return git_axis(PinRange("thing", builder.ids["c0"], builder.ids["merge"]), clone_of(builder, cache / "pins"))


def weights(axis: Axis, *suspects: Suspect, first_good: bool = False) -> list[float] | None:
    request = RunRequest(
        (PinRange("thing", axis.good, axis.bad),), SmokeScript(Path("x")), suspects=suspects, first_good=first_good
    )
    axes = in_search_order((axis,), request)
    return weights_of(chain_through(axes, [list(axes)]), axes, suspects, first_good=first_good)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lib", [1.0, 0.0, 0.0, 1.0, 0.0]),
        ("lib/amd/tune.py", [1.0, 0.0, 0.0, 0.0, 0.0]),
        ("**/*.py", [1.0, 1.0, 0.0, 1.0, 1.0]),
        ("*.py", [0.0, 1.0, 0.0, 0.0, 1.0]),
        ("side.py", [0.0, 0.0, 0.0, 0.0, 1.0]),
    ],
)
def test_steps_whose_commits_change_a_file_are_suspected(axis: Axis, path: str, expected: list[float]) -> None:
    assert weights(axis, parse_suspect(f"thing:{path}")) == expected


def test_a_step_onto_a_merge_weighs_as_much_as_the_commits_that_it_brings(
    axis: Axis, builder: RepositoryBuilder, cache: Path
) -> None:
    assert [value.commits for value in axis.values] == [1, 1, 1, 1, 1, 2]
    assert weights(axis) == pytest.approx([5 / 6] * 4 + [10 / 6]), "five steps in all"
    assert weights(axis, first_good=True) == pytest.approx([10 / 6] + [5 / 6] * 4)
    before = git_axis(PinRange("thing", builder.ids["c0"], builder.ids["c4"]), clone_of(builder, cache / "pins"))
    assert weights(before) is None, "without a merge all steps weigh the same"
    branches = git_axis(PinRange("thing", builder.ids["merge"], builder.ids["more"]), clone_of(builder, cache / "pins"))
    assert [(builder.name_of(value.text), value.commits) for value in branches.values] == [
        *(("merge", 1), ("c4", 2), ("c3", 1), ("more", 1))
    ]


def test_a_fix_is_suspected_by_what_it_changed(axis: Axis) -> None:
    assert weights(axis, Suspect("thing", path="README.md"), first_good=True) == [0.0, 0.0, 1.0, 0.0, 0.0]


def test_paths_and_words_together_suspect_either(axis: Axis) -> None:
    both = (Suspect("thing", path="README.md"), Suspect("thing", word="c1"))
    assert weights(axis, *both) == [1.0, 0.0, 1.0, 0.0, 0.0]


def test_a_path_that_no_commit_changes_is_refused(axis: Axis) -> None:
    with pytest.raises(UsageError, match="no commit of thing between its ends changes a file that absent/ matches"):
        weights(axis, Suspect("thing", path="absent/"))
    package = replace(axis, pin="other", repository="")
    with pytest.raises(UsageError, match="thing is not among the pins"):
        weights(package, Suspect("thing", path="lib"))


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret", ":(exclude)lib", "", "a\nb"])
def test_what_is_no_path_within_the_repository_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="--suspect"):
        parse_suspect(f"thing:{path}")


def test_the_spelling_is_the_one_that_was_typed() -> None:
    for text in ("thing", "thing=1.2", "thing~a word", "thing:lib/**/*.py"):
        assert str(parse_suspect(text)) == text
