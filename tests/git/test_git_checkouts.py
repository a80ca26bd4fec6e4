"""Clones and checkouts: what is fetched, what is written where, and what a repository must not bring about."""

import multiprocessing
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bisector.environments.command_checkouts import CommandCheckouts
from bisector.model import Candidate
from pins.errors import UsageError
from pins.sources.git.address import RepositoryAddress, parse_address
from pins.sources.git.clone import Clone, open_clone
from pins.sources.git.contents import lacking, read_blob
from pins.sources.git.history import way_between
from pins.sources.git.revisions import resolve_revision
from pins.sources.git.work_trees import UnusableCommitError, check_out, lent_tree, remove_unused, submodule_address
from tests.git.conftest import clone_of
from tests.git.repository_builder import RepositoryBuilder, run_git


@pytest.fixture
def source(builder: RepositoryBuilder) -> RepositoryBuilder:
    builder.add("one", files={"a.txt": "first\n", "sub/b.txt": "b\n", ".gitignore": "*.o\n"})
    builder.add("two", "one", files={"a.txt": "second\n", "new/c.txt": "c\n", ".gitignore": "*.o\n"})
    builder.ref("refs/heads/main", "two")
    builder.ref("refs/tags/v1", "one")
    builder.write()
    return builder


def served(builder: RepositoryBuilder) -> RepositoryAddress:
    """The repository as a server would give it, by a URL."""
    for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        run_git("config", name, "true", directory=builder.directory)
    return parse_address(builder.directory.as_uri(), Path("/"))


def files_of(tree: Path) -> dict[str, str]:
    found = (path for path in tree.rglob("*") if path.is_file() and ".git" not in path.relative_to(tree).parts)
    return {str(path.relative_to(tree)): path.read_text() for path in found}


def blobs_in(clone: Clone) -> int:
    printed = run_git(
        "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)", "--unordered", directory=clone.directory
    )
    return printed.splitlines().count("blob")


def test_contents_are_fetched_when_a_commit_is_checked_out_and_once(source: RepositoryBuilder, cache: Path) -> None:
    clone = open_clone(served(source), cache)
    two = resolve_revision(clone, "main")
    way = way_between(clone, resolve_revision(clone, "v1"), two)
    assert [commit.subject for commit in way.commits] == ["change one", "change two"]
    assert lacking(clone, two, ["new/c.txt", "sub/b.txt", "new", "a.tx*"]) == ("sub/b.txt", "a.tx*")
    assert blobs_in(clone) == 0
    with lent_tree(clone, two, cache) as tree:
        assert files_of(tree)["new/c.txt"] == "c\n"
    there = blobs_in(clone)
    assert there == 4
    shutil.move(source.directory, source.directory.with_name("away"))
    with lent_tree(open_clone(clone.address, cache), two, cache) as tree:
        assert files_of(tree)["a.txt"] == "second\n"
    assert read_blob(clone, two, "a.txt") == b"second\n"


def test_a_repository_on_this_machine_is_borrowed_from_and_left_as_it_is(
    source: RepositoryBuilder, cache: Path
) -> None:
    before = {path: path.read_bytes() if path.is_file() else b"" for path in source.directory.rglob("*")}
    clone = clone_of(source, cache)
    with lent_tree(clone, source.ids["one"], cache) as tree:
        (tree / "a.txt").write_text("changed\n")
        run_git("commit", "--quiet", "-am", "mine", directory=tree)
    assert {path: path.read_bytes() if path.is_file() else b"" for path in source.directory.rglob("*")} == before
    assert not list((clone.directory / "objects").glob("??/*"))


def test_refs_move_on_with_the_repository_and_lost_history_is_still_there(
    source: RepositoryBuilder, cache: Path
) -> None:
    address = served(source)
    clone = open_clone(address, cache)
    two = resolve_revision(clone, "main")
    again = RepositoryBuilder(source.directory)
    again.add("other", files={"a.txt": "rewritten\n"})
    again.ref("refs/heads/main", "other")
    again.write()
    assert resolve_revision(open_clone(address, cache), "main") == again.ids["other"]
    assert resolve_revision(open_clone(address, cache), two) == two
    lost = run_git("commit-tree", "-m", "lost", "main^{tree}", directory=source.directory)
    assert resolve_revision(open_clone(address, cache), lost) == lost  # no ref leads there, but the server gives it


def test_what_a_script_left_in_a_checkout_is_gone_the_next_time(source: RepositoryBuilder, cache: Path) -> None:
    clone = clone_of(source, cache)
    with lent_tree(clone, source.ids["one"], cache) as tree:
        clean = files_of(tree)
        (tree / "a.txt").unlink()
        (tree / "sub" / "b.txt").write_text("x")
        (tree / "built.o").write_text("ignored")
        (tree / "deep" / "er").mkdir(parents=True)
        (tree / "deep" / "er" / "file").write_text("x")
        (tree / "deep").chmod(0o500)
        run_git("init", "--quiet", str(tree / "nested"), directory=tree)
        run_git("config", "core.hooksPath", str(tree), directory=tree)
        run_git("update-index", "--assume-unchanged", "sub/b.txt", directory=tree)
        run_git("commit", "--quiet", "--allow-empty", "-m", "mine", directory=tree)
    with lent_tree(clone, source.ids["one"], cache) as tree:
        assert files_of(tree) == clean
        assert run_git("rev-parse", "HEAD", directory=tree) == source.ids["one"]
        assert run_git("status", "--porcelain", "--ignored", directory=tree) == ""
        assert run_git("describe", "--tags", directory=tree) == "v1"
        assert "hooksPath" not in (tree / ".git" / "config").read_text()


def test_a_checkout_is_brought_to_the_next_commit_and_its_path_names_it(source: RepositoryBuilder, cache: Path) -> None:
    clone = clone_of(source, cache)
    with lent_tree(clone, source.ids["one"], cache) as first:
        assert first.name == source.ids["one"]
    with lent_tree(clone, source.ids["two"], cache) as second:
        assert second.name == source.ids["two"]
        assert second.parent == first.parent
        assert sorted(files_of(second)) == [".gitignore", "a.txt", "name", "new/c.txt"]
        assert not first.exists()


def test_a_checkout_that_was_not_lent_for_long_is_removed_unless_it_is_lent(
    source: RepositoryBuilder, cache: Path
) -> None:
    clone = clone_of(source, cache)
    with lent_tree(clone, source.ids["one"], cache) as tree:
        os.utime(tree.parent, (0, 0))
        assert remove_unused(cache) == ()
        assert tree.exists()
    assert len(remove_unused(cache, dry_run=True)) == 1
    assert tree.exists()
    assert len(remove_unused(cache)) == 1
    assert not tree.exists()
    with lent_tree(clone, source.ids["one"], cache) as tree:
        assert remove_unused(cache) == ()


def test_a_tree_that_a_build_leaves_is_the_next_ones_and_clean(
    source: RepositoryBuilder, cache: Path, tmp_path: Path
) -> None:
    clone = clone_of(source, cache)
    builds = CommandCheckouts({"thing": clone}, cache)
    trees = [tmp_path / f"build{number}" for number in range(4)]
    for tree in trees[:3]:
        tree.mkdir()
        builds.write(Candidate((("thing", source.ids["one"]),)), tree)
        (tree / "left").write_text("x")
    kept = (trees[0] / "sub" / "b.txt").stat().st_ino
    for tree in trees[:3]:
        builds.leave(tree)
    assert [tree.exists() for tree in trees] == [False, False, True, False]  # two are enough
    trees[3].mkdir()
    builds.write(Candidate((("thing", source.ids["one"]),)), trees[3])
    assert (trees[3] / "sub" / "b.txt").stat().st_ino == kept
    assert "left" not in files_of(trees[3])


def test_a_link_that_a_script_put_in_the_place_of_a_checkout_is_not_followed(
    source: RepositoryBuilder, cache: Path, tmp_path: Path
) -> None:
    clone = clone_of(source, cache)
    mine = tmp_path / "mine"
    run_git("clone", "--quiet", str(source.directory), str(mine), directory=tmp_path)
    (mine / "precious").write_text("x")
    for what in ("", ".git", ".git/index"):
        with lent_tree(clone, source.ids["one"], cache) as tree:
            place = tree / what
            shutil.rmtree(place) if place.is_dir() else place.unlink()
            place.symlink_to(mine / what)
        with lent_tree(clone, source.ids["two"], cache) as tree:
            assert files_of(tree)["a.txt"] == "second\n"
            assert not tree.is_symlink()
        assert (mine / "precious").read_text() == "x"
        assert run_git("status", "--porcelain", directory=mine) == "?? precious"


def test_nobody_is_given_a_checkout_that_another_has(source: RepositoryBuilder, cache: Path) -> None:
    clone = clone_of(source, cache)
    meet = threading.Barrier(4)

    def lend(number: int) -> Path:
        with lent_tree(clone, source.ids["one" if number % 2 else "two"], cache) as tree:
            meet.wait(30)
            return tree

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lend, range(4)))) == 4


def _open_and_lend(text: str, commit: str, cache: Path) -> str:
    clone = open_clone(parse_address(text, Path("/")), cache)
    with lent_tree(clone, resolve_revision(clone, commit), cache) as tree:
        return files_of(tree)["a.txt"]


def test_processes_share_a_clone_from_its_first_moment_on(source: RepositoryBuilder, cache: Path) -> None:
    address = served(source)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.starmap(_open_and_lend, [(address.text, "main", cache), (address.text, "v1", cache)] * 2)
    assert found == ["second\n", "first\n"] * 2


def test_what_a_killed_fetch_left_is_no_hindrance(source: RepositoryBuilder, cache: Path) -> None:
    address = served(source)
    directory = open_clone(address, cache).directory
    (directory / "packed-refs.lock").touch()
    (directory / "refs" / "heads" / "main.lock").touch()
    (directory / "config").write_text("[remote\n")
    again = RepositoryBuilder(source.directory)
    again.add("three", files={"a.txt": "third\n"})
    again.ref("refs/heads/main", "three")
    again.write()
    assert resolve_revision(open_clone(address, cache), "main") == again.ids["three"]


def test_nothing_that_a_repository_holds_or_configures_is_run(
    builder: RepositoryBuilder, cache: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    program.chmod(0o755)
    builder.add(
        "one",
        files={
            ".gitattributes": "* filter=evil diff=evil merge=evil\n",
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = {tmp_path}/nothing\n\tupdate = !{program}\n',
            "post-checkout": f"#!/bin/sh\ntouch {marker}\n",
            "a.txt": "a\n",
        },
    )
    source = builder.write()
    for hook in ("post-checkout", "reference-transaction", "pre-receive", "post-index-change", "fsmonitor-watchman"):
        (source / "hooks").mkdir(exist_ok=True)
        shutil.copy(program, source / "hooks" / hook)
    for name in ("core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand", "core.pager", "core.editor",
                 "uploadpack.packObjectsHook", "filter.evil.smudge", "filter.evil.clean", "filter.evil.process",
                 "diff.evil.textconv", "credential.helper", "gpg.program", "remote.origin.uploadpack"):  # fmt: skip
        run_git("config", name, str(program), directory=source)
    run_git("config", "core.hooksPath", str(source / "hooks"), directory=source)
    run_git("config", "remote.origin.url", f"ext::{program}", directory=source)
    for address in (parse_address(str(source), Path("/")), served(builder)):
        clone = open_clone(address, cache)
        commit = resolve_revision(clone, "main")
        way_between(clone, commit, commit)
        with lent_tree(clone, commit, cache) as tree:
            assert (tree / "a.txt").read_text() == "a\n"
        assert clone.link == ""
    assert not marker.exists()


def test_variables_that_lead_git_elsewhere_are_not_heard(
    source: RepositoryBuilder, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_TEMPLATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert _open_and_lend(str(source.directory), "main", cache) == "second\n"
    assert not (tmp_path / "elsewhere").exists()


def with_submodule(
    builder: RepositoryBuilder, inner: RepositoryBuilder, url: str, path: str = "deps/inner lib"
) -> None:
    builder.add(
        "outer0",
        files={".gitmodules": f'[submodule "s"]\n\tpath = "{path}"\n\turl = "{url}"\n', "a.txt": "outer\n"},
        links={path: inner.ids["inner0"]},
    )
    builder.add(
        "outer1",
        "outer0",
        files={".gitmodules": f'[submodule "s"]\n\tpath = "{path}"\n\turl = "{url}"\n', "a.txt": "outer\n"},
        links={path: inner.ids["inner1"]},
    )
    builder.write()


@pytest.fixture
def inner(tmp_path: Path) -> RepositoryBuilder:
    made = RepositoryBuilder(tmp_path / "inner.git")
    made.add("inner0", files={"lib.txt": "zero\n"})
    made.add("inner1", "inner0", files={"lib.txt": "one\n"})
    made.write()
    return made


@pytest.mark.parametrize("by_url", [False, True])
def test_submodules_are_checked_out_at_their_commits_by_relative_urls_too(
    builder: RepositoryBuilder, inner: RepositoryBuilder, cache: Path, by_url: bool
) -> None:
    with_submodule(builder, inner, "../inner.git")
    served(inner)
    clone = open_clone(served(builder), cache) if by_url else clone_of(builder, cache)
    for commit, content in (("outer0", "zero\n"), ("outer1", "one\n"), ("outer0", "zero\n")):
        with lent_tree(clone, builder.ids[commit], cache) as tree:
            assert files_of(tree)["deps/inner lib/lib.txt"] == content
            (tree / "deps" / "inner lib" / "left.txt").write_text("x")
            assert run_git("status", "--porcelain", directory=tree / "deps" / "inner lib") == "?? left.txt"


def test_a_submodule_whose_commit_exists_nowhere_makes_its_commit_unusable(
    builder: RepositoryBuilder, inner: RepositoryBuilder, cache: Path
) -> None:
    inner.ids["inner1"] = "12" * 20
    with_submodule(builder, inner, str(inner.directory))
    clone = clone_of(builder, cache)
    with pytest.raises(UnusableCommitError, match="has no commit 1212"), lent_tree(clone, builder.ids["outer1"], cache):
        pass
    with lent_tree(clone, builder.ids["outer0"], cache) as tree:
        assert "deps/inner lib/lib.txt" in files_of(tree)


def test_a_tree_from_elsewhere_names_no_path_of_this_machine() -> None:
    outer = RepositoryAddress("https://h/o/n", local=False)
    assert submodule_address("../m.git", outer).text == "https://h/o/m.git"
    assert submodule_address("../m.git", RepositoryAddress("git@h:o/n", local=False)).text == "git@h:o/m.git"
    assert submodule_address("https://else/m", outer).text == "https://else/m"
    for url in ("/etc", "file:///etc", "ext::sh -c x", "--upload-pack=x", "-x"):
        with pytest.raises(UsageError):
            submodule_address(url, outer)


def test_a_checkout_of_ones_own_replaces_what_was_there(source: RepositoryBuilder, cache: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "left").write_text("x")
    check_out(clone_of(source, cache), source.ids["one"], tree, cache)
    assert sorted(files_of(tree)) == [".gitignore", "a.txt", "name", "sub/b.txt"]
    assert os.environ.get("GIT_DIR") is None
