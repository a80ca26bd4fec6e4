"""Reading the repository that holds a file: commits, blobs, trees. Nothing is written to it."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pins.errors import EnvironmentFailureError, UsageError
from pins.files.local_git import no_revision
from pins.sources.git.program import git_environment


@dataclass(frozen=True)
class Commit:
    """One commit.

    Attributes:
        id: its full name.
        date: of the committer.
        subject: first line of its message.
    """

    id: str
    date: datetime
    subject: str


@dataclass(frozen=True)
class Repository:
    """A repository, bare or not.

    Attributes:
        top: its directory, or the top of its work tree.
    """

    top: Path

    def git(self, *arguments: str, given: bytes = b"", index: Path | None = None) -> bytes:
        """What git prints.

        Args:
            arguments: of git.
            given: its standard input.
            index: an index file of our own, so that the user's stays as it is.

        Raises:
            EnvironmentFailureError: git is missing or fails.
        """
        variables = git_environment(os.environ)
        if index is not None:
            variables["GIT_INDEX_FILE"] = str(index)
        try:
            done = subprocess.run(
                ["git", "-c", "core.fsmonitor=false", "-C", str(self.top), *arguments],
                input=given,
                capture_output=True,
                check=False,
                env=variables,
            )
        except FileNotFoundError as error:
            raise EnvironmentFailureError("git is not installed; it reads the revisions of the file") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise EnvironmentFailureError(
                f"git {arguments[0]} failed in {self.top}: {said[-1] if said else 'silently'}"
            )
        return done.stdout

    def commit(self, revision: str) -> Commit:
        """The commit that a revision names.

        Raises:
            UsageError: there is none.
        """
        if not revision or revision.startswith("-"):
            raise UsageError(f"{revision!r} is not a revision")
        try:
            found = self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except EnvironmentFailureError:
            raise UsageError(no_revision(self.top, revision)) from None
        return self.commits([found.decode().strip()])[0]

    def commits(self, ids: Sequence[str]) -> list[Commit]:
        """Date and subject of commits, in the order given."""
        if not ids:
            return []
        printed = self.git(
            "log", "--no-walk=unsorted", "--stdin", "-z", "--format=%H%x01%cI%x01%s", given="\n".join(ids).encode()
        )
        found = {}
        for entry in printed.decode("utf-8", "replace").split("\0"):
            if entry:
                name, date, subject = entry.split("\x01", 2)
                found[name] = Commit(name, datetime.fromisoformat(date), subject)
        return [found[name] for name in ids]

    def merge_base(self, one: str, other: str) -> str:
        """The best common ancestor, "" where the two have none."""
        try:
            return self.git("merge-base", one, other).decode().strip()
        except EnvironmentFailureError:
            return ""

    def touching(self, old: str, new: str, paths: Sequence[str]) -> list[str]:
        """Commits on the first-parent line of `new`, not of `old`, that change the paths ("" for any); oldest first."""
        wanted = () if "" in paths else tuple(map(_literal, paths))
        printed = self.git("rev-list", "--first-parent", "--reverse", "--end-of-options", new, f"^{old}", "--", *wanted)
        return printed.decode().split()

    def blobs(self, names: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        """Id and content of blobs by name (`commit:path`); those that do not exist are left out."""
        printed = self.git("cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
        found: dict[str, tuple[str, bytes]] = {}
        at = 0
        for name in names:
            end = printed.index(b"\n", at)
            head = printed[at:end].split(b" ")
            at = end + 1
            if head[-1] == b"missing" or len(head) != 3:
                continue
            size = int(head[2])
            if head[1] == b"blob":
                found[name] = (head[0].decode(), printed[at : at + size])
            at += size + 1
        return found

    def objects(self, names: Sequence[str]) -> dict[str, str]:
        """Ids of files and directories by name (`commit:path`); those that do not exist are left out."""
        if not names:
            return {}
        printed = self.git("cat-file", "--batch-check", given="".join(f"{name}\n" for name in names).encode())
        lines = zip(names, printed.decode("utf-8", "replace").splitlines(), strict=True)
        return {name: line.split(" ")[0] for name, line in lines if not line.endswith(" missing")}

    def check_out(self, commit: str, paths: Sequence[str], directory: Path, index: Path) -> None:
        """Write the files below the paths ("" for all) as of a commit into a directory.

        Raises:
            EnvironmentFailureError: git fails.
        """
        directory.mkdir(parents=True, exist_ok=True)
        if not paths:
            return
        self.git("read-tree", "--end-of-options", commit, index=index)
        wanted = () if "" in paths else tuple(map(_literal, paths))
        names = self.git("ls-files", "-z", "--full-name", "--", *wanted, index=index)
        self.git(
            f"--work-tree={self.top}",
            "checkout-index",
            "--force",
            "-z",
            "--stdin",
            f"--prefix={directory}/",
            given=names,
            index=index,
        )


def _literal(path: str) -> str:
    """A path from the top of the tree, taken as it is: no wildcards."""
    return f":(top,literal){path}"
