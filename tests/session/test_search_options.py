"""What a search may be told: that the fix is sought, whom to suspect, a number that decides, to find every culprit."""

import json
from pathlib import Path

import pytest

from bisector import Outcome, Result, Verdict, bisect
from bisector.recomputation import recompute
from bisector.report import render
from bisector.report.json_reader import read_result
from bisector.request import MetricRequest, Suspect
from pins.errors import UsageError
from tests.session.conftest import Ask

BROKEN_BEFORE_9 = '[ "$PIN_WIDGET" -ge 9 ] || { echo "ValueError: stuck" >&2; exit 1; }'


def step_of(result: Result) -> tuple[str, str, str]:
    assert result.culprit is not None, result.summary
    move = result.culprit.moves[0]
    return move.pin, move.old, move.new


def test_the_first_good_release_is_named_where_the_fix_is_sought(ask: Ask) -> None:
    result = bisect(ask(BROKEN_BEFORE_9, first_good=True))
    assert step_of(result) == ("widget", "9", "8")
    document = json.loads(render(result, "json"))
    assert document["sought"] == "first-good"
    assert (document["culprit"]["old"], document["culprit"]["new"]) == ("8", "9")
    assert read_result(render(result, "json")).culprit == result.culprit
    text = render(result, "text")
    assert "First good: widget 8 -> 9" in text
    assert "9" in next(line for line in text.splitlines() if line.strip().startswith("First good"))


def test_a_fix_in_one_of_two_pins_is_seen_to_be_enough_and_needed(ask: Ask) -> None:
    result = bisect(ask(BROKEN_BEFORE_9, "gadget=0..16", "widget=0..16", first_good=True))
    assert step_of(result) == ("widget", "9", "8")
    assert result.culprit is not None
    assert (result.culprit.alone_on_good, result.culprit.removed_from_bad) == ("fail", "pass")
    assert "it is enough" in render(result, "text")


def test_ends_where_the_newer_one_fails_do_not_bracket_a_fix(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 9 ]', first_good=True))
    assert result.verdict is Verdict.NO_BRACKET


def test_a_suspect_that_is_the_culprit_is_found_with_fewer_builds(ask: Ask) -> None:
    script = '[ "$PIN_WIDGET" -lt 13 ]'
    plain = bisect(ask(script))
    told = bisect(ask(script, suspects=(Suspect("widget", "13"),)))
    assert step_of(told) == step_of(plain) == ("widget", "12", "13")
    assert told.builds == 4 < plain.builds


def test_a_wrong_suspect_costs_builds_but_not_the_answer(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 13 ]', suspects=(Suspect("widget", "3"),)))
    assert step_of(result) == ("widget", "12", "13")


def test_a_suspected_pin_is_looked_at_first(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_GADGET" -lt 5 ]', "widget=0..16", "gadget=0..16", suspects=(Suspect("gadget"),)))
    assert step_of(result) == ("gadget", "4", "5")
    searched = [probe for probe in result.probes if probe.why == "search"]
    assert all(probe.candidate["widget"] == "16" for probe in searched)


@pytest.mark.parametrize("suspect", [Suspect("other"), Suspect("widget", "99"), Suspect("widget", word="kernel")])
def test_a_suspect_that_does_not_exist_is_refused(ask: Ask, suspect: Suspect) -> None:
    with pytest.raises(UsageError, match="suspect"):
        bisect(ask("true", suspects=(suspect,)))


def test_a_number_that_passes_its_limit_is_a_failure(ask: Ask) -> None:
    script = 'echo "warming up"; echo "seconds=$((PIN_WIDGET / 4)).5"'
    result = bisect(ask(script, metric=MetricRequest("seconds", 2.0, worse="higher")))
    assert step_of(result) == ("widget", "7", "8")
    assert result.metric is not None
    assert result.metric.limit == 2.0
    document = json.loads(render(result, "json"))
    assert document["probes"][0]["runs"][0]["value"] == 0.5
    assert "seconds <= 2" in render(result, "text")


def test_the_limit_is_measured_at_the_good_end_and_noise_does_not_mislead(ask: Ask) -> None:
    script = """
base=1000; [ "$PIN_WIDGET" -ge 11 ] && base=880
noise=$(od -An -N1 -tu1 /dev/urandom)
echo "{\\"throughput\\": $((base + noise % 21 - 10)), \\"unit\\": \\"tokens/s\\"}\""""
    result = bisect(ask(script, metric=MetricRequest("throughput", regress=0.05)))
    assert step_of(result) == ("widget", "10", "11")
    assert result.metric is not None
    assert result.metric.good is not None
    assert result.metric.limit == pytest.approx(0.95 * result.metric.good[0])
    assert not result.metric.higher_is_worse
    assert result.metric.good[2] >= 5
    assert result.metric.bad is not None
    assert result.metric.bad[2] >= 5


def test_ends_that_differ_by_less_than_what_was_asked_for_do_not_bracket(ask: Ask) -> None:
    script = '[ "$PIN_WIDGET" -ge 11 ] && echo seconds=102 || echo seconds=100'
    result = bisect(ask(script, metric=MetricRequest("seconds", regress=0.05)))
    assert result.verdict is Verdict.NO_BRACKET
    assert "102" in result.summary
    assert "105" in result.summary


def test_a_missing_value_is_not_a_bad_value(ask: Ask) -> None:
    script = '[ "$PIN_WIDGET" = 8 ] && exit 0; [ "$PIN_WIDGET" -ge 12 ] && echo seconds=9 || echo seconds=1'
    result = bisect(ask(script, metric=MetricRequest("seconds", 5.0, worse="higher")))
    assert step_of(result) == ("widget", "11", "12")
    assert {probe.outcome for probe in result.probes if probe.candidate["widget"] == "8"} == {Outcome.SKIP}


def test_a_good_end_without_a_value_is_said(ask: Ask) -> None:
    result = bisect(ask("echo nothing", metric=MetricRequest("seconds", 5.0, worse="higher")))
    assert result.verdict is Verdict.NO_BRACKET
    assert "seconds=NUMBER" in result.summary


def test_a_script_that_breaks_down_at_the_bad_end_is_no_bad_value(ask: Ask) -> None:
    script = '[ "$PIN_WIDGET" -ge 9 ] && exit 3; echo seconds=1'
    result = bisect(ask(script, metric=MetricRequest("seconds", 5.0, worse="higher")))
    assert result.verdict is Verdict.NO_BRACKET
    assert "breaks down" in result.summary


TWO_CULPRITS = '[ "$PIN_GADGET" -lt 5 ] && [ "$PIN_WIDGET" -lt 3 ]'


def test_a_second_culprit_is_said_and_found_where_all_are_asked_for(ask: Ask) -> None:
    result = bisect(ask(TWO_CULPRITS, "widget=0..16", "gadget=0..16"))
    assert result.culprit is not None
    assert result.culprit.removed_from_bad == "fail"
    assert any("--all" in note for note in result.notes)
    result = bisect(ask(TWO_CULPRITS, "widget=0..16", "gadget=0..16", every_culprit=True))
    found = [culprit.moves[0] for culprit in (result.culprit, *result.further_culprits) if culprit]
    assert {(move.pin, move.old, move.new) for move in found} == {("gadget", "4", "5"), ("widget", "2", "3")}
    assert result.further_culprits[0].removed_from_bad == "pass"
    assert "Fails on its own, too" in render(result, "text")
    assert read_result(render(result, "json")).further_culprits == result.further_culprits


def test_a_single_culprit_is_found_once_where_all_are_asked_for(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_GADGET" -lt 5 ]', "widget=0..16", "gadget=0..16", every_culprit=True))
    assert step_of(result) == ("gadget", "4", "5")
    assert result.further_culprits == ()


def test_a_record_judged_as_before_gives_the_same_result(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 9 ]'))
    again = recompute(result.run_directory, {})
    assert again.culprit == result.culprit
    assert again.confidence == result.confidence
    assert (again.fail_if_bad, again.fail_if_good) == (result.fail_if_bad, result.fail_if_good)


def test_a_record_can_be_judged_otherwise(ask: Ask) -> None:
    script = """
[ "$PIN_WIDGET" -lt 6 ] && exit 0
[ "$PIN_WIDGET" -lt 11 ] && { echo "ImportError: gears" >&2; exit 1; }
echo "ValueError: the lever is stuck" >&2; exit 3"""
    result = bisect(ask(script))
    assert result.verdict is Verdict.RANGE
    again = recompute(str(Path(result.run_directory) / "journal.sqlite"), {"any_failure": True})
    assert again.verdict in (Verdict.CULPRIT, Verdict.UNDETERMINED)
    if again.verdict is Verdict.UNDETERMINED:
        assert "widget 5 -> 6" in again.summary
        assert "next would be" in again.summary


def test_a_machine_that_mends_itself_in_the_middle_is_no_pin(ask: Ask, tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f'echo x >>{count}; [ "$(wc -l <{count})" -gt 5 ] || [ "$PIN_WIDGET" -lt 9 ]'
    result = bisect(ask(script))
    assert result.verdict in (Verdict.ENVIRONMENT, Verdict.NO_BRACKET, Verdict.UNDETERMINED)


def test_the_bad_end_runs_once_more_before_anything_is_blamed(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 9 ]'))
    assert result.control == (Outcome.FAIL,)
    assert "The bad end once more, before blaming" in render(result, "text")


def test_with_a_trusted_script_the_bad_end_runs_once(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 9 ]', repeat=1))
    assert result.control == ()
