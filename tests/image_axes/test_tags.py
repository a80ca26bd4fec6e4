"""Which tags lie between two, and in which order."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisector.file_axes.request import Inventory
from bisector.further_back import good_end, places_back
from bisector.image_axes.between import BetweenImages, Moved, difference, next_command, overlay, sentences
from bisector.image_axes.request import TaggedImage
from bisector.image_axes.tags import contradictions, date_in, in_order, shape, wanted, within
from bisector.model import Candidate, Outcome


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("nightly-2026-08-01", "nightly-2026-12-31"),
        ("nightly_main_20250811", "nightly_main_20250101"),
        ("rocm6.4.1_vllm_0.9.1_20250702", "rocm7.0.0_vllm_0.10.1_20250909"),
        ("main-0f3a1b2c-20260801-1203", "main-9c8b7a6d5e-20260802-0004"),
        ("v0.9.1", "v0.10.0"),
        ("sha-4f1c9e2", "sha-0123456789abcdef0123456789abcdef01234567"),
    ],
)
def test_tags_of_one_sort_differ_in_dates_hashes_and_numbers_alone(one: str, other: str) -> None:
    assert shape(one) == shape(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("nightly-2026-08-01", "latest"),
        ("nightly-2026-08-01", "nightly-2026-08-01-cuda"),
        ("v0.9.1", "v0.9.1rc1"),
        ("v0.9.1", "v0.9"),
    ],
)
def test_tags_of_two_sorts_are_told_apart(one: str, other: str) -> None:
    assert shape(one) != shape(other)


@pytest.mark.parametrize(
    ("tag", "date"),
    [
        ("nightly-2026-08-01", datetime(2026, 8, 1, tzinfo=UTC)),
        ("x_20260801_1203", datetime(2026, 8, 1, 12, 3, tzinfo=UTC)),
        ("2026.08.01T235959Z", datetime(2026, 8, 1, 23, 59, 59, tzinfo=UTC)),
        ("v20260231", None),
        ("build-120260801", None),
        ("v1.2.3", None),
    ],
)
def test_a_date_is_read_from_a_tag(tag: str, date: datetime | None) -> None:
    assert date_in(tag) == date


def image(tag: str, created: datetime | None = None) -> TaggedImage:
    return TaggedImage(tag, f"sha256:{tag}", created)


def at(day: int) -> datetime:
    return datetime(2026, 8, day, tzinfo=UTC)


def test_the_date_in_the_tag_precedes_the_time_of_the_build() -> None:
    again = image("n-2026-08-01", at(20))
    images = [image("n-2026-08-03", at(3)), again, image("n-2026-08-02", at(2))]
    ordered, by = in_order(images)
    assert [each.tag for each in ordered] == ["n-2026-08-01", "n-2026-08-02", "n-2026-08-03"]
    assert by == "the date in the tag"
    assert [each.tag for each in contradictions(ordered)] == ["n-2026-08-02", "n-2026-08-03"]


def test_images_that_claim_to_be_of_1970_are_ordered_by_their_numbers() -> None:
    nothing = datetime(1970, 1, 1, tzinfo=UTC)
    ordered, by = in_order([image("v0.10.0", nothing), image("v0.9.0", nothing), image("v0.9.10", nothing)])
    assert [each.tag for each in ordered] == ["v0.9.0", "v0.9.10", "v0.10.0"]
    assert by == "the numbers in the tag"


def test_wanted_are_the_ends_and_what_is_like_them() -> None:
    tags = ["latest", "n-1", "n-2", "n-3", "cuda-n-2"]
    assert wanted(tags, ["n-1", "n-3"]) == ["n-1", "n-3", "n-2"]
    assert wanted(tags, ["n-1", "n-3"], exclude=["*-2"]) == ["n-1", "n-3"]
    assert wanted(tags, ["latest", "n-3"], only=["*n-*"]) == ["latest", "n-3", "n-1", "n-2", "cuda-n-2"]


def test_nights_before_and_after_the_ends_are_not_asked_about() -> None:
    tags = [f"n-2026-08-{day:02}" for day in range(1, 10)]
    assert within(tags, "n-2026-08-03", "n-2026-08-05") == tags[2:5]
    assert within(tags, "n-2026-08-05", "n-2026-08-03") == tags[2:5]
    assert within(tags, "", "n-2026-08-03") == tags[:3]
    assert within(["a", *tags], "a", "n-2026-08-03") == ["a", *tags]


@given(st.integers(1, 3000), st.data())
def test_a_good_end_is_found_in_about_twice_the_logarithm_and_never_far_behind(last: int, data: st.DataObject) -> None:
    first_bad = data.draw(st.integers(0, last))
    candidates = [Candidate((("image", str(number)),)) for number in range(last + 1)]
    asked: list[int] = []

    def outcome(candidate: Candidate, why: str) -> Outcome:
        number = int(candidate["image"])
        asked.append(last - number)
        return Outcome.FAIL if number >= first_bad else Outcome.PASS

    found = good_end(candidates, outcome)
    assert len(asked) == len(set(asked))
    back = last - first_bad
    if first_bad > 0:
        assert found < first_bad
        assert last - found <= max(1, 2 * (back + 1)), "no more than twice as far back as it must be"
        assert len(asked) <= (back + 1).bit_length() + 2
    else:
        assert found == 0
        assert asked[-1] == last


def test_places_double_until_the_oldest() -> None:
    assert places_back(11) == [10, 9, 7, 3, 0]
    assert places_back(1) == [0]
    assert places_back(0) == []


def test_what_moved_between_two_inventories_is_told_with_what_cannot_be_searched() -> None:
    good = Inventory("a", at(1), (("numpy", "1.26.4"), ("torch", "2.9.0+rocm1"), ("old", "1")), (("REV", "1"),))
    bad = Inventory("b", at(2), (("numpy", "2.0.0"), ("torch", "2.9.1+rocm1"), ("new", "1")), (("REV", "2"),))
    distributions, recorded = difference(good, bad)
    assert {moved.name: bool(moved.why_not) for moved in distributions} == {
        "new": True,
        "numpy": False,
        "old": True,
        "torch": True,
    }
    assert recorded == (Moved("REV", "1", "2"),)


def test_the_next_command_searches_among_distributions_with_the_same_script() -> None:
    typed = (
        "bisector",
        "run",
        "--env",
        "image",
        "--bad=a/b:2",
        "--only",
        "x*",
        "--smoke",
        "s.py",
        "--descend",
        "--",
        "-v",
    )
    words = next_command(typed, ("--dockerfile", "/run/between/Dockerfile", "--pin", "numpy=1.26.4..2.0.0"))
    assert words == (
        *("bisector", "run", "--smoke", "s.py", "--dockerfile", "/run/between/Dockerfile"),
        *("--pin", "numpy=1.26.4..2.0.0", "--", "-v"),
    )


def test_the_file_for_it_takes_each_version_through_an_argument() -> None:
    text = overlay("host/image@sha256:0", ["typing-extensions"])
    assert "FROM host/image@sha256:0\n" in text
    assert "ARG TYPING_EXTENSIONS_VERSION\n" in text
    assert '--no-deps "typing-extensions==${TYPING_EXTENSIONS_VERSION}"' in text


def test_a_report_names_both_ways_to_go_on() -> None:
    moved = (Moved("numpy", "1", "2"), Moved("torch", "1+x", "2+x", "it was built for the image"))
    said = sentences(
        BetweenImages("h/i@sha256:a", "h/i@sha256:b", moved, dockerfile="D", command="bisector run --dockerfile D")
    )
    assert said[0].endswith("numpy 1 -> 2, torch 1+x -> 2+x")
    assert "bisector run --dockerfile D" in said[1]
    assert "torch 1+x -> 2+x left as in the bad image" in said[1]
    assert "--good-image h/i@sha256:a --bad-image h/i@sha256:b" in said[2]
