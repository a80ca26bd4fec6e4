"""Bounds that keep out what broke, and nothing more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from pins.model import Form, Pin, PinKind
from pins.suggest.choose import ascending, capped, options_for
from pins.suggest.model import Policy, SuggestionKind

VERSIONS = [f"{a}.{b}.{c}" for a in range(4) for b in range(3) for c in range(3)]
versions = st.sampled_from(VERSIONS)
clauses = st.builds("{}{}".format, st.sampled_from(["<", "<=", ">=", "!=", ">"]), versions)


@given(st.lists(clauses, max_size=3).map(",".join), versions)
def test_a_cap_takes_away_the_bad_version_and_what_follows_and_nothing_else(existing: str, bad: str) -> None:
    before, after = SpecifierSet(existing), SpecifierSet(capped(existing, bad))
    wanted = [v for v in before.filter(VERSIONS) if SpecifierSet(f"<{bad}").contains(v)]
    assert list(after.filter(VERSIONS)) == wanted


@pytest.mark.parametrize(
    ("existing", "bad", "wanted"),
    [
        (None, "3.1.0", "<3.1.0"),
        (">=2.12", "3.1.0", ">=2.12,<3.1.0"),
        ("<4", "3.1.0", "<3.1.0"),
        ("!=3.0.2,<4,>=2", "3.1.0", "!=3.0.2,>=2,<3.1.0"),
        ("<3", "3.1.0", "<3"),
    ],
)
def test_what_the_file_says_stays_where_it_can(existing: str | None, bad: str, wanted: str) -> None:
    assert capped(existing, bad) == wanted


def pin(form: Form, value: str | None) -> Pin:
    return Pin("pybind11", PinKind.PACKAGE, value, "Dockerfile", 3, form=form)


def test_policies_choose_among_the_same_answers() -> None:
    found = {
        policy: options_for(pin(Form.OPEN, None), "3.0.4", "3.1.0", policy, current="3.0.3", lowest="3.0.0", ends=True)[
            0
        ]
        for policy in Policy
    }
    assert {policy: option.value for policy, option in found.items()} == {
        Policy.MINIMAL: "<3.1.0",
        Policy.NEWEST: "==3.0.4",
        Policy.LOWEST: "==3.0.0",
        Policy.EXACT: "==3.0.3",
    }


def test_a_place_that_holds_a_version_gets_a_version() -> None:
    (only,) = options_for(pin(Form.EXACT, "3.1.0"), "3.0.4", "3.1.0", Policy.MINIMAL, ends=True)
    assert (only.value, only.kind) == ("3.0.4", SuggestionKind.EXACT)


def test_versions_are_ordered_and_what_is_none_is_left_out() -> None:
    assert ascending(["3.10", "3.9", "2013-06-05", "3.9"]) == ["3.9", "3.10"]
