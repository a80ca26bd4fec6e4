"""What is not pinned: the version that each date offered, at the line that installs it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bisector.file_axes.floats import described, index_values, read_time, written
from bisector.model import Candidate
from bisector.search_order import weights_of
from bisector.space import chain_through
from pins.errors import UsageError
from pins.model import PinKind
from tests.file_axes.small_repository import SmallRepository, values

TWO_STAGES = """FROM base AS wheel
RUN pip install spam==1.0
FROM base AS final
COPY --from=wheel /a /a
RUN pip install spam 'eggs<2' ham
"""
GOOD, BAD = datetime(2026, 1, 2, 12, tzinfo=UTC), datetime(2026, 1, 4, 12, tzinfo=UTC)


@pytest.fixture
def repository(tmp_path: Path) -> SmallRepository:
    made = SmallRepository(
        tmp_path / "repository",
        {"spam": ["1.0", "1.1", "2.0", "3.0"], "eggs": ["1.0", "1.1", "1.2", "2.0"], "ham": ["1"]},
    )
    made.commit(TWO_STAGES)
    return made


def test_floats_move_between_dates_and_exact_versions_and_unmoved_ones_do_not(repository: SmallRepository) -> None:
    space = repository.space(good_date=GOOD, bad_date=BAD)
    axes = repository.axes(space)
    assert {name: axis.kind for name, axis in axes.items()} == dict.fromkeys(("index", "spam", "eggs"), PinKind.FLOAT)
    assert values(axes["spam"]) == ["1.1", "2.0", "3.0"]
    assert values(axes["eggs"]) == ["1.1", "1.2"], "within its bound"
    assert values(axes["index"]) == ["2026-01-02T12:00:00Z", "2026-01-03T12:00:00Z", "2026-01-04T12:00:00Z"]


def test_the_version_is_put_at_the_line_that_installs_it(repository: SmallRepository) -> None:
    space = repository.space(good_date=GOOD, bad_date=BAD)
    rendered = space.parts[0].render({"index": "2026-01-04", "spam": "2.0", "eggs": "1.1"}).decode()
    assert rendered == TWO_STAGES.replace("install spam ", "install spam==2.0 ").replace("eggs<2", "eggs==1.1")


def test_a_requirement_that_floats_in_two_stages_is_two_axes(repository: SmallRepository) -> None:
    repository.commit(TWO_STAGES.replace("spam==1.0", "spam"))
    space = repository.space(good_date=GOOD, bad_date=BAD)
    assert space.pins == ("index", "spam@wheel", "spam@final", "eggs")


def test_the_index_is_read_as_of_the_youngest_version_that_is_set(repository: SmallRepository) -> None:
    space = repository.space(good_date=GOOD, bad_date=BAD)
    old = Candidate((("index", "2026-01-02T12:00:00Z"), ("spam", "1.1"), ("eggs", "1.1")))
    assert space.index_time(old) == GOOD
    assert space.index_time(old.moved("spam", "3.0")) == datetime(2026, 1, 4, 0, 0, 1, tzinfo=UTC)


def test_where_nothing_named_moved_the_index_is_searched_alone(repository: SmallRepository) -> None:
    repository.commit("FROM base\nRUN pip install ham\n")
    space = repository.space(good_date=GOOD, bad_date=BAD)
    assert space.pins == ("index",)
    assert values(repository.axes(space)["index"]) == [
        "2026-01-02T12:00:00Z",
        "2026-01-03T12:00:00Z",
        "2026-01-04T12:00:00Z",
    ]


def test_pins_that_differ_and_floats_are_searched_together(repository: SmallRepository) -> None:
    repository.commit(TWO_STAGES.replace("spam==1.0", "spam==2.0") + "USER x\n")
    good, bad = repository.revisions
    space = repository.space(good, bad, good_date=GOOD, bad_date=BAD)
    assert space.pins == ("text", "index", "spam", "spam@final", "eggs")


def test_floats_can_be_chosen_among(repository: SmallRepository) -> None:
    assert repository.space(good_date=GOOD, bad_date=BAD, only=("spam",)).pins == ("spam",)
    assert repository.space(good_date=GOOD, bad_date=BAD, exclude=("index",)).pins == ("spam", "eggs")
    with pytest.raises(UsageError, match="--only ham"):
        repository.space(good_date=GOOD, bad_date=BAD, only=("ham",))


def test_what_floats_is_listed_with_its_lines(repository: SmallRepository) -> None:
    space = repository.space(good_date=GOOD, bad_date=BAD)
    assert described(space.floating) == "spam (line 5, final), eggs<2 (line 5, final), ham (line 5, final)"


def test_named_requirements_are_tried_before_the_days_of_the_index(repository: SmallRepository) -> None:
    space = repository.space(good_date=GOOD, bad_date=BAD)
    axes, chain = [*repository.axes(space).values()], repository.chain(space)
    assert weights_of(chain, axes, ()) == [0.0, 0.0, 1.0, 1.0, 1.0]
    assert weights_of(chain_through(axes[:1], [axes[:1]]), axes[:1], ()) is None


def test_times_are_written_so_that_they_are_read_back() -> None:
    for value in index_values(GOOD, BAD):
        assert value.date is not None
        assert read_time(value.text) == value.date
    assert written(datetime(2026, 8, 1, tzinfo=UTC)) == "2026-08-01"
    assert len(index_values(datetime(2010, 1, 1, tzinfo=UTC), BAD)) < 500
