from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from pins.errors import UsageError
from pins.release import Release
from pins.sources.releases import release_named, releases_between


def release(text: str) -> Release:
    """A release from a word: `1.0` has a wheel, `1.0y` is yanked, `1.0x` has no usable file."""
    version = Version(text.rstrip("yx"))
    if text.endswith("x"):
        return Release(version, unusable="needs Python >=3.14")
    return Release(version, yanked=text.endswith("y"), has_wheel=True)


def axis(texts: str, good: str, bad: str) -> list[str]:
    releases = sorted((release(text) for text in texts.split()), key=lambda found: found.version)
    return [str(found.version) for found in releases_between(releases, good, bad, name="spam")]


def refusal(texts: str, good: str, bad: str) -> str:
    with pytest.raises(UsageError) as refused:
        axis(texts, good, bad)
    return refused.value.message


def test_both_ends_and_all_between_are_in_order() -> None:
    assert axis("1.0 1.10 1.2 1.9 2.0", "1.2", "2.0") == ["1.2", "1.9", "1.10", "2.0"]


def test_an_end_may_be_written_shorter_or_longer_than_the_index_does() -> None:
    assert axis("80.9.0 80.10.0 82", "80.9", "82.0.0") == ["80.9.0", "80.10.0", "82"]


def test_neighbours_are_an_axis_of_one_step() -> None:
    assert axis("1.0 2.0", "1.0", "2.0") == ["1.0", "2.0"]


def test_yanked_releases_enter_only_as_ends() -> None:
    assert axis("1.0y 1.1y 1.2 1.3y", "1.0", "1.3") == ["1.0", "1.2", "1.3"]


def test_pre_releases_enter_when_an_end_is_one() -> None:
    assert axis("1.0 1.1rc1 1.1 2.0b1", "1.0", "1.1") == ["1.0", "1.1"]
    assert axis("1.0 1.1rc1 1.1 2.0b1", "1.0", "2.0b1") == ["1.0", "1.1rc1", "1.1", "2.0b1"]
    assert axis("1.0 1.1.dev1 1.1", "1.1.dev1", "1.1") == ["1.1.dev1", "1.1"]


def test_releases_without_a_usable_file_are_left_out() -> None:
    assert axis("1.0 1.1x 1.2", "1.0", "1.2") == ["1.0", "1.2"]


def test_between_rocm_builds_only_rocm_builds_are_steps() -> None:
    offered = "2.12.0+rocm6.4 2.12.0 2.12.1 2.12.1+cpu 2.12.1+rocm7.0 2.13.0 2.13.0+rocm7.2"
    assert axis(offered, "2.12.0+rocm6.4", "2.13.0+rocm7.2") == ["2.12.0+rocm6.4", "2.12.1+rocm7.0", "2.13.0+rocm7.2"]


def test_builds_of_one_version_are_one_step_between_plain_versions() -> None:
    offered = "2.0 2.0+cpu 2.1 2.1+cpu 2.2+cpu 2.2+cu126 2.3 2.3+cpu"
    assert axis(offered, "2.0", "2.3") == ["2.0", "2.1", "2.2+cu126", "2.3"]


def test_between_builds_of_different_kinds_everything_is_a_step() -> None:
    assert axis("3.6 3.6.1 3.7+amd.rocm7", "3.6", "3.7+amd.rocm7") == ["3.6", "3.6.1", "3.7+amd.rocm7"]


def test_post_releases_and_epochs_are_ordered() -> None:
    assert axis("1.0 1.0.post1 2.0 1!0.1", "1.0", "1!0.1") == ["1.0", "1.0.post1", "2.0", "1!0.1"]


def test_an_unknown_version_is_answered_with_its_neighbours() -> None:
    message = refusal("1.0 1.1 1.3y 1.4 2.0", "1.0", "1.2")
    assert "spam has no version 1.2" in message
    assert "1.0, 1.1, 1.3 (yanked), 1.4" in message
    assert "newest is 2.0" in message


def test_an_unknown_version_is_answered_with_its_local_builds() -> None:
    assert "2.1+cpu, 2.1+rocm7.2; " in refusal("2.0 2.1+cpu 2.1+rocm7.2 3.0", "2.0", "2.1")


def test_an_end_that_does_not_fit_says_why_and_which_do() -> None:
    message = refusal("1.0 1.1 1.2x", "1.0", "1.2")
    assert "needs Python >=3.14" in message
    assert "1.1" in message
    assert "--python" in message


def test_equal_ends_and_swapped_ends_are_refused() -> None:
    assert "the same, 1.0" in refusal("1.0 1.1", "1.0", "1.0.0")
    assert "spam=1.0..1.1" in refusal("1.0 1.1", "1.1", "1.0")


@pytest.mark.parametrize("text", ["latest", "", "-1", "1.0; rm -rf /", "$(id)", "1.0\n2.0", "==1.0"])
def test_what_is_no_version_is_refused(text: str) -> None:
    message = refusal("1.0 1.1", "1.0", text)
    assert "is not a version" in message
    assert "\n" not in message


@given(
    offered=st.lists(
        st.builds(
            lambda major, minor, kind: f"{major}.{minor}{kind}",
            st.integers(0, 4),
            st.integers(0, 4),
            st.sampled_from(["", "", "rc1", "+cpu", "+rocm7", "y", "x"]),
        ),
        min_size=2,
        max_size=15,
        unique_by=lambda text: Version(text.rstrip("yx")),
    )
)
def test_an_axis_ascends_from_end_to_end_and_holds_only_what_may_be_tried(offered: Sequence[str]) -> None:
    releases = sorted((release(text) for text in offered), key=lambda found: found.version)
    usable = [found for found in releases if found.is_usable]
    if len(usable) < 2:
        return
    good, bad = usable[0], usable[-1]
    found = releases_between(releases, str(good.version), str(bad.version), name="spam")
    assert (found[0], found[-1]) == (good, bad)
    assert [one.version for one in found] == sorted({one.version for one in found})
    pre = good.version.is_prerelease or bad.version.is_prerelease
    for one in found[1:-1]:
        assert one.is_usable
        assert not one.yanked
        assert pre or not one.version.is_prerelease
    if not any(one.version.local for one in releases):
        wanted = [one for one in usable if not one.yanked and (pre or not one.version.is_prerelease)]
        assert set(found) == {*wanted, good, bad}


def test_a_version_that_came_after_the_time_asked_for_says_so() -> None:
    late = Release(Version("2"), unusable="was uploaded on 2026-03-01 10:00 UTC, after the index is read")
    releases = [Release(Version("1"), has_wheel=True), late]
    with pytest.raises(
        UsageError, match=r"spam 2 was uploaded on 2026-03-01 10:00 UTC, after .* a later date with --ex"
    ):
        releases_between(releases, "1", "2", name="spam")
    assert release_named(releases, "1.0", name="spam") is releases[0]
    with pytest.raises(UsageError, match="has no version 3"):
        release_named(releases, "3", name="spam")
