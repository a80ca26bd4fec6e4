"""Where runs are kept and how one is meant."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bisector.cli.garbage_text import render_garbage
from bisector.journal import Journal
from bisector.leftovers import collect_garbage
from bisector.runs import JOURNAL, all_runs, driving, find_run, identity_of, is_driven, new_run_directory
from pins.errors import EnvironmentFailureError, UsageError


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def begun(asked_for: Path | None = None) -> Path:
    run = new_run_directory(asked_for)
    (run / JOURNAL).touch()
    return run


def test_a_run_in_a_directory_that_the_user_names_is_found_among_the_others(tmp_path: Path) -> None:
    usual, named = begun(), begun(tmp_path / "elsewhere")
    assert set(all_runs()) == {usual, named}
    assert find_run("elsewhere") == named


def test_two_runs_of_one_name_have_different_identities(tmp_path: Path) -> None:
    assert identity_of(begun(tmp_path / "a" / "run")) != identity_of(begun(tmp_path / "b" / "run"))


def test_a_name_that_fits_several_runs_is_refused_with_the_list() -> None:
    runs = [begun(), begun()]
    with pytest.raises(UsageError, match="several") as refused:
        find_run(runs[0].name[:4])
    assert all(run.name in str(refused.value) for run in runs)


def test_without_a_name_the_latest_run_is_meant() -> None:
    begun()
    latest = begun()
    assert find_run(None) == latest


def test_a_directory_that_holds_something_is_not_taken_for_a_new_run(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(UsageError, match="not empty"):
        new_run_directory(tmp_path / "mine")


def test_a_run_is_driven_by_one_at_a_time() -> None:
    run = begun()
    assert not is_driven(run)
    with driving(run):
        assert is_driven(run)
        with pytest.raises(UsageError, match="driven by process"), driving(run):
            pass
    assert not is_driven(run)


def test_garbage_collection_takes_directories_of_runs_that_never_began() -> None:
    run = new_run_directory(None)
    assert [removed.run for removed in collect_garbage(dry_run=True).removed] == [run.name]
    assert run.exists()
    collect_garbage()
    assert not run.exists()


def test_garbage_collection_passes_by_a_journal_that_it_cannot_read() -> None:
    damaged = begun()
    (damaged / JOURNAL).write_bytes(b"not a database, but long enough to be looked at as one" * 100)
    found = collect_garbage()
    assert damaged.exists()
    assert damaged.name in found.not_looked_for[0]


@pytest.mark.parametrize("content", [b"", b"not a database", b"garbage" * 1000])
def test_a_damaged_journal_is_called_damaged(content: bytes) -> None:
    run = begun()
    (run / JOURNAL).write_bytes(content)
    with pytest.raises(EnvironmentFailureError, match="damaged"):
        Journal(run / JOURNAL)


def test_a_directory_without_a_journal_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no run"):
        find_run(str(tmp_path / "empty"))


USES_A_DIRECTORY = """
import sys
from bisector.temporary import temporary_directory
with temporary_directory() as room:
    (room / "file").touch()
    print(room, flush=True)
    sys.stdin.read()
"""


def test_garbage_collection_takes_temporary_directories_of_killed_processes_alone(tmp_path: Path) -> None:
    variables = {**os.environ, "TMPDIR": str(tmp_path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", USES_A_DIRECTORY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables
        )
        for _ in range(2)
    ]
    alive, killed = (Path(process.stdout.readline().decode().strip()) for process in processes if process.stdout)
    processes[1].kill()
    processes[1].wait()
    assert [removed.what for removed in collect_garbage().removed] == [f"a temporary directory ({killed})"]
    assert (alive / "file").exists()
    assert not killed.exists()
    processes[0].communicate()
    assert not alive.exists()


def finished(run: Path, *, keep: bool) -> None:
    journal = Journal(run / JOURNAL, facts={"request": f'{{"keep":{str(keep).lower()}}}', "environment": "command"})
    journal.decide("finished", "culprit")
    journal.close()


def test_builds_that_are_kept_are_named_with_what_removes_them() -> None:
    kept, unfinished, done = (new_run_directory(None) for _ in range(3))
    finished(kept, keep=True)
    finished(done, keep=False)
    Journal(unfinished / JOURNAL, facts={"environment": "command"}).close()
    for run in (kept, unfinished, done):
        (run / "builds" / "p001").mkdir(parents=True)
    garbage = collect_garbage()
    assert {one.run for one in garbage.kept} == {kept.name, unfinished.name}
    assert [one.run for one in garbage.removed] == [done.name]
    assert "bisector gc --all removes them" in render_garbage(garbage, "text", dry_run=False)
    assert {one.run for one in collect_garbage(everything=True).removed} == {kept.name, unfinished.name}
    assert not any((run / "builds").exists() for run in (kept, unfinished, done))


def test_the_cache_is_measured_and_removed_when_asked_but_never_under_a_run(tmp_path: Path) -> None:
    (tmp_path / "cache" / "bisector" / "uv").mkdir(parents=True)
    (tmp_path / "cache" / "bisector" / "uv" / "wheel").write_bytes(b"x" * 3 * 1024**2)
    garbage = collect_garbage()
    assert "takes 3 MiB" in render_garbage(garbage, "text", dry_run=False)
    run = begun()
    with driving(run):
        assert run.name in collect_garbage(caches=True).not_looked_for[0]
    assert garbage.cache_bytes >= 3 * 1024**2
    (run / JOURNAL).unlink()
    assert any("the cache" in one.what for one in collect_garbage(caches=True, dry_run=True).removed)
    assert (tmp_path / "cache" / "bisector" / "uv" / "wheel").exists()
    assert collect_garbage(caches=True).cache_bytes == 0
    assert not (tmp_path / "cache" / "bisector").exists()
