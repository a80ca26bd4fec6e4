"""When each line of a file was last changed, as git remembers it."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pins.drift.model import Tools
from pins.files.local_git import ask_git

_LINE = re.compile(rb"([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?\Z")
_NOT_COMMITTED = re.compile(rb"0+\Z")


@dataclass(frozen=True)
class _InRepository:
    """Something that git is asked of a path.

    Attributes:
        root: top of its repository.
        revision: "" for the files on disk.
        path: from the top of its repository.
    """

    root: Path
    revision: str
    path: str

    @property
    def host(self) -> str:
        """This machine."""
        return ""


@dataclass(frozen=True)
class LineDates(_InRepository):
    """Reads the commit time of every line of a file."""

    def read(self, tools: Tools) -> dict[int, datetime]:  # noqa: ARG002 - git is all it needs
        """The times by line, counted from 1; without lines that are not committed yet, empty where git cannot say."""
        revision = [self.revision] if self.revision else []
        answer = ask_git(self.root, "blame", "--porcelain", "--no-textconv", *revision, "--", self.path)
        if not answer.ok:
            return {}
        times: dict[bytes, datetime] = {}
        lines: dict[int, bytes] = {}
        commit = b""
        for row in answer.output.split(b"\n"):
            if row.startswith(b"\t"):
                continue
            if match := _LINE.match(row):
                commit = match[1]
                lines[int(match[2])] = commit
            elif row.startswith(b"committer-time "):
                times[commit] = datetime.fromtimestamp(int(row.split()[1]), UTC)
        return {line: times[one] for line, one in lines.items() if not _NOT_COMMITTED.match(one) and one in times}


@dataclass(frozen=True)
class PathDate(_InRepository):
    """Reads when a file, or anything below a directory, was last changed."""

    def read(self, tools: Tools) -> datetime | None:  # noqa: ARG002 - git is all it needs
        """The time of the last commit that changed it, None where there is none."""
        if self.path.startswith(".."):
            return None
        answer = ask_git(self.root, "log", "-1", "--format=%ct", self.revision or "HEAD", "--", self.path)
        text = answer.text.strip()
        return datetime.fromtimestamp(int(text), UTC) if answer.ok and text else None
