"""The document as a file of a branch of its own, for checks whose machine does not stay.

The branch is made and moved with plumbing commands: no file of a checkout, no index and no other ref is touched. With
a remote, the branch is fetched from there before a run and pushed behind it; a push that comes second is made again on
top of the first. Without one, nothing leaves the repository.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pins.drift.state.document import Remembered, written
from pins.drift.state.store import Change, taken_in
from pins.errors import EnvironmentFailureError, UsageError
from pins.files.local_git import ask_git
from pins.sources.git.lock import lock_on
from pins.sources.git.program import GitFailedError, git

FILE = "drift-state.json"
_TRIES = 6
_WHO = {
    "GIT_AUTHOR_NAME": "pins drift",
    "GIT_AUTHOR_EMAIL": "pins-drift@localhost",
    "GIT_COMMITTER_NAME": "pins drift",
    "GIT_COMMITTER_EMAIL": "pins-drift@localhost",
}


@dataclass(frozen=True)
class GitStore:
    """A branch.

    Attributes:
        repository: the git directory.
        branch: its short name.
        remote: where it is fetched from and pushed to, "" for this repository alone.
        sleep: waits before a push is tried again.
    """

    repository: Path
    branch: str
    remote: str = ""
    sleep: Callable[[float], None] = time.sleep

    @property
    def shown(self) -> str:
        """How a person names it."""
        return f"git:{self.branch}" + (f" of {self.remote}" if self.remote else "")

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.branch}"

    @contextmanager
    def held(self) -> Iterator["_HeldBranch"]:
        """Hold the document for a run; see `StateStore`. Runs on other machines are met when it is saved."""
        name = self.branch.replace("/", "%2F")
        with lock_on(self.repository / f"pins-drift-{name}.lock", wait=False) as mine:
            if not mine:
                raise EnvironmentFailureError(f"another check in this repository holds {self.shown}; let it end")
            tip = self.tip()
            yield _HeldBranch(self, tip, *self.read(tip))

    def git(self, *arguments: str, given: bytes = b"", statuses: frozenset[int] = frozenset({0})) -> bytes:
        """What a call of git prints."""
        who = {name: value for name, value in _WHO.items() if not os.environ.get(name)}
        return git(arguments, repository=self.repository, given=given, variables=who, statuses=statuses)

    def tip(self) -> str:
        """The commit that the branch is at, "" where it does not exist; fetched from the remote where there is one."""
        if not self.remote:
            answer = self.git("rev-parse", "--verify", "--quiet", self._ref, statuses=frozenset({0, 1}))
            return answer.decode().strip()
        listed = self.git("ls-remote", "--refs", "--end-of-options", self.remote, self._ref).decode()
        rows = (line.split("\t") for line in listed.splitlines())
        tip = next((row[0] for row in rows if row[1:] == [self._ref]), "")
        if tip:
            self.git(*_FETCH, "--end-of-options", self.remote, f"+{self._ref}:refs/pins/drift/{self.branch}")
        return tip

    def read(self, tip: str) -> tuple[Remembered, tuple[str, ...], str]:
        """What the document at a commit holds, what is to be said of it, and the name it is kept under if damaged."""
        if not tip or not self._entry(tip):
            return Remembered(), (), ""
        aside = f"{FILE}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        data = self.git("cat-file", "blob", f"{tip}:{FILE}")
        remembered, note = taken_in(data, f"{FILE} of {self.shown}", f"{aside} beside it")
        return remembered, ((note,) if note else ()), (aside if note else "")

    def _entry(self, tip: str) -> bytes:
        return self.git("ls-tree", tip, "--", FILE)

    def commit(self, tip: str, data: bytes, message: str, aside: str) -> str:
        """A commit on top of another one, with the document changed; every other file stays."""
        blob = self.git("hash-object", "-w", "--stdin", given=data).decode().strip()
        listed = self.git("ls-tree", "-z", tip).split(b"\0") if tip else []
        rows = [row for row in listed if row]
        kept = [row for row in rows if row.partition(b"\t")[2] != FILE.encode()]
        if aside:
            damaged = next(row for row in rows if row.partition(b"\t")[2] == FILE.encode())
            kept.append(damaged.partition(b"\t")[0] + b"\t" + aside.encode())
        kept.append(f"100644 blob {blob}\t{FILE}".encode())
        tree = self.git("mktree", "-z", given=b"\0".join(kept) + b"\0").decode().strip()
        parents = ("-p", tip) if tip else ()
        return self.git("commit-tree", tree, *parents, "-F", "-", given=message.encode()).decode().strip()

    def move(self, tip: str, commit: str) -> bool:
        """Move the branch; whether nobody else was quicker.

        Raises:
            EnvironmentFailureError: it cannot be moved at all.
        """
        try:
            if self.remote:
                self.git("push", "--quiet", "--no-verify", "--end-of-options", self.remote, f"{commit}:{self._ref}")
            else:
                self.git("update-ref", "-m", "pins drift", self._ref, commit, tip or "0" * len(commit))
        except GitFailedError as error:
            if _SECOND.search(error.said):
                return False
            where = f"pushed to {self.remote}" if self.remote else "moved"
            raise EnvironmentFailureError(
                f"the branch {self.branch} could not be {where}, so the next check will report the same again: "
                f"{error.said.strip().splitlines()[-1] if error.said.strip() else error.message}"
            ) from error
        return True


_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=")
_SECOND = re.compile(
    r"non-fast-forward|fetch first|stale info|cannot lock ref|failed to update ref|reference already exists"
    r"|but expected|incorrect old value",
    re.IGNORECASE,
)


@dataclass
class _HeldBranch:
    store: GitStore
    tip: str
    remembered: Remembered
    notes: Sequence[str]
    aside: str

    def save(self, change: Change, message: str) -> None:
        """Keep what a change makes of the document; on top of what others have kept meanwhile."""
        for count in range(_TRIES):
            if count:
                self.store.sleep(0.2 * 2**count)
                self.tip = self.store.tip()
                self.remembered, self.notes, self.aside = self.store.read(self.tip)
            commit = self.store.commit(self.tip, written(change(self.remembered)), message, self.aside)
            if self.store.move(self.tip, commit):
                self.tip = commit
                return
        raise EnvironmentFailureError(
            f"{self.store.shown} was changed by others {_TRIES} times while this check wanted to; the next check will"
            " report the same again"
        )


def branch_store(directory: Path, branch: str, remote: str) -> GitStore:
    """The store in the repository around a directory.

    Raises:
        UsageError: there is no repository or no such remote, it is no name of a branch, or it is checked out.
    """
    common = ask_git(directory, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if not common.ok:
        raise UsageError(f"--state git:{branch}: {directory} is in no git repository")
    repository = Path(common.text.rstrip("\n"))
    if branch.startswith("-") or not ask_git(directory, "check-ref-format", f"refs/heads/{branch}").ok:
        raise UsageError(f"--state git:{branch}: {branch!r} is no name of a branch")
    if remote and (remote.startswith("-") or remote not in ask_git(directory, "remote").text.split("\n")):
        raise UsageError(f"--push {remote}: the repository has no remote of this name")
    listed = ask_git(directory, "worktree", "list", "--porcelain").text.splitlines()
    if not remote and f"branch refs/heads/{branch}" in listed:
        raise UsageError(f"--state git:{branch}: that branch is checked out; name one that nothing else is in")
    return GitStore(repository, branch, remote)
