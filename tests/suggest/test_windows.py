"""From windows to bounds: what the file gives now lies outside, or stays."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pytest

from pins.errors import NoSolutionError, UndeterminedError
from pins.report.suggest_document import suggest_document
from pins.report.text import render_text
from pins.report.windows_model import EnvironmentWindows
from pins.resolve.bounds import Bound, NotKnownVersion, PackageWindow, Side
from pins.resolve.problem import Constraint, Origin, OriginKind
from pins.resolve.sentences import Premise, Sentence
from pins.resolve.why import Answer, Explanation, Relaxation
from pins.suggest.model import Certainty, SuggestionKind, SuggestReport
from pins.suggest.suggesting import SuggestRequest, suggest

VERSIONS = ("79.0.1", "80.9.0", "81.0.0", "82.0.0", "82.0.1")


def window(premise: Premise, unknown: tuple[NotKnownVersion, ...] = ()) -> PackageWindow:
    because = (Sentence("torch 2.12.0 requires setuptools<82", (premise,)),)
    inside = VERSIONS[:3]
    return PackageWindow(
        "setuptools", "package", "", inside, "<82", "up to 81.0.0", "82.0.1", "81.0.0",
        (Bound(Side.UPPER, "82.0.0", because),), unknown, (),
    )  # fmt: skip


def suggested(tmp_path: Path, line: str, found: PackageWindow, before: str = "") -> SuggestReport:
    file = tmp_path / ("Dockerfile" if line.startswith("RUN") else "requirements.txt")
    file.write_text(f"FROM x:1\n{before}{line}\n" if line.startswith("RUN") else f"torch==2.12.0\n{line}\n")
    environments = [EnvironmentWindows("", "Python 3.12", "uv", True, (found,))]

    def releases(names: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {"setuptools": VERSIONS} if "setuptools" in names else {}

    return suggest(SuggestRequest(file, date(2026, 8, 19)), releases, lambda: (environments, ()))[0]


DECLARED = Premise("setuptools<82", "torch 2.12.0")
INFERRED = Premise("setuptools<82", "triton@f0b55c0:setup.py:12", OriginKind.INFERRED)


def test_what_is_upgraded_gets_the_bound_of_its_window_with_its_reasons(tmp_path: Path) -> None:
    report = suggested(tmp_path, "RUN pip install -U 'setuptools>=79'", window(DECLARED))
    (found,) = report.suggestions
    assert (found.suggested, found.kind, found.certainty) == (">=79,<82.0.0", SuggestionKind.CAP, Certainty.DECLARED)
    assert [(r.text, r.origin) for r in found.because] == [
        ("torch 2.12.0 requires setuptools<82", "torch 2.12.0"),
        ("line 2 gives 82.0.1 now", f"{tmp_path}/Dockerfile:2"),
    ]
    assert report.headline.startswith("Cap setuptools below 82.0.0 in ")
    assert found.until == ""
    assert "pins.toml" not in report.patch


def test_what_the_installer_keeps_inside_by_itself_needs_no_bound(tmp_path: Path) -> None:
    for line in ("setuptools>=79", "RUN pip install setuptools"):
        assert suggested(tmp_path, line, window(DECLARED)).suggestions == ()


def test_a_bound_that_no_installer_knows_is_inferred_and_needed(tmp_path: Path) -> None:
    (found,) = suggested(tmp_path, "RUN pip install setuptools", window(INFERRED)).suggestions
    assert found.certainty is Certainty.INFERRED


def test_what_was_installed_before_stays_where_nothing_upgrades_it(tmp_path: Path) -> None:
    before = "RUN pip install setuptools==80.9.0\n"
    report = suggested(tmp_path, "RUN pip install setuptools", window(INFERRED), before)
    assert report.suggestions == ()
    assert "80.9.0 is installed before" in {k.why for k in report.kept if k.line == 3}.pop()
    assert suggested(tmp_path, "RUN pip install -U setuptools", window(INFERRED), before).suggestions


def test_an_exact_pin_outside_moves_to_the_newest_inside(tmp_path: Path) -> None:
    (found,) = suggested(tmp_path, "setuptools==82.0.1", window(DECLARED)).suggestions
    assert (found.suggested, found.kind) == ("81.0.0", SuggestionKind.EXACT)


def test_what_is_inside_stays_and_says_so(tmp_path: Path) -> None:
    for line in ("setuptools<82", "setuptools==80.9.0"):
        report = suggested(tmp_path, line, window(DECLARED))
        assert report.suggestions == ()
        assert report.headline.startswith("Nothing needs to change")
        kept = next(k for k in report.kept if k.name == "setuptools")
        assert (kept.why, kept.window) == ("what it gives now is inside its window", "up to 81.0.0")


def test_what_is_not_known_is_no_reason_to_change(tmp_path: Path) -> None:
    unknown = (NotKnownVersion(("82.0.1",), "82.0.1", "its metadata cannot be read"),)
    report = suggested(tmp_path, "RUN pip install -U setuptools", window(DECLARED, unknown))
    assert report.suggestions == ()
    assert report.unknown == ("setuptools 82.0.1: its metadata cannot be read",)


def test_windows_that_cannot_be_told_at_all_end_it(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("a==1\n")

    def fails() -> tuple[Sequence[EnvironmentWindows], Sequence[str]]:
        raise NoSolutionError("the index is away")

    with pytest.raises(UndeterminedError, match="the index is away"):
        suggest(SuggestRequest(file, date(2026, 8, 19)), lambda _: {}, fails)


IMPOSSIBLE = Answer(
    "",
    None,
    explanation=Explanation(
        (Sentence("torch 2.6.0 requires nccl==2.21.5", ()), Sentence("nccl==2.25.1 is asked for (line 2)", ())), ()
    ),
    relaxations=(
        Relaxation((Constraint("nccl==2.25.1", Origin(OriginKind.GIVEN, "Dockerfile", 2)),), ("nccl 2.21.5",)),
    ),
)


def with_answer(tmp_path: Path, answer: Answer | None) -> SuggestReport:
    file = tmp_path / "Dockerfile"
    file.write_text("FROM ubuntu:22.04\nRUN pip install torch==2.6.0 nccl==2.25.1\n")
    found = [EnvironmentWindows("stage 0", "Python 3.12", "uv", False, (), answer=answer)]
    return suggest(SuggestRequest(file, date(2026, 8, 19)), lambda _: {}, lambda: (found, ()))[0]


def test_a_file_that_asks_for_what_cannot_be_is_not_said_to_need_no_change(tmp_path: Path) -> None:
    report = with_answer(tmp_path, IMPOSSIBLE)
    assert report.headline.startswith("One of the requirements of stage 0 in ")
    (conflict,) = report.conflicts
    assert conflict.because == ("torch 2.6.0 requires nccl==2.21.5", "nccl==2.25.1 is asked for (line 2)")
    assert conflict.ways == ("without nccl==2.25.1 (Dockerfile:2): nccl 2.21.5 would do",)
    assert {k.why.split(",")[0] for k in report.kept if k.name in {"torch", "nccl"}} == {"not judged"}
    text = render_text(suggest_document(report), 100, color=False)
    assert "What cannot be kept together: stage 0" in text
    assert "Nothing needs to change" not in text


def test_where_it_cannot_be_told_what_fits_nothing_is_said_to_be_well(tmp_path: Path) -> None:
    report = with_answer(tmp_path, Answer("", None, ("torch: its metadata cannot be read",)))
    assert report.headline.startswith("Whether anything needs to change in ")
    assert (
        "stage 0: whether anything fits together cannot be told: torch: its metadata cannot be read" in report.unknown
    )
    assert report.conflicts == ()
