"""What --write and --branch change, and what they leave alone."""

import subprocess
from datetime import date
from pathlib import Path

import pytest

from bisector.report.json_writer import render_json
from pins.errors import UsageError
from pins.suggest.bisection import read_bisection
from pins.suggest.holds import read_holds
from pins.suggest.suggesting import SuggestRequest, suggest
from pins.suggest.writing import Planned, commit_on_branch
from tests import example_results
from tests.suggest.dockerfiles import DOCKERFILE

FILES = {
    "requirements.txt": ("numpy==1.26.4\npybind11\n", "pybind11<3.1.0\n", "# hold pybind11<3.1.0: "),
    "Dockerfile": ("FROM x:1\nRUN pip install \\\n    a==1 \\\n    pybind11>=3 b\n", None, ""),
}


def git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(directory), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "user.email", "a@example.org")
    git(tmp_path, "config", "user.name", "A")
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker/Dockerfile").write_text(DOCKERFILE)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def planned(file: Path, today: date = date(2026, 8, 19)) -> Planned:
    bisected = read_bisection(render_json(example_results.CULPRIT), "r")
    return suggest(SuggestRequest(file, today, (bisected,)), lambda _: {})[1]


def test_writing_changes_the_pin_its_comment_and_the_holds_only(repository: Path) -> None:
    planned(repository / "docker/Dockerfile").write()
    changed = (repository / "docker/Dockerfile").read_text().splitlines()
    assert [line for line in changed if line not in DOCKERFILE.splitlines()] == [
        "# hold pybind11<3.1.0: 3.1.0 fails and 3.0.4 passes in bisect run",
        "#   2026-11-03-101500-pybind11; until a release after 3.1.0 passes (as of 2026-08-19, look",
        "#   again 2026-09-18)",
        "RUN pip install -U packaging 'cmake<4' ninja 'setuptools<80' 'pybind11<3.1.0' Cython",
    ]
    (hold,) = read_holds((repository / "pins.toml").read_bytes())
    assert (hold.pin, hold.requirement, hold.file) == ("pybind11", "pybind11<3.1.0", "docker/Dockerfile")
    assert hold.evidence == "bisect run 2026-11-03-101500-pybind11"


def test_writing_again_brings_the_comment_up_to_date(repository: Path) -> None:
    file = repository / "docker/Dockerfile"
    planned(file).write()
    file.write_text(file.read_text().replace("'pybind11<3.1.0'", "'pybind11<3.2'"))  # somebody was too early
    planned(file, date(2026, 9, 20)).write()
    text = file.read_text()
    assert text.count("# hold pybind11") == 1
    assert "as of 2026-09-20" in text
    assert "2026-08-19" not in text
    assert len(read_holds((repository / "pins.toml").read_bytes())) == 1


def test_the_patch_is_what_git_applies(repository: Path) -> None:
    done = planned(repository / "docker/Dockerfile")
    (repository / "p.patch").write_bytes(done.patch)
    git(repository, "apply", "p.patch")
    assert (repository / "docker/Dockerfile").read_bytes() == done.files[0][2]
    assert (repository / "pins.toml").read_bytes() == done.files[1][2]


def test_a_requirement_inside_a_continued_run_gets_its_comment_there(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text("FROM x:1\nRUN pip install \\\n    a==1 \\\n    'pybind11>=3' b\n")
    planned(file).write()
    lines = file.read_text().splitlines()
    assert lines[:3] == ["FROM x:1", "RUN pip install \\", "    a==1 \\"]
    assert lines[3].startswith("    # hold pybind11>=3,<3.1.0: ")
    assert lines[-1] == "    'pybind11>=3,<3.1.0' b"


def test_a_requirements_file_keeps_its_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_bytes(b"numpy==1.26.4\r\npybind11\r\n")
    planned(file).write()
    data = file.read_bytes()
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert data.endswith(b"\r\npybind11<3.1.0\r\n")


def test_a_branch_has_one_commit_and_the_checkout_is_untouched(repository: Path) -> None:
    done = planned(repository / "docker/Dockerfile")
    (repository / "untracked").write_text("mine")
    head = git(repository, "rev-parse", "HEAD")
    commit_on_branch(done, "hold-pybind11", "Cap pybind11\n\nwhy\n")
    assert git(repository, "rev-parse", "HEAD") == head
    assert git(repository, "status", "--porcelain") == "?? untracked\n"
    assert git(repository, "rev-list", "--count", "HEAD..hold-pybind11") == "1\n"
    assert git(repository, "show", "hold-pybind11:docker/Dockerfile").encode() == done.files[0][2]
    assert "pins.toml" in git(repository, "ls-tree", "--name-only", "hold-pybind11")


def test_a_branch_lands_in_the_files_own_repository_whatever_a_hook_has_set(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    git(repository, "init", "-q", str(other))
    done = planned(repository / "docker/Dockerfile")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    commit_on_branch(done, "hold-pybind11", "Cap pybind11\n")
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert git(repository, "branch", "--list", "hold-pybind11") == "  hold-pybind11\n"
    assert git(other, "branch", "--list", "--all") == ""
    assert git(repository, "status", "--porcelain") == "?? other/\n"


def test_a_branch_that_exists_or_a_name_that_is_none_is_refused(repository: Path) -> None:
    done = planned(repository / "docker/Dockerfile")
    git(repository, "branch", "there")
    for name in ("there", "-x", "a..b", "--force"):
        with pytest.raises(UsageError, match="--branch"):
            commit_on_branch(done, name, "m")


def test_a_file_that_differs_from_what_is_committed_is_refused(repository: Path) -> None:
    file = repository / "docker/Dockerfile"
    file.write_text(DOCKERFILE + "RUN mine\n")
    with pytest.raises(UsageError, match="differs from what is committed"):
        commit_on_branch(planned(file), "b", "m")
    assert git(repository, "branch", "--list", "b") == ""


def test_a_file_changed_meanwhile_is_not_overwritten(repository: Path) -> None:
    file = repository / "docker/Dockerfile"
    done = planned(file)
    file.write_text("FROM y:2\n")
    with pytest.raises(UsageError, match="was changed"):
        done.write()
    assert file.read_text() == "FROM y:2\n"


def test_all_files_are_changed_or_none(repository: Path) -> None:
    file, holds = repository / "docker/Dockerfile", repository / "pins.toml"
    holds.write_text("# mine\n")
    done = planned(file)
    holds.chmod(0o444)
    with pytest.raises(UsageError, match=r"pins\.toml may not be written: it is read-only"):
        done.write()
    assert file.read_text() == DOCKERFILE
    holds.chmod(0o644)
    holds.write_text("# mine, changed meanwhile\n")
    with pytest.raises(UsageError, match="was changed"):
        done.write()
    assert file.read_text() == DOCKERFILE
    holds.unlink()
    with pytest.raises(UsageError, match="was changed"):
        done.write()
    assert file.read_text() == DOCKERFILE


def test_a_record_of_holds_that_appeared_meanwhile_is_not_overwritten(repository: Path) -> None:
    done = planned(repository / "docker/Dockerfile")
    (repository / "pins.toml").write_text("# somebody else's\n")
    with pytest.raises(UsageError, match="was changed"):
        done.write()
    assert (repository / "pins.toml").read_text() == "# somebody else's\n"
    assert (repository / "docker/Dockerfile").read_text() == DOCKERFILE


def test_who_is_stopped_between_the_two_files_can_do_it_all_again(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = repository / "docker/Dockerfile"
    with monkeypatch.context() as patched:
        patched.setattr("pins.suggest.writing.SetResult.write", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            planned(file).write()
    assert file.read_text() == DOCKERFILE
    assert len(read_holds((repository / "pins.toml").read_bytes())) == 1
    planned(file).write()
    assert "'pybind11<3.1.0'" in file.read_text()
    assert len(read_holds((repository / "pins.toml").read_bytes())) == 1
    assert [path.name for path in repository.iterdir() if path.name.startswith(".pins")] == []
