"""The reports as a reader gets them, held by files; `UPDATE_GOLDEN=1` writes them anew, to be looked at."""

import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bisector.report.json_writer import render_json
from pins.hazards.check import check
from pins.hazards.table import chosen
from pins.report.blocks import Document
from pins.report.hazards_document import check_document
from pins.report.hazards_text import check_text
from pins.report.html import render_html
from pins.report.markdown import render_markdown
from pins.report.suggest_document import suggest_document
from pins.report.text import render_text
from pins.suggest.bisection import read_bisection
from pins.suggest.suggesting import SuggestRequest, suggest
from tests import example_results
from tests.hazards.subjects import subject_of
from tests.suggest.dockerfiles import DOCKERFILE, RELEASES

GOLDEN = Path(__file__).parent / "golden"
HAZARDOUS = DOCKERFILE.replace('"f0b55c0"', '"f0b55c0" # release/3.7 as of 08/18')


def suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Document:
    monkeypatch.chdir(tmp_path)
    Path("Dockerfile").write_text(DOCKERFILE)
    bisected = read_bisection(render_json(example_results.CULPRIT), "result.json")
    request = SuggestRequest(
        Path("Dockerfile"),
        date(2026, 11, 4),
        (bisected,),
        reproduce="pins suggest Dockerfile --run result.json",
        data_time=datetime(2026, 11, 4, 9, 30, tzinfo=UTC),
    )
    report, _ = suggest(request, lambda names: {name: RELEASES[name] for name in names if name in RELEASES})
    return suggest_document(report, all_windows=True)


def agrees(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_the_suggestion_reads_as_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = suggestion(tmp_path, monkeypatch)
    agrees("suggest.txt", render_text(document, 100, color=False))
    agrees("suggest.md", render_markdown(document))
    agrees("suggest.html", render_html(document))


def test_the_check_reads_as_it_did() -> None:
    hazards = check([subject_of(HAZARDOUS)], chosen((), ()))
    agrees("check.txt", check_text(hazards, 1, width=100, color=False))
    agrees("check.md", render_markdown(check_document(hazards, 1)))
    agrees("check.html", render_html(check_document(hazards, 1)))
