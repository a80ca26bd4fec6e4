"""Holds in pins.toml: written without touching what else stands there."""

import tomllib
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pins.errors import UsageError
from pins.suggest.holds import Hold, read_holds, with_hold

HOLD = Hold(
    "pybind11",
    "pybind11<3.1.0",
    "docker/Dockerfile",
    "3.1.0 fails",
    "a later release passes",
    date(2026, 8, 19),
    date(2026, 9, 18),
    "bisect run x",
)
OTHER = b'# ours\n[[pattern]]\nfile = "ci/*.yaml"\nregex = "REF: (\\\\S+)"\nname = "w"\n\n# of last year\n[[hold]]\npin = "a"\nrequirement = "a<2"\nreason = "r"\nsince = 2025-01-01\n'  # noqa: E501


def test_a_hold_is_read_as_it_was_written() -> None:
    assert read_holds(with_hold(b"", HOLD)) == [HOLD]


def test_what_else_the_file_says_stays_byte_for_byte() -> None:
    data = with_hold(OTHER, HOLD)
    assert data.startswith(OTHER)
    assert [hold.pin for hold in read_holds(data)] == ["a", "pybind11"]


def test_a_hold_of_the_same_pin_and_file_is_replaced_in_its_place() -> None:
    both = with_hold(with_hold(OTHER, HOLD), replace(HOLD, file="other"))
    later = replace(HOLD, requirement="pybind11<3.2", since=date(2026, 10, 1))
    data = with_hold(both, later)
    assert read_holds(data)[1:] == [later, replace(HOLD, file="other")]
    assert data.startswith(OTHER)
    assert with_hold(data, later) == data


def test_comments_between_tables_stay_with_the_next() -> None:
    data = with_hold(b"", HOLD) + b"\n# about b\n[b]\nx = 1\n"
    assert with_hold(data, replace(HOLD, reason="new")).endswith(b"\n# about b\n[b]\nx = 1\n")


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_text_survives(text: str) -> None:
    (hold,) = read_holds(with_hold(b"", replace(HOLD, reason=text)))
    assert hold.reason == text


@pytest.mark.parametrize(
    "data",
    [b"[[hold]\n", b"hold = 3\n", b"[[hold]]\npin = 1\n", b'[[hold]]\npin = "a"\nrequirement = "a<2"\n'],
)
def test_a_wrong_file_is_refused_with_its_name(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"pins\.toml"):
        read_holds(data)


def test_a_hold_written_by_hand_needs_its_requirement_and_reason_only() -> None:
    (hold,) = read_holds(b'[[hold]]\nrequirement = "a<2"\nreason = "r"\n')
    assert (hold.pin, hold.since, hold.until) == ("a", None, "")


def test_a_hold_of_a_commit_has_a_value() -> None:
    commit = replace(HOLD, pin="triton", requirement="", value="9c1ab00")
    assert read_holds(with_hold(b"", commit)) == [commit]


def test_the_file_stays_toml_when_lines_end_as_on_windows() -> None:
    data = with_hold(OTHER.replace(b"\n", b"\r\n"), HOLD)
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert len(tomllib.loads(data.decode())["hold"]) == 2
