import itertools

from hypothesis import given
from hypothesis import strategies as st

from bisector.model import Axis, AxisValue, Candidate
from bisector.space import chain_through, corner, ends, moves_between, order_of_pins
from pins.model import PinKind


def axis(pin: str, *values: str) -> Axis:
    return Axis(pin, PinKind.PACKAGE, tuple(AxisValue(value) for value in values))


def axes_of(*lengths: int) -> tuple[Axis, ...]:
    return tuple(axis(f"p{number}", *(str(value) for value in range(length))) for number, length in enumerate(lengths))


lengths = st.lists(st.integers(2, 5), min_size=1, max_size=5)


@given(lengths)
def test_a_chain_goes_from_the_good_end_to_the_bad_end_one_pin_at_a_time(sizes: list[int]) -> None:
    axes = axes_of(*sizes)
    chain = chain_through(axes, order_of_pins(axes, lambda _: True))
    assert (chain.candidates[0], chain.candidates[-1]) == ends(axes)
    assert chain.steps == sum(size - 1 for size in sizes)
    for upper in range(1, chain.steps + 1):
        moves = chain.moves(upper)
        assert len(moves) == 1
        assert int(moves[0].new) == int(moves[0].old) + 1


@given(lengths, st.data())
def test_no_chain_goes_back_on_any_pin_whatever_the_resolver_says(sizes: list[int], data: st.DataObject) -> None:
    axes = axes_of(*sizes)
    verdicts: dict[Candidate, bool] = {}

    def feasible(candidate: Candidate) -> bool:
        if candidate in ends(axes):
            return True
        return verdicts.setdefault(candidate, data.draw(st.booleans()))

    chain = chain_through(axes, order_of_pins(axes, feasible), feasible)
    assert (chain.candidates[0], chain.candidates[-1]) == ends(axes)
    for lower, upper in itertools.pairwise(chain.candidates):
        assert lower != upper
        assert all(int(lower[pin]) <= int(upper[pin]) for pin in lower)


def test_a_pin_that_another_holds_back_moves_after_it() -> None:
    axes = (axis("pydantic", "1", "2"), axis("fastapi", "0.99", "0.100"))

    def feasible(candidate: Candidate) -> bool:
        return not (candidate["pydantic"] == "2" and candidate["fastapi"] == "0.99")

    groups = order_of_pins(axes, feasible)
    assert [[one.pin for one in group] for group in groups] == [["fastapi"], ["pydantic"]]


def test_pins_in_lock_step_move_together_by_as_little_as_the_resolver_allows() -> None:
    axes = (axis("outer", "1", "2", "3"), axis("core", "10", "15", "20", "25", "30"), axis("free", "a", "b"))
    pairs = {("1", "10"), ("2", "20"), ("3", "30")}

    def feasible(candidate: Candidate) -> bool:
        return (candidate["outer"], candidate["core"]) in pairs

    chain = chain_through(axes, order_of_pins(axes, feasible), feasible)
    assert all(feasible(candidate) for candidate in chain.candidates)
    steps = [chain.moves(upper) for upper in range(1, chain.steps + 1)]
    coupled = [moves for moves in steps if len(moves) > 1]
    assert [[(move.pin, move.old, move.new, move.forced_by) for move in moves] for moves in coupled] == [
        [("outer", "1", "2", ""), ("core", "10", "20", "outer")],
        [("outer", "2", "3", ""), ("core", "20", "30", "outer")],
    ]


def test_a_corner_has_whole_pins_moved() -> None:
    axes = axes_of(3, 3)
    assert dict(corner(axes, ["p1"])) == {"p0": "0", "p1": "2"}
    assert moves_between(corner(axes, []), corner(axes, ["p1"]))[0].new == "2"
