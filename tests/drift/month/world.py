"""The month's project and its sources, and a check of them on one day."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pins.drift.report import DriftReport
from pins.drift.running import RunRequest, run
from pins.drift.state.file_store import FileStore
from pins.drift.table import RULES
from pins.drift.tools import open_tools
from pins.drift.watching import WatchRequest, watch
from pins.sources.http_reader import Patience
from tests.drift.month.sources import FileServer, Repository
from tests.local_index import LocalIndex

START = datetime(2026, 8, 1, 6, tzinfo=UTC)
LONG_AGO = START - timedelta(days=60)
_QUICK = Patience(tries=1, connect=2, read=2, page=5, total=2)


@dataclass
class World:
    """Everything that there is.

    Attributes:
        room: a directory for all of it.
        index: of packages.
        server: of images and files.
        project: the repository that is checked.
        repositories: by name.
        day: since the start.
    """

    room: Path
    index: LocalIndex
    server: FileServer
    project: Repository
    repositories: dict[str, Repository] = field(default_factory=dict)
    day: int = 0

    @property
    def now(self) -> datetime:
        """The time of the day's check."""
        return START + timedelta(days=self.day)

    @property
    def earlier(self) -> datetime:
        """The night before it, when things move."""
        return self.now - timedelta(hours=3)

    def repository(self, name: str) -> Repository:
        """A repository, made when it is first named."""
        if name not in self.repositories:
            self.repositories[name] = Repository(self.room / "repositories" / name)
        return self.repositories[name]

    def write(self, name: str, text: str, *, when: datetime | None = None) -> None:
        """Commit a file of the project."""
        self.project.commit(when or self.earlier, f"write {name}", {name: text})

    def append(self, name: str, text: str, *, when: datetime) -> None:
        """Commit a file of the project with more at its end."""
        path = self.project.path / name
        self.write(name, (path.read_text() if path.exists() else "") + text, when=when)

    def edit(self, name: str, old: str, new: str) -> None:
        """Commit a change of a file of the project."""
        text = (self.project.path / name).read_text()
        assert old in text, f"{name} does not hold {old}"
        self.write(name, text.replace(old, new))

    def upload(self, name: str, version: str, *, when: datetime | None = None) -> None:
        """Publish a release."""
        self.index.add(name, version, upload_time=when or self.earlier)

    def out(self, source: str, *, is_out: bool) -> None:
        """Have a source fail, or not any longer: "index", "server" or "git"."""
        if source == "index":
            if is_out:
                self.index.fail_with(503)
            else:
                self.index.recover()
        elif source == "server":
            self.server.is_out = is_out
        else:
            for repository in self.repositories.values():
                repository.out(is_out=is_out)

    def check(self) -> DriftReport:
        """The check of the day."""
        watched = watch(WatchRequest((self.project.path,), self.now))
        variables = {"XDG_CACHE_HOME": str(self.room / "cache"), "HOME": str(self.room)}
        with open_tools(index_url=self.index.url, environment=variables, patience=_QUICK) as tools:
            ended = run(RunRequest(watched, RULES, tools, FileStore(self.room / "state.json")))
        return ended.report


@contextmanager
def world(room: Path) -> Iterator[World]:
    """A world before its first day."""
    with LocalIndex() as index, FileServer() as server:
        yield World(room, index, server, Repository(room / "project"))
