"""Outcomes that fall apart by time or by host are told from a flaky script's."""

import random
from pathlib import Path

import pytest

from bisector import Outcome, Verdict, bisect
from bisector.drift import Told, change_in, find_change
from tests.session.conftest import Ask

PASS, FAIL = Outcome.PASS, Outcome.FAIL


def in_order(word: str) -> list[Told]:
    return [Told(PASS if letter == "P" else FAIL, number) for number, letter in enumerate(word, start=1)]


def on_hosts(**hosts: str) -> list[Told]:
    return [Told(PASS if letter == "P" else FAIL, 0, host) for host, word in hosts.items() for letter in word]


@pytest.mark.parametrize("word", ["", "P", "PPPP", "PF", "PFFFFF", "FFFFP", "PFPF", "PPFFP", "FFPPFF"])
def test_no_change_is_seen_where_outcomes_agree_are_mixed_or_one_run_stands_alone(word: str) -> None:
    assert change_in(in_order(word)) is None


def test_a_change_says_when_and_what() -> None:
    change = change_in(in_order("FFFPPPPP"))
    assert change is not None
    assert (change.before, change.count_before, change.after, change.count_after) == (FAIL, 3, PASS, 5)
    assert change.since == 4
    assert str(change) == "FAIL in each of its first 3 runs, and PASS in each of the 5 since"


@pytest.mark.parametrize(("word", "certain"), [("FFPP", False), ("FFFPPPP", False), ("FFFFFPPPPP", True)])
def test_a_change_is_certain_once_a_flaky_script_hardly_gives_such_an_order(word: str, certain: bool) -> None:
    found = find_change({3: in_order(word)}, 0.01)
    assert found is not None
    assert found[0] == 3
    assert found[2] is certain


def test_one_candidate_with_mixed_outcomes_shows_that_the_script_is_flaky() -> None:
    assert find_change({3: in_order("FFFFFPPPPP"), 5: in_order("PFP")}, 0.01) is None


def test_hosts_that_disagree_are_named() -> None:
    change = change_in(on_hosts(one="PPPP", two="FFFF", three="PP"))
    assert change is not None
    assert change.hosts == (("one", "three"), ("two",))
    assert str(change) == "PASS in all 6 runs on one, three, FAIL in all 4 runs on two"


def test_a_host_with_both_outcomes_explains_nothing() -> None:
    assert change_in(on_hosts(one="PFPF", two="PFFP")) is None


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_a_flaky_script_is_hardly_ever_taken_for_a_change(rate: float) -> None:
    rng = random.Random(f"drift {rate}")
    wrong = 0
    for _ in range(2000):
        told: list[Told] = []
        for number in range(14):
            told.append(Told(FAIL if rng.random() < rate else PASS, number))
            found = find_change({0: told}, 0.01)
            if found is not None and found[2]:
                wrong += 1
                break
    assert wrong / 2000 <= 0.01


def test_a_bad_end_that_passes_after_a_while_is_no_pins_doing(ask: Ask, tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"""
[ "$PIN_WIDGET" = 15 ] && exit 0
echo x >>{count}; [ "$(wc -l <{count})" -gt 3 ]"""
    result = bisect(ask(script, "widget=15..16"))
    assert result.verdict is Verdict.ENVIRONMENT
    assert "widget=16 was FAIL in each of its first 3 runs, and PASS in each of the" in result.summary
    assert result.culprit is None


def test_a_failure_that_was_seen_once_and_never_again_is_said_to_be_either(ask: Ask, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f'[ "$PIN_WIDGET" -lt 9 ] || [ -e {seen} ] || {{ touch {seen}; exit 1; }}'
    result = bisect(ask(script))
    assert result.verdict is Verdict.NO_BRACKET
    assert "it fails seldom, or something outside the pins changed meanwhile" in result.summary


@pytest.mark.parametrize("workers", [2, 4])
def test_several_workers_run_the_control_once_and_certify_with_nothing_else_under_way(ask: Ask, workers: int) -> None:
    result = bisect(ask('[ "$PIN_GADGET" -lt 5 ]', "widget=0..16", "gadget=0..16", workers=workers))
    assert result.culprit is not None
    move = result.culprit.moves[0]
    assert (move.pin, move.old, move.new) == ("gadget", "4", "5")
    assert (result.culprit.alone_on_good, result.culprit.removed_from_bad) == ("fail", "pass")
    assert result.control == (Outcome.FAIL,)
