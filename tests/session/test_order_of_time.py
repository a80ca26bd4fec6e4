"""Several pins that build only as they once were together: whole pins first does not work, the order of time does."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bisector import Verdict, bisect
from bisector.model import Axis, AxisValue
from bisector.request import Suspect
from bisector.search_order import weights_of
from bisector.space import chain_in_time, chain_through, ends
from pins.model import PinKind
from tests.local_index import LocalIndex
from tests.session.conftest import Ask

START = datetime(2024, 1, 1, tzinfo=UTC)


def axis(pin: str, days: list[int]) -> Axis:
    values = tuple(AxisValue(str(index), START + timedelta(days=day)) for index, day in enumerate(days))
    return Axis(pin, PinKind.PACKAGE, values)


@given(st.lists(st.lists(st.integers(0, 50), min_size=2, max_size=6), min_size=2, max_size=4))
def test_a_chain_in_time_moves_each_pin_through_all_its_values_and_never_back_in_time(days: list[list[int]]) -> None:
    axes = tuple(axis(f"p{number}", each) for number, each in enumerate(days))
    chain = chain_in_time(axes)
    assert chain is not None
    assert (chain.candidates[0], chain.candidates[-1]) == ends(axes)
    assert chain.steps == sum(each.steps for each in axes)
    reached = START
    for upper in range(1, chain.steps + 1):
        (move,) = chain.moves(upper)
        assert int(move.new) == int(move.old) + 1
        moved = next(each for each in axes if each.pin == move.pin)
        date = max(value.date or START for value in moved.values[1 : int(move.new) + 1])
        assert date >= reached
        reached = date


def test_without_dates_or_with_one_pin_there_is_no_order_of_time() -> None:
    undated = Axis("b", PinKind.PACKAGE, (AxisValue("0"), AxisValue("1")))
    assert chain_in_time((axis("a", [1, 2]), undated)) is None
    assert chain_in_time((axis("a", [1, 2, 3]),)) is None


def test_pins_that_build_only_as_they_were_together_are_told_apart_in_the_order_of_time(
    ask: Ask, local_index: LocalIndex
) -> None:
    request = ask(
        '[ "$PIN_GADGET" -lt 9 ]',
        "widget=0..16",
        "gadget=0..16",
        build='[ "$PIN_WIDGET" -le $((PIN_GADGET + 1)) ] && [ "$PIN_GADGET" -le $((PIN_WIDGET + 1)) ]',
    )
    for number in range(17):
        for pin, hours in (("widget", 0), ("gadget", 12)):
            local_index.add(pin, str(number), upload_time=START + timedelta(days=number, hours=hours))
    result = bisect(request)
    assert result.verdict is Verdict.CULPRIT, result.summary
    assert result.culprit is not None
    move = result.culprit.moves[0]
    assert (move.pin, move.old, move.new) == ("gadget", "8", "9")
    assert result.culprit.alone_on_good == "not-run"
    assert any("could not be run" in note for note in result.notes)


def test_suspects_by_word_and_by_the_beginning_of_a_commit_weigh_their_steps() -> None:
    commits = Axis(
        "kernel",
        PinKind.GIT,
        (
            AxisValue("aa00", subject="Start"),
            AxisValue("bb11", subject="Tune the autotuner"),
            AxisValue("cc22", subject="Fix a typo"),
            AxisValue("cc33", subject="AUTOTUNE again"),
        ),
    )
    chain = chain_through((commits,), [[commits]])
    assert weights_of(chain, (commits,), (Suspect("kernel", word="autotune"),)) == [1.0, 0.0, 1.0]
    assert weights_of(chain, (commits,), (Suspect("kernel", "cc22"),)) == [0.0, 1.0, 0.0]
    assert weights_of(chain, (commits,), (Suspect("kernel", "cc"),)) == [0.0, 1.0, 1.0]
    assert weights_of(chain, (commits,), ()) is None
