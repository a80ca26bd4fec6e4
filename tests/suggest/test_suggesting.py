"""What is suggested from a bisect run, from what is known of releases, and what is not."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pytest

from bisector.report.json_writer import render_json
from bisector.report.model import Result
from pins.errors import SourceError, UndeterminedError, UsageError
from pins.suggest.bisection import read_bisection
from pins.suggest.model import Certainty, Policy, State, SuggestionKind, SuggestReport
from pins.suggest.suggesting import SuggestRequest, suggest
from pins.suggest.writing import Planned
from tests import example_results
from tests.suggest.dockerfiles import DOCKERFILE, RELEASES

TODAY = date(2026, 8, 19)


def releases_of(names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    return {name: RELEASES[name] for name in names if name in RELEASES}


def suggested(
    tmp_path: Path, *results: Result, text: str = DOCKERFILE, policy: Policy = Policy.MINIMAL
) -> tuple[SuggestReport, Planned]:
    file = tmp_path / "Dockerfile"
    file.write_text(text)
    bisected = tuple(read_bisection(render_json(result), "result.json") for result in results)
    return suggest(SuggestRequest(file, TODAY, bisected, policy, reproduce="pins suggest Dockerfile"), releases_of)


def test_the_culprit_of_a_run_is_capped_where_it_ships(tmp_path: Path) -> None:
    report, planned = suggested(tmp_path, example_results.CULPRIT)
    (found,) = report.suggestions
    assert (found.pin.line, found.now, found.suggested) == (3, "open (now 3.1.0)", "<3.1.0")
    assert (found.kind, found.certainty) == (SuggestionKind.HOLD, Certainty.BISECTED)
    assert "Cap pybind11 below 3.1.0" in report.headline
    assert "is the first that fails (bisected, 99.9 % sure)" in report.headline
    assert found.rebuilds == ("base", "build_triton", "final")
    assert found.not_enough == ("an edit of line 12 alone: stage docs is not part of what is built",)
    assert (found.until, found.review) == (
        "a release after 3.1.0 passes the script of run 2026-11-03-101500-pybind11",
        date(2026, 9, 18),
    )
    assert planned.files[0][2].decode() == DOCKERFILE.replace(
        "RUN pip install -U packaging 'cmake<4' ninja 'setuptools<80' pybind11 Cython",
        "# hold pybind11<3.1.0: 3.1.0 fails and 3.0.4 passes in bisect run\n"
        "#   2026-11-03-101500-pybind11; until a release after 3.1.0 passes (as of 2026-08-19, look\n"
        "#   again 2026-09-18)\n"
        "RUN pip install -U packaging 'cmake<4' ninja 'setuptools<80' 'pybind11<3.1.0' Cython",
    )


def test_the_chain_of_reasons_ends_at_the_line_of_the_user(tmp_path: Path) -> None:
    report, _ = suggested(tmp_path, example_results.CULPRIT)
    chain = report.suggestions[0].because
    assert chain[0].text == "pybind11: 3.1.0 fails in 4 runs and 3.0.4 passes in 4 runs"
    assert chain[-1].origin.endswith("Dockerfile:3")
    assert "gets 3.1.0 now" in chain[-1].text


def test_the_window_is_drawn_from_releases_and_runs(tmp_path: Path) -> None:
    report, _ = suggested(tmp_path, example_results.CULPRIT)
    versions = {v.version: v for v in report.suggestions[0].versions}
    assert list(versions) == RELEASES["pybind11"]
    assert versions["3.1.0"].state is State.EXCLUDED
    assert versions["3.1.0"].current
    assert versions["3.0.4"].suggested
    assert versions["3.0.2"].reason == "passes"
    assert versions["3.0.1"].reason == ""


def test_a_git_pin_goes_back_to_the_last_good_commit_and_says_what_else_is_needed(tmp_path: Path) -> None:
    report, planned = suggested(tmp_path, example_results.PARTNERS)
    found = next(s for s in report.suggestions if s.pin.name == "triton")
    assert (found.kind, found.suggested) == (SuggestionKind.COMMIT, "9c1ab00")
    texts = " ".join(reason.text for reason in found.because)
    assert "it takes pybind11" in texts
    assert "filelock moves with it, from 3.15.0 to 3.16.1" in texts
    assert any(r.value == "holding pybind11 instead" for r in found.rejected)
    assert b'ARG TRITON_BRANCH="9c1ab00"' in planned.files[0][2]


def test_without_a_run_the_known_break_is_inferred(tmp_path: Path) -> None:
    report, planned = suggested(tmp_path)
    (found,) = report.suggestions
    assert found.certainty is Certainty.INFERRED
    assert "PYBIND11_INTERNALS_VERSION" in found.because[0].text
    assert "internals version 12" in found.until
    assert b"'pybind11<3.1.0'" in planned.files[0][2]


def test_after_the_cap_nothing_is_suggested(tmp_path: Path) -> None:
    report, planned = suggested(tmp_path, text=DOCKERFILE.replace("pybind11 Cython", "'pybind11<3.1.0' Cython"))
    assert report.suggestions == ()
    assert planned.files == ()
    assert report.headline.startswith("Nothing to change")


def test_what_a_run_asks_for_and_the_file_has_already_is_said_and_not_changed(tmp_path: Path) -> None:
    text = DOCKERFILE.replace("pybind11 Cython", "'pybind11<3.1.0' Cython").replace("pybind11 sphinx", "sphinx")
    report, planned = suggested(tmp_path, example_results.CULPRIT, text=text)
    assert report.suggestions == ()
    assert planned.files == ()
    assert report.headline.endswith("line 3 holds pybind11 at <3.1.0 already")
    assert "3.1.0 fails" in next(k for k in report.kept if k.name == "pybind11").why


def test_the_policy_decides_what_comes_first(tmp_path: Path) -> None:
    report, _ = suggested(tmp_path, example_results.CULPRIT, policy=Policy.EXACT)
    assert [o.value for o in report.suggestions[0].options] == ["==3.0.4", "<3.1.0", "!=3.1.0"]
    assert report.headline.startswith("Pin pybind11 to 3.0.4")


def test_an_exact_pin_stays_exact(tmp_path: Path) -> None:
    report, planned = suggested(
        tmp_path, example_results.CULPRIT, text="FROM ubuntu:22.04\nARG P=3.1.0\nRUN pip install pybind11==${P}\n"
    )
    assert report.suggestions[0].suggested == "3.0.4"
    assert b"ARG P=3.0.4\n" in planned.files[0][2]


def test_a_source_that_cannot_be_read_is_told_and_does_not_end_it(tmp_path: Path) -> None:
    def unreadable(_: Sequence[str]) -> Mapping[str, Sequence[str]]:
        raise SourceError("the index is away")

    file = tmp_path / "Dockerfile"
    file.write_text(DOCKERFILE)
    bisected = read_bisection(render_json(example_results.CULPRIT), "r")
    report, _ = suggest(SuggestRequest(file, TODAY, (bisected,)), unreadable)
    assert report.suggestions[0].suggested == "<3.1.0"
    assert any("the index is away" in text for text in report.unknown)


def test_a_file_without_the_culprit_is_refused_with_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no pin 'pybind11'"):
        suggested(tmp_path, example_results.CULPRIT, text="FROM ubuntu:22.04\nRUN pip install numpy==1.26\n")


@pytest.mark.parametrize("result", [example_results.UNDETERMINED, example_results.RANGE])
def test_a_run_without_a_culprit_suggests_nothing(result: Result) -> None:
    with pytest.raises(UndeterminedError, match="names no culprit"):
        read_bisection(render_json(result), "r")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": "pins.show/1"}', '{"schema": "bisector.result/1", "verdict": 1']
)
def test_another_document_is_refused(text: str) -> None:
    with pytest.raises((UsageError, UndeterminedError)):
        read_bisection(text, "r")
