"""Builds that are given up where they take more room than they may."""

from datetime import UTC, datetime

import pytest

from bisector.cli.arguments import parse_size
from bisector.disk_budget import given_up
from bisector.entries import ProbeEntry
from bisector.model import Build, Candidate
from bisector.record import Tried
from pins.errors import UsageError


def tried(number: int) -> Tried:
    candidate = Candidate((("spam", str(number)),))
    entry = ProbeEntry(f"p{number}", candidate, "search", datetime(2026, 1, 1, tzinfo=UTC))
    return Tried(entry, build=Build(f"hash{number}", f"image{number}"))


EVERY = [tried(number) for number in range(5)]


def names(excess: int, *needed: int) -> list[str]:
    busy = {EVERY[number].candidate for number in needed}
    return [one.entry.id for one in given_up(EVERY, busy, excess, [10] * 5)]


def test_the_oldest_go_first_and_the_ends_last() -> None:
    assert names(0) == []
    assert names(1) == ["p2"]
    assert names(15) == ["p2", "p3"]
    assert names(1000) == ["p2", "p3", "p4", "p0", "p1"]


def test_what_something_runs_on_stays() -> None:
    assert names(1000, 2, 0) == ["p3", "p4", "p1"]


@pytest.mark.parametrize(("text", "size"), [("10", 10), ("2k", 2048), ("1.5G", 1610612736), ("1 GiB", 1 << 30)])
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text, "--disk") == size


@pytest.mark.parametrize("text", ["", "G", "0", "-1G", "1X"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--disk"):
        parse_size(text, "--disk")
