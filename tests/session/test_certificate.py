"""The swap test on simulated pins, each with several versions."""

from hypothesis import given
from hypothesis import strategies as st

from bisector.certificate import Certificate, Standing, certify
from bisector.model import Axis, AxisValue, Candidate
from bisector.space import chain_through
from pins.model import PinKind

VERSIONS = 5
Move = tuple[str, str]
Need = dict[str, int]
"""The failure needs each of these pins at this version or later."""


def axes_of(pins: int) -> list[Axis]:
    values = tuple(AxisValue(str(version)) for version in range(VERSIONS))
    return [Axis(f"p{n}", PinKind.PACKAGE, values) for n in range(pins)]


def fails(candidate: Candidate, needs: list[Need]) -> bool:
    return any(all(int(candidate[pin]) >= version for pin, version in need.items()) for need in needs)


def step_between(pins: int, good: Candidate, bad: Candidate, needs: list[Need]) -> tuple[Candidate, Candidate]:
    axes = [
        Axis(axis.pin, axis.kind, axis.values[int(good[axis.pin]) : int(bad[axis.pin]) + 1]) for axis in axes_of(pins)
    ]
    chain = chain_through(axes, [[axis] for axis in axes])
    upper = next(index for index, candidate in enumerate(chain.candidates) if fails(candidate, needs))
    return chain.candidates[upper - 1], chain.candidates[upper]


def certificate(pins: int, *needs: Need, cannot_be: frozenset[str] = frozenset()) -> tuple[Move, Certificate]:
    chain = chain_through(axes_of(pins), [[axis] for axis in axes_of(pins)])
    upper = next(index for index, candidate in enumerate(chain.candidates) if fails(candidate, list(needs)))

    def stands(candidate: Candidate, why: str) -> Standing:
        if str(candidate) in cannot_be:
            return Standing.INFEASIBLE
        return Standing.FAIL if fails(candidate, list(needs)) else Standing.PASS

    found = certify(chain, upper - 1, upper, stands, lambda good, bad: step_between(pins, good, bad, list(needs)))
    move = chain.moves(upper)[0]
    return (move.pin, move.new), found


def test_a_single_culprit_fails_alone_and_its_removal_mends_the_bad_set() -> None:
    assert certificate(4, {"p2": 3}) == (("p2", "3"), Certificate(Standing.FAIL, Standing.PASS))


@given(st.dictionaries(st.sampled_from([f"p{n}" for n in range(6)]), st.integers(1, VERSIONS - 1), min_size=2))
def test_the_partners_are_exactly_the_other_pins_that_the_failure_needs_at_their_first_versions(need: Need) -> None:
    culprit, found = certificate(6, need)
    assert found.alone_on_good is Standing.PASS
    assert found.removed_from_bad is Standing.PASS
    named = dict([culprit, *found.partners])
    assert named == {pin: str(version) for pin, version in need.items()}
    assert found.partners_certain
    assert found.first_values_certain


def test_a_second_independent_culprit_shows_when_the_first_is_taken_out() -> None:
    _, found = certificate(4, {"p1": 2}, {"p3": 1})
    assert (found.alone_on_good, found.removed_from_bad) == (Standing.FAIL, Standing.FAIL)


def test_a_culprit_that_cannot_be_resolved_alone_has_its_partners_found_by_taking_others_back() -> None:
    alone = "p0=0 p1=0 p2=2"
    culprit, found = certificate(3, {"p0": 3, "p2": 2}, cannot_be=frozenset({alone}))
    assert culprit == ("p2", "2")
    assert found.alone_on_good is Standing.INFEASIBLE
    assert found.partners == (("p0", "3"),)


def test_a_partner_whose_earlier_versions_cannot_be_resolved_is_named_at_the_first_that_can() -> None:
    cannot = frozenset(f"p0={version} p1=0 p2=2" for version in range(3))
    _, found = certificate(3, {"p2": 2}, cannot_be=frozenset({*cannot, "p0=0 p1=4 p2=2"}))
    assert found.partners == (("p0", "3"),)
    assert found.first_values_certain


def test_partners_that_could_not_be_checked_are_said_to_be_uncertain() -> None:
    chain = chain_through(axes_of(3), [[axis] for axis in axes_of(3)])
    need = [{"p0": 1, "p2": 1}]
    upper = next(index for index, candidate in enumerate(chain.candidates) if fails(candidate, need))

    def stands(candidate: Candidate, why: str) -> Standing:
        if why.startswith("partners"):
            return Standing.NOT_RUN
        return Standing.FAIL if fails(candidate, need) else Standing.PASS

    found = certify(chain, upper - 1, upper, stands, lambda good, bad: None)
    assert not found.partners_certain
    assert not found.first_values_certain
