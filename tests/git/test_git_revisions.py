"""What a person calls a revision, and the repository's own ways to be found."""

from pathlib import Path

import pytest

from pins.errors import SourceError, UsageError
from pins.sources.git.address import commit_link, parse_address
from pins.sources.git.clone import Clone, open_clone
from pins.sources.git.revisions import resolve_revision
from tests.docker.image_project import served
from tests.git.conftest import clone_of
from tests.git.repository_builder import RepositoryBuilder, run_git

HERE = Path("/")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> RepositoryBuilder:
    """The repository of most tests here, which only look at it."""
    return made(RepositoryBuilder(tmp_path_factory.mktemp("kept") / "source"))


@pytest.fixture(scope="module")
def kept_clone(kept: RepositoryBuilder, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return clone_of(kept, tmp_path_factory.mktemp("cache"))


@pytest.fixture
def source(builder: RepositoryBuilder) -> RepositoryBuilder:
    """A repository like that, for a test that changes it."""
    return made(builder)


def made(builder: RepositoryBuilder) -> RepositoryBuilder:
    builder.line("main", 5)
    builder.line("side", 2, "main1")
    builder.ref("refs/heads/main", "main4")
    builder.ref("refs/heads/topic/one", "side1")
    builder.ref("refs/tags/v1", "main2")
    builder.ref("refs/tags/odd=name", "main1")
    builder.ref("refs/heads/-dash", "side0")
    builder.ref("refs/heads/grün/@2", "main3")
    builder.ref("refs/pull/7/head", "side1")
    builder.write()
    run_git("tag", "-a", "-m", "annotated", "v2", builder.ids["main3"], directory=builder.directory)
    return builder


@pytest.mark.parametrize(
    ("revision", "name"),
    [
        ("main", "main4"),
        ("refs/heads/main", "main4"),
        ("heads/main", "main4"),
        ("HEAD", "main4"),
        ("v1", "main2"),
        ("v2", "main3"),
        ("tags/v2", "main3"),
        ("topic/one", "side1"),
        ("odd=name", "main1"),
        ("-dash", "side0"),
        ("grün/@2", "main3"),
        ("refs/pull/7/head", "side1"),
        ("main~2", "main2"),
        ("main^", "main3"),
        ("v2^0", "main3"),
    ],
)
def test_branches_tags_and_what_follows_them_name_a_commit(
    kept: RepositoryBuilder, kept_clone: Clone, revision: str, name: str
) -> None:
    assert resolve_revision(kept_clone, revision) == kept.ids[name]


def test_hashes_may_be_short_and_upper_case(kept: RepositoryBuilder, kept_clone: Clone) -> None:
    full = kept.ids["side0"]
    assert {resolve_revision(kept_clone, text) for text in (full, full.upper(), full[:9], full[:9] + "~0")} == {full}


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        ("mian", "did you mean main"),
        ("main~99", "there is no main~99"),
        ("abcdef1", "only be had by its full hash"),
        ("0" * 40, "has no commit"),
        ("--output=x", "has no branch, tag or commit"),
        ("main:file", "has no branch, tag or commit"),
        ("main^{tree}", "is no revision"),
        ("", "is no revision"),
        ("a\nb", "is no revision"),
    ],
)
def test_what_does_not_exist_is_said_with_the_repository(kept_clone: Clone, revision: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        resolve_revision(kept_clone, revision, name="pin")
    assert said in str(error.value)


def test_a_tag_and_a_branch_of_one_name_must_be_told_apart(source: RepositoryBuilder, cache: Path) -> None:
    run_git("update-ref", "refs/heads/v1", source.ids["main0"], directory=source.directory)
    clone = clone_of(source, cache)
    with pytest.raises(UsageError, match="several commits"):
        resolve_revision(clone, "v1")
    assert resolve_revision(clone, "heads/v1") == source.ids["main0"]


def test_a_branch_that_was_deleted_is_remembered_with_what_it_named(source: RepositoryBuilder, cache: Path) -> None:
    clone_of(source, cache)
    run_git("update-ref", "-d", "refs/heads/topic/one", directory=source.directory)
    with pytest.raises(UsageError, match=source.ids["side1"]):
        resolve_revision(clone_of(source, cache), "topic/one")


def test_a_ref_that_leads_to_no_commit_is_refused(source: RepositoryBuilder, cache: Path) -> None:
    tree = run_git("rev-parse", "main^{tree}", directory=source.directory)
    run_git("update-ref", "refs/tags/tree", tree, directory=source.directory)
    with pytest.raises(UsageError, match="names no commit"):
        resolve_revision(clone_of(source, cache), "tree")


def test_a_work_tree_its_bare_repository_and_its_remote_branches_are_read(
    source: RepositoryBuilder, cache: Path, tmp_path: Path
) -> None:
    work = tmp_path / "a b'c"
    run_git("clone", "--quiet", str(source.directory), str(work), directory=tmp_path)
    clone = open_clone(parse_address("a b'c", tmp_path), cache)
    assert resolve_revision(clone, "topic/one") == source.ids["side1"]
    assert resolve_revision(clone, "origin/topic/one") == source.ids["side1"]
    (work / "below").mkdir()
    with pytest.raises(UsageError, match="is no git repository"):
        open_clone(parse_address(str(work / "below"), tmp_path), cache)


def test_a_shallow_clone_says_that_it_is_one(source: RepositoryBuilder, cache: Path, tmp_path: Path) -> None:
    url = source.directory.as_uri()
    run_git("clone", "--quiet", "--bare", "--depth=2", url, str(tmp_path / "shallow"), directory=tmp_path)
    clone = open_clone(parse_address(str(tmp_path / "shallow"), tmp_path), cache)
    assert resolve_revision(clone, "main") == source.ids["main4"]
    with pytest.raises(UsageError, match="shallow"):
        resolve_revision(clone, source.ids["main0"])


@pytest.mark.parametrize(
    "text",
    ["", "-x", "--upload-pack=x", "ext::sh -c x", "fd::17", "ftp://h/x", "https://", "ssh://-oProxyCommand=x/y",
     "-oProxyCommand=x:path", "https://u:secret@h/x", "https://ghp_secret0123456789@h/x", "https://${TOKEN}@h/x",
     "https://h/x\ny", "/no/such/directory", "host:-path"],
)  # fmt: skip
def test_what_is_no_repository_or_would_run_something_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        parse_address(text, tmp_path)
    assert "secret" not in str(error.value)


def test_urls_are_taken_as_git_takes_them(tmp_path: Path) -> None:
    for text in ("https://h/o/n.git", "ssh://git@h:22/o/n", "git@h:o/n.git", "file:///o/n", "git://h/o/n"):
        address = parse_address(text, tmp_path)
        assert (address.text, address.local) == (text, False)
    assert parse_address("git+https://h/o/n", tmp_path).text == "https://h/o/n"


@pytest.mark.parametrize(
    ("address", "link"),
    [
        ("https://github.com/o/n.git", "https://github.com/o/n/commit/{}"),
        ("git@github.com:o/n.git", "https://github.com/o/n/commit/{}"),
        ("ssh://git@gitlab.example.org:22/group/sub/n", "https://gitlab.example.org/group/sub/n/-/commit/{}"),
        ("https://user@bitbucket.org/o/n", "https://bitbucket.org/o/n/commits/{}"),
        ("https://example.org/o/n", ""),
        ("file:///github.com/o/n", ""),
        ("/srv/github.com/o/n", ""),
        ("https://github.com/o", ""),
        ("https://notgithub.example/o/n", ""),
    ],
)
def test_commits_have_a_page_where_the_forge_is_known(address: str, link: str) -> None:
    assert commit_link(address) == link


def test_an_unreachable_repository_is_no_mistake_of_the_user(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(SourceError, match="git ls-remote"):
        open_clone(parse_address("http://127.0.0.1:9/o/n", tmp_path), cache)
    with pytest.raises(UsageError, match="there is no repository"):
        open_clone(parse_address((tmp_path / "nothing").as_uri(), tmp_path), cache)


def test_a_directory_of_files_behind_http_is_cloned_whole(source: RepositoryBuilder, cache: Path) -> None:
    """git 2.39 fetches from such a server without end, a process in a process, where the clone is a partial one."""
    with served(source.directory) as address:
        clone = open_clone(parse_address(address.removesuffix("/.git"), HERE), cache)
        assert not clone.is_partial
        assert clone.refs()["refs/heads/main"] == source.ids["main4"]
        clone.refresh()
        assert not clone.fetch_commit("1" * 40)
        (clone.directory / "HEAD").unlink()  # as a start that was killed leaves it
        again = open_clone(parse_address(address.removesuffix("/.git"), HERE), cache)
        again.refresh()
        assert not again.is_partial
    assert resolve_revision(clone, "v2", name="it") == source.ids["main3"], "nothing of it is left behind"
    assert clone.git("rev-list", "--objects", "--all", "--missing=print").count(b"?") == 0
