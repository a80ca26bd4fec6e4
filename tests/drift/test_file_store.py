import json
import multiprocessing
import os
from pathlib import Path

import pytest

from pins.drift.state.document import Remembered, read
from pins.drift.state.file_store import FileStore
from pins.drift.state.places import state_store
from pins.errors import EnvironmentFailureError, UsageError
from tests.drift.settled import Days, ahead, checked


@pytest.fixture
def remembered() -> Remembered:
    days = Days()
    days.run(checked(ahead(3)))
    return days.remembered


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "room" / "state.json")


def test_what_is_kept_is_there_the_next_time(store: FileStore, remembered: Remembered) -> None:
    with store.held() as held:
        assert held.remembered == Remembered()
        held.save(lambda _: remembered, "one")
    with store.held() as held:
        assert held.remembered == remembered
        assert not held.notes


def test_only_one_run_holds_it(store: FileStore) -> None:
    with store.held(), pytest.raises(EnvironmentFailureError, match="another check holds file:"), store.held():
        raise AssertionError
    with store.held():
        pass


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"schema": "something else/1"}',
        b'{"schema": "pins.drift-state/1"}',
        b'{"schema": "pins.drift-state/1", "findings": {"a": 1}, "memory": {}, "targets": [], "last_run": null,'
        b' "last_complete": null}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
)
def test_a_damaged_document_is_kept_aside_and_said(store: FileStore, remembered: Remembered, content: bytes) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(content)
    with store.held() as held:
        assert held.remembered == Remembered()
        [note] = held.notes
        assert f"{store.path} is damaged" in note
        assert store.path.read_bytes() == content  # a run that fails has changed nothing
        held.save(lambda _: remembered, "one")
    [aside] = store.path.parent.glob("*.damaged-*")
    assert aside.read_bytes() == content
    assert aside.name in note
    assert read(store.path.read_bytes()) == remembered


def test_two_damaged_documents_are_both_kept(store: FileStore) -> None:
    store.path.parent.mkdir()
    for content in (b"one", b"two"):
        store.path.write_bytes(content)
        with store.held() as held:
            held.save(lambda before: before, "")
    assert {path.read_bytes() for path in store.path.parent.glob("*.damaged-*")} == {b"one", b"two"}


def test_an_older_document_is_kept_aside_and_said(store: FileStore) -> None:
    store.path.parent.mkdir()
    store.path.write_text('{"schema": "pins.drift-state/0"}')
    with store.held() as held:
        assert "of an older version" in held.notes[0]
        held.save(lambda before: before, "")
    assert len(list(store.path.parent.glob("*.damaged-*"))) == 1


def test_a_newer_document_is_left_alone(store: FileStore) -> None:
    store.path.parent.mkdir()
    store.path.write_text('{"schema": "pins.drift-state/2"}')
    with pytest.raises(UsageError, match="was written by a newer version"), store.held():
        raise AssertionError
    assert store.path.read_text() == '{"schema": "pins.drift-state/2"}'


def test_what_a_newer_version_adds_to_the_same_schema_is_ignored(store: FileStore, remembered: Remembered) -> None:
    with store.held() as held:
        held.save(lambda _: remembered, "")
    document = json.loads(store.path.read_text())
    document["more"] = 1
    store.path.write_text(json.dumps(document))
    with store.held() as held:
        assert held.remembered == remembered


def _killed_while_writing(path: Path) -> None:
    def change(_: Remembered) -> Remembered:
        os._exit(9)

    with FileStore(path).held() as held:
        held.save(change, "")


def test_a_run_that_is_killed_leaves_the_document_and_the_lock_free(store: FileStore, remembered: Remembered) -> None:
    with store.held() as held:
        held.save(lambda _: remembered, "")
    process = multiprocessing.get_context("spawn").Process(target=_killed_while_writing, args=(store.path,))
    process.start()
    process.join()
    assert process.exitcode == 9
    with store.held() as held:
        assert held.remembered == remembered


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(EnvironmentFailureError, match="cannot be read: Not a directory"),
        FileStore(tmp_path / "file" / "state.json").held(),
    ):
        raise AssertionError
    with pytest.raises(UsageError, match="is a directory"), FileStore(tmp_path).held():
        raise AssertionError


def test_the_default_place_is_one_for_each_set_of_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "repo").mkdir()
    one, other, again = (
        state_store("", directory=tmp_path / "repo", targets=targets) for targets in (("a", "b"), ("a",), ("b", "a"))
    )
    assert one.shown == again.shown != other.shown
    assert one.shown.startswith(f"file:{tmp_path}/bisector/drift/repo-")


@pytest.mark.parametrize("text", ["file:", "git:", "git", "state.json", "ftp:x"])
def test_a_place_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="must be file:PATH or git:BRANCH"):
        state_store(text, directory=tmp_path, targets=())


def test_a_path_alone_is_answered_with_what_was_meant(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean --state 'file:/tmp/my state.json'\?"):
        state_store("/tmp/my state.json", directory=tmp_path, targets=())


def test_push_goes_with_a_branch_only(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--push goes with"):
        state_store("file:x", directory=tmp_path, targets=(), push="origin")


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path: Path, remembered: Remembered) -> None:
    target, link = tmp_path / "kept" / "state.json", tmp_path / "state.json"
    link.symlink_to(target)
    with FileStore(link).held() as held:
        held.save(lambda _: remembered, "one")
        with pytest.raises(EnvironmentFailureError, match="another check holds"), FileStore(target).held():
            raise AssertionError
    assert link.is_symlink()
    assert read(target.read_bytes()) == remembered
    with FileStore(link).held() as held:
        assert held.remembered == remembered


def test_only_a_regular_file_is_read_and_replaced(tmp_path: Path) -> None:
    pipe, around = tmp_path / "pipe", tmp_path / "around"
    os.mkfifo(pipe)
    around.symlink_to(around)
    with pytest.raises(UsageError, match="is no regular file"), FileStore(pipe).held():
        raise AssertionError
    with pytest.raises(EnvironmentFailureError, match="cannot be read"), FileStore(around).held():
        raise AssertionError
    assert sorted(tmp_path.iterdir()) == [around, pipe]
