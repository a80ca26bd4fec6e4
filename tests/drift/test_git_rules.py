"""Branches that go on, refs that move or vanish, comments that lag, holds whose reason is gone."""

from datetime import timedelta
from pathlib import Path

import pytest

from pins.drift.rules.branch_ahead import BRANCH_AHEAD
from pins.drift.rules.comment_lags import COMMENT_LAGS
from pins.drift.rules.hold_reason_gone import HOLD_REASON_GONE
from pins.drift.rules.hold_review import HOLD_REVIEW
from pins.drift.rules.refs import REF_MOVED, REF_VANISHED
from pins.drift.rules.values_disagree import VALUES_DISAGREE
from pins.hazards.model import Severity
from tests.drift.watched import START, Upstream, Watched, days, only
from tests.local_index import LocalIndex


@pytest.fixture
def watched(tmp_path: Path, local_index: LocalIndex) -> Watched:
    return Watched(tmp_path / "project", local_index.url)


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    made = Upstream(tmp_path / "upstream" / "widget")
    made.commit("begin", days(-60))
    return made


def dockerfile(upstream: Upstream, revision: str, comment: str = "") -> dict[str, str]:
    said = f" # {comment}" if comment else ""
    return {
        "Dockerfile": f'ARG WIDGET_BRANCH="{revision}"{said}\nFROM ubuntu:22.04\nARG WIDGET_BRANCH\n'
        f"RUN git clone {upstream.url} && cd widget && git checkout ${{WIDGET_BRANCH}}\n"
    }


# -- branches that are ahead -------------------------------------------------------------------------------------------


def test_a_branch_that_is_ahead_of_its_pin_until_the_pin_follows(watched: Watched, upstream: Upstream) -> None:
    pinned = upstream.commit("one", days(-20))
    watched.write(dockerfile(upstream, pinned[:8]))
    assert watched.findings(BRANCH_AHEAD) == []
    newest = upstream.commit("two", days(-15))
    ahead = only(watched.findings(BRANCH_AHEAD))
    assert "is 1 commit, 5 days of work, ahead of" in ahead.summary
    assert "main of upstream/widget" in ahead.summary
    assert newest[:10] in ahead.evidence[1]
    watched.write(dockerfile(upstream, newest[:8]))
    assert watched.findings(BRANCH_AHEAD) == []


def test_of_two_branches_at_the_newest_commit_the_usual_one_is_named(watched: Watched, upstream: Upstream) -> None:
    pinned = upstream.commit("one", days(-20))
    upstream.commit("two", days(-15))
    upstream.git("branch", "dev")
    watched.write(dockerfile(upstream, pinned[:8]))
    assert only(watched.findings(BRANCH_AHEAD)).summary.startswith("main of upstream/widget")


def test_a_branch_that_moves_daily_is_news_once_at_each_threshold(watched: Watched, upstream: Upstream) -> None:
    watched.write(dockerfile(upstream, upstream.commit("one", days(0))))
    seen = []
    for day in range(1, 16):
        upstream.commit(f"day {day}", days(day))
        found = only(watched.findings(BRANCH_AHEAD))
        if found.id not in seen:
            seen.append(found.id)
    assert len(seen) == 2  # the first commit, and ten of them


def test_the_branch_is_the_one_that_the_comment_names(watched: Watched, upstream: Upstream) -> None:
    upstream.git("checkout", "--quiet", "-b", "release/3.7.x")
    pinned = upstream.commit("on release", days(-20))
    upstream.git("checkout", "--quiet", "main")
    upstream.commit("on main", days(-10))
    watched.write(dockerfile(upstream, pinned[:9], "release/3.7.x as of 07/12"))
    assert watched.findings(BRANCH_AHEAD) == []
    upstream.git("checkout", "--quiet", "release/3.7.x")
    upstream.commit("more on release", days(-9))
    assert "release/3.7.x of upstream/widget is 1 commit" in only(watched.findings(BRANCH_AHEAD)).summary


def test_a_later_revert_of_what_is_pinned_and_a_mention_of_a_linked_issue_are_news_of_their_own(
    watched: Watched, upstream: Upstream
) -> None:
    bad = upstream.commit("bad idea", days(-21))
    pinned = upstream.commit("one", days(-20))
    watched.write(dockerfile(upstream, pinned, "see upstream/widget#12"))
    since = upstream.commit("since", days(-19))
    upstream.commit(f'Revert "since"\n\nThis reverts commit {since}.', days(-18))
    assert [one.bucket for one in watched.findings(BRANCH_AHEAD)] == ["1 commit"]
    upstream.commit(f'Revert "bad idea"\n\nThis reverts commit {bad}.', days(-17))
    upstream.commit("mend it (#12)", days(-16))
    buckets = {one.bucket for one in watched.findings(BRANCH_AHEAD)}
    assert buckets == {"1 commit", f"reverts {bad[:10]}", "mentions upstream/widget#12"}
    upstream.commit("not that (#123)", days(-15))
    assert {one.bucket for one in watched.findings(BRANCH_AHEAD)} == buckets


def test_a_repository_that_cannot_be_read_leaves_its_pins_open(watched: Watched, upstream: Upstream) -> None:
    watched.write(dockerfile(upstream, upstream.commit("one", days(-20))))
    upstream.commit("two", days(-10))
    assert only(watched.findings(BRANCH_AHEAD)).rule == "branch-ahead"
    with upstream.out():
        reasons = watched.unknown(BRANCH_AHEAD, REF_VANISHED)
    assert len(reasons) == 2
    assert all("widget" in reason for reason in reasons)
    assert only(watched.findings(BRANCH_AHEAD)).rule == "branch-ahead"


# -- refs that move or vanish ------------------------------------------------------------------------------------------


def test_a_tag_that_was_moved_is_an_error_until_the_pin_is_another(watched: Watched, upstream: Upstream) -> None:
    first = upstream.commit("one", days(-20))
    upstream.git("tag", "-a", "-m", "release", "v1.0")
    watched.write(dockerfile(upstream, "v1.0"))
    assert watched.findings(REF_MOVED, REF_VANISHED) == []
    second = upstream.commit("two", days(-10))
    upstream.git("tag", "-f", "-a", "-m", "again", "v1.0")
    moved = only(watched.findings(REF_MOVED, REF_VANISHED))
    assert (moved.rule, moved.bucket, moved.severity) == ("ref-moved", "tag", Severity.ERROR)
    assert f"from {first[:10]} to {second[:10]}" in moved.summary
    assert only(watched.findings(REF_MOVED)).id == moved.id
    watched.write(dockerfile(upstream, second))
    assert watched.findings(REF_MOVED, REF_VANISHED) == []


def test_a_tag_that_is_made_again_on_the_same_commit_has_not_moved(watched: Watched, upstream: Upstream) -> None:
    upstream.git("tag", "-a", "-m", "release", "v1.0")
    watched.write(dockerfile(upstream, "v1.0"))
    assert watched.findings(REF_MOVED) == []
    upstream.git("tag", "-f", "-a", "-m", "signed this time", "v1.0")
    assert watched.findings(REF_MOVED) == []


def test_a_branch_that_moves_is_one_piece_of_news_until_the_file_is_edited(
    watched: Watched, upstream: Upstream
) -> None:
    watched.write(dockerfile(upstream, "main"))
    assert watched.findings(REF_MOVED) == []
    upstream.commit("two", days(1))
    moved = only(watched.findings(REF_MOVED))
    assert (moved.bucket, moved.severity) == ("branch", Severity.NOTE)
    upstream.commit("three", days(2))
    assert only(watched.findings(REF_MOVED)).id == moved.id
    watched.write(dockerfile(upstream, "main", "looked at again"))
    assert watched.findings(REF_MOVED) == []


def test_a_name_that_only_ends_like_a_pinned_ref_is_none(watched: Watched, upstream: Upstream) -> None:
    upstream.git("branch", "feature/v1.0")
    watched.write(dockerfile(upstream, "v1.0"))
    vanished = only(watched.findings(REF_VANISHED))
    assert (vanished.bucket, vanished.severity) == ("ref", Severity.ERROR)


def test_a_branch_that_vanishes_and_comes_back(watched: Watched, upstream: Upstream) -> None:
    upstream.git("branch", "topic")
    watched.write(dockerfile(upstream, "topic"))
    assert watched.findings(REF_VANISHED) == []
    last = upstream.git("rev-parse", "topic")
    upstream.git("branch", "-D", "topic")
    vanished = only(watched.findings(REF_VANISHED))
    assert "has no branch or tag topic any more" in vanished.summary
    assert last in vanished.evidence[0]
    upstream.git("branch", "topic")
    assert watched.findings(REF_VANISHED) == []


def test_a_commit_that_no_branch_or_tag_holds_any_more(watched: Watched, upstream: Upstream) -> None:
    upstream.git("checkout", "--quiet", "-b", "topic")
    pinned = upstream.commit("one", days(-20))
    watched.write(dockerfile(upstream, pinned))
    assert watched.findings(REF_VANISHED) == []
    upstream.git("checkout", "--quiet", "main")
    upstream.git("branch", "-D", "topic")
    vanished = only(watched.findings(REF_VANISHED))
    assert vanished.bucket == "unreachable"
    upstream.git("tag", "keep", pinned)
    assert watched.findings(REF_VANISHED) == []


def test_a_commit_that_was_never_there(watched: Watched, upstream: Upstream) -> None:
    watched.write(dockerfile(upstream, "deadbeef1234"))
    vanished = only(watched.findings(REF_VANISHED))
    assert (vanished.bucket, vanished.severity) == ("commit", Severity.ERROR)


def test_a_clone_that_the_user_names_may_lack_what_the_server_has(watched: Watched, upstream: Upstream) -> None:
    watched.clones = {"widget": upstream.path}
    watched.write(dockerfile(upstream, "deadbeef1234"))
    (reason,) = watched.unknown(REF_VANISHED)
    assert "may not have all commits" in reason


def test_refs_as_of_a_day_that_has_passed_are_not_known(watched: Watched, upstream: Upstream) -> None:
    watched.write(dockerfile(upstream, "main"))
    watched.as_of = days(-1)
    assert all("knows only what they name now" in reason for reason in watched.unknown(REF_MOVED, REF_VANISHED))


# -- dated comments ----------------------------------------------------------------------------------------------------


def test_a_comment_with_a_day_before_the_commit_was_made_contradicts_it(watched: Watched, upstream: Upstream) -> None:
    pinned = upstream.commit("one", days(-10))  # 2026-07-22
    watched.write(dockerfile(upstream, pinned, "main as of 07/12"))
    found = only(watched.findings(COMMENT_LAGS))
    assert found.bucket == "older than the pin"
    assert "was made on 2026-07-22, later" in found.summary
    watched.write(dockerfile(upstream, pinned, "main as of 07/22"))
    assert watched.findings(COMMENT_LAGS) == []


def test_a_comment_with_a_day_on_which_the_branch_was_further_on(watched: Watched, upstream: Upstream) -> None:
    pinned = upstream.commit("one", days(-30))
    upstream.commit("two", days(-20))
    watched.write(dockerfile(upstream, pinned, "main as of 2026-07-05"))
    assert watched.findings(COMMENT_LAGS) == []
    watched.write(dockerfile(upstream, pinned, "main as of 2026-07-30"))
    found = only(watched.findings(COMMENT_LAGS))
    assert (found.bucket, found.severity) == ("behind the day it names", Severity.NOTE)
    assert "main had 1 newer commit by then" in found.summary


def test_a_comment_that_names_another_branch_than_the_commit_is_on(watched: Watched, upstream: Upstream) -> None:
    upstream.git("checkout", "--quiet", "-b", "release/2")
    upstream.git("checkout", "--quiet", "main")
    pinned = upstream.commit("on main alone", days(-20))
    watched.write(dockerfile(upstream, pinned, "release/2 as of 07/20"))
    assert only(watched.findings(COMMENT_LAGS)).bucket == "not on the branch"


def test_a_release_that_is_newer_than_the_comment_beside_it(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-10))
    watched.write({"requirements.txt": "spam==1.0  # tried on 2026-07-01\n"})
    assert "was uploaded on 2026-07-22" in only(watched.findings(COMMENT_LAGS)).summary
    watched.write({"requirements.txt": "spam==1.0  # tried on 2026-07-25\n"})
    assert watched.findings(COMMENT_LAGS) == []


# -- holds -------------------------------------------------------------------------------------------------------------


def hold(until: str = "", review: str = "", pin: str = "spam", file: str = "") -> str:
    lines = ["[[hold]]", f'pin = "{pin}"', f'requirement = "{pin}<2"', 'reason = "breaks the build"']
    lines += [f'until = "{until}"'] if until else []
    lines += [f"review = {review}"] if review else []
    lines += [f'file = "{file}"'] if file else []
    return "\n".join(lines) + "\n"


def test_a_hold_until_a_version_is_released(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("eggs", "3.0", upload_time=days(-10))
    watched.write({"requirements.txt": "spam<2\n", "pins.toml": hold("eggs 3.1 is released")})
    assert watched.findings(HOLD_REASON_GONE) == []
    local_index.add("eggs", "3.1rc1", upload_time=days(-1))
    assert watched.findings(HOLD_REASON_GONE) == []
    local_index.add("eggs", "3.1.0", upload_time=days(-1))
    gone = only(watched.findings(HOLD_REASON_GONE))
    assert "eggs 3.1.0 was released on 2026-07-31" in gone.summary
    assert gone.file == "pins.toml"
    watched.write({"pins.toml": ""})
    assert watched.findings(HOLD_REASON_GONE) == []


def test_a_hold_until_a_pull_request_is_in_what_is_pinned_not_merely_merged(
    watched: Watched, upstream: Upstream
) -> None:
    pinned = upstream.commit("before", days(-20))
    watched.write(dockerfile(upstream, pinned) | {"pins.toml": hold("upstream/widget#77 is merged")})
    merged = upstream.commit("mend the build (#77)", days(-10))
    assert watched.findings(HOLD_REASON_GONE) == []  # merged, and not pinned
    watched.write(dockerfile(upstream, merged))
    gone = only(watched.findings(HOLD_REASON_GONE))
    assert f"upstream/widget#77 is in widget at {merged}, which is pinned" in gone.summary
    upstream.commit('Revert "mend the build (#77)"', days(-9))
    watched.write(dockerfile(upstream, upstream.git("rev-parse", "main")))
    assert watched.findings(HOLD_REASON_GONE) == []


def test_a_hold_until_a_commit_is_in_what_is_pinned(watched: Watched, upstream: Upstream) -> None:
    pinned = upstream.commit("before", days(-20))
    fix = upstream.commit("mend the build", days(-10))
    watched.write(dockerfile(upstream, pinned) | {"pins.toml": hold(f"upstream/widget@{fix[:10]} is pinned")})
    assert watched.findings(HOLD_REASON_GONE) == []
    watched.write(dockerfile(upstream, upstream.commit("after", days(-5))))
    assert only(watched.findings(HOLD_REASON_GONE)).pin == "spam"


def test_a_change_in_a_repository_that_nothing_pins_cannot_be_told(watched: Watched) -> None:
    watched.write({"requirements.txt": "spam<2\n", "pins.toml": hold("other/thing#5 is merged")})
    (reason,) = watched.unknown(HOLD_REASON_GONE)
    assert "nothing that is watched pins the repository other/thing" in reason


def test_an_index_that_is_down_does_not_end_a_hold(watched: Watched, local_index: LocalIndex) -> None:
    watched.write({"requirements.txt": "spam<2\n", "pins.toml": hold("eggs >= 3")})
    local_index.fail_with(500)
    assert len(watched.unknown(HOLD_REASON_GONE)) == 1


def test_words_that_no_program_understands_are_left_to_people(watched: Watched) -> None:
    watched.write({"requirements.txt": "spam<2\n", "pins.toml": hold("a later release passes")})
    assert watched.check(HOLD_REASON_GONE) == []


def test_a_hold_whose_day_of_review_has_come(watched: Watched) -> None:
    watched.write({"requirements.txt": "spam<2\n", "pins.toml": hold(review="2026-08-03")})
    assert watched.findings(HOLD_REVIEW) == []  # 2026-08-01
    watched.now = START + timedelta(days=2)
    due = only(watched.findings(HOLD_REVIEW))
    assert due.bucket == "review 2026-08-03"
    watched.write({"pins.toml": hold(review="2026-09-03")})
    assert watched.findings(HOLD_REVIEW) == []


# -- files that should agree -------------------------------------------------------------------------------------------


def test_files_that_pin_one_repository_to_different_commits(watched: Watched, upstream: Upstream) -> None:
    one, other = upstream.commit("one", days(-3)), upstream.commit("two", days(-2))
    first = dockerfile(upstream, one)["Dockerfile"]
    watched.write({"a/Dockerfile": first, "b/Dockerfile": first.replace(one, one[:9])})
    assert watched.findings(VALUES_DISAGREE) == []  # a hash and its beginning are one commit
    watched.write({"b/Dockerfile": first.replace(one, other)})
    found = only(watched.findings(VALUES_DISAGREE))
    assert found.pin == "upstream/widget"
    assert len(found.evidence) == 2
    watched.write({"a/Dockerfile": first.replace(one, other)})
    assert watched.findings(VALUES_DISAGREE) == []


def test_base_images_of_one_name_are_compared_and_others_are_not(watched: Watched) -> None:
    text = "ARG BASE_IMAGE={}\nFROM ${{BASE_IMAGE}}\nRUN true\n"
    watched.write({"a/Dockerfile": text.format("rocm/dev:7.2"), "b/Dockerfile": text.format("nvidia/cuda:13")})
    assert watched.findings(VALUES_DISAGREE) == []
    watched.write({"b/Dockerfile": text.format("rocm/dev:7.1")})
    assert only(watched.findings(VALUES_DISAGREE)).pin == "rocm/dev"
    both = text.format("rocm/dev:7.2") + "FROM rocm/dev:7.1\nRUN true\n"
    watched.write({"a/Dockerfile": both, "b/Dockerfile": both})
    assert watched.findings(VALUES_DISAGREE) == []
