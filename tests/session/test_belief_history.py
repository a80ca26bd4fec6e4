"""What a report says of how the belief narrowed, against what the search believes that is told everything at once."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from bisector import bisect
from bisector.belief_history import MASS, belief_history
from bisector.entries import RunEntry
from bisector.journal import Journal
from bisector.model import Outcome
from bisector.recorded_run import RecordedRun
from bisector.replay import Replay
from bisector.report.model import BeliefPoint
from bisector.runs import JOURNAL
from bisector.search import ChainSearch
from tests.session.conftest import Ask

FAILS_FROM_9 = '[ "$PIN_WIDGET" -lt 9 ] || { echo "ValueError: no" >&2; exit 1; }'
ONE_FALSE_FAIL = (
    '[ "$PIN_WIDGET" -eq 4 ] && [ ! -e {seen} ] && touch {seen} && echo "ValueError: no" >&2 && exit 1\n' + FAILS_FROM_9
)


def recorded(directory: Path) -> RecordedRun:
    journal = Journal(directory / JOURNAL, writable=False)
    try:
        return RecordedRun(journal, directory)
    finally:
        journal.close()


def told_at_once(run: RecordedRun) -> ChainSearch:
    return Replay(run.request, run.chain, run.judge, tuple(run.tried.values())).search


@pytest.mark.parametrize(
    ("script", "build"),
    [
        (FAILS_FROM_9, "true"),
        (FAILS_FROM_9, '[ "$PIN_WIDGET" -ne 8 ] && [ "$PIN_WIDGET" -ne 4 ]'),
        ('[ "$PIN_WIDGET" -ne 8 ] || exit 125\n' + FAILS_FROM_9, "true"),
        ('[ "$PIN_WIDGET" -ne 4 ] || { echo "KeyError: other" >&2; exit 1; }\n' + FAILS_FROM_9, "true"),
        (ONE_FALSE_FAIL, "true"),
    ],
    ids=["sound", "unbuildable", "skipped", "another-failure", "flaky"],
)
def test_the_last_point_is_what_a_search_believes_that_is_told_everything_at_once(
    ask: Ask, tmp_path: Path, script: str, build: str
) -> None:
    result = bisect(ask(script.replace("{seen}", str(tmp_path / "seen")), build=build))
    record = recorded(Path(result.run_directory))
    points = belief_history(record)
    search = told_at_once(record)
    last = points[-1]
    assert (last.lower, last.upper) == search.belief.interval(MASS)
    assert last.steps == min(search.suspects_left(MASS), 16)
    likeliest, probability = search.suspects(1)[0]
    assert last.likeliest == likeliest
    assert last.probability == pytest.approx(probability)
    assert result.belief == points
    on_chain = [probe for probe in result.probes if probe.step is not None]
    assert len(points) == sum(len(probe.runs) or probe.outcome is Outcome.UNBUILDABLE for probe in on_chain)
    assert {point.probe for point in points} == {probe.id for probe in on_chain}


def test_a_sound_script_halves_what_is_left_and_a_false_fail_widens_it_again(ask: Ask, tmp_path: Path) -> None:
    sound = [point.steps for point in bisect(ask(FAILS_FROM_9)).belief]
    assert all(after <= before + 1 for before, after in pairwise(sound))  # a tail of doubt comes and goes
    assert sound[0] == 16
    assert sound[3] <= 8
    assert sound[-1] == 1
    script = ONE_FALSE_FAIL.replace("{seen}", str(tmp_path / "seen")).replace("-eq 4", "-eq 8")
    flaky = [point.steps for point in bisect(ask(script)).belief]
    assert any(after > before + 1 for before, after in pairwise(flaky))
    assert flaky[-1] == 1


def test_entries_count_when_they_were_completed_not_when_they_began(ask: Ask) -> None:
    record = recorded(Path(bisect(ask(FAILS_FROM_9, workers=2)).run_directory))
    ended = [_ended(one) for one in record.runs if one.ended is not None]
    probe_order = [entry.probe for entry in sorted(record.runs, key=_ended)]
    assert [point.probe for point in belief_history(record)] == probe_order
    assert len(ended) == len(probe_order)


def _ended(entry: RunEntry) -> datetime:
    return entry.started + timedelta(seconds=entry.ended.seconds) if entry.ended else datetime.max.replace(tzinfo=UTC)


def test_a_long_record_of_many_candidates_costs_no_more_than_a_bounded_number_of_beliefs(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = recorded(Path(bisect(ask(FAILS_FROM_9)).run_directory))
    whole = belief_history(record)
    monkeypatch.setattr("bisector.belief_history.MOST_WORK", 10)
    thinned = belief_history(record)
    assert len(thinned) < len(whole)
    assert thinned[-1] == whole[-1]
    assert set(thinned) <= set[BeliefPoint](whole)
