"""What could not be built: remembered with its log, and built again only on request."""

from pathlib import Path
from typing import Literal

import pytest

from bisector.disk_budget import given_up
from bisector.entries import BuildStatus, ProbeEntry
from bisector.journal import Journal
from bisector.model import Build, Candidate, Ended
from bisector.record import Shown, Tried
from bisector.report.model import Verdict
from bisector.runs import JOURNAL
from bisector.session import bisect, resume
from bisector.smoke import Observation
from tests.session.conftest import Ask

FAILS_UNTIL_MENDED = (
    'echo "$PIN_WIDGET" >> $START_DIRECTORY/built; echo "no compiler" >&2; [ -e $START_DIRECTORY/mended ]'
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def built(here: Path) -> list[str]:
    return (here / "built").read_text().split()


def test_a_failed_build_is_kept_with_its_log_and_not_made_again_unless_asked(ask: Ask, here: Path) -> None:
    build = f'[ "$PIN_WIDGET" = 0 ] || [ "$PIN_WIDGET" = 16 ] || {{ {FAILS_UNTIL_MENDED}; }}'
    result = bisect(ask('[ "$PIN_WIDGET" -lt 9 ]', build=build, repeat=1))
    assert result.verdict is Verdict.RANGE
    first = built(here)
    assert len(first) == len(set(first)), "each once"
    failed = [probe for probe in result.probes if probe.outcome == "UNBUILDABLE"]
    assert {probe.candidate["widget"] for probe in failed} == set(first)
    assert all("no compiler" in Path(probe.build_log).read_text() for probe in failed)

    (here / "mended").touch()
    assert resume(result.run_directory).verdict is Verdict.RANGE
    assert built(here) == first, "it is remembered"

    mended = resume(result.run_directory, retry_builds=True)
    assert mended.verdict is Verdict.CULPRIT
    assert mended.culprit is not None
    assert (mended.culprit.moves[0].old, mended.culprit.moves[0].new) == ("8", "9")
    assert len(built(here)) > len(first)
    journal = Journal(Path(result.run_directory) / JOURNAL, writable=False)
    assert sum(build.status is BuildStatus.ABANDONED for build in journal.builds()) == len(first)
    journal.close()


def tried(name: str, kind: Literal["pass", "fail", "skip"] | None = None) -> Tried:
    candidate = Candidate((("widget", name),))
    entry = ProbeEntry(f"p{name}", candidate, "", None)  # type: ignore[arg-type]
    shown = [Shown(Ended(0), Observation(kind), 1)] if kind else []
    return Tried(entry, build=Build(name, name), shown=shown)


def test_the_oldest_go_first_then_what_the_search_is_between_and_the_ends_last() -> None:
    good, bad = tried("good", "pass"), tried("bad", "fail")
    passed, failed, failed_again, skipped = (
        tried("a", "pass"),
        tried("b", "fail"),
        tried("c", "fail"),
        tried("d", "skip"),
    )
    every = [good, bad, passed, failed, failed_again, skipped]
    sizes = [10] * len(every)

    def names(needed: set[Candidate], excess: int) -> list[str]:
        return [one.candidate["widget"] for one in given_up(every, needed, excess, sizes)]

    assert names(set(), 0) == []
    assert names(set(), 11) == ["b", "d"]
    assert names(set(), 60) == ["b", "d", "a", "c", "good", "bad"]
    assert names({failed.candidate, good.candidate}, 60) == ["d", "a", "c", "bad"]
