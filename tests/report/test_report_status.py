from dataclasses import replace
from datetime import timedelta

import pytest

from bisector.report.model import AxisSummary
from bisector.report.status import render_status
from pins.report.characters import width
from tests.example_results import CREATED, CULPRIT, EXAMPLES, INTERRUPTED

LATER = CREATED + timedelta(minutes=12, seconds=5)


def test_running_run_says_what_runs_and_what_is_known() -> None:
    shown = render_status(INTERRUPTED, now=LATER, activity=["building pyyaml 5.4.1 (search), 12 s"])
    assert shown.startswith("Running\n")
    assert "✓···✓···✗" in shown
    assert "building pyyaml 5.4.1 (search), 12 s" in shown
    assert "12 min 05 s ago" in shown
    assert "4 steps between them" in shown
    assert INTERRUPTED.run_directory in shown
    assert "bisector resume" not in shown


def test_stopped_run_says_how_to_go_on() -> None:
    shown = render_status(INTERRUPTED, now=LATER)
    assert shown.startswith("Interrupted before the verdict\n")
    assert INTERRUPTED.resume in shown


def test_running_run_between_two_activities_is_still_running() -> None:
    assert render_status(INTERRUPTED, now=LATER, running=True).startswith("Running\n")


def test_finished_run_says_its_verdict() -> None:
    assert render_status(CULPRIT, now=LATER).startswith("First bad: pybind11 3.0.4 -> 3.1.0\n")


@pytest.mark.parametrize("columns", [60, 100])
@pytest.mark.parametrize("name", EXAMPLES)
def test_status_is_short_and_fits(name: str, columns: int) -> None:
    many = tuple(AxisSummary(f"pin{number}", "package", "1", "2", 2) for number in range(30))
    for result in (EXAMPLES[name], replace(EXAMPLES[name], axes=many)):
        lines = render_status(result, now=LATER, activity=["building"], width=columns).splitlines()
        assert len(lines) <= 30
        assert all(width(line) <= columns or " " not in line.strip() for line in lines)
