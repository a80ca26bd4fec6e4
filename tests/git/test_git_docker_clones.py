"""Clones of a Dockerfile that name a commit where git takes only branches, run by a real shell and a real git."""

import subprocess
from pathlib import Path

import pytest

from bisector.environments.docker.commit_clones import fetching_commits
from bisector.environments.docker.pins_inside import Setting
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


@pytest.mark.parametrize(
    "commands",
    [
        "git clone $URL source && cd source && git checkout ${REF} && cat deep/pin name",
        "git clone $URL source && git -C source checkout --quiet $REF && cd source && cat deep/pin name",
        "git clone $URL source && cd source \\\n    && git reset -q --hard $REF \\\n    && cat deep/pin name",
        "git clone -b $REF $URL source && cd source/deep && cat pin ../name",
        "git clone $URL source && cd source/deep && if true; then git checkout -q $REF; fi && cat pin ../name",
    ],
)
def test_a_pin_inside_is_set_behind_the_checkout_of_its_tree(
    builder: RepositoryBuilder, tmp_path: Path, commands: str
) -> None:
    for number in range(3):
        builder.add(f"c{number}", *([f"c{number - 1}"] if number else []), files={"deep/pin": "old\n"})
    source = builder.write()
    run_git("config", "uploadpack.allowAnySHA1InWant", "true", directory=source)
    text = f"FROM x\nARG REF=main\nARG URL\nRUN {commands}\nRUN true\n"
    commit = builder.ids["c1"]
    settings = {commit: (Setting("deep/pin", content=b"new 'one'\n$HOME\n"), Setting("deep/lib", commit="1" * 40))}
    made = fetching_commits(text, {"REF": commit}, [commit], settings)
    assert made.refused == ""
    assert made.text.count("\n") == text.count("\n")
    run = next(each for each in split_dockerfile(made.text.encode()).instructions if each.keyword == "RUN")
    (tmp_path / "work").mkdir()
    variables = {"PATH": "/usr/bin:/bin", "URL": source.as_uri(), "REF": commit}
    script = run.body.text.decode() + "; git ls-files --stage lib deep/lib"
    done = subprocess.run(
        ["sh", "-ec", script], capture_output=True, text=True, check=False, cwd=tmp_path / "work", env=variables
    )
    assert done.returncode == 0, done.stderr + script
    assert done.stdout.startswith("new 'one'\n$HOME\nc1"), done.stderr
    assert f"160000 {'1' * 40}" in done.stdout


def test_a_tree_that_is_checked_out_in_no_way_that_is_known_takes_no_pin_inside() -> None:
    settings = {COMMIT: (Setting("pin", content=b"x"),)}
    text = "FROM x\nARG REF\nRUN git fetch u $REF && git checkout FETCH_HEAD\n"
    assert "behind which pin could be set" in fetching_commits(text, {"REF": COMMIT}, [COMMIT], settings).refused
    other = "FROM x\nRUN true\n"  # a file of a chain that has nothing to do with it
    assert fetching_commits(other, {}, [COMMIT], settings).refused == ""
