"""Repositories with histories as a test describes them, made by one call of `git fast-import` each."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

NOW = 1_700_000_000


def run_git(*arguments: str, directory: Path, given: bytes = b"", **variables: str) -> str:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.org",
        **variables,
    }  # fmt: skip
    done = subprocess.run(
        ["git", *arguments], cwd=directory, input=given, capture_output=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


@dataclass
class Made:
    """A commit to be made.

    Attributes:
        name: by which a test knows it; also its subject, and the content of the file `name` unless `files` says more.
        parents: names.
        files: all that its tree holds.
        date: of the committer, seconds.
        links: submodules: path -> commit.
    """

    name: str
    parents: tuple[str, ...]
    files: Mapping[str, str]
    date: int
    links: Mapping[str, str] = field(default_factory=dict)


class RepositoryBuilder:
    """Collects commits; `write` makes the repository.

    Args:
        directory: of the bare repository.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.commits: list[Made] = []
        self.refs: dict[str, str] = {}
        self.ids: dict[str, str] = {}

    def add(
        self,
        name: str,
        *parents: str,
        files: Mapping[str, str] | None = None,
        date: int | None = None,
        links: Mapping[str, str] | None = None,
    ) -> str:
        """One commit more; `parents` by name."""
        tree = {"name": name, **(files or {})}
        made = Made(name, parents, tree, NOW + 60 * len(self.commits) if date is None else date, links or {})
        self.commits.append(made)
        return name

    def line(self, prefix: str, count: int, start: str | None = None) -> list[str]:
        """A branch: `count` commits, each on the one before."""
        names = []
        for number in range(count):
            names.append(self.add(f"{prefix}{number}", *([start] if start else [])))
            start = names[-1]
        return names

    def ref(self, name: str, commit: str) -> None:
        """A full ref."""
        self.refs[name] = commit

    def write(self) -> Path:
        """Make the repository."""
        if not self.directory.exists():
            self.directory.mkdir(parents=True)
            run_git("init", "--quiet", "--bare", "--initial-branch=main", str(self.directory), directory=self.directory)
        marks = {made.name: number for number, made in enumerate(self.commits, 1)}
        stream: list[bytes] = [b"feature done\n"]
        stream += [_commit(made, marks) for made in self.commits]
        refs = self.refs or {"refs/heads/main": self.commits[-1].name}
        for name, commit in refs.items():
            stream.append(b"reset %s\nfrom :%d\n\n" % (name.encode(), marks[commit]))
        exported = self.directory / "marks"
        run_git(
            *("fast-import", "--quiet", "--force", "--done", f"--export-marks={exported}"),
            directory=self.directory,
            given=b"".join([*stream, b"done\n"]),
        )
        by_mark = dict(line.split() for line in exported.read_text().splitlines())
        self.ids = {name: by_mark[f":{mark}"] for name, mark in marks.items()}
        run_git("update-ref", "-d", "refs/building", directory=self.directory)
        return self.directory

    def name_of(self, commit: str) -> str:
        """The name of a commit by its hash."""
        return next(name for name, known in self.ids.items() if known == commit)


def _commit(made: Made, marks: Mapping[str, int]) -> bytes:
    lines = [
        b"commit refs/building",
        b"mark :%d" % marks[made.name],
        b"author A <a@example.org> %d +0000" % (made.date - 3600),
        b"committer C <c@example.org> %d +0000" % made.date,
        _data(f"change {made.name}\n\nbody\n"),
    ]
    for number, parent in enumerate(made.parents):
        lines.append((b"from :%d" if number == 0 else b"merge :%d") % marks[parent])
    if not made.parents and marks[made.name] > 1:
        lines.append(b"from 0000000000000000000000000000000000000000")
    lines.append(b"deleteall")
    for path, content in made.files.items():
        lines += [b"M 100644 inline " + _quoted(path), _data(content)]
    for path, commit in made.links.items():
        lines.append(b"M 160000 " + commit.encode() + b" " + _quoted(path))
    return b"\n".join([*lines, b"", b""])


def _quoted(path: str) -> bytes:
    return b'"' + path.replace("\\", "\\\\").replace('"', '\\"').encode() + b'"'


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s" % (len(content), content)


def ancestors(commits: Sequence[Made]) -> dict[str, frozenset[str]]:
    """Each commit's ancestors, itself included."""
    found: dict[str, frozenset[str]] = {}
    for made in commits:
        found[made.name] = frozenset({made.name}).union(*(found[parent] for parent in made.parents))
    return found
