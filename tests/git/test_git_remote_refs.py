import socket
from pathlib import Path

import pytest

from pins.errors import SourceError
from pins.sources.git import remote_refs as asking
from pins.sources.git.address import RepositoryAddress, parse_address
from pins.sources.git.remote_refs import remote_refs
from tests.git.repository_builder import RepositoryBuilder, run_git


def test_names_stand_for_branches_and_tags_of_exactly_that_name(builder: RepositoryBuilder) -> None:
    first, second = builder.add("one"), builder.add("two", "one")
    builder.ref("refs/heads/main", second)
    builder.ref("refs/heads/feature/v1", first)
    builder.ref("refs/tags/light", first)
    builder.ref("refs/heads/both", second)
    builder.ref("refs/tags/both", first)
    builder.ref("refs/pull/7/head", first)
    path = builder.write()
    run_git("tag", "-a", "-m", "release", "v2", builder.ids["two"], directory=path)
    names = ["main", "v1", "light", "both", "v2", "pull/7/head", "refs/heads/main", "HEAD", "origin/main", "-x", "a..b"]
    found = remote_refs(parse_address(str(path), Path("/")), names)
    one, two = builder.ids["one"], builder.ids["two"]
    assert {name: (ref.ref, ref.commit) for name, ref in found.items()} == {
        "main": ("refs/heads/main", two),
        "light": ("refs/tags/light", one),
        "both": ("refs/heads/both", two),
        "v2": ("refs/tags/v2", two),
        "pull/7/head": ("refs/pull/7/head", one),
        "refs/heads/main": ("refs/heads/main", two),
        "HEAD": ("HEAD", two),
        "origin/main": ("refs/heads/main", two),
    }
    assert found["v2"].tag not in ("", two)
    assert [name for name, ref in found.items() if not ref.is_branch] == ["light", "v2"]


def test_a_repository_that_is_not_there_is_said_with_what_to_try(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="Make sure that `git ls-remote"):
        remote_refs(RepositoryAddress(f"file://{tmp_path}/nothing", local=False), ["main"])


def test_a_server_that_never_answers_is_not_waited_for_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = RepositoryAddress(f"git://127.0.0.1:{silent.getsockname()[1]}/a.git", local=False)
        with pytest.raises(SourceError, match=r"no answer within 0\.5 s"):
            remote_refs(address, ["main"])
