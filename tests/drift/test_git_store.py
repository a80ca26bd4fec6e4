import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pins.drift.state.document import Remembered, read
from pins.drift.state.git_store import FILE, branch_store
from pins.errors import EnvironmentFailureError, UsageError
from tests.drift.settled import START, Days, ahead, checked

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *WHO, "-C", str(directory), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(directory: Path, name: str = "file", content: str = "x") -> None:
    (directory / name).write_text(content)
    git(directory, "add", name)
    git(directory, "commit", "-q", "-m", f"add {name}")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A clone with one commit, whose remote is `tmp_path/remote`."""
    remote, work = tmp_path / "remote", tmp_path / "work"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(work)], check=True)
    commit(work)
    git(work, "remote", "add", "origin", str(remote))
    git(work, "push", "-q", "origin", "main")
    return work


@pytest.fixture
def remembered() -> Remembered:
    days = Days()
    days.run(checked(ahead(3)))
    return days.remembered


def at(day: int) -> Remembered:
    return Remembered(last_run=START.replace(day=day))


def document(repository: Path, branch: str = "pins-drift") -> Remembered:
    return read(git(repository, "cat-file", "blob", f"refs/heads/{branch}:{FILE}").encode())


def test_a_branch_is_made_without_touching_the_checkout(work: Path, remembered: Remembered) -> None:
    (work / "file").write_text("changed")
    (work / "untracked").write_text("y")
    before = git(work, "status", "--porcelain"), git(work, "rev-parse", "HEAD"), (work / ".git/index").read_bytes()
    store = branch_store(work, "pins-drift", "")
    with store.held() as held:
        assert held.remembered == Remembered()
        held.save(lambda _: remembered, "one")
    with store.held() as held:
        assert held.remembered == remembered
        held.save(lambda _: at(2), "two")
    after = git(work, "status", "--porcelain"), git(work, "rev-parse", "HEAD"), (work / ".git/index").read_bytes()
    assert after == before
    assert git(work, "log", "--format=%s", "pins-drift").splitlines() == ["two", "one"]
    assert git(work, "ls-tree", "--name-only", "pins-drift") == FILE
    assert git(work, "ls-remote", "origin", "refs/heads/pins-drift") == ""


def test_it_is_pushed_only_where_a_remote_is_named(work: Path, tmp_path: Path, remembered: Remembered) -> None:
    with branch_store(work, "pins-drift", "origin").held() as held:
        held.save(lambda _: remembered, "one")
    assert document(tmp_path / "remote") == remembered
    assert git(work, "for-each-ref", "refs/heads") == git(work, "for-each-ref", "refs/heads/main")


def test_another_machine_finds_it(work: Path, tmp_path: Path, remembered: Remembered) -> None:
    with branch_store(work, "pins-drift", "origin").held() as held:
        held.save(lambda _: remembered, "one")
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{tmp_path}/remote", str(tmp_path / "other")], check=True
    )
    with branch_store(tmp_path / "other", "pins-drift", "origin").held() as held:
        assert held.remembered == remembered
        held.save(lambda _: at(2), "two")
    with branch_store(work, "pins-drift", "origin").held() as held:
        assert held.remembered == at(2)


def test_a_push_that_comes_second_is_made_on_top_of_the_first(work: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(tmp_path / "remote"), str(tmp_path / "other")], check=True)
    seen: list[Remembered] = []

    def change(before: Remembered) -> Remembered:
        seen.append(before)
        return replace(before, targets=(*before.targets, "second"))

    waits: list[float] = []
    second = replace(branch_store(work, "pins-drift", "origin"), sleep=waits.append)
    with second.held() as held:
        with branch_store(tmp_path / "other", "pins-drift", "origin").held() as first:
            first.save(lambda before: replace(before, targets=("first",)), "first")
        held.save(change, "second")
    assert [before.targets for before in seen] == [(), ("first",)]
    assert len(waits) == 1
    assert document(tmp_path / "remote").targets == ("first", "second")
    assert git(tmp_path / "remote", "log", "--format=%s", "pins-drift").splitlines() == ["second", "first"]


def test_a_branch_that_others_never_leave_alone_is_given_up(work: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(tmp_path / "remote"), str(tmp_path / "other")], check=True)
    other = branch_store(tmp_path / "other", "pins-drift", "origin")

    def change(before: Remembered) -> Remembered:
        with other.held() as held:
            held.save(lambda _: at(3), "other")
        return before

    store = replace(branch_store(work, "pins-drift", "origin"), sleep=lambda _: None)
    with (
        store.held() as held,
        pytest.raises(EnvironmentFailureError, match="was changed by others 6 times"),
    ):
        held.save(change, "mine")


def test_a_remote_that_is_gone_is_said(work: Path, tmp_path: Path) -> None:
    store = branch_store(work, "pins-drift", "origin")
    with store.held() as held:
        (tmp_path / "remote").rename(tmp_path / "elsewhere")
        with pytest.raises(EnvironmentFailureError, match="could not be pushed to origin"):
            held.save(lambda _: at(2), "one")
    with pytest.raises(EnvironmentFailureError, match="git ls-remote failed"), store.held():
        raise AssertionError


def test_a_branch_moved_in_the_repository_meanwhile_is_taken_up(work: Path) -> None:
    store = replace(branch_store(work, "pins-drift", ""), sleep=lambda _: None)
    with store.held() as held:
        tip = store.commit("", b"damaged", "other", "")
        assert store.move("", tip)
        held.save(lambda before: before, "mine")
    assert git(work, "log", "--format=%s", "pins-drift").splitlines() == ["mine", "other"]


def test_a_damaged_document_is_kept_in_the_branch(work: Path) -> None:
    store = branch_store(work, "pins-drift", "")
    assert store.move("", store.commit("", b"damaged", "damage", ""))
    with store.held() as held:
        assert f"{FILE} of git:pins-drift is damaged" in held.notes[0]
        held.save(lambda _: at(2), "mended")
    names = git(work, "ls-tree", "--name-only", "pins-drift").splitlines()
    [aside] = [name for name in names if name != FILE]
    assert git(work, "cat-file", "blob", f"pins-drift:{aside}") == "damaged"
    assert aside in held.notes[0]
    assert document(work) == at(2)


def test_other_files_of_the_branch_stay(work: Path) -> None:
    git(work, "checkout", "-q", "--orphan", "pins-drift")
    commit(work, "README.md", "what this branch is")
    git(work, "checkout", "-q", "-f", "main")
    with branch_store(work, "pins-drift", "").held() as held:
        held.save(lambda _: at(2), "one")
    assert set(git(work, "ls-tree", "--name-only", "pins-drift").splitlines()) == {"README.md", "file", FILE}
    assert git(work, "cat-file", "blob", "pins-drift:README.md") == "what this branch is"


def test_only_one_run_in_a_repository_holds_it(work: Path) -> None:
    store = branch_store(work, "pins-drift", "")
    with store.held(), pytest.raises(EnvironmentFailureError, match="another check in this repository"), store.held():
        raise AssertionError


@pytest.mark.parametrize("branch", ["-x", "a..b", "a b", "a~1", "/", "a.lock"])
def test_what_is_no_name_of_a_branch_is_refused(work: Path, branch: str) -> None:
    with pytest.raises(UsageError, match="is no name of a branch"):
        branch_store(work, branch, "")


def test_a_branch_that_is_checked_out_is_refused(work: Path) -> None:
    with pytest.raises(UsageError, match="is checked out"):
        branch_store(work, "main", "")


@pytest.mark.parametrize("remote", ["upstream", "--receive-pack=touch x", "https://example.org/x.git"])
def test_a_remote_must_be_one_of_the_repository(work: Path, remote: str) -> None:
    with pytest.raises(UsageError, match="no remote of this name"):
        branch_store(work, "pins-drift", remote)


def test_without_a_repository_there_is_no_branch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is in no git repository"):
        branch_store(tmp_path, "pins-drift", "")


def test_a_work_tree_beside_the_first_uses_the_same_branch(work: Path, tmp_path: Path) -> None:
    git(work, "worktree", "add", "-q", str(tmp_path / "beside"), "-b", "beside")
    for directory in (work, tmp_path / "beside"):
        with branch_store(directory, "pins-drift", "").held() as held:
            held.save(lambda before: replace(before, targets=(*before.targets, "x")), "one")
    assert document(work).targets == ("x", "x")


def test_who_commits_may_be_said(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "somebody")
    with branch_store(work, "pins-drift", "").held() as held:
        held.save(lambda _: at(2), "one")
    assert git(work, "log", "-1", "--format=%an %cn %ae", "pins-drift") == "somebody somebody pins-drift@localhost"
