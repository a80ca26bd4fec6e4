"""The drawing of a search: in characters, in the page, and in a browser."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bisector.model import Outcome
from bisector.report import render
from bisector.report.model import BeliefPoint, Result
from tests.browser import THEMES, needs_browser, opened, violations
from tests.example_results import CULPRIT, PARTNERS, RANGE, one_pin, probe

LAST = 499


def large(probes: int = 500, culprit: int = 300) -> Result:
    """A run that tried every candidate of a chain of 500."""
    found = [probe(n, n, one_pin(f"1.{n}.0"), Outcome.PASS if n < culprit else Outcome.FAIL) for n in range(probes)]
    belief = tuple(
        BeliefPoint(f"p{n}", n, Outcome.PASS if n < culprit else Outcome.FAIL, *_around(n, culprit), n + 1, 0.5)
        for n in range(probes)
    )
    return replace(CULPRIT, probes=tuple(found), belief=belief, chain_length=LAST + 1)


def _around(n: int, culprit: int) -> tuple[int, int, int]:
    lower, upper = min(n, culprit - 1), LAST if n < culprit else culprit
    return lower, upper, upper - lower


def drawing_of(page: str) -> str:
    found = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert found
    return found.group()


def test_every_result_is_a_row_of_the_drawing_and_of_the_table_beside_it() -> None:
    page = render(CULPRIT, "html")
    drawing = drawing_of(page)
    assert drawing.count('class="bar"') == len(CULPRIT.belief)
    assert "4: PASS at pybind11 3.0.4; 2 steps left; likeliest: the step to pybind11 3.1.0 (98.6 %)" in drawing
    table = page[page.index("The same as a table") : page.index("The same as a table") + 6000]
    assert table[: table.index("</table>")].count("<tr>") == len(CULPRIT.belief) + 1


def test_the_drawing_is_one_picture_to_a_screen_reader_and_says_what_it_shows() -> None:
    drawing = drawing_of(render(CULPRIT, "html"))
    said = re.search(r'role="img" aria-label="([^"]*)"', drawing)
    assert said
    assert "6 candidates, 4 of them tried" in said.group(1)
    assert "After 10 results, 1 step of 5 held 99 % of the probability" in said.group(1)


def test_outcomes_differ_by_shape_and_side_not_by_colour_alone() -> None:
    drawing = drawing_of(render(PARTNERS, "html"))
    rows = drawing[drawing.index("steps left") :]
    assert rows.count("<circle") == 3  # two discs that passed, a ring for another failure
    assert rows.count('class="bad cross"') == 2
    assert rows.count("ring") == 1
    strip = drawing[: drawing.index("steps left")]
    sides = {re.search(r'<title>(\w+) at.*?y="(\d+)"', bar).groups() for bar in re.findall(r"<g>.*?</g>", strip)}  # type: ignore[union-attr]
    assert {outcome for outcome, _ in sides} == {"PASS", "FAIL", "OTHER"}
    assert len(sides) == 3


def test_witnesses_are_named_on_the_strip() -> None:
    drawing = drawing_of(render(CULPRIT, "html"))
    assert "last good: pybind11 3.0.4" in drawing
    assert "first bad: pybind11 3.1.0" in drawing


def test_a_report_without_a_record_of_beliefs_has_no_drawing() -> None:
    for form in ("html", "md", "text"):
        assert "How the belief narrowed" not in render(RANGE, form)
    assert "<svg" not in render(RANGE, "html")


def test_long_searches_are_drawn_from_both_ends_in_characters() -> None:
    text = render(large(), "text")
    part = text[text.index("How the belief narrowed") : text.index("Swap test")]
    assert "(484 more)" in part
    assert re.search(r"^ *1 ✓ ✓━+  499$", part, re.MULTILINE)
    assert re.search(r"^ *500 ✗ ·+━+·*✗  1$", part, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 100
    assert len(render(large(), "md").encode()) <= 60 * 1024


def test_a_drawing_of_five_hundred_probes_stays_small() -> None:
    page = render(large(), "html")
    assert len(page) < 900_000
    height = re.search(r'viewBox="0 0 1000 (\d+)', page)
    assert height
    assert int(height.group(1)) < 1000


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("theme", THEMES)
def test_a_browser_shows_the_report_without_an_error_a_request_or_an_obstacle(theme: str, tmp_path: Path) -> None:
    for name, result in (("small", PARTNERS), ("large", large())):
        page = tmp_path / f"{name}.html"
        page.write_text(render(result, "html"), encoding="utf-8")
        shown = opened(page, tmp_path, theme)
        assert shown.picture.stat().st_size > 10_000
        assert shown.console == ()
        assert shown.requested == set()
    assert violations(tmp_path / "small.html", tmp_path, theme) == []  # axe takes minutes for thousands of elements


@pytest.mark.slow
@needs_browser
def test_what_a_page_logs_or_asks_for_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text(
        '<!doctype html><html lang="en"><meta http-equiv="Content-Security-Policy" content=""><title>x</title><body>'
        '<main><img src="http://127.0.0.1:9/x.png"></main><script>console.error("broken")</script></body></html>'
    )
    shown = opened(page, tmp_path)
    assert any("broken" in line for line in shown.console)
    assert shown.requested == {"http://127.0.0.1:9/x.png"}
    assert any(found.startswith("image-alt: ") for found in violations(page, tmp_path))
