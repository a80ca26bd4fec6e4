"""Clones of a Dockerfile that name a commit where git takes only branches, run by a real shell and a real git."""

import subprocess
from pathlib import Path

import pytest

from bisector.environments.docker.commit_clones import fetching_commits
from pins.files.dockerfile.syntax import split_dockerfile
from tests.git.repository_builder import RepositoryBuilder, run_git

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "clone",
    [
        'git clone -b ${REF} "$URL"',
        'git clone --branch="${REF}" $URL source',
        "git clone --recursive --single-branch --branch $REF --depth 1 ${URL} source",
        'git clone $URL -b "$REF" source',
        "git -C . clone -q -o up -b ${REF:-none} -- $URL source",
        "GIT_LFS_SKIP_SMUDGE=1 git clone -b ${OTHER} $URL source",
        "if true; then git clone -b $REF $URL source; fi",
        "(git clone -b $REF $URL source)",
        "git clone \\\n      # the source\n      -b ${REF} \\\n      $URL source",
    ],
)
def test_a_clone_at_a_commit_fetches_it_though_no_branch_leads_there(
    builder: RepositoryBuilder, tmp_path: Path, clone: str
) -> None:
    builder.line("c", 3)
    builder.ref("refs/heads/main", "c0")
    builder.ref("refs/hidden/x", "c2")
    source = builder.write()
    run_git("config", "uploadpack.allowAnySHA1InWant", "true", directory=source)
    text = f"FROM x\nARG REF=main\nARG URL\nENV OTHER=${{REF}}\nRUN {clone} && cd source && cat name\nRUN true\n"
    made = fetching_commits(text, {"REF": builder.ids["c2"]}, [builder.ids["c2"]])
    assert made.refused == ""
    assert made.text.count("\n") == text.count("\n")
    run = next(each for each in split_dockerfile(made.text.encode()).instructions if each.keyword == "RUN")
    script = run.body.text.decode()
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        ["sh", "-ec", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path / "work",
        env={"PATH": "/usr/bin:/bin", "URL": source.as_uri(), "REF": builder.ids["c2"], "OTHER": builder.ids["c2"]},
    )
    assert done.returncode == 0, done.stderr + script
    assert done.stdout == "c2"


@pytest.mark.parametrize(
    "text",
    [
        "FROM x\nARG REF=main\nRUN git clone -b v1 https://h/o/n && cd n && git checkout $REF\n",
        "FROM x\nARG REF=main\nRUN echo git clone -b $REF\n",
        'FROM x\nARG REF=main\nRUN ["git", "clone", "-b", "$REF", "u"]\n',
        "FROM x\nARG REF=main\nRUN git clone -b '$REF' https://h/o/n\n",
    ],
)
def test_what_works_as_it_is_stays_as_it_is(text: str) -> None:
    made = fetching_commits(text, {"REF": COMMIT}, [COMMIT])
    assert made.text == text


def test_without_commits_nothing_changes() -> None:
    text = f"FROM x\nRUN git clone -b {COMMIT} https://h/o/n\n"
    assert fetching_commits(text, {}, []).text == text
    assert f"fetch --quiet origin {COMMIT}" in fetching_commits(text, {}, [COMMIT]).text


def test_heredocs_are_read_too_and_a_directory_is_computed_where_the_url_is_a_variable() -> None:
    text = f"FROM x\nARG REF={COMMIT}\nARG URL=u\nRUN <<EOF\ngit clone \\\n  -b $REF $URL\nEOF\n"
    made = fetching_commits(text, {}, [COMMIT])
    assert '-C "$(basename "$URL" .git)" fetch --quiet origin $REF' in made.text
    assert made.text.count("\n") == text.count("\n")


@pytest.mark.parametrize("clone", ["-b v$REF u", "--mirror -b $REF u", "-b $REF"])
def test_a_clone_that_can_take_no_commit_is_said_with_its_line(clone: str) -> None:
    made = fetching_commits(f"FROM x\nARG REF\nRUN true && \\\n  git clone {clone}\n", {"REF": COMMIT}, [COMMIT])
    assert made.refused.startswith("line 4: git clone --branch")
