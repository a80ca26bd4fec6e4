"""A repository with pins that is checked by one rule, again and again, as days go by."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pins.drift.checking import Checked
from pins.drift.model import Finding, Json, Rule
from pins.drift.running import observed
from pins.drift.tools import OpenTools, open_tools
from pins.drift.watching import WatchRequest, watch
from pins.sources.http_reader import Patience
from pins.sources.index_configuration import read_index_configuration

START = datetime(2026, 8, 1, 12, tzinfo=UTC)
QUICK = Patience(tries=1, connect=2, read=5, page=5, total=2)


@dataclass
class Watched:
    """A repository whose files are checked.

    Attributes:
        root: of the repository.
        index_url: of the package index that is asked.
        memory: what checks remember.
        now: of the next run.
        clones: that the user names.
        as_of: for a replay.
        built: when images were last built, None where the files tell.
        offline: whether nothing may be asked.
        only: the file that is checked, "" for all.
    """

    root: Path
    index_url: str
    memory: dict[tuple[str, str, str], Json] = field(default_factory=dict)
    now: datetime = START
    clones: Mapping[str, Path] = field(default_factory=dict)
    as_of: datetime | None = None
    built: datetime | None = None
    offline: bool = False
    only: str = ""

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, when: datetime | None = None) -> str:
        """Call git in the repository."""
        return call_git(self.root, *arguments, when=when or self.now)

    def write(self, files: Mapping[str, str], when: datetime | None = None) -> str:
        """Commit files; the commit."""
        for path, text in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change", when=when)
        return self.git("rev-parse", "HEAD")

    def check(self, *rules: Rule) -> list[Checked]:
        """Run rules once, and remember what they want to be remembered; a day goes by."""
        request = WatchRequest((self.root / self.only,), self.as_of or self.now, clones=self.clones)
        subject = replace(watch(request).subject, built=self.built)
        with self.tools() as tools:
            checked = observed(rules, subject, tools, self.memory)
        for one in checked:
            if one.outcome.remember is not None and (one.outcome.lasting or not one.outcome.unknown):
                self.memory[one.key] = one.outcome.remember
        self.now += timedelta(days=1)
        return checked

    @contextmanager
    def tools(self) -> Iterator[OpenTools]:
        """What checks read with."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.root.parent / "cache")}
        configuration = read_index_configuration(self.index_url, environment={}, directory=self.root)
        with open_tools(
            configuration=configuration,
            as_of=self.as_of,
            offline=self.offline,
            environment=environment,
            patience=QUICK,
        ) as tools:
            yield tools

    def findings(self, *rules: Rule) -> list[Finding]:
        """What rules find in one run; nothing may be unknown."""
        checked = self.check(*rules)
        assert [one.outcome.unknown for one in checked if one.outcome.unknown] == []
        return [one for each in checked for one in each.outcome.findings]

    def unknown(self, *rules: Rule) -> list[str]:
        """Why rules cannot tell in one run; nothing may be found."""
        checked = self.check(*rules)
        assert [one for each in checked for one in each.outcome.findings] == []
        return [one.outcome.unknown for one in checked if one.outcome.unknown]


def call_git(directory: Path, *arguments: str, when: datetime) -> str:
    """Call git, apart from whoever runs the tests; commits are made at `when`."""
    stamp = f"{when.timestamp():.0f} +0000"
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *who, "-C", str(directory), *arguments],
        capture_output=True,
        check=False,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_DATE": stamp,
        },
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


@dataclass
class Upstream:
    """A repository that pins are of, which goes on.

    Attributes:
        path: of the repository.
    """

    path: Path

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True)
        call_git(self.path, "init", "--quiet", "--initial-branch=main", when=START)
        call_git(self.path, "config", "uploadpack.allowFilter", "true", when=START)
        call_git(self.path, "config", "uploadpack.allowAnySHA1InWant", "true", when=START)

    @property
    def url(self) -> str:
        """How a file names it."""
        return f"file://{self.path}"

    def commit(self, message: str, when: datetime, files: Mapping[str, str] | None = None) -> str:
        """One commit more; its full hash."""
        for path, text in (files or {}).items():
            target = self.path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        call_git(self.path, "add", "--all", when=when)
        call_git(self.path, "commit", "--quiet", "--allow-empty", "--message", message, when=when)
        return call_git(self.path, "rev-parse", "HEAD", when=when)

    def git(self, *arguments: str) -> str:
        """Call git in it."""
        return call_git(self.path, *arguments, when=START)

    @contextmanager
    def out(self) -> Iterator[None]:
        """It cannot be read for a while."""
        aside = self.path.with_name(f"{self.path.name}-away")
        self.path.rename(aside)
        try:
            yield
        finally:
            aside.rename(self.path)


def days(count: float) -> datetime:
    """So many days after the start."""
    return START + timedelta(days=count)


def only(findings: list[Finding]) -> Finding:
    """The one that was found."""
    if len(findings) != 1:
        pytest.fail(f"one finding was to be there: {findings}")
    return findings[0]
