"""Whole runs, in the command environment against a small real package index."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from bisector import Outcome, Result, Verdict, bisect, plan, resume
from bisector.events import Event, SmokeEnded
from bisector.journal import Journal
from bisector.runs import JOURNAL, all_runs, driving, new_run_directory
from pins.errors import EnvironmentFailureError, UsageError
from tests.local_index import LocalIndex
from tests.session.conftest import PASSES_WHERE_WARM, Ask


def outcomes(result: Result) -> dict[str, Outcome]:
    return {str(probe.candidate): probe.outcome for probe in result.probes}


@pytest.mark.parametrize("culprit", [1, 2, 7, 15, 16])
def test_the_first_bad_release_is_named_within_the_bound_of_builds(ask: Ask, culprit: int) -> None:
    result = bisect(ask(f'[ "$PIN_WIDGET" -lt {culprit} ]'))
    assert result.verdict is Verdict.CULPRIT
    assert result.culprit is not None
    move = result.culprit.moves[0]
    assert (move.pin, move.old, move.new) == ("widget", str(culprit - 1), str(culprit))
    assert result.builds <= math.ceil(math.log2(16)) + 2


def test_culprit_and_predecessor_have_both_run_several_times(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 9 ]'))
    runs = {str(probe.candidate): [run.outcome for run in probe.runs] for probe in result.probes}
    assert runs["widget=9"].count(Outcome.FAIL) >= 3
    assert runs["widget=8"].count(Outcome.PASS) >= 3


def test_with_several_pins_the_swap_test_shows_that_the_culprit_is_enough(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_GADGET" -lt 5 ]', "widget=0..16", "gadget=0..16"))
    assert result.culprit is not None
    assert (result.culprit.moves[0].pin, result.culprit.moves[0].new) == ("gadget", "5")
    assert (result.culprit.alone_on_good, result.culprit.removed_from_bad) == ("fail", "pass")
    assert result.culprit.partners == ()


def test_a_failure_that_needs_two_pins_names_the_partner(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_GADGET" -lt 5 ] || [ "$PIN_WIDGET" -lt 3 ]', "widget=0..16", "gadget=0..16"))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "5"
    assert result.culprit.alone_on_good == "pass"
    assert [pin for pin, _ in result.culprit.partners] == ["widget"]


def test_releases_that_do_not_build_before_the_first_bad_one_make_a_range(ask: Ask) -> None:
    request = ask('[ "$PIN_WIDGET" -lt 9 ]', build='[ "$PIN_WIDGET" -lt 7 ] || [ "$PIN_WIDGET" -gt 8 ]')
    result = bisect(request)
    assert result.verdict is Verdict.RANGE
    assert [(move.old, move.new) for move in result.range] == [("6", "7"), ("7", "8"), ("8", "9")]


def test_a_candidate_that_the_script_skips_is_no_evidence(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" = 8 ] && exit 125; [ "$PIN_WIDGET" -lt 12 ]'))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "12"
    assert outcomes(result)["widget=8"] is Outcome.SKIP


def test_another_failure_before_the_culprit_is_told_apart_and_reported(ask: Ask) -> None:
    script = """
case "$PIN_WIDGET" in
    0|1|2|3|4|5) exit 0;;
    6|7|8|9) echo "ImportError: no module named gears" >&2; exit 1;;
    *) echo "ValueError: the lever is stuck" >&2; exit 3;;
esac"""
    result = bisect(ask(script))
    assert result.verdict is Verdict.RANGE
    assert {move.new for move in result.range} == {"6", "7", "8", "9", "10"}
    assert str(result.first_failing) in {f"widget={number}" for number in (6, 7, 8, 9)}
    assert result.other_failures


def test_any_failure_counts_when_asked(ask: Ask) -> None:
    script = '[ "$PIN_WIDGET" -lt 6 ] && exit 0; echo "E$PIN_WIDGET: odd thing" >&2; exit "$PIN_WIDGET"'
    result = bisect(ask(script, any_failure=True))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "6"


def test_only_output_that_matches_expect_counts(ask: Ask) -> None:
    script = '[ "$PIN_WIDGET" -lt 4 ] && exit 0; [ "$PIN_WIDGET" -lt 11 ] && echo noise >&2 || echo gears >&2; exit 1'
    result = bisect(ask(script, expect="gears"))
    assert result.verdict is Verdict.RANGE
    assert result.range[-1].new == "11"


@pytest.mark.parametrize(("script", "word"), [("exit 1", "good end fails"), ("exit 0", "bad end passes")])
def test_ends_that_do_not_bracket_are_said(ask: Ask, script: str, word: str) -> None:
    result = bisect(ask(script))
    assert result.verdict is Verdict.NO_BRACKET
    assert word in result.summary


def test_swapped_ends_are_recognised(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -gt 8 ]'))
    assert result.verdict is Verdict.NO_BRACKET
    assert "swap" in result.summary


def test_a_bad_end_that_does_not_build_names_the_option_for_failing_builds(ask: Ask) -> None:
    result = bisect(ask("true", build='[ "$PIN_WIDGET" -lt 9 ]'))
    assert result.verdict is Verdict.NO_BRACKET
    assert "--build-failure-is fail" in result.summary


def test_a_failing_build_can_be_what_is_sought(ask: Ask) -> None:
    from bisector.request import BuildFailureIs

    result = bisect(ask("true", build='[ "$PIN_WIDGET" -lt 9 ]', build_failure_is=BuildFailureIs.FAIL))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "9"


@pytest.mark.parametrize("environment", ["command", "venv"])
def test_an_artefact_in_home_or_caches_of_an_earlier_run_does_not_make_a_later_one_pass(
    ask: Ask, environment: str
) -> None:
    request = ask(PASSES_WHERE_WARM.format(culprit=6), "widget=3..9")
    result = bisect(replace(request, environment=environment))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "6"


def test_what_the_script_leaves_in_probe_output_is_kept_and_named(ask: Ask) -> None:
    result = bisect(ask('echo "$PIN_WIDGET" >"$PROBE_OUTPUT/dump"; [ "$PIN_WIDGET" -lt 6 ]'))
    assert (Path(result.culprit_output) / "dump").read_text() == "6\n"
    assert (Path(result.predecessor_output) / "dump").read_text() == "5\n"


def test_a_hanging_script_is_a_failure_where_the_bad_end_hangs_too(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 6 ] || sleep 60', smoke={"timeout": 0.5}, repeat=1))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "6"


def test_a_good_end_where_a_command_is_not_found_is_an_environment_error(ask: Ask) -> None:
    result = bisect(ask("no-such-command-anywhere"))
    assert result.verdict is Verdict.INFRASTRUCTURE
    assert "127" in result.summary


def test_a_command_not_found_at_a_bad_candidate_is_its_failure(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 6 ] || no-such-command-anywhere'))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "6"


def test_a_plan_builds_nothing_and_leaves_nothing(ask: Ask, tmp_path: Path) -> None:
    found = plan(ask(f"touch {tmp_path}/ran", build=f"touch {tmp_path}/built"))
    assert found.chain.steps == 16
    assert found.most_builds == 6
    assert found.expected_builds == 6.0
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "built").exists()
    assert all_runs() == []


def test_usage_errors_leave_no_run_behind(ask: Ask) -> None:
    with pytest.raises(UsageError, match="unknown"):
        bisect(ask("true", "no-such-package=1..2"))
    assert all_runs() == []


def test_a_budget_ends_the_run_with_the_suspects_left(ask: Ask) -> None:
    result = bisect(ask('sleep 0.3; [ "$PIN_WIDGET" -lt 6 ]', budget=0.9))
    assert result.verdict is Verdict.UNDETERMINED
    assert "budget" in result.summary
    assert resume(result.run_id, budget=60).verdict is Verdict.CULPRIT


def test_several_workers_give_the_same_answer(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 11 ]', workers=3))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "11"


def test_builds_are_removed_afterwards_unless_kept(ask: Ask) -> None:
    script = '[ "$PIN_WIDGET" -lt 11 ]'
    gone = bisect(ask(script))
    kept = bisect(ask(script, keep=True))
    assert not (Path(gone.run_directory) / "builds").exists()
    assert any((Path(kept.run_directory) / "builds").iterdir())


def test_credentials_of_the_index_are_nowhere_in_the_run(ask: Ask, local_index: LocalIndex) -> None:
    from dataclasses import replace

    from bisector.request import IndexRequest

    local_index.credentials("someone", "s3cr3t-w0rd")
    url = local_index.url.replace("://", "://someone:s3cr3t-w0rd@")
    request = replace(ask('[ "$PIN_WIDGET" -lt 11 ]'), index=IndexRequest(url), command_line=("bisector", "run", url))
    result = bisect(request)
    assert result.verdict is Verdict.CULPRIT
    for path in Path(result.run_directory).rglob("*"):
        if path.is_file():
            assert b"s3cr3t-w0rd" not in path.read_bytes(), path


def test_an_index_that_breaks_down_ends_the_run_with_an_environment_error(ask: Ask, local_index: LocalIndex) -> None:
    request = ask("true")
    local_index.fail_with(404)
    with pytest.raises((EnvironmentFailureError, UsageError)):
        bisect(request)


def test_the_witnesses_are_built_afresh_when_asked(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 6 ]', rebuild_witnesses=True))
    assert result.culprit is not None
    journal = Journal(Path(result.run_directory) / JOURNAL, writable=False)
    assert [run.why for run in journal.runs()][-2:] == ["predecessor, built afresh", "culprit, built afresh"]
    journal.close()
    witnesses = [probe for probe in result.probes if probe.step in (5, 6)]
    assert len(witnesses) == 2
    assert result.builds == len(result.probes) + 2


def test_a_verdict_that_a_fresh_build_contradicts_does_not_stand_on_one_side(ask: Ask, tmp_path: Path) -> None:
    built = f'n=$(cat {tmp_path}/n 2>/dev/null || echo 0); echo $((n + 1)) >{tmp_path}/n; echo "$n" >number'
    script = '[ "$PIN_WIDGET" -lt 6 ] || [ "$(cat "$BUILD_DIRECTORY"/number)" -ge 5 ]'
    result = bisect(ask(script, build=built, rebuild_witnesses=True, max_runs=60))
    assert result.confidence is None or result.confidence < 0.999


@pytest.mark.parametrize("once", ['echo "reset by peer" >&2; exit 7', "exit 125"])
@pytest.mark.parametrize("end", ["0", "16"])
def test_one_run_of_an_end_that_tells_nothing_is_not_the_last_word(
    ask: Ask, tmp_path: Path, once: str, end: str
) -> None:
    script = f"""
if [ "$PIN_WIDGET" = {end} ] && [ ! -e {tmp_path}/seen ]; then touch {tmp_path}/seen; {once}; fi
[ "$PIN_WIDGET" -lt 6 ] || {{ echo "gears are stuck" >&2; exit 1; }}"""
    result = bisect(ask(script, expect="gears"))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "6"


def test_one_other_failure_of_a_candidate_does_not_make_it_untestable(ask: Ask, tmp_path: Path) -> None:
    script = f"""
if [ ! -e {tmp_path}/$PIN_WIDGET ] && [ "$PIN_WIDGET" != 0 ] && [ "$PIN_WIDGET" != 16 ]; then
    touch {tmp_path}/$PIN_WIDGET; echo "OSError: reset by peer" >&2; exit 7
fi
[ "$PIN_WIDGET" -lt 6 ] || {{ echo "ValueError: gears are stuck" >&2; exit 1; }}"""
    result = bisect(ask(script))
    assert result.culprit is not None
    assert result.culprit.moves[0].new == "6"


def test_a_script_that_changes_during_a_run_stops_it(ask: Ask) -> None:
    result = bisect(ask('[ "$PIN_WIDGET" -lt 6 ] && echo "# more" >>"$0"; [ "$PIN_WIDGET" -lt 6 ]'))
    assert result.verdict is Verdict.INFRASTRUCTURE
    assert "smoke script" in result.summary
    assert "changed" in result.summary


def test_a_journal_that_is_removed_during_a_run_is_missed(ask: Ask, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailureError, match="removed"):
        bisect(ask(f'rm -f {tmp_path}/state/bisector/runs/*/journal.sqlite; [ "$PIN_WIDGET" -lt 6 ]'))


def test_ends_that_both_fail_to_build_do_not_bracket(ask: Ask) -> None:
    from bisector.request import BuildFailureIs

    result = bisect(ask("true", build="false", build_failure_is=BuildFailureIs.FAIL))
    assert result.verdict is Verdict.NO_BRACKET


def test_a_script_named_by_a_relative_path_is_found(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    request = ask('[ "$PIN_WIDGET" -lt 9 ]')
    monkeypatch.chdir(request.smoke.path.parent)
    relative = replace(request, smoke=replace(request.smoke, path=Path(request.smoke.path.name)))
    assert bisect(relative).verdict is Verdict.CULPRIT


def test_a_request_without_pins_is_refused(ask: Ask) -> None:
    with pytest.raises(UsageError, match="nothing to search"):
        bisect(replace(ask("true"), pins=()))
    assert all_runs() == []


def test_a_failure_is_told_in_its_own_words_while_the_run_is_under_way(ask: Ask) -> None:
    told: list[Event] = []
    bisect(ask('[ "$PIN_WIDGET" -lt 9 ] || { echo "ValueError: got 3 of 7" >&2; exit 1; }'), reporter=told.append)
    failed = [event for event in told if isinstance(event, SmokeEnded) and event.outcome is Outcome.FAIL]
    assert {event.detail for event in failed} == {"exit 1: ValueError: got 3 of 7"}


def test_how_often_an_end_failed_is_said_as_a_person_would(ask: Ask) -> None:
    reason = bisect(ask("exit 1")).summary
    assert "failed 1 times" not in reason
    assert "passed 0" not in reason


def test_a_run_that_loses_the_race_for_a_directory_leaves_it_to_the_other(ask: Ask, tmp_path: Path) -> None:
    place = tmp_path / "place"

    def another(asked_for: Path | None, *, room: str = "runs") -> Path:
        directory = new_run_directory(asked_for, room=room)
        (directory / JOURNAL).write_text("of another process")
        return directory

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bisector.session.new_run_directory", another)
        place.mkdir()
        with driving(place):
            (place / "lock").rename(tmp_path / "lock")  # the other process has not come so far yet when we look
            patch.setattr("bisector.runs.LOCK", "../lock")
            with pytest.raises(UsageError, match="driven by"):
                bisect(replace(ask("true"), run_directory=place))
    assert (place / JOURNAL).read_text() == "of another process"
