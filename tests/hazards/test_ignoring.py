"""Comments and a baseline that say what a person does not want to hear of."""

import pytest

from pins.errors import UsageError
from pins.hazards.check import check
from pins.hazards.ignoring import apply_baseline, apply_ignores, baseline_document, ignores_in, read_baseline
from pins.hazards.model import Hazard
from pins.hazards.table import chosen
from tests.hazards.subjects import subject_of

CLONE = "RUN git clone https://h.example/w.git \\\n    && cd w \\\n    && git checkout main\n"


def counting(text: str, rules: str = "moving-branch") -> list[Hazard]:
    subject = subject_of(text)
    hazards, _ = apply_ignores(check([subject], chosen([rules], ())), ignores_in(subject))
    return [hazard for hazard in hazards if not hazard.ignored]


def test_a_comment_above_an_instruction_is_for_all_its_lines() -> None:
    assert counting("FROM ubuntu:22.04\n" + CLONE)
    assert not counting("FROM ubuntu:22.04\n# pins: ignore[moving-branch] upstream wants it\n" + CLONE)


def test_a_comment_inside_an_instruction_is_for_the_next_line() -> None:
    inside = CLONE.replace("    && git", "    # pins: ignore[moving-branch] wanted\n    && git")
    assert not counting("FROM ubuntu:22.04\n" + inside)
    elsewhere = CLONE.replace("    && cd", "    # pins: ignore[moving-branch] wanted\n    && cd")
    assert counting("FROM ubuntu:22.04\n" + elsewhere)


def test_a_comment_for_another_rule_or_line_ignores_nothing() -> None:
    assert counting("FROM ubuntu:22.04\n# pins: ignore[short-commit] x\n" + CLONE)
    assert counting("FROM ubuntu:22.04\n# pins: ignore[moving-branch] x\nRUN ls\n" + CLONE)


def test_a_comment_can_be_for_the_whole_file() -> None:
    assert not counting("# pins: ignore-file[moving-branch, no-revision] a nightly image\nFROM ubuntu:22.04\n" + CLONE)


def test_a_comment_that_ignores_nothing_is_told() -> None:
    subject = subject_of("FROM ubuntu:22.04\n# pins: ignore[moving-branch] x\nRUN ls\n")
    _, unused = apply_ignores([], ignores_in(subject))
    assert [ignore.line for ignore in unused] == [2]


def test_a_baseline_stays_true_while_the_file_changes_elsewhere() -> None:
    rules = chosen(["moving-branch"], ())
    before = check([subject_of("FROM ubuntu:22.04\n" + CLONE)], rules)
    known = read_baseline(baseline_document(before), "b")
    moved = check([subject_of("FROM ubuntu:22.04\nRUN ls\nENV A=1\n" + CLONE)], rules)
    assert [h.ignored for h in apply_baseline(moved, known)] == ["in the baseline"]
    twice = check([subject_of("FROM ubuntu:22.04\n" + CLONE + CLONE.replace("w", "v"))], rules)
    assert [bool(h.ignored) for h in apply_baseline(twice, known)] == [True, False]


def test_another_document_is_no_baseline() -> None:
    for text in ("{", "[]", '{"schema": "pins.check/1", "hazards": []}'):
        with pytest.raises(UsageError):
            read_baseline(text, "b.json")
