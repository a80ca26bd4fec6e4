"""What is known of releases is held by real cases that were run: the version, and the words of the failure."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pins.suggest.bisection import Bisected
from pins.suggest.known import KNOWN_BREAKS, KnownBreak, breaks_behind, shared_breaks
from pins.suggest.suggesting import SuggestRequest, suggest

TESTS = Path(__file__).resolve().parents[1]
IDS = [f"{entry.name}-{entry.first}-{entry.case}" for entry in KNOWN_BREAKS]


def case_of(entry: KnownBreak) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TESTS / "cases" / entry.case / "case.json").read_text())
    return found


def recorded(entry: KnownBreak) -> str:
    """What the first bad release printed when the case was run."""
    record = json.loads((TESTS / "data" / "signatures" / f"{entry.case}.json").read_text())
    (failure,) = (one for one in record["failures"] if entry.first in one["versions"])
    return f"{failure['output']}\n{failure['errors']}"


@pytest.mark.parametrize("entry", KNOWN_BREAKS, ids=IDS)
def test_each_is_the_answer_of_a_case_and_in_the_words_of_its_failure(entry: KnownBreak) -> None:
    case = case_of(entry)
    if case["group"] == "C":  # a commit: the release that has it is held by the facts that source trees stand on
        assert entry.case == "git-setuptools-dash-keys"
        return
    assert case["first_bad"] == {"package": entry.name, "version": entry.first}
    assert entry in breaks_behind(entry.name, entry.first, recorded(entry))


@pytest.mark.parametrize("entry", KNOWN_BREAKS, ids=IDS)
def test_each_says_where_it_can_be_read(entry: KnownBreak) -> None:
    assert entry.link.startswith("https://")
    assert entry.origin
    assert entry.signs
    assert ".".join(entry.first.split(".")[:2]).removesuffix(".0") in entry.reason


def test_one_release_with_several_changes_is_explained_by_the_one_that_was_seen() -> None:
    told = [entry for entry in KNOWN_BREAKS if (entry.name, entry.first) == ("numpy", "2.0.0")]
    assert len(told) == 3
    for entry in told:
        assert breaks_behind("numpy", "2.0.0", recorded(entry)) == [entry]


def test_another_failure_of_a_known_release_is_not_explained_by_what_is_known_of_it() -> None:
    assert breaks_behind("numpy", "2.0.0", "ValueError: operands could not be broadcast") == []
    assert breaks_behind("numpy", "2.0.1", "numpy.dtype size changed") == []


def test_only_what_compiled_modules_share_speaks_without_a_run() -> None:
    assert [entry.first for entry in shared_breaks("pybind11")] == ["3.1.0"]
    assert shared_breaks("numpy") == []


def test_a_bisected_release_is_explained_with_its_source(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text("FROM ubuntu:22.04\nRUN pip install setuptools\n")
    found = Bisected(
        "setuptools", "package", "81.0.0", "82.0.0", 0.999, "", "", "No module named <q>", (), (), (), "run-1", "",
        None, output="ModuleNotFoundError: No module named 'pkg_resources'",
    )  # fmt: skip
    report, _ = suggest(
        SuggestRequest(file, date(2026, 8, 19), (found,)), lambda _: {"setuptools": ("81.0.0", "82.0.0")}
    )
    (reason,) = [one for one in report.suggestions[0].because if one.link]
    assert reason.text == "setuptools 82.0.0 removed pkg_resources"
    assert reason.link == "https://setuptools.pypa.io/en/stable/history.html#v82-0-0"
