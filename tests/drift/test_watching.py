from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pins.drift.model import Subject
from pins.drift.watching import Watched, WatchRequest, watch
from pins.errors import UsageError
from tests.drift.month.sources import Repository

NOW = datetime(2026, 8, 1, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.chdir(tmp_path)
    return Repository(tmp_path / "project")


def watched(*paths: Path, revision: str = "") -> Watched:
    return watch(WatchRequest(paths, NOW, revision))


def named(subject: Subject) -> list[tuple[str, str]]:
    return [(pin.about.place, pin.about.pin) for _, pin in subject.pins()]


def test_pins_are_known_by_their_path_in_the_repository_however_they_are_named(project: Repository) -> None:
    project.commit(NOW, "begin", {"docker/requirements.txt": "numpy==2.1.0\n"})
    for path in (project.path, project.path / "docker", project.path / "docker/requirements.txt", Path("project")):
        assert named(watched(path).subject) == [("docker/requirements.txt", "numpy")]


def test_several_pins_of_a_name_are_told_apart_by_stage_and_order(project: Repository) -> None:
    text = """\
FROM scratch AS one
RUN pip install 'cmake<4'
FROM scratch AS two
RUN pip install 'cmake<5'
RUN pip install 'cmake<6' numpy
"""
    project.commit(NOW, "begin", {"Dockerfile": text})
    names = [name for _, name in named(watched(project.path).subject)]
    assert names == ["cmake@one", "cmake@two", "cmake@two@2", "numpy"]


def test_what_a_file_installs_from_is_watched_with_it_and_once(project: Repository) -> None:
    text = "FROM scratch\nWORKDIR /app\nCOPY docker/requirements.txt .\nRUN pip install -r requirements.txt\n"
    files = {"docker/Dockerfile": text, "docker/requirements.txt": "numpy==2.1.0\n-r common.txt\n"}
    project.commit(NOW, "begin", {**files, "docker/common.txt": "cmake<4\n"})
    numpy, cmake = ("docker/requirements.txt", "numpy"), ("docker/common.txt", "cmake")
    assert named(watched(project.path / "docker/Dockerfile").subject) == [numpy]
    assert named(watched(project.path / "docker/requirements.txt").subject) == [numpy, cmake]
    assert sorted(named(watched(project.path).subject)) == [cmake, numpy]


def test_pins_that_the_user_describes_are_watched(project: Repository) -> None:
    pattern = '[[pattern]]\nfile = "ci.txt"\nregex = "REF: (?P<value>\\\\S+)"\nkind = "git"\nname = "triton"\n'
    project.commit(NOW, "begin", {"pins.toml": pattern, "ci.txt": "REF: abc\n"})
    assert named(watched(project.path / "ci.txt").subject) == [("ci.txt", "triton")]


def test_of_a_file_that_is_named_content_decides_where_its_name_says_nothing(project: Repository) -> None:
    project.commit(NOW, "begin", {"what we need.txt": "triton==3.4.0\n", "notes.txt": "We wait.\n"})
    assert named(watched(project.path / "what we need.txt").subject) == [("what we need.txt", "triton")]
    [unread] = watched(project.path / "notes.txt").unknown
    assert "not a kind of file whose pins are known" in unread.reason


def test_files_of_two_repositories_are_kept_apart(project: Repository, tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    for repository in (project, other):
        repository.commit(NOW, "begin", {"requirements.txt": "numpy==2.1.0\n"})
    found = watched(project.path, other.path)
    assert {place for place, _ in named(found.subject)} == {"project/requirements.txt", "other/requirements.txt"}
    assert found.targets == ("project/", "other/")


def test_a_file_that_cannot_be_read_to_its_end_is_unknown_and_not_covered(project: Repository) -> None:
    text = "FROM scratch\nRUN pip install numpy==2.1.0\nRUN <<EOF\nnever ends\n"
    project.commit(NOW, "begin", {"Dockerfile": text, "requirements.txt": "cmake<4\n"})
    found = watched(project.path)
    assert [(one.rule, one.place) for one in found.unknown] == [("read", "Dockerfile")]
    assert not found.covers("Dockerfile")
    assert found.covers("requirements.txt")
    assert found.covers("gone/Dockerfile")  # it would have been found


def test_what_was_not_asked_for_is_not_covered(project: Repository) -> None:
    project.commit(NOW, "begin", {"docker/requirements.txt": "numpy\n", "docker-old/requirements.txt": "numpy\n"})
    found = watched(project.path / "docker")
    assert found.covers("docker/requirements.txt")
    assert not found.covers("docker-old/requirements.txt")
    assert not found.covers("requirements.txt")
    assert found.covers("pins.toml")


def test_a_file_whose_link_leads_outside_is_unknown(project: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("numpy\n")
    project.commit(NOW, "begin", {"requirements.txt": "cmake<4\n"})
    (project.path / "requirements-link.txt").symlink_to(tmp_path / "secret.txt")
    found = watched(project.path)
    assert [one.place for one in found.unknown] == ["requirements-link.txt"]


def test_holds_facts_and_acknowledgements_are_read(project: Repository) -> None:
    text = """\
[[hold]]
requirement = "cmake<4"
reason = "it breaks"

[[known-bad]]
requirement = "pybind11==3.1.0"
reason = "it breaks"

[[ack]]
id = "0123456789ab"
why = "later"
until = 2026-12-31
"""
    project.commit(NOW, "begin", {"pins.toml": text, "docker/requirements.txt": "numpy\n"})
    found = watched(project.path / "docker")
    assert [hold.pin for hold in found.subject.holds] == ["cmake"]
    assert [bound.requirement for bound in found.subject.facts.bounds] == ["pybind11!=3.1.0", "cmake<4"]
    assert [ack.id for ack in found.acks] == ["0123456789ab"]


@pytest.mark.parametrize(
    "text",
    [
        "[[ack]]\nid = 'x'\nwhy = 'y'\n",
        "[[ack]]\nid = '0123456789ab'\n",
        "[[ack]\n",
        "[[ack]]\nid = '0123456789ab'\nwhy = 'y'\nuntil = 2026-12-31T00:00:00Z\n",
        "[[hold]]\nrequirement = 'numpy<3'\nreason = 'y'\nreview = 2026-12-31 00:00:00\n",
    ],
)
def test_a_wrong_acknowledgement_is_said(project: Repository, text: str) -> None:
    project.commit(NOW, "begin", {"pins.toml": text, "requirements.txt": "numpy\n"})
    with pytest.raises(UsageError, match=r"pins\.toml"):
        watched(project.path)


def test_the_last_change_of_each_file_is_that_of_its_last_commit(project: Repository) -> None:
    project.commit(NOW - timedelta(days=9), "begin", {"a/requirements.txt": "numpy\n", "b/requirements.txt": "cmake\n"})
    project.commit(NOW - timedelta(days=5), "edit", {"a/requirements.txt": "numpy<3\n"})
    project.git("checkout", "-q", "-b", "side", "HEAD~1")
    project.commit(NOW - timedelta(days=4), "edit", {"b/requirements.txt": "cmake<4\n"})
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--no-edit", "side", when=NOW - timedelta(days=1))
    changed = {file.place: file.changed for file in watched(project.path).subject.files}
    assert changed == {
        "a/requirements.txt": NOW - timedelta(days=5),
        "b/requirements.txt": NOW - timedelta(days=4),
    }
    before = watched(project.path, revision="HEAD~1").subject.files
    assert {file.changed for file in before} == {NOW - timedelta(days=5), NOW - timedelta(days=9)}


def test_a_file_that_was_edited_since_its_commit_was_changed_then(project: Repository) -> None:
    project.commit(NOW - timedelta(days=9), "begin", {"requirements.txt": "numpy\n"})
    (project.path / "requirements.txt").write_text("numpy<3\n")
    (file,) = watched(project.path).subject.files
    assert file.changed is not None
    assert file.changed > NOW - timedelta(days=8)


def test_the_last_change_is_not_known_of_a_shallow_clone_and_outside_a_repository(
    project: Repository, tmp_path: Path
) -> None:
    project.commit(NOW, "one", {"requirements.txt": "numpy\n"})
    project.commit(NOW, "two", {"README.md": "x"})
    project.git("clone", "-q", "--depth=1", project.url, str(tmp_path / "shallow"))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/requirements.txt").write_text("numpy\n")
    for path in (tmp_path / "shallow", tmp_path / "plain"):
        (file,) = watched(path).subject.files
        assert file.changed is None


def test_a_path_that_is_not_there_is_said(project: Repository) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        watched(project.path / "gone")
