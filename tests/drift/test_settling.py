from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from pins.drift.acks import Ack
from pins.drift.checking import Checked
from pins.drift.model import About, Unknown, finding, found, ok, unknown
from pins.drift.report import State
from pins.drift.state.document import Standing
from pins.drift.state.settling import KEPT
from pins.hazards.model import Severity
from tests.drift.settled import PYBIND11, START, TRITON, Days, ahead, checked, outcome, states


def test_a_finding_is_new_once_and_then_open() -> None:
    days = Days()
    assert states(days.run(checked(ahead(3)))) == {"1 commits": "new"}
    second = days.run(checked(ahead(3)))
    assert states(second) == {"1 commits": "open"}
    assert second.findings[0].first_seen == START
    assert not second.findings[0].changed
    assert second.exit_code == 0


def test_a_branch_that_moves_every_day_is_new_once_a_threshold() -> None:
    days = Days()
    new = []
    for commits in range(1, 60):
        report = days.run(checked(ahead(commits)))
        assert len(report.findings) == 1  # the lower thresholds are not listed beside it
        new += [commits for reported in report.findings if reported.state is State.NEW]
    assert new == [1, 10, 50]
    standings = {entry.finding.bucket: entry.standing for entry in days.remembered.findings.values()}
    assert standings == {
        "1 commits": Standing.SUPERSEDED,
        "10 commits": Standing.SUPERSEDED,
        "50 commits": Standing.OPEN,
    }


def test_a_higher_threshold_says_what_was_known_before() -> None:
    days = Days()
    days.run(checked(ahead(9)))
    [reported] = days.run(checked(ahead(12))).findings
    assert (reported.state, reported.changed, reported.before) == (State.NEW, True, "main is 9 commits ahead")


def test_a_lower_threshold_that_comes_back_is_no_news() -> None:
    days = Days()
    days.run(checked(ahead(9)))
    days.run(checked(ahead(12)))
    assert states(days.run(checked(ahead(8)))) == {"1 commits": "open"}


def test_what_is_found_within_a_bucket_is_changed_and_not_new() -> None:
    days = Days()
    days.run(checked(ahead(12)))
    [reported] = days.run(checked(ahead(13))).findings
    assert (reported.state, reported.changed, reported.before) == (State.OPEN, True, "main is 12 commits ahead")


def test_a_finding_is_resolved_once_when_its_cause_is_gone() -> None:
    days = Days()
    days.run(checked(ahead(3)))
    report = days.run(checked())
    assert states(report) == {"1 commits": "resolved"}
    assert report.exit_code == 0
    assert days.run(checked()).findings == ()


def test_what_comes_back_after_it_was_resolved_is_new() -> None:
    days = Days()
    days.run(checked(ahead(3)))
    days.run(checked())
    [reported] = days.run(checked(ahead(2))).findings
    assert reported.state is State.NEW
    assert reported.first_seen == START + timedelta(days=2)


def test_what_could_not_be_told_resolves_nothing() -> None:
    days = Days()
    days.run(checked(ahead(3)))
    report = days.run(checked(why_not="the host is down"))
    assert states(report) == {"1 commits": "open"}
    assert report.findings[0].note == "could not be told this time: the host is down"
    assert [one.reason for one in report.unknown] == ["the host is down"]
    assert report.exit_code == 3
    assert states(days.run(checked())) == {"1 commits": "resolved"}


def test_what_could_be_told_in_part_is_reported_and_resolves_nothing() -> None:
    days = Days()
    days.run(checked(ahead(3)))
    other = finding("branch-ahead", TRITON, "a revert", "it was reverted", series="revert")
    report = days.run(checked(other, why_not="the rest is hidden"))
    assert states(report) == {"a revert": "new", "1 commits": "open"}
    assert report.exit_code == 1


def test_a_rule_that_was_not_run_resolves_nothing() -> None:
    days = Days()
    days.run(checked(ahead(3)))
    report = days.run(rules=("other",))
    assert states(report) == {"1 commits": "open"}
    assert report.findings[0].note == "branch-ahead was not checked this time"


def test_a_file_that_was_not_read_to_its_end_resolves_nothing() -> None:
    days = Days()
    days.run(checked(ahead(3)))
    stopped = Unknown("", "read", "reading stopped at line 3", "docker/Dockerfile")
    report = days.run(unread=[stopped], covers=lambda place: place != "docker/Dockerfile")
    assert states(report) == {"1 commits": "open"}
    assert report.exit_code == 3


def test_a_pin_that_is_gone_from_a_file_that_was_read_is_resolved() -> None:
    days = Days()
    days.run(checked(ahead(3)), outcome(ok(remember={"tip": "a"}), PYBIND11))
    report = days.run(outcome(ok(), PYBIND11))
    assert states(report) == {"1 commits": "resolved"}
    days.run()
    assert days.remembered.memory == {}


def test_what_no_file_holds_stays_while_fewer_files_are_checked() -> None:
    everywhere = About("pybind11")
    skew = finding("skew", everywhere, "3.0.4 3.1.0", "pybind11 differs")
    days = Days()
    days.run(checked(skew, about=everywhere, rule="skew"), rules=["skew"], targets=("docker", "images"))
    report = days.run(rules=["skew"], targets=("docker",))
    assert states(report) == {"3.0.4 3.1.0": "open"}


def test_memory_is_handed_on_and_kept_where_nothing_could_be_told() -> None:
    days = Days()
    key = ("branch-ahead", "docker/Dockerfile", "triton")
    days.run(outcome(ok(remember={"tip": "a"})))
    assert days.remembered.memory == {key: {"tip": "a"}}
    days.run(outcome(unknown("down")))
    days.run(outcome(found(ahead(3), unknown="half", remember={"tip": "b"})))
    days.run(outcome(ok()))
    assert days.remembered.memory == {key: {"tip": "a"}}
    days.run(outcome(ok(remember={"tip": "c"})))
    assert days.remembered.memory == {key: {"tip": "c"}}


def test_an_acknowledged_finding_is_no_news_until_the_acknowledgement_ends() -> None:
    ack = Ack(ahead(3).id, "it waits for a release", until=(START + timedelta(days=2)).date())
    days = Days()
    assert states(days.run(checked(ahead(3)), acks=[ack])) == {"1 commits": "acked"}
    days.run(checked(ahead(3)), acks=[ack])
    last = days.run(checked(ahead(3)), acks=[ack])
    assert states(last) == {"1 commits": "acked"}
    assert last.exit_code == 0
    assert states(days.run(checked(ahead(3)), acks=[ack])) == {"1 commits": "new"}
    assert states(days.run(checked(ahead(3)), acks=[ack])) == {"1 commits": "open"}


def test_an_acknowledgement_of_one_threshold_does_not_hold_for_the_next() -> None:
    ack = Ack(ahead(3).id, "it waits for a release")
    days = Days()
    days.run(checked(ahead(3)), acks=[ack])
    assert states(days.run(checked(ahead(12)), acks=[ack])) == {"10 commits": "new"}


def test_an_acknowledgement_that_nothing_needs_is_named() -> None:
    days = Days()
    days.run(checked(ahead(3)))
    report = days.run(checked(), acks=[Ack(ahead(3).id, "why"), Ack("0" * 12, "why")])
    assert report.notes == (
        f"the acknowledgement of {ahead(3).id} (main is 3 commits ahead) is no longer needed",
        "an acknowledgement names 000000000000, which is no finding",
    )


def test_what_nobody_was_told_of_is_new_again() -> None:
    days = Days()
    days.run(checked(ahead(3)), told=False)
    assert states(days.run(checked(ahead(3)))) == {"1 commits": "new"}
    assert states(days.run(checked(ahead(3)))) == {"1 commits": "open"}


def test_what_nobody_was_told_of_is_new_although_it_cannot_be_told_now() -> None:
    days = Days()
    days.run(checked(ahead(3)), told=False)
    assert states(days.run(checked(why_not="down"))) == {"1 commits": "new"}


def test_the_last_complete_check_is_remembered() -> None:
    days = Days()
    assert days.run(checked(why_not="down")).last_complete is None
    assert days.run(checked()).last_complete == START + timedelta(days=1)
    assert days.run(checked(why_not="down")).last_complete == START + timedelta(days=1)


def test_what_is_over_is_forgotten_after_half_a_year() -> None:
    days = Days()
    days.run(checked(ahead(3)))
    days.run(checked())
    days.now += KEPT - timedelta(days=2)
    days.run(checked())
    assert len(days.remembered.findings) == 1
    days.now += timedelta(days=3)
    days.run(checked())
    assert days.remembered.findings == {}


def test_the_worst_that_is_new_comes_first() -> None:
    days = Days()
    report = days.run(*(_of_severity(pin, severity) for pin, severity in zip("abc", _MIXED, strict=True)))
    assert [reported.finding.pin for reported in report.findings] == ["b", "c", "a"]


_MIXED = (Severity.NOTE, Severity.ERROR, Severity.WARNING)


def _of_severity(pin: str, severity: Severity) -> Checked:
    about = About(pin, "docker/Dockerfile")
    return checked(finding("r", about, "x", "y", severity=severity), about=about, rule="r")


_DAY = st.sampled_from(["down", "gone", *range(1, 60)])


@settings(deadline=None, max_examples=60)
@given(st.lists(_DAY, max_size=12))
def test_a_day_without_an_answer_changes_nothing(history: list[object]) -> None:
    """The same findings are new, and resolved, as if the days on which nothing could be told had not been."""
    assert _news(history) == _news([day for day in history if day != "down"])


def _news(history: list[object]) -> list[tuple[str, str]]:
    days = Days()
    news = []
    for day in history:
        if isinstance(day, int):
            report = days.run(checked(ahead(day)))
        else:
            before = days.remembered
            report = days.run(checked(why_not="down" if day == "down" else ""))
            if day == "down":
                days.forget_nothing_of(before)
        news += [
            (reported.finding.bucket, reported.state.value)
            for reported in report.findings
            if reported.state in {State.NEW, State.RESOLVED}
        ]
    return news
