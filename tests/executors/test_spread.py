"""Runs over several hosts, small ones of this machine, whose failures are provoked."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bisector import session
from bisector.cli.activity import activity_of
from bisector.environments.base import UnhealthyError
from bisector.executors.health import command_at
from bisector.model import Outcome
from bisector.report.model import Result, Verdict
from bisector.runs import find_run
from pins.errors import EnvironmentFailureError, UsageError
from tests.executors.ray_clusters import BROKEN_FROM_9, answered, keeping_notes
from tests.executors.small_hosts import SmallHost, Trouble, over
from tests.session.conftest import Ask


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[SmallHost]:
    """Two, `a` and `b`."""
    found = [SmallHost(name, tmp_path / "hosts" / name) for name in ("a", "b")]
    over(found, monkeypatch)
    return found


def nothing_bad(result: Result) -> None:
    """No outcome but those that the script itself gives."""
    outcomes = {run.outcome for probe in result.probes for run in probe.runs} | {
        probe.outcome for probe in result.probes
    }
    assert outcomes <= {Outcome.PASS, Outcome.FAIL, Outcome.INFRA}, outcomes
    for probe in result.probes:
        bad = int(probe.candidate["widget"]) >= 9
        assert {run.outcome for run in probe.runs} <= {Outcome.FAIL if bad else Outcome.PASS}, probe


def after(count: int, kind: str, error: EnvironmentFailureError, *, gone: str = "") -> Trouble:
    """All is well so often; from then on each piece of work of this kind fails, and the host may be gone with it."""

    def trouble(host: SmallHost, what: str) -> None:
        if what == kind and host.count(kind) > count:
            host.gone = gone
            raise error

    return trouble


def test_work_is_spread_and_each_candidate_runs_where_it_was_built(hosts: list[SmallHost], ask: Ask) -> None:
    result = session.bisect(ask(BROKEN_FROM_9, workers=2))
    answered(result)
    nothing_bad(result)
    assert all(host.count("build") for host in hosts)
    assert not [path for host in hosts for path in host.room.iterdir()], "what was built is removed everywhere"
    assert result.facts["host a"] == "kernel 6.1"


@pytest.mark.parametrize("kind", ["build", "run"])
def test_a_host_that_goes_away_loses_nothing(hosts: list[SmallHost], ask: Ask, kind: str) -> None:
    hosts[1].trouble = after(1, kind, EnvironmentFailureError("the wire was cut"), gone="it does not answer")
    said: list[str] = []
    result = session.bisect(ask(BROKEN_FROM_9, workers=2), reporter=keeping_notes(said))
    answered(result)
    nothing_bad(result)
    assert any("the host b is gone, and set aside: it does not answer; what was done there is lost" in s for s in said)


@pytest.mark.parametrize("kind", ["build", "run"])
def test_a_host_that_answers_and_fails_repeatedly_is_set_aside(hosts: list[SmallHost], ask: Ask, kind: str) -> None:
    hosts[1].trouble = after(0, kind, EnvironmentFailureError("its disk is full"))
    said: list[str] = []
    result = session.bisect(ask(BROKEN_FROM_9, workers=2), reporter=keeping_notes(said))
    answered(result)
    nothing_bad(result)
    assert hosts[1].count(kind) == 2
    assert any(
        "the host b fails, and set aside: it failed 2 times in a row, at last: its disk is full" in s for s in said
    )


def test_a_sick_host_is_set_aside_at_once(hosts: list[SmallHost], ask: Ask) -> None:
    hosts[1].trouble = after(0, "run", UnhealthyError("the device does not answer"))
    result = session.bisect(ask(BROKEN_FROM_9, workers=2))
    answered(result)
    nothing_bad(result)
    assert hosts[1].count("run") == 1


def test_a_failure_that_passes_costs_one_more_try(hosts: list[SmallHost], ask: Ask) -> None:
    def once(host: SmallHost, kind: str) -> None:
        if kind == "run" and host.count("run") == 2:
            raise EnvironmentFailureError("a worker was killed for memory")

    hosts[1].trouble = once
    made = session.bisect(ask(BROKEN_FROM_9, workers=2))
    answered(made)
    nothing_bad(made)
    assert hosts[1].count("run") > 2, "it goes on with the host"


def test_work_that_is_lost_again_and_again_stops_the_run_and_nothing_is_concluded(
    hosts: list[SmallHost], ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    over(hosts[:1], monkeypatch)
    hosts[0].trouble = after(2, "run", EnvironmentFailureError("a worker was killed for memory"))
    result = session.bisect(ask(BROKEN_FROM_9))
    assert result.verdict is Verdict.INFRASTRUCTURE
    assert "was begun 4 times, and lost each time" in result.summary
    assert "the host a failed: a worker was killed for memory (4 times)" in result.summary
    nothing_bad(result)
    hosts[0].trouble = lambda host, kind: None
    built = hosts[0].count("build")
    answered(session.resume(None))
    assert not [
        what for kind, what in hosts[0].done[:built] if kind == "build" and hosts[0].done.count((kind, what)) > 1
    ]


def test_when_all_hosts_are_gone_the_run_can_be_gone_on_with(hosts: list[SmallHost], ask: Ask) -> None:
    for host in hosts:
        host.trouble = after(1, "build", EnvironmentFailureError("the wire was cut"), gone="it does not answer")
    result = session.bisect(ask(BROKEN_FROM_9, workers=2))
    assert result.verdict is Verdict.INFRASTRUCTURE
    assert "no host is left to build and run on" in result.summary
    nothing_bad(result)
    for host in hosts:
        host.gone, host.trouble = "", lambda host, kind: None
    answered(session.resume(None))


FAILS_ON_B = '[ "$MACHINE" = a ] || { echo "ValueError: broken" >&2; exit 1; }'


@pytest.mark.parametrize("first", ["a", "b"])
def test_a_host_where_everything_fails_is_the_finding_and_no_pin_is_blamed(
    hosts: list[SmallHost], ask: Ask, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if first == "b":
        over(hosts[::-1], monkeypatch)
    hosts[1].kernel = "6.9"
    result = session.bisect(ask(FAILS_ON_B, workers=2))
    assert result.verdict is Verdict.ENVIRONMENT, result.summary
    assert result.culprit is None
    assert "PASS in all" in result.summary
    assert "hosts differ (kernel: 6.1 and 6.9)" in result.summary


@pytest.mark.slow
def test_a_culprit_is_found_beside_a_host_where_everything_fails_or_the_host_is_said(
    hosts: list[SmallHost], ask: Ask
) -> None:
    for culprit in (1, 5, 9, 16):
        script = (
            f'[ "$MACHINE" = a ] && [ "$PIN_WIDGET" -lt {culprit} ] || {{ echo "ValueError: broken" >&2; exit 1; }}'
        )
        result = session.bisect(ask(script, workers=2))
        if result.verdict is Verdict.CULPRIT:
            answered(result, str(culprit - 1), str(culprit))
        else:
            assert result.verdict is Verdict.ENVIRONMENT, result.summary


def test_culprit_and_predecessor_have_run_on_one_host_and_the_bad_end_on_two(hosts: list[SmallHost], ask: Ask) -> None:
    result = session.bisect(ask(BROKEN_FROM_9, workers=2))
    answered(result)
    ran = [{what for kind, what in host.done if kind == "run"} for host in hosts]
    assert any({"widget=8", "widget=9"} <= there for there in ran)
    assert all("widget=16" in there for there in ran)


def test_a_host_that_falls_silent_is_left_while_its_work_still_hangs(hosts: list[SmallHost], ask: Ask) -> None:
    def silence(host: SmallHost, kind: str) -> None:
        if kind == "build":
            hosts[1].falls_silent = True

    hosts[1].trouble = silence
    said: list[str] = []
    result = session.bisect(
        ask(BROKEN_FROM_9, workers=2, heartbeat=0.5, build=f'case "$PWD" in {hosts[1].room}/*) sleep 600;; esac'),
        reporter=keeping_notes(said),
    )
    answered(result)
    nothing_bad(result)
    assert any("the host b is gone, and set aside: it has fallen silent" in text for text in said)


def test_one_device_that_hangs_is_set_aside_and_the_pins_are_judged_elsewhere(hosts: list[SmallHost], ask: Ask) -> None:
    said: list[str] = []
    script = f'[ "$MACHINE" = a ] || sleep 600\n{BROKEN_FROM_9}'
    result = session.bisect(ask(script, workers=2, smoke={"timeout": 1.5}), reporter=keeping_notes(said))
    answered(result)
    assert any("the host b is used no more: the time of widget=" in text for text in said), said


@pytest.mark.slow
def test_a_hang_everywhere_is_a_failure_where_the_bad_end_hangs(hosts: list[SmallHost], ask: Ask) -> None:
    result = session.bisect(ask('[ "$PIN_WIDGET" -lt 9 ] || sleep 600', workers=2, repeat=1, smoke={"timeout": 1.5}))
    answered(result)


def asks(path: Path) -> tuple[str, ...]:
    """A question that gets a bad answer as soon as there is a file."""
    return ("sh", "-c", f"test ! -e {path} || {{ echo the device is sick >&2; exit 3; }}")


def test_what_ran_on_a_machine_that_became_sick_is_no_evidence(ask: Ask, tmp_path: Path) -> None:
    sick = tmp_path / "sick"
    script = f'[ "$PIN_WIDGET" -ne 8 ] || {{ touch {sick}; exit 1; }}\n{BROKEN_FROM_9}'
    result = session.bisect(ask(script, health=asks(sick)))
    assert result.verdict is Verdict.INFRASTRUCTURE
    assert "after widget=8: exit status 3: the device is sick" in result.summary
    assert not [
        run
        for probe in result.probes
        if probe.candidate["widget"] == "8"
        for run in probe.runs
        if run.outcome is Outcome.FAIL
    ]


def test_a_machine_that_is_sick_from_the_start_does_nothing(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "sick").touch()
    with pytest.raises(UnhealthyError, match="at the start: exit status 3: the device is sick"):
        session.bisect(ask(BROKEN_FROM_9, health=asks(tmp_path / "sick")))


def test_a_machine_is_asked_by_ssh_where_the_engine_is_reached_so() -> None:
    asked = command_at("ssh://me@node1:2222", ("rocm-smi", "--showuse all"))
    assert (asked[0], asked[-3:]) == ("ssh", ("--", "me@node1", "rocm-smi '--showuse all'"))
    assert asked[asked.index("-p") + 1] == "2222"
    assert command_at("unix:///run/docker.sock", ("true",)) == ("true",)
    with pytest.raises(UsageError, match="nothing but an engine answers"):
        command_at("tcp://node1:2376", ("true",))


def test_status_says_which_host_does_what(hosts: list[SmallHost], ask: Ask) -> None:
    seen: list[str] = []

    def look(host: SmallHost, kind: str) -> None:
        if kind == "build" and host.count("build") == 1:
            threading.Event().wait(2.5)
            run = find_run(None)
            seen.extend(activity_of(run, datetime.now(UTC)))

    hosts[0].trouble = look
    answered(session.bisect(ask(BROKEN_FROM_9, repeat=1)))
    assert any(text.startswith("building widget ") and " on a, " in text for text in seen), seen


def test_a_host_on_which_nothing_builds_is_set_aside_and_no_candidate_is_unbuildable(
    hosts: list[SmallHost], ask: Ask
) -> None:
    for host in hosts:  # whichever comes first
        host.done.clear()
        build = f'case "$PWD" in {host.room}/*) echo "no network" >&2; exit 1;; esac'
        result = session.bisect(ask(BROKEN_FROM_9, workers=2, build=build))
        answered(result)
        nothing_bad(result)
        assert host.count("build") <= 2


def test_a_candidate_that_builds_nowhere_is_unbuildable(hosts: list[SmallHost], ask: Ask) -> None:
    result = session.bisect(ask(BROKEN_FROM_9, workers=2, build='test "$PIN_WIDGET" -ne 8'))
    assert result.verdict is Verdict.RANGE, result.summary
    assert {probe.candidate["widget"] for probe in result.probes if probe.outcome is Outcome.UNBUILDABLE} == {"8"}
