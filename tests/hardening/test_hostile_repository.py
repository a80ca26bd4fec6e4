"""A repository from anywhere, whose configuration names programs: reading it runs none of them."""

import subprocess
from pathlib import Path

import pytest

from pins.drift.last_changes import LastChanges
from pins.drift.readings.line_dates import LineDates
from pins.errors import EnvironmentFailureError, UsageError
from pins.files.local_git import ask_git
from pins.files.reading import ReadRequest, read_all
from pins.hazards.gather import gather
from pins.sources.git.address import RepositoryAddress
from pins.sources.git.clone import _source_of

HOOKS = ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc")
PROGRAMS = (
    "core.fsmonitor",
    "core.pager",
    "core.sshCommand",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.process",
    "filter.evil.smudge",
    "gpg.program",
    "uploadpack.packObjectsHook",
)


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-C", str(directory), "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        check=True,
        capture_output=True,
    )


def ran_in(repository: Path) -> list[str]:
    return sorted(path.name for path in (repository.parent / "ran").iterdir())


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A repository with an edited Dockerfile, in which every program that git may be told to run leaves a mark."""
    top, marks, programs = tmp_path / "top", tmp_path / "ran", tmp_path / "programs"
    for place in (top, marks, programs):
        place.mkdir()

    def program(name: str) -> Path:
        made = programs / name
        made.write_text(f"#!/bin/sh\ntouch '{marks}/{name}'\ncat\n")
        made.chmod(0o755)
        return made

    git(top, "init", "-q")
    (top / "Dockerfile").write_text("FROM acme/os:1\nRUN pip install foo==1\n")
    (top / ".gitattributes").write_text("* filter=evil diff=evil\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "x")
    for setting in PROGRAMS:
        git(top, "config", setting, str(program(setting)))
    for hook in HOOKS:
        (top / ".git" / "hooks").mkdir(exist_ok=True)
        (top / ".git" / "hooks" / hook).symlink_to(program(hook))
    git(top, "config", "filter.evil.required", "true")
    git(top, "config", "log.showSignature", "true")
    git(top, "config", "remote.origin.url", f"ext::sh -c touch% {marks}/ext")
    git(top, "config", "remote.origin.promisor", "true")
    (top / "Dockerfile").write_text("FROM acme/os:2\nRUN pip install foo==1\n")
    for mark in marks.iterdir():
        mark.unlink()
    return top


def test_the_marks_work(hostile: Path) -> None:
    subprocess.run(["git", "-C", str(hostile), "diff", "--name-only", "HEAD"], capture_output=True)
    assert "core.fsmonitor" in ran_in(hostile)


@pytest.mark.parametrize("revision", ["", "HEAD"])
def test_reading_pins_and_hazards_runs_nothing(hostile: Path, revision: str) -> None:
    assert read_all(ReadRequest((hostile,), revision))
    assert gather([hostile], revision=revision)
    assert ran_in(hostile) == []


def test_asking_when_files_and_lines_changed_runs_nothing(hostile: Path) -> None:
    changes = LastChanges(hostile, "", {"Dockerfile"})
    assert changes.of("Dockerfile") is not None
    times = LineDates(hostile, "", "Dockerfile").read(None)  # type: ignore[arg-type]
    assert set(times) == {2}
    assert ran_in(hostile) == []


def test_filters_do_not_change_what_git_says_is_edited(hostile: Path) -> None:
    assert ask_git(hostile, "diff", "--name-only", "HEAD", "--").text.split() == ["Dockerfile"]


def test_a_git_that_fails_is_not_taken_for_a_directory_without_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="is no git repository"):
        _source_of(RepositoryAddress(str(tmp_path), local=True))
    for text in ("kill -9 $$", "echo 'fatal: out of memory' >&2; exit 128", "exit 127"):
        (tmp_path / "git").write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        with pytest.raises(EnvironmentFailureError):
            _source_of(RepositoryAddress(str(tmp_path), local=True))
