"""What lies about in real directories: files of other kinds, links, odd names, what may not be read."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pins.command_line import deliver
from pins.errors import EnvironmentFailureError, UsageError
from pins.files.comparing import compare_revisions
from pins.files.patch import unified_diff
from pins.files.read import kind_of
from pins.files.reading import ReadRequest, read_all, unknown_arguments
from pins.files.setting import SetRequest, set_pins
from pins.model import PinSet

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = b"FROM acme/os:9\nRUN pip install foo==1\n"


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(directory), "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)


def committed(directory: Path) -> Path:
    git(directory, "init", "-q")
    git(directory, "add", ".")
    git(directory, "commit", "-qm", "x")
    return directory


def shown(path: Path, revision: str = "", **options: object) -> list[PinSet]:
    return read_all(ReadRequest((path,), revision, **options))  # type: ignore[arg-type]


@pytest.fixture
def without_privileges() -> Iterator[None]:
    """Permissions count: they do not for the superuser."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


# -- what a directory holds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("dockerfile.go", b"package dockerfile\n"),
        ("Dockerfile.extra", b'{{ InsertTemplate("Dockerfile") }}\n'),
        ("pre-commit", b"#!/bin/sh\nmake lint\nmake test\n"),
        ("sync-version", b"#!/bin/sh -e\necho $V\n"),
        ("fast_commit", b"supported\n"),
        ("Dockerfile.5.gz", b"\x1f\x8b\x08\x00\x00\x00"),
    ],
)
def test_a_file_that_only_has_the_name_is_left_out_of_a_directory(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "Dockerfile").write_bytes(DOCKERFILE)
    (tmp_path / name).write_bytes(content)
    found = shown(tmp_path)
    assert [Path(s.file).name for s in found] == ["Dockerfile"]
    assert found[0].complete


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.rocm"])
def test_a_broken_dockerfile_of_a_directory_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"<<<<<<< HEAD\nFROM a:1\n")
    assert [p.line for p in shown(tmp_path)[0].problems] == [1]


def test_a_pattern_that_finds_nothing_in_a_file_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "pins.toml").write_text('[[pattern]]\nfile = "*.cfg"\nregex = \'ref=(\\w+)\'\nname = "w"\n')
    (tmp_path / "a.cfg").write_text("nothing\n")
    (tmp_path / "b.cfg").write_text("ref=v1\n")
    found = shown(tmp_path)
    assert [(Path(s.file).name, s.complete) for s in found] == [("b.cfg", True)]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("FROM a\n".encode("utf-16"), 1, "UTF-16"),
        (b"FROM a\nRUN \0\n", 2, "not a text file"),
        (b"#" * (8 * 2**20 + 1), 1, "larger than 8 MiB"),
    ],
)
def test_what_is_no_text_is_told_with_its_line(tmp_path: Path, content: bytes, line: int, message: str) -> None:
    (tmp_path / "Dockerfile").write_bytes(content)
    (problem,) = shown(tmp_path / "Dockerfile")[0].problems
    assert problem.line == line
    assert message in problem.message
    with pytest.raises(UsageError, match=message):
        set_pins(SetRequest(tmp_path / "Dockerfile", ("foo=2",)))


@pytest.mark.parametrize("name", ["dockerfile.GO", "Dockerfile.patch", "Dockerfile.toml"])
def test_source_code_is_no_dockerfile(name: str) -> None:
    assert kind_of(name) == ""


# -- links and what may not be read -----------------------------------------------------------------------------------


def test_a_link_is_followed_on_disk_and_at_a_revision(tmp_path: Path) -> None:
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "real.txt").write_bytes(DOCKERFILE)
    (tmp_path / "Dockerfile").symlink_to("docker/real.txt")
    (tmp_path / "Dockerfile.gone").symlink_to("nowhere")
    (tmp_path / "Dockerfile.out").symlink_to("/etc/hostname")
    committed(tmp_path)
    for revision in ("", "HEAD"):
        assert [p.name for p in shown(tmp_path / "Dockerfile", revision)[0].pins] == ["acme/os", "foo"]
        assert "foo" in {p.name for s in shown(tmp_path, revision) for p in s.pins}


def test_a_link_out_of_the_directory_is_read_when_it_is_named_and_else_told(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "x").write_bytes(DOCKERFILE)
    (inside / "Dockerfile").symlink_to(outside / "x")
    assert "foo" in {p.name for p in shown(inside / "Dockerfile")[0].pins}
    (problem,) = shown(inside)[0].problems
    assert "outside" in problem.message


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").symlink_to("Dockerfile")
    with pytest.raises(UsageError, match=r"does not exist|cannot be read"):
        shown(tmp_path / "Dockerfile")


def test_what_may_not_be_read_is_told(tmp_path: Path, without_privileges: None) -> None:
    home = Path(tmp_path.anchor) / "tmp" / f"unreadable-{os.getpid()}"
    home.mkdir()
    try:
        (home / "shut").mkdir()
        (home / "shut" / "Dockerfile").write_bytes(DOCKERFILE)
        (home / "Dockerfile").write_bytes(DOCKERFILE)
        (home / "Dockerfile").chmod(0)
        (problem,) = shown(home)[0].problems
        assert "Permission denied" in problem.message
        with pytest.raises(UsageError, match="Permission denied"):
            shown(home / "Dockerfile")
        (home / "shut").chmod(0)
        with pytest.raises(UsageError, match="Permission denied"):
            shown(home / "shut" / "Dockerfile")
        (home / "shut").chmod(0o700)
        (home / "shut" / "Dockerfile").chmod(0o444)
        done = set_pins(SetRequest(home / "shut" / "Dockerfile", ("foo=2",)))
        with pytest.raises(UsageError, match="may not be written"):
            done.write()
        assert (home / "shut" / "Dockerfile").read_bytes() == DOCKERFILE
    finally:
        (home / "shut" / "Dockerfile").unlink()
        (home / "shut").rmdir()
        (home / "Dockerfile").unlink()
        home.rmdir()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Dockerfile")
    with pytest.raises(UsageError, match="neither a file nor a directory"):
        shown(tmp_path / "Dockerfile")


# -- repositories -----------------------------------------------------------------------------------------------------


def test_a_repository_without_a_commit_has_files_but_no_revision(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_bytes(DOCKERFILE)
    git(tmp_path, "init", "-q")
    assert shown(tmp_path)[0].pins
    with pytest.raises(UsageError, match="no revision 'HEAD'"):
        shown(tmp_path / "Dockerfile", "HEAD")


def test_a_bare_repository_wants_a_revision(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "Dockerfile").write_bytes(DOCKERFILE)
    committed(tmp_path / "work")
    subprocess.run(["git", "clone", "-q", "--bare", "work", "bare"], cwd=tmp_path, check=True)
    assert shown(tmp_path / "bare" / "Dockerfile", "HEAD")[0].pins
    assert shown(tmp_path / "bare", "HEAD")[0].pins
    with pytest.raises(UsageError, match="give --rev"):
        shown(tmp_path / "bare")


def test_the_variables_that_git_sets_for_its_hooks_do_not_mislead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Dockerfile").write_bytes(DOCKERFILE.replace(b"foo", name.encode()))
        committed(tmp_path / name)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "a" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "a" / ".git" / "index"))
    assert "b" in {pin.name for pin in shown(tmp_path / "b" / "Dockerfile", "HEAD")[0].pins}


def test_a_repository_that_git_does_not_trust_is_told_as_that(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only the superuser can give a repository away")
    (tmp_path / "Dockerfile").write_bytes(DOCKERFILE)
    committed(tmp_path)
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    with pytest.raises(UsageError, match=r"safe\.directory"):
        shown(tmp_path / "Dockerfile", "HEAD")
    assert shown(tmp_path / "Dockerfile")[0].pins


def test_without_git_files_are_read_and_revisions_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Dockerfile").write_bytes(DOCKERFILE)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shown(tmp_path)[0].pins
    with pytest.raises(EnvironmentFailureError, match="git is not installed"):
        shown(tmp_path / "Dockerfile", "HEAD")


@pytest.mark.parametrize("name", ["a b", "ü\n", '"quoted"', "[x]", ":(glob)**", "*"])
def test_names_of_any_sort_are_found(tmp_path: Path, name: str) -> None:
    for directory in (name, "other"):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "Dockerfile").write_bytes(DOCKERFILE)
    committed(tmp_path)
    for revision in ("", "HEAD"):
        assert [Path(s.file).parent.name for s in shown(tmp_path / name, revision)] == [name]


def test_a_file_that_came_or_went_is_compared_with_nothing(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("foo==1\n")
    committed(tmp_path)
    (tmp_path / "Dockerfile").write_bytes(DOCKERFILE)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "y")
    groups, _ = compare_revisions(tmp_path, "HEAD~1", "HEAD", ReadRequest(()))
    assert [(c.old is None, c.pin.name) for _, _, changes in groups for c in changes] == [
        (True, "acme/os"),
        (True, "foo"),
    ]


# -- options ----------------------------------------------------------------------------------------------------------


def test_a_target_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_bytes(b"FROM a AS x\nFROM x\n")
    assert shown(tmp_path / "Dockerfile", target="X")
    assert shown(tmp_path / "Dockerfile", target="1")
    with pytest.raises(UsageError, match="no stage 'y'"):
        shown(tmp_path / "Dockerfile", target="y")


def test_a_build_argument_that_nothing_declares_is_told(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_bytes(b"ARG V=1\nFROM a:$V\nARG W\n")
    found = shown(tmp_path / "Dockerfile")
    given = {"V": "", "W": "", "X": "", "HTTPS_PROXY": "", "TARGETARCH": ""}
    assert unknown_arguments(given, found) == ["X"]


# -- patches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "a b", "ü", 'quo"te', "back\\slash", "new\nline", "tab\t"])
@pytest.mark.parametrize("content", [b"a\nfoo==1\nlast", b"\xe9 \xff\r\nfoo==1\r\n", b"foo==1"])
def test_a_patch_applies_whatever_the_file_is_called_and_holds(tmp_path: Path, name: str, content: bytes) -> None:
    after = content.replace(b"foo==1", b"foo==2")
    (tmp_path / name).write_bytes(content)
    patch = unified_diff(content, after, name)
    subprocess.run(["git", "apply", "--unsafe-paths", "-"], cwd=tmp_path, input=patch, check=True)
    assert (tmp_path / name).read_bytes() == after


def test_a_patch_of_a_file_elsewhere_names_it_from_the_top_of_its_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for directory in ("repo/docker", "cwd"):
        (tmp_path / directory).mkdir(parents=True)
    file = tmp_path / "repo" / "docker" / "Dockerfile"
    file.write_bytes(DOCKERFILE)
    committed(tmp_path / "repo")
    monkeypatch.chdir(tmp_path / "cwd")
    patch = set_pins(SetRequest(Path("../repo/docker/Dockerfile"), ("foo=2",))).patch
    subprocess.run(["git", "apply", "-"], cwd=tmp_path / "repo", input=patch, check=True)
    assert b"foo==2" in file.read_bytes()


def test_a_result_of_any_bytes_arrives_as_it_is(tmp_path: Path) -> None:
    deliver(b"\xff\r\n", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"\xff\r\n"
    (tmp_path / "Dockerfile").write_bytes(b"# \xe9\nFROM a\nRUN pip install foo==1\n")
    done = subprocess.run(
        [sys.executable, "-m", "pins", "set", "Dockerfile", "foo=2"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    assert b"# \xe9\n" in done.stdout


# -- setting ----------------------------------------------------------------------------------------------------------


def test_a_lock_file_is_left_to_the_tool_that_wrote_it(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "torch"\nversion = "2.9.0"\n')
    with pytest.raises(UsageError, match="lock again"):
        set_pins(SetRequest(tmp_path / "uv.lock", ("torch=2.10",)))


def test_two_values_for_one_pin_are_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_bytes(DOCKERFILE)
    with pytest.raises(UsageError, match="more than one value"):
        set_pins(SetRequest(tmp_path / "Dockerfile", ("foo=2", "FOO=3")))


def test_the_owner_of_a_file_stays(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only the superuser can give a file away")
    file = tmp_path / "Dockerfile"
    file.write_bytes(DOCKERFILE)
    os.chown(file, 65534, 65534)
    file.chmod(0o640)
    set_pins(SetRequest(file, ("foo=2",))).write()
    assert (file.stat().st_uid, file.stat().st_gid, file.stat().st_mode & 0o777) == (65534, 65534, 0o640)


def test_a_read_only_file_is_refused_to_the_superuser_too(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_bytes(DOCKERFILE)
    result = set_pins(SetRequest(file, ("foo=2",)))
    file.chmod(0o444)
    with pytest.raises(UsageError, match="it is read-only"):
        result.write()
    assert file.read_bytes() == DOCKERFILE


def test_a_build_context_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_bytes(DOCKERFILE)
    with pytest.raises(UsageError, match="no such directory"):
        shown(tmp_path / "Dockerfile", context=tmp_path / "none")


@pytest.mark.parametrize("command", ["/tmp/install.sh", "bash -ex /tmp/install.sh cu130", ". /tmp/install.sh"])
def test_a_script_of_the_build_context_that_installs_something_is_said_not_to_be_read(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "Dockerfile").write_text(
        f"FROM a:1\nCOPY ci/install.sh ci/quiet.sh /tmp/\nRUN {command} && /tmp/quiet.sh\n"
    )
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "install.sh").write_text("#!/bin/sh\npip install foo==1.4\n")
    (tmp_path / "ci" / "quiet.sh").write_text("#!/bin/sh\ntrue\n")
    (problem,) = shown(tmp_path / "Dockerfile")[0].problems
    assert (problem.line, problem.fatal) == (3, False)
    assert problem.message.startswith("ci/install.sh is run, and not read")


def test_what_one_file_gives_an_argument_is_said_once(tmp_path: Path) -> None:
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    step = "    - build-args: |\n        FOO_VERSION=1.5\n"
    (tmp_path / ".github" / "workflows" / "a.yml").write_text("jobs:\n  steps:\n" + step * 2)
    (tmp_path / "Dockerfile").write_text("FROM a:1\nARG FOO_VERSION=1.4\n")
    (dockerfile,) = [s for s in shown(tmp_path) if s.stages]
    assert [h.rpartition("/")[2] for h in dockerfile.pins[1].override.how] == [
        "--build-arg FOO_VERSION",
        "a.yml:4,6 gives 1.5",
    ]
