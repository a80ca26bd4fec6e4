"""`pins show`, `pins diff` and `pins set` as they are typed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.local_index import LocalIndex

DOCKERFILE = """\
ARG TRITON_BRANCH="{ref}" # tip as of 08/01
ARG TRITON_REPO=https://git.example/a/triton.git
FROM acme/os:9 AS base
RUN pip install 'cmake<4' ninja
FROM base AS build
ARG TRITON_BRANCH
ARG TRITON_REPO
RUN git clone -b ${{TRITON_BRANCH}} ${{TRITON_REPO}}
FROM base AS final
COPY --from=build /x /x
"""


def pins(directory: Path, *arguments: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    import os

    root = str(Path(__file__).resolve().parents[2])
    return subprocess.run(
        [sys.executable, "-m", "pins", *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": root, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(directory), "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    for ref in ("aaaaaaa", "bbbbbbb"):
        (tmp_path / "Dockerfile").write_text(DOCKERFILE.format(ref=ref))
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", ref)
    return tmp_path


def test_show_gives_a_table_and_a_document(repository: Path) -> None:
    table = pins(repository, "show", "Dockerfile")
    assert table.returncode == 0
    assert "triton" in table.stdout
    assert "bbbbbbb" in table.stdout
    document = json.loads(pins(repository, "show", "Dockerfile", "--format", "json").stdout)
    assert document["schema"] == "pins.show/1"
    triton = next(pin for pin in document["pins"] if pin["name"] == "triton")
    assert triton["override"] == {"how": ["--build-arg TRITON_BRANCH"], "reaches": ["build"], "misses": []}
    assert {"kind", "value", "file", "line", "stage", "scope", "comment", "repo"} <= set(triton)
    ninja = next(pin for pin in document["pins"] if pin["name"] == "ninja")
    assert (ninja["kind"], ninja["value"]) == ("package", None)


def test_show_at_a_revision_of_a_directory_and_of_a_stage(repository: Path) -> None:
    assert "aaaaaaa" in pins(repository, "show", "Dockerfile", "--rev", "HEAD~1").stdout
    assert "aaaaaaa" in pins(repository, "show", ".", "--rev", "HEAD~1").stdout
    (repository / "Dockerfile").unlink()
    assert "aaaaaaa" in pins(repository, "show", "Dockerfile", "--rev", "HEAD~1").stdout
    stage = pins(repository, "show", "Dockerfile", "--rev", "HEAD", "--stage", "final").stdout
    assert "cmake<4 (line 4)" in stage
    assert "triton" not in stage


def test_show_with_a_build_argument(repository: Path) -> None:
    assert "zzz" in pins(repository, "show", "Dockerfile", "--build-arg", "TRITON_BRANCH=zzz").stdout


def test_show_tells_which_other_file_of_the_directory_gives_an_arg(repository: Path) -> None:
    (repository / "docker-bake.hcl").write_text('target "t" {\n args = { TRITON_BRANCH = "r7" }\n}\n')
    document = json.loads(pins(repository, "show", ".", "--format", "json").stdout)
    triton = next(pin for pin in document["pins"] if pin["name"] == "triton" and pin["file"] == "Dockerfile")
    assert triton["override"]["how"] == ["--build-arg TRITON_BRANCH", "docker-bake.hcl:2 gives r7"]


def test_show_resolves_floating_requirements_on_request(repository: Path, local_index: LocalIndex) -> None:
    local_index.add("ninja", "1.11")
    local_index.add("ninja", "1.13")
    local_index.add("ninja", "2.0rc1")
    document = json.loads(
        pins(
            repository,
            "show",
            "Dockerfile",
            "--resolve",
            "--format",
            "json",
            env={
                "PIP_INDEX_URL": local_index.url,
                "UV_DEFAULT_INDEX": local_index.url,
                "UV_INDEX": "",
                "PIP_EXTRA_INDEX_URL": "",
            },
        ).stdout
    )
    assert next(pin for pin in document["pins"] if pin["name"] == "ninja")["resolves_to"] == "1.13"


@pytest.mark.parametrize("form", ["md", "html"])
def test_other_formats_escape_what_a_file_says(tmp_path: Path, form: str) -> None:
    (tmp_path / "Dockerfile").write_text(
        "# <script>x</script> | `y`\nARG W_REF=<b>\nFROM a\nARG W_REF\nRUN git clone -b $W_REF https://h/w\n"
    )
    found = pins(tmp_path, "show", "Dockerfile", "--format", form)
    assert found.returncode == 0
    assert "<b>" not in found.stdout.replace("`<b>`", "")  # in a code span nothing is markup
    assert not re.search(r"(?<!\\)<script>", found.stdout)


def test_a_file_that_does_not_parse_gives_what_was_read_and_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM a:1\nRUN pip install foo==1\n<<<<<<< HEAD\nRUN pip install bar\n")
    found = pins(tmp_path, "show", "Dockerfile")
    assert found.returncode == 3
    assert "foo" in found.stdout
    assert "Dockerfile:3: unknown instruction" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "gone"], "does not exist"),
        (["show", "Dockerfile", "--rev", "nope"], "no revision 'nope'"),
        (["show", "Dockerfile", "--rev=--all"], "not a revision"),
        (["show", "Dockerfile", "--stage", "nope"], "no stage 'nope'"),
        (["show", "Dockerfile", "--format", "xml"], "--format"),
        (["show", "Dockerfile", "--build-arg", "x"], "NAME=VALUE"),
        (["show", "Dockerfile", "--chain", "x"], "--chain"),
        (["show", "Dockerfile", "--repo", "a=/nowhere/at/all"], "no such directory"),
        (["diff", "Dockerfile"], "two files"),
        (["diff", "Dockerfile", "--rev", "HEAD"], "OLD..NEW"),
        (["diff", "Dockerfile", "--rev", "nope..HEAD"], "nope"),
        (["set", "Dockerfile", "nothing=1"], "no pin 'nothing'"),
        (["set", "gone", "a=1"], "does not exist"),
        (["set", "Dockerfile", "triton=x", "--comment-date", "soon"], "--comment-date"),
    ],
)
def test_wrong_use_is_refused_with_exit_code_2(repository: Path, arguments: list[str], message: str) -> None:
    found = pins(repository, *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_diff_between_revisions_counts_commits_where_the_repository_is_at_hand(
    repository: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "triton"
    clone.mkdir()
    git(clone, "init", "-q")
    for name in ("aaaaaaa", "x", "bbbbbbb"):
        git(clone, "commit", "-q", "--allow-empty", "-m", name)
        git(clone, "tag", name)
    found = pins(
        repository, "diff", "Dockerfile", "--rev", "HEAD~1..HEAD", "--repo", f"triton={clone}", "--format", "json"
    )
    document = json.loads(found.stdout)
    assert document["schema"] == "pins.diff/1"
    change = document["changes"][0]
    assert (change["name"], change["kind"], change["old"], change["new"]) == ("triton", "git", "aaaaaaa", "bbbbbbb")
    assert change["commits"] == {"ahead": 2, "behind": 0}
    assert len(document["changes"]) == 1


def test_diff_between_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("foo==1\nbar\ngone<2\n")
    (tmp_path / "b.txt").write_text("foo==2\nbar\nnew>=1\n")
    lines = pins(tmp_path, "diff", "a.txt", "b.txt").stdout.splitlines()
    assert [line.split()[:4] for line in lines[3:6]] == [
        ["foo", "package", "1", "2"],
        ["new", "package", "-", ">=1"],
        ["gone", "package", "<2", "-"],
    ]


def test_set_prints_a_patch_and_writes_only_when_told(repository: Path) -> None:
    before = (repository / "Dockerfile").read_bytes()
    shown = pins(repository, "set", "Dockerfile", "triton=ccccccc", "--comment-date", "2026-08-18")
    assert shown.returncode == 0
    assert '+ARG TRITON_BRANCH="ccccccc" # tip as of 08/18' in shown.stdout
    assert (repository / "Dockerfile").read_bytes() == before
    subprocess.run(["git", "apply", "--check", "-"], cwd=repository, input=shown.stdout, text=True, check=True)
    assert pins(repository, "set", "Dockerfile", "TRITON_BRANCH=ccccccc", "--write").returncode == 0
    assert b'"ccccccc" # tip as of 08/01' in (repository / "Dockerfile").read_bytes()


def test_help_is_quick_and_shows_an_example(tmp_path: Path) -> None:
    found = pins(tmp_path, "set", "--help")
    assert "pins set docker/Dockerfile" in found.stdout
    loaded = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pins", "show", "--help"],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert not {name for name in ("packaging", "httpx", "pins.files.dockerfile") if f" {name}\n" in loaded}


def test_show_tells_what_a_build_argument_changes_and_what_it_does_not_reach(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(
        "ARG V=1.4\nARG USE=0\nFROM a AS x\nARG V\nARG USE\nRUN pip install foo==$V\n"
        'RUN if [ "$USE" = 1 ]; then pip install bar==2; fi\nFROM a AS y\nRUN pip install baz==$V\n'
    )
    given = ["--build-arg", "V=1.5", "--build-arg", "USE=1", "--build-arg", "NONE=1"]
    shown = pins(tmp_path, "show", "Dockerfile", *given, "--format", "json")
    assert [(c["name"], c["without"], c["with"]) for c in json.loads(shown.stdout)["changed_by_build_args"]] == [
        ("foo", "==1.4", "==1.5"),
        ("bar", "==2 (not used)", "==2"),
    ]
    assert "NONE: nothing that was read has such an ARG" in shown.stderr
    assert "What the build arguments change" in pins(tmp_path, "show", "Dockerfile", *given).stdout


def test_a_pattern_and_a_workflow_are_known_by_their_place_in_the_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for directory, text in ((".github/workflows", "env:\n  W_REF: v1\n"), ("ci", "W_REF: v1\n")):
        (tmp_path / directory).mkdir(parents=True)
        (tmp_path / directory / "x.yaml").write_text(text)
    (tmp_path / "pins.toml").write_text("[[pattern]]\nfile = 'ci/*.yaml'\nregex = 'W_REF: (\\S+)'\nname = 'w'\n")
    assert "v1" in pins(tmp_path / "ci", "show", "x.yaml").stdout
    assert "+W_REF: v2" in pins(tmp_path / "ci", "set", "x.yaml", "w=v2").stdout
    assert pins(tmp_path / ".github" / "workflows", "show", "x.yaml").returncode == 0


def test_diff_says_why_a_distance_is_not_known_and_where_a_nested_pin_stands(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "empty"
    clone.mkdir()
    git(clone, "init", "-q")
    found = pins(repository, "diff", "Dockerfile", "--rev", "HEAD~1..", "--repo", f"triton={clone}")
    assert f"unknown: {clone} has not aaaaaaa nor bbbbbbb" in found.stdout
    (tmp_path / "requirements-old.txt").write_text("-r more.txt\n")
    (tmp_path / "more.txt").write_text("foo==1\n")
    (tmp_path / "new.txt").write_text("bar==1\n")
    lines = pins(tmp_path, "diff", "requirements-old.txt", "new.txt").stdout
    assert "more.txt:1" in lines
    assert "line 1" in lines
