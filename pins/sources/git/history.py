"""Commits, and the ways that lead from one to another."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pins.errors import EnvironmentFailureError, UsageError
from pins.sources.git.clone import Clone
from pins.sources.git.program import GitFailedError

_FORMAT = "--format=%H%x00%P%x00%ct%x00%at%x00%s"
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit.

    Attributes:
        id: its full hash.
        parents: full hashes; the first is what it was made on, others were merged.
        committed, authored: when it was made, and when its change was written (aware); None where git holds nonsense.
        subject: the first line of its message.
    """

    id: str
    parents: tuple[str, ...]
    committed: datetime | None
    authored: datetime | None
    subject: str


def commits(clone: Clone, ids: Sequence[str]) -> list[Commit]:
    """Commits by their full hashes, in the order given."""
    if not ids:
        return []
    found = {commit.id: commit for commit in _log(clone, "--no-walk=unsorted", "--stdin", given="\n".join(ids))}
    return [found[name] for name in ids]


def first_parents(clone: Clone, new: str, old: str) -> list[Commit]:
    """The commits on the first-parent line of `new` that `old` does not hold, oldest first.

    The line is what a branch went through: a merge stands on it for all that it merged.
    """
    return _log(clone, "--first-parent", "--reverse", "--end-of-options", new, f"^{old}")


MOST_COUNTED = 20_000
"""Commits of a line up to which it is counted what its merges bring; it takes about a second for so many."""


def brought(clone: Clone, line: Sequence[Commit]) -> list[int]:
    """How many commits come with each of a line but the first: those that it holds and the one before it does not.

    Of a line that is too long each is taken to bring itself alone.

    Args:
        clone: the repository.
        line: first parents, oldest first.
    """
    if len(line) > MOST_COUNTED or all(len(commit.parents) < 2 for commit in line[1:]):
        return [1] * (len(line) - 1)
    printed = clone.git("rev-list", "--parents", "--end-of-options", line[-1].id, f"^{line[0].id}").decode()
    parents = {words[0]: words[1:] for words in map(str.split, printed.splitlines())}
    found = []
    for commit in line[1:]:
        count, waiting = 0, [commit.id]
        while waiting:
            above = parents.pop(waiting.pop(), None)  # None: it came with an earlier one, or was there before
            if above is not None:
                count += 1
                waiting += above
        found.append(max(1, count))
    return found


def merge_base(clone: Clone, one: str, other: str) -> str:
    """The best common ancestor, "" where the two have none."""
    try:
        return clone.git("merge-base", one, other).decode().strip()
    except GitFailedError as error:
        if error.status == 1:
            return ""
        raise


def steps_that_change(clone: Clone, steps: Sequence[tuple[str, str]], pattern: str) -> frozenset[str]:
    """Of steps from one commit to another, the commits that they lead to where a file which matches differs.

    Args:
        clone: the repository.
        steps: full hashes, (from, to).
        pattern: a file, a directory, or a pattern of git's from the top of the tree: "lib/**/*.py".
    """
    if not steps:
        return frozenset()
    given = "".join(f"{new} {old}\n" for old, new in steps).encode()
    printed = clone.git("diff-tree", "--stdin", "-r", "-s", "--no-renames", "--", f":(top,glob){pattern}", given=given)
    return frozenset(printed.decode().split())


def _log(clone: Clone, *arguments: str, given: str = "") -> list[Commit]:
    try:
        printed = clone.git(
            *("log", "-z", "--no-color", "--no-show-signature", "--no-decorate", "--encoding=UTF-8", _FORMAT),
            *arguments,
            given=given.encode(),
        )
    except GitFailedError as error:
        if (clone.directory / "shallow").exists() or "bad object" not in error.said:
            raise
        raise EnvironmentFailureError(
            f"commits of {clone.address.shown} are missing: {error.said.splitlines()[-1]}; if its history was rewritten"
            " and cleaned up, name ends that are still there"
        ) from error
    fields = printed.decode("utf-8", "replace").split("\0")
    whole = len(fields) // _FIELDS * _FIELDS
    columns = (fields[at:whole:_FIELDS] for at in range(_FIELDS))
    return [
        Commit(
            name, tuple(parents.split()), made := _moment(date), made if written == date else _moment(written), subject
        )
        for name, parents, date, written, subject in zip(*columns, strict=True)
    ]


def _moment(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True)
class Way:
    """How one commit leads to another.

    Attributes:
        commits: from the one to the other, both included, each once.
        turn: up to this index the way goes back in history; 0 where it only goes forward.
    """

    commits: tuple[Commit, ...]
    turn: int = 0


def way_between(clone: Clone, good: str, bad: str) -> Way:
    """The way from one commit to another: back to where their branches part, then forward, along first parents.

    Args:
        clone: the repository.
        good: a full hash.
        bad: another.

    Raises:
        UsageError: the two have no common ancestor.
    """
    forward = first_parents(clone, bad, good)
    start = commits(clone, [good])
    if not forward and good == bad:
        return Way(tuple(start))
    if forward and forward[0].parents[:1] == (good,):
        return Way((*start, *forward))
    base = merge_base(clone, good, bad)
    if not base:
        shallow = (clone.directory / "shallow").exists()
        hint = "; it is a shallow clone, and `git fetch --unshallow` may bring them together" if shallow else ""
        raise UsageError(
            f"{good[:12]} and {bad[:12]} of {clone.address.shown} have no common ancestor, so that no commits lead from"
            f" one to the other{hint}"
        )
    if base == good:
        return Way((*start, *forward))
    back = first_parents(clone, good, bad)[::-1]
    back = back if back and back[0].id == good else start
    return Way((*back, *commits(clone, [base]), *forward), len(back))
