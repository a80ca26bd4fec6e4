"""What we read of histories, held against GitPython's own reader of objects, which asks no git."""

import random
from pathlib import Path
from typing import Any

import pytest

from pins.sources.git.history import brought, commits, first_parents, merge_base
from tests.git.conftest import clone_of
from tests.git.repository_builder import RepositoryBuilder

git: Any = pytest.importorskip("git")  # by name: type checkers take this directory for it


@pytest.mark.filterwarnings("ignore:GitDB is deprecated:DeprecationWarning")  # it is what makes the reader independent
@pytest.mark.parametrize("seed", range(2))
def test_histories_are_read_as_an_independent_reader_reads_them(
    builder: RepositoryBuilder, cache: Path, seed: int
) -> None:
    chance = random.Random(seed)
    names = [builder.add("c0")]
    for number in range(1, 40):
        parents = chance.sample(names[-6:], k=min(len(names), chance.choice((1, 1, 1, 2, 3))))
        names.append(builder.add(f"c{number}", *parents, date=1_700_000_000 + chance.randrange(10_000)))
    builder.ref("refs/heads/main", names[-1])
    builder.ref("refs/heads/side", names[-2])
    builder.write()
    clone = clone_of(builder, cache)
    with git.Repo(builder.directory, odbt=git.GitDB) as oracle:
        new, old = builder.ids[names[-1]], builder.ids[chance.choice(names[1:-1])]
        held = {old, *(commit.hexsha for commit in _ancestors(oracle.commit(old)))}
        line, at = [], oracle.commit(new)
        while at.hexsha not in held:
            line.append(at)
            if not at.parents:
                break
            at = at.parents[0]
        found = first_parents(clone, new, old)
        assert [commit.id for commit in found] == [commit.hexsha for commit in reversed(line)]
        for commit, known in zip(found, reversed(line), strict=True):
            assert commit.parents == tuple(parent.hexsha for parent in known.parents)
            assert (commit.committed, commit.authored) == (known.committed_datetime, known.authored_datetime)
            assert commit.subject == str(known.message).splitlines()[0]
        before = held
        for commit, count in zip(found, brought(clone, [*commits(clone, [old]), *found]), strict=True):
            now = before | {commit.id, *(one.hexsha for one in _ancestors(oracle.commit(commit.id)))}
            assert count == len(now - before), "itself and what it merges"
            before = now
        shared = held & {new, *(commit.hexsha for commit in _ancestors(oracle.commit(new)))}
        assert merge_base(clone, new, old) in shared
        assert [commit.id for commit in commits(clone, [old, new])] == [old, new]


def _ancestors(commit: Any) -> set[Any]:
    found: set[Any] = set()
    waiting = list(commit.parents)
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += at.parents
    return found
