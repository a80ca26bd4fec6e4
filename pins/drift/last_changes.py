"""When files were last changed, as git remembers it: all files of a repository in one walk through its history."""

import os
import subprocess
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from pins.files.local_git import ask_git
from pins.sources.git.program import git_environment


@dataclass
class LastChanges:
    """The files of one repository; nothing is asked before the first of them is wanted.

    Attributes:
        root: top of the repository.
        revision: "" for the files on disk.
        paths: of the files, from the top; to be complete before the first question.
    """

    root: Path
    revision: str
    paths: set[str] = field(default_factory=set)

    def of(self, path: str) -> datetime | None:
        """When a file was changed: by its last commit, or, edited since, on disk.

        None for a file that was never committed, and in a shallow clone, where all seem to come with the newest commit.
        """
        if path in self._edited:
            try:
                return datetime.fromtimestamp((self.root / path).stat().st_mtime, UTC)
            except OSError:
                return None
        return self._committed.get(path)

    @cached_property
    def _edited(self) -> frozenset[str]:
        if self.revision or self._is_shallow:
            return frozenset()
        answer = ask_git(self.root, "diff", "--name-only", "--no-renames", "-z", "HEAD", "--")
        return frozenset(answer.text.split("\0")) if answer.ok else frozenset()

    @cached_property
    def _is_shallow(self) -> bool:
        return ask_git(self.root, "rev-parse", "--is-shallow-repository").text.strip() != "false"

    @cached_property
    def _committed(self) -> dict[str, datetime]:
        return {} if self._is_shallow else _walk(self.root, self.revision or "HEAD", self.paths)


def _walk(root: Path, revision: str, paths: Collection[str]) -> dict[str, datetime]:
    """The time of the newest commit that touched each path; the walk ends where all are found."""
    found: dict[str, datetime] = {}
    arguments = ("log", "--format=%x01%ct", "--name-only", "--no-renames", "-z", "--no-show-signature")
    walking = subprocess.Popen(
        [*("git", "--literal-pathspecs", "-C", str(root)), *arguments, "--end-of-options", revision, "--", *paths],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env={**git_environment(os.environ), "GIT_NO_LAZY_FETCH": "1"},
    )
    assert walking.stdout is not None, "it is a pipe"
    try:
        when, rest = None, b""
        while len(found) < len(paths) and (part := os.read(walking.stdout.fileno(), 65536)):
            *fields, rest = (rest + part).split(b"\0")
            for one in fields:
                text = one.strip(b"\n").decode("utf-8", "surrogateescape")
                if text.startswith("\x01"):
                    seconds, _, text = text[1:].partition("\n")
                    when = datetime.fromtimestamp(int(seconds), UTC)
                    text = text.strip("\n")
                if text and when is not None and text in paths:
                    found.setdefault(text, when)
    finally:
        walking.stdout.close()
        walking.terminate()
        walking.wait()
    return found
