import os
import sys
from pathlib import Path

import pytest

from bisector.environments.docker.context import ContextReader, context_sources, difference, digest
from bisector.environments.docker.ignore import parse_ignore_rules
from bisector.environments.docker.instructions import read_dockerfile


@pytest.mark.parametrize(
    ("instruction", "sources"),
    [
        ("COPY a b/c /x/", ("a", "b/c")),
        ("COPY ./a/../b /x", ("b",)),
        ("COPY --chown=1:2 --link a /x", ("a",)),
        ('COPY ["a b", "/x"]', ("a b",)),
        ('COPY "a b" /x', ("a b",)),
        ("COPY . /x", ("",)),
        ("COPY src/*.txt /x", ("src",)),
        ("COPY ${DIR}/a /x", ("",)),
        ("COPY --from=build a /x", ()),
        ("ADD https://host.invalid/f.tar /x", ()),
        ("ADD local.tar /x", ("local.tar",)),
        ("COPY <<EOF /x\nhello\nEOF", ()),
        ("RUN --mount=type=bind,source=req.txt,target=/r pip install -r /r", ("req.txt",)),
        ("RUN --mount=type=bind,target=/src make", ("",)),
        ("RUN --mount=type=bind,from=build,target=/src make", ()),
        ("RUN --mount=type=cache,target=/c make", ()),
        ("ONBUILD COPY . /x", ("",)),
        ("RUN cp a b", ()),
    ],
)
def test_only_what_the_instructions_name_counts(instruction: str, sources: tuple[str, ...]) -> None:
    assert context_sources(read_dockerfile(f"FROM a\n{instruction}\n")) == sources


def test_a_change_is_seen_in_content_mode_links_and_names(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("one")
    (tmp_path / "d" / "link").symlink_to("f")
    reader = ContextReader(tmp_path / "Dockerfile", tmp_path)
    before = reader.entries(("",))
    assert reader.entries(("",)) == before

    (tmp_path / "d" / "f").write_text("two")
    after = reader.entries(("",))
    assert difference(before, after) == ["d/f"]
    assert digest(before) != digest(after)
    (tmp_path / "d" / "f").chmod(0o755)
    assert difference(after, reader.entries(("",))) == ["d/f"]
    (tmp_path / "d" / "link").unlink()
    (tmp_path / "d" / "link").symlink_to("g")
    (tmp_path / "new").touch()
    assert difference(after, reader.entries(("",))) == ["d/f", "d/link", "new"]
    assert reader.entries(("d/link", "missing")).keys() == {"d/link"}


def test_ignored_files_do_not_count_but_the_rules_do(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x")
    (tmp_path / "kept").write_text("x")
    (tmp_path / ".dockerignore").write_text("*.log\n")
    reader = ContextReader(tmp_path / "Dockerfile", tmp_path)
    before = reader.entries(("",))
    assert "a.log" not in before
    (tmp_path / "Dockerfile.dockerignore").write_text("kept\n")
    assert difference(before, reader.entries(("",))) == [
        "(ignore rules)",
        "Dockerfile.dockerignore",
        "a.log",
        "kept",
    ]


def test_git_counts_by_what_is_checked_out(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text("a" * 40)
    reader = ContextReader(tmp_path / "Dockerfile", tmp_path)
    before = reader.entries(("",))
    (git / "index").write_text("touched by git status")
    assert reader.entries(("",)) == before
    (git / "refs" / "heads" / "main").write_text("b" * 40)
    assert difference(before, reader.entries(("",))) == [".git"]


def test_the_file_that_takes_our_own_output_does_not_count(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    reader = ContextReader(tmp_path / "Dockerfile", tmp_path)
    saved = os.dup(2)
    sys.stderr.flush()
    try:
        with log.open("w") as file:
            os.dup2(file.fileno(), 2)
        found = reader.entries(("",))
    finally:
        os.dup2(saved, 2)
        os.close(saved)
    assert "run.log" not in found
    assert "run.log" in reader.entries(("",))


@pytest.mark.parametrize(
    ("rules", "path", "ignored"),
    [
        (["*.log"], "a.log", True),
        (["*.log"], "d/a.log", False),
        (["**/*.log"], "a.log", True),
        (["**/*.log"], "d/e/a.log", True),
        (["/build/"], "build/x/y", True),
        (["build"], "builds", False),
        (["*", "!src"], "src/a", True is False),
        (["*", "!src"], "other", True),
        (["*", "!src", "src/gen"], "src/gen/a", True),
        (["# build", "", "  x  "], "x", True),
        (["# build"], "# build", False),
        (["a?c"], "abc", True),
        (["a?c"], "a/c", False),
        (["[a-c]x"], "bx", True),
        (["[^a-c]x"], "bx", False),
        ([r"a\*"], "a*", True),
        ([r"a\*"], "ab", False),
        (["docs/**"], "docs/a/b", True),
        (["**"], "anything/at/all", True),
        (["a/**/z"], "a/z", True),
        (["a/**/z"], "a/b/c/z", True),
        (["./x"], "x", True),
        (["a+b(c)"], "a+b(c)", True),
    ],
)
def test_ignore_rules(rules: list[str], path: str, ignored: bool) -> None:
    assert parse_ignore_rules(rules).ignores(path) is ignored
