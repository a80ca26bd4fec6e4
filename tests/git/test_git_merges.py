"""Which commit is blamed, over histories of every shape; candidates are judged by an oracle instead of being built."""

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bisector.bracket import Ending
from bisector.certificate import Standing
from bisector.git_axes import git_axis
from bisector.merges import Side, look_at_parents
from bisector.model import Axis, Candidate
from bisector.report.model import Verdict
from bisector.request import PinRange
from bisector.space import Chain, chain_through
from pins.errors import UsageError
from tests.git.conftest import clone_of
from tests.git.repository_builder import RepositoryBuilder, ancestors


def blamed(
    builder: RepositoryBuilder, cache: Path, good: str, bad: str, fails: Callable[[str], bool]
) -> tuple[str, str, list[str]]:
    """The commit that is blamed, what is said of its parents, and all that was tried."""
    clone = clone_of(builder, cache)
    axes: tuple[Axis, ...] = (git_axis(PinRange("pin", builder.ids[good], builder.ids[bad]), clone, may_go_back=True),)
    chain = chain_through(axes, [axes])
    tried: list[str] = []

    def standing(candidate: Candidate, why: str = "") -> Standing:
        name = builder.name_of(candidate["pin"])
        tried.append(name)
        return Standing.FAIL if fails(name) else Standing.PASS

    sides: tuple[Side, ...] = ()
    low, high = 0, chain.steps
    while True:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if standing(chain.candidates[middle]) is Standing.FAIL else (middle, high)
        found = Ending(Verdict.CULPRIT, low, high)
        finer = look_at_parents(axes, chain, found, {"pin": clone}, standing, sides=sides)
        assert finer is not None
        if finer.chain is None:
            assert finer.change is not None
            return builder.name_of(finer.change.text), finer.note, tried
        lower, upper = chain.candidates[low], chain.candidates[high]
        axes, chain, sides = finer.axes, finer.chain, finer.sides
        assert_is_sound(axes, chain)
        if upper in chain.candidates:
            low, high = chain.candidates.index(lower), chain.candidates.index(upper)
        else:  # a side was taken out again
            low, high = chain.candidates.index(lower), chain.candidates.index(lower) + 1


def assert_is_sound(axes: tuple[Axis, ...], chain: Chain) -> None:
    """No candidate stands on a chain twice, and the axis has the same values."""
    assert len(set(chain.candidates)) == len(chain.candidates)
    assert [candidate["pin"] for candidate in chain.candidates] == [value.text for value in axes[0].values]


def contains(builder: RepositoryBuilder, culprit: str) -> Callable[[str], bool]:
    """Fails where a commit's history holds the culprit."""
    above = ancestors(builder.commits)
    return lambda name: culprit in above[name]


@pytest.fixture
def merged(builder: RepositoryBuilder) -> RepositoryBuilder:
    """main0..main4, with side0..side3 (from main1) merged by `merge` between main3 and main4."""
    builder.line("main", 4)
    builder.line("side", 4, "main1")
    builder.add("merge", "main3", "side3")
    builder.add("main4", "merge")
    builder.add("main5", "main4")
    builder.write()
    return builder


@pytest.mark.parametrize("culprit", ["main1", "main3", "side0", "side2", "side3", "merge", "main5"])
def test_the_commit_that_brought_it_is_blamed_whether_on_the_line_or_merged(
    merged: RepositoryBuilder, cache: Path, culprit: str
) -> None:
    commit, _, _ = blamed(merged, cache, "main0", "main5", contains(merged, culprit))
    assert commit == culprit


def test_two_sides_that_are_bad_together_only_blame_their_merge_with_both_parents_passing(
    merged: RepositoryBuilder, cache: Path
) -> None:
    above = ancestors(merged.commits)
    commit, note, tried = blamed(merged, cache, "main0", "main5", lambda name: {"main3", "side2"} <= above[name])
    assert commit == "merge"
    assert {"main3", "side3"} <= set(tried)
    assert "all of its parents pass" in note


def test_the_side_may_have_left_the_line_before_the_good_end(merged: RepositoryBuilder, cache: Path) -> None:
    commit, _, tried = blamed(merged, cache, "main2", "main5", contains(merged, "side0"))
    assert commit == "side0"
    assert "main1" in tried  # older than the good end, and a parent of what is blamed


def test_a_side_without_common_history_is_searched_down_to_its_first_commit(
    builder: RepositoryBuilder, cache: Path
) -> None:
    builder.line("main", 3)
    builder.line("other", 4)
    builder.add("merge", "main2", "other3")
    builder.add("end", "merge")
    builder.write()
    for culprit in ("other0", "other2", "merge"):
        assert blamed(builder, cache, "main0", "end", contains(builder, culprit))[0] == culprit


def test_every_side_of_an_octopus_is_looked_at(builder: RepositoryBuilder, cache: Path) -> None:
    builder.line("main", 2)
    for side in "abc":
        builder.line(side, 2, "main0")
    builder.add("octopus", "main1", "a1", "b1", "c1")
    builder.add("end", "octopus")
    builder.write()
    for culprit in ("a0", "b1", "c0"):
        assert blamed(builder, cache, "main0", "end", contains(builder, culprit))[0] == culprit
    commit, _, tried = blamed(builder, cache, "main0", "end", lambda name: name in ("octopus", "end"))
    assert commit == "octopus"
    assert {"main1", "a1", "b1", "c1"} <= set(tried)


def test_merges_within_merges_are_followed(builder: RepositoryBuilder, cache: Path) -> None:
    builder.line("main", 3)
    builder.line("outer", 2, "main0")
    builder.line("inner", 3, "outer0")
    builder.add("joined", "outer1", "inner2")
    builder.add("outer2", "joined")
    builder.add("merge", "main2", "outer2")
    builder.add("end", "merge")
    builder.write()
    assert blamed(builder, cache, "main0", "end", contains(builder, "inner1"))[0] == "inner1"


@pytest.fixture
def diverged(builder: RepositoryBuilder) -> RepositoryBuilder:
    """A release branch and the main line, both from base2; the release branch has three commits, main four."""
    builder.line("base", 3)
    builder.line("release", 3, "base2")
    builder.line("main", 4, "base2")
    builder.ref("refs/heads/release", "release2")
    builder.ref("refs/heads/main", "main3")
    builder.write()
    return builder


def test_ends_on_different_branches_are_searched_on_the_side_of_the_bad_end(
    diverged: RepositoryBuilder, cache: Path
) -> None:
    commit, note, _ = blamed(diverged, cache, "release2", "main3", contains(diverged, "main1"))
    assert (commit, note) == ("main1", "")


def test_what_the_good_branch_mended_is_blamed_on_the_commit_that_the_bad_branch_lacks(
    diverged: RepositoryBuilder, cache: Path
) -> None:
    above = ancestors(diverged.commits)
    commit, note, _ = blamed(diverged, cache, "release2", "main3", partial(lacks, above, "release1"))
    assert commit == "release1"
    assert "The bad end's branch lacks this change" in note


def test_a_fix_that_was_merged_into_the_good_branch_is_found_on_its_side(
    builder: RepositoryBuilder, cache: Path
) -> None:
    builder.line("base", 2)
    builder.line("fix", 3, "base0")
    builder.add("release0", "base1")
    builder.add("release1", "release0", "fix2")
    builder.add("release2", "release1")
    builder.line("main", 3, "base1")
    builder.ref("refs/heads/release", "release2")
    builder.ref("refs/heads/main", "main2")
    builder.write()
    above = ancestors(builder.commits)
    for fix in ("fix1", "release1"):
        commit, note, _ = blamed(builder, cache, "release2", "main2", partial(lacks, above, fix))
        assert commit == fix
        assert "lacks this change" in note


def lacks(above: Mapping[str, frozenset[str]], fix: str, name: str) -> bool:
    return fix not in above[name]


def test_a_line_that_left_history_before_the_good_end_has_its_beginning_tried(
    builder: RepositoryBuilder, cache: Path
) -> None:
    """The good end is a release, merged back into a line that never was built on it."""
    builder.line("old", 3)
    builder.line("release", 2, "old2")
    builder.line("main", 3, "old2")
    builder.add("back", "main2", "release1")
    builder.add("end", "back")
    builder.write()
    assert blamed(builder, cache, "release0", "end", contains(builder, "main0"))[0] == "main0"
    assert blamed(builder, cache, "release0", "end", contains(builder, "release1"))[0] == "release1"


def test_a_side_that_was_bad_before_it_parted_is_not_blamed_for_the_merge(
    builder: RepositoryBuilder, cache: Path
) -> None:
    """The failure is old, main mended it, and the merge with what was never mended has lost that."""
    builder.line("old", 2)
    builder.line("main", 3, "old1")
    builder.line("side", 3, "old1")
    builder.add("merge", "main2", "side2")
    builder.add("end", "merge")
    builder.write()
    commit, note, _ = blamed(builder, cache, "main1", "end", lambda name: not name.startswith("main"))
    assert commit == "merge"
    assert "tells nothing" in note


def test_ends_without_a_common_ancestor_are_refused(builder: RepositoryBuilder, cache: Path) -> None:
    builder.line("one", 2)
    builder.line("two", 2)
    builder.ref("refs/heads/one", "one1")
    builder.ref("refs/heads/two", "two1")
    builder.write()
    with pytest.raises(UsageError, match="no common ancestor"):
        git_axis(PinRange("pin", "one", "two"), clone_of(builder, cache))


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """The parents of each commit, by number; the first has none, and any of the others may merge."""
    count = draw(st.integers(3, 14))
    found: list[tuple[int, ...]] = [()]
    for number in range(1, count):
        parents = draw(st.lists(st.integers(max(0, number - 4), number - 1), min_size=1, max_size=3, unique=True))
        found.append(tuple(parents))
    return found


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories(), st.data())
def test_in_any_history_the_commit_is_blamed_that_brought_it_or_mended_it(
    parents: list[tuple[int, ...]], data: st.DataObject
) -> None:
    check_any_history(parents, data)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories(), st.data())
def test_in_very_many_histories_the_commit_is_blamed_that_brought_it_or_mended_it(
    parents: list[tuple[int, ...]], data: st.DataObject
) -> None:
    check_any_history(parents, data)


def check_any_history(parents: list[tuple[int, ...]], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as directory:
        builder = RepositoryBuilder(Path(directory) / "source")
        for number, numbers in enumerate(parents):
            builder.add(f"c{number}", *(f"c{parent}" for parent in numbers))
            builder.ref(f"refs/heads/b{number}", f"c{number}")
        builder.write()
        above = ancestors(builder.commits)
        names = list(above)
        culprit = data.draw(st.sampled_from(names[1:]))
        fails = contains(builder, culprit)
        good = data.draw(st.sampled_from([name for name in names if not fails(name)]))
        bad = data.draw(st.sampled_from([name for name in names if fails(name)]))
        commit, _, _ = blamed(builder, Path(directory) / "cache", good, bad, fails)
        assert commit == culprit
        mends = data.draw(st.sampled_from(names[1:]))
        fixed = [name for name in names if mends in above[name]]
        broken = [name for name in names if mends not in above[name]]
        good, bad = data.draw(st.sampled_from(fixed)), data.draw(st.sampled_from(broken))
        commit, _, _ = blamed(builder, Path(directory) / "cache", good, bad, partial(lacks, above, mends))
        assert commit == mends
