"""Files of a repository at a revision, and what they were before."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pins.drift.model import Tools
from pins.drift.readings.history import Told, moment, opened
from pins.drift.readings.repository import repository_host
from pins.errors import SourceError, UsageError
from pins.sources.git.clone import Clone
from pins.sources.git.contents import read_blob
from pins.sources.git.history import Commit, commits
from pins.sources.git.program import GitFailedError
from pins.sources.git.revisions import resolve_revision
from pins.sources.git.trees import MissingObjectsError, Trees

MOST_VERSIONS = 200
"""So many versions of a file are looked at."""
_RAW = re.compile(r":\d+ \d+ (?P<old>[0-9a-f]+) (?P<new>[0-9a-f]+) (?P<status>[A-Z])\d*\Z")


@dataclass(frozen=True)
class SourceFiles:
    """Reads files of a repository.

    Attributes:
        address: of the repository.
        revision: a branch, tag or commit.
        pin: for messages.
        paths: from the top of the tree.
    """

    address: str
    revision: str
    pin: str
    paths: tuple[str, ...]

    @property
    def host(self) -> str:
        """Where the repository is."""
        return repository_host(self.address)

    def read(self, tools: Tools) -> Mapping[str, bytes]:
        """The content by path, without those that the tree does not have.

        Raises:
            SourceError: the repository cannot be read, or has no such revision.
        """
        clone = opened(tools, self.address)
        commit = resolved(clone, self.revision, self.pin, tools)
        found = {path: read_blob(clone, commit, path) for path in self.paths}
        return {path: content for path, content in found.items() if content is not None}


@dataclass(frozen=True)
class Version:
    """A file as a commit left it.

    Attributes:
        commit: that changed it.
        blob: full hash of its content.
        content: its content.
    """

    commit: Told
    blob: str
    content: bytes


@dataclass(frozen=True)
class SourceVersions:
    """Reads what a file was at each commit that changed it, along the line that a revision came by.

    Attributes:
        address: of the repository.
        revision: from which to go back.
        pin: for messages.
        path: of the file there; renames are followed.
        made_for: the beginning of the hash of a version that is wanted besides, "" for none.
    """

    address: str
    revision: str
    pin: str
    path: str
    made_for: str = ""

    @property
    def host(self) -> str:
        """Where the repository is."""
        return repository_host(self.address)

    def read(self, tools: Tools) -> tuple[tuple[Version, ...], bytes | None]:
        """The versions, newest first, `MOST_VERSIONS` at most; and the one that is wanted besides, None without it.

        Raises:
            SourceError: the repository cannot be read, or has no such revision.
        """
        clone = opened(tools, self.address)
        commit = resolved(clone, self.revision, self.pin, tools)
        try:
            printed = clone.git(
                *("log", "--first-parent", "-m", "--follow", "--raw", "--no-abbrev", f"--max-count={MOST_VERSIONS}"),
                *("-z", "--format=%x01%H", commit, "--", self.path),
            )
            versions = list(_versions(printed.decode("utf-8", "surrogateescape")))
            told = {one.id: one for one in commits(clone, list(dict.fromkeys(one for one, _ in versions)))}
            trees = Trees(clone)
            trees.bring(blob for _, blob in versions)
            contents = [trees.content(blob) for _, blob in versions]
        except (GitFailedError, MissingObjectsError) as error:
            said = error.said[-200:] if isinstance(error, GitFailedError) else str(error)
            raise SourceError(f"the history of {self.path} in {clone.address.shown} cannot be read: {said}") from error
        found = tuple(
            Version(_told(told[one]), blob, content) for (one, blob), content in zip(versions, contents, strict=True)
        )
        return found, self._wanted(clone, found)

    def _wanted(self, clone: Clone, found: tuple[Version, ...]) -> bytes | None:
        if not self.made_for or set(self.made_for) == {"0"}:
            return None
        same = next((one.content for one in found if one.blob.startswith(self.made_for)), None)
        if same is not None:
            return same
        try:  # of a branch that was merged otherwise; what a clone does not have is not fetched by part of its hash
            names = clone.git("rev-parse", f"--disambiguate={self.made_for}").decode().split()
            return clone.git("cat-file", "blob", names[0]) if len(names) == 1 else None
        except GitFailedError:
            return None


def _told(commit: Commit) -> Told:
    return Told(commit.id, commit.committed or moment(""), commit.subject)


def _versions(printed: str) -> list[tuple[str, str]]:
    """(commit, blob) of each version in what `git log --raw -z` prints."""
    found: list[tuple[str, str]] = []
    commit = ""
    for field in printed.split("\0"):
        text = field.strip("\n")
        if text.startswith("\x01"):
            commit, _, text = text[1:].partition("\n")
            text = text.strip("\n")
        if (match := _RAW.match(text)) and match["status"] != "D":
            found.append((commit, match["new"]))
    return found


def resolved(clone: Clone, revision: str, pin: str, tools: Tools) -> str:
    """The commit that a revision names, as of the time of the run for a branch.

    Raises:
        SourceError: there is none.
    """
    try:
        commit = resolve_revision(clone, revision, name=pin)
        if tools.as_of is not None:
            until = f"--before={tools.as_of.isoformat()}"
            before = clone.git("rev-list", "-1", "--first-parent", until, "--end-of-options", commit).decode().strip()
            return before or commit
    except UsageError as error:
        raise SourceError(error.message) from error
    return commit
