from hypothesis import given
from hypothesis import strategies as st

from bisector.certificate import Certificate, Standing, certify
from bisector.model import Axis, AxisValue, Candidate
from bisector.space import Chain, chain_through
from pins.model import PinKind


def chain_of(pins: int) -> Chain:
    axes = [Axis(f"p{n}", PinKind.PACKAGE, (AxisValue("0"), AxisValue("1"))) for n in range(pins)]
    return chain_through(axes, [[axis] for axis in axes])


def first_bad(chain: Chain, bad: set[str]) -> int:
    return next(i for i, candidate in enumerate(chain.candidates) if fails(candidate, [bad]))


def fails(candidate: Candidate, bad_sets: list[set[str]]) -> bool:
    return any(all(candidate[pin] == "1" for pin in bad) for bad in bad_sets)


def certificate(pins: int, *bad_sets: set[str]) -> Certificate:
    chain = chain_of(pins)
    upper = min(first_bad(chain, bad) for bad in bad_sets)

    def stands(candidate: Candidate, why: str) -> Standing:
        return Standing.FAIL if fails(candidate, list(bad_sets)) else Standing.PASS

    return certify(chain, upper - 1, upper, stands)


def test_a_single_culprit_fails_alone_and_its_removal_mends_the_bad_set() -> None:
    assert certificate(4, {"p2"}) == Certificate(Standing.FAIL, Standing.PASS)


@given(st.sets(st.integers(0, 5), min_size=2))
def test_the_partners_are_exactly_the_other_pins_that_the_failure_needs(needed: set[int]) -> None:
    names = {f"p{number}" for number in needed}
    found = certificate(6, names)
    assert found.alone_on_good is Standing.PASS
    assert found.removed_from_bad is Standing.PASS
    assert {pin for pin, _ in found.partners} == names - {f"p{max(needed)}"}
    assert found.partners_certain


def test_a_second_independent_culprit_shows_when_the_first_is_taken_out() -> None:
    found = certificate(4, {"p1"}, {"p3"})
    assert (found.alone_on_good, found.removed_from_bad) == (Standing.FAIL, Standing.FAIL)


def test_partners_that_could_not_be_checked_are_said_to_be_uncertain() -> None:
    chain = chain_of(3)

    def stands(candidate: Candidate, why: str) -> Standing:
        if why.startswith("partners"):
            return Standing.NOT_RUN
        return Standing.FAIL if fails(candidate, [{"p0", "p2"}]) else Standing.PASS

    assert not certify(chain, 2, 3, stands).partners_certain
