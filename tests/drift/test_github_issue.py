from collections.abc import Iterator

import pytest

from pins.commands_drift import _as_markdown
from pins.drift.acks import Ack
from pins.drift.report import DriftReport
from pins.drift.telling.github_issue import LABEL, Issue
from pins.errors import EnvironmentFailureError, UsageError
from tests.drift.github_server import Failure, GitHubServer
from tests.drift.settled import Days, ahead, checked


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pins.drift.telling.service.time.sleep", lambda _: None)


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with GitHubServer() as server:
        yield server


def tell(github: GitHubServer, report: DriftReport, where: str = "o/r", key: str = "k") -> None:
    Issue(where, key, github.environment, _as_markdown).tell(report)


def test_an_issue_is_made_edited_closed_and_opened_again(github: GitHubServer) -> None:
    days = Days()
    tell(github, days.run(checked()))
    assert github.issues == {}  # nothing to show
    tell(github, days.run(checked(ahead(3))))
    assert list(github.issues) == [1]
    issue = github.issues[1]
    assert issue["title"] == "Pins have drifted: 1 open"
    assert issue["body"].startswith("<!-- pins-drift k -->\n")
    assert "main is 3 commits ahead" in issue["body"]
    assert issue["labels"] == [{"name": LABEL}]
    tell(github, days.run(checked(ahead(5))))
    assert "main is 5 commits ahead" in github.issues[1]["body"]
    tell(github, days.run(checked()))
    assert (github.issues[1]["state"], github.issues[1]["state_reason"]) == ("closed", "completed")
    assert "1 resolved" in github.issues[1]["body"]
    tell(github, days.run(checked(ahead(2))))
    assert github.issues[1]["state"] == "open"
    assert list(github.issues) == [1]


def test_an_issue_that_a_person_closed_stays_closed_until_something_is_new(github: GitHubServer) -> None:
    days = Days()
    tell(github, days.run(checked(ahead(3))))
    github.issues[1]["state"] = "closed"
    tell(github, days.run(checked(ahead(4))))
    assert github.issues[1]["state"] == "closed"
    assert "main is 4 commits ahead" in github.issues[1]["body"]
    tell(github, days.run(checked(ahead(11))))
    assert github.issues[1]["state"] == "open"


def test_what_could_not_be_told_closes_nothing(github: GitHubServer) -> None:
    days = Days()
    tell(github, days.run(checked(ahead(3))))
    tell(github, days.run(checked(why_not="the host is down")))
    assert github.issues[1]["state"] == "open"
    assert "the host is down" in github.issues[1]["body"]
    assert "Last complete check: 2026-11-01 06:00 UTC" in github.issues[1]["body"]


def test_acknowledged_findings_keep_no_issue_open(github: GitHubServer) -> None:
    days = Days()
    tell(github, days.run(checked(ahead(3))))
    tell(github, days.run(checked(ahead(3)), acks=[Ack(ahead(3).id, "later")]))
    assert github.issues[1]["state"] == "closed"


def test_it_is_found_by_its_mark_among_others(github: GitHubServer) -> None:
    days = Days()
    for number in range(130):
        github.add(f"something else {number}", labels=(LABEL,))
    github.add("quotes it: <!-- pins-drift k -->", labels=(LABEL,))
    github.add("<!-- pins-drift k -->\na pull request", labels=(LABEL,), pull_request=True)
    tell(github, days.run(checked(ahead(3))))
    assert len(github.issues) == 133
    for _ in range(101):
        github.add("newer", labels=(LABEL,))
    tell(github, days.run(checked(ahead(4))))
    assert len(github.issues) == 234
    assert "main is 4 commits ahead" in github.issues[133]["body"]


def test_it_is_found_where_labels_could_not_be_set(github: GitHubServer) -> None:
    github.labels_allowed = False
    days = Days()
    tell(github, days.run(checked(ahead(3))))
    github.add("newer")
    tell(github, days.run(checked(ahead(4))))
    assert len(github.issues) == 2
    assert "main is 4 commits ahead" in github.issues[1]["body"]


def test_checks_of_other_files_have_issues_of_their_own(github: GitHubServer) -> None:
    days = Days()
    report = days.run(checked(ahead(3)))
    tell(github, report, key="one")
    tell(github, report, key="other")
    tell(github, report, key="one")
    assert len(github.issues) == 2


def test_a_comment_is_made_and_edited_in_place(github: GitHubServer) -> None:
    days = Days()
    github.add("a pull request", pull_request=True)
    github.comments[1] = [{"id": number, "body": "hm"} for number in range(100)]
    tell(github, days.run(checked()), "o/r#1")
    assert len(github.comments[1]) == 100
    tell(github, days.run(checked(ahead(3))), "o/r#1")
    tell(github, days.run(checked(ahead(4))), "o/r#1")
    assert len(github.comments[1]) == 101
    assert "main is 4 commits ahead" in github.comments[1][-1]["body"]
    tell(github, days.run(checked()), "o/r#1")
    assert "1 resolved" in github.comments[1][-1]["body"]
    assert github.issues[1]["state"] == "open"


def test_a_passing_failure_is_tried_again(github: GitHubServer) -> None:
    github.failures = [Failure("GET", 502, times=2), Failure("PATCH", 503), Failure("PATCH", 0, hang_up=True)]
    days = Days()
    tell(github, days.run(checked(ahead(3))))
    tell(github, days.run(checked(ahead(4))))
    assert "main is 4 commits ahead" in github.issues[1]["body"]


def test_an_issue_is_never_made_twice(github: GitHubServer) -> None:
    """A request whose answer is lost may have arrived: it is not sent again, and the next run finds what it made."""
    github.failures = [Failure("POST", 0, hang_up=True, after=True)]
    days = Days()
    with pytest.raises(EnvironmentFailureError, match="could not be told"):
        tell(github, days.run(checked(ahead(3))))
    tell(github, days.run(checked(ahead(4))))
    assert len(github.issues) == 1
    assert "main is 4 commits ahead" in github.issues[1]["body"]


def test_a_limit_is_waited_for_as_the_server_asks(github: GitHubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("pins.drift.telling.service.time.sleep", waits.append)
    github.failures = [Failure("GET", 403, headers={"Retry-After": "7"})]
    tell(github, Days().run(checked(ahead(3))))
    assert waits == [7]
    assert len(github.issues) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 410, 422])
def test_a_refusal_is_said_without_the_token(github: GitHubServer, status: int) -> None:
    github.failures = [Failure("GET", status, times=9)]
    with pytest.raises(EnvironmentFailureError) as caught:
        tell(github, Days().run(checked(ahead(3))))
    assert f"GitHub's o/r could not be told: it answered {status}" in caught.value.message
    assert github.token not in caught.value.message
    assert len(github.asked) == 1


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (401, {}, "has expired"),
        (403, {}, "issues: write"),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1790000040"}, "is used up until 14:14 UTC"),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, "is used up; the next check"),
        (404, {}, "no such repository"),
    ],
)
def test_a_refusal_says_what_to_do(github: GitHubServer, status: int, headers: dict[str, str], said: str) -> None:
    github.failures = [Failure("GET", status, headers=headers)]
    with pytest.raises(EnvironmentFailureError, match=said):
        tell(github, Days().run(checked(ahead(3))))


def test_a_very_long_report_fits(github: GitHubServer) -> None:
    from pins.drift.model import About, finding

    about = [About(f"pin-{number}", "docker/Dockerfile", "docker/Dockerfile", number) for number in range(2000)]
    report = Days().run(
        *(checked(finding("r", one, "x", "y" * 300, evidence=["z" * 500] * 5), about=one, rule="r") for one in about),
        rules=["r"],
    )
    tell(github, report)
    assert "left out" in github.issues[1]["body"]


@pytest.mark.parametrize(
    "where", ["", "o", "o/r/x", "o/..", "-o/r", "o/r#", "o/r#0", "o/r#x", "o/r?x", "https://x/o/r"]
)
def test_what_names_no_repository_is_refused(where: str) -> None:
    with pytest.raises(UsageError, match="must be OWNER/REPO"):
        Issue(where, "k", {"GITHUB_TOKEN": "t"}, _as_markdown)


def test_a_token_is_needed() -> None:
    with pytest.raises(UsageError, match="GITHUB_TOKEN or GH_TOKEN"):
        Issue("o/r", "k", {}, _as_markdown)


def test_the_run_is_linked_where_it_is_known(github: GitHubServer) -> None:
    variables = {
        **github.environment,
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": "17",
    }
    Issue("o/r", "k", variables, _as_markdown).tell(Days().run(checked(ahead(3))))
    assert "https://github.com/o/r/actions/runs/17" in github.issues[1]["body"]
