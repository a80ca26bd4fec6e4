"""Our own clone of a repository, kept below the user's cache directory and shared by all runs.

Of a repository at a URL it holds commits and trees; contents of files are fetched when a commit is checked out. Of one
on this machine it holds no objects at all: it borrows them, and only its refs are copied, so that neither the
repository's configuration nor its hooks have a say.

Processes and threads take turns by a lock on a file where something of the clone is written. Reading needs none: git
adds objects before it moves refs, and nothing is ever removed.
"""

import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pins.errors import EnvironmentFailureError, SourceError, UsageError
from pins.sources.git.address import RepositoryAddress, commit_link
from pins.sources.git.lock import lock_on
from pins.sources.git.program import GitFailedError, git
from pins.sources.git.transport import is_plain_directory

REMOTE_HEAD = "refs/bisector/HEAD"
_WHOLE = "whole"
"""Is there where the server cannot leave anything out of what it gives."""
GONE = "gone.json"
"""Refs that are there no longer; written last, so that it is not there before a clone is whole."""
_FETCHED = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_STALE_PACK = 24 * 3600.0
"""Seconds after which what a killed fetch has left is removed."""
_UNREACHABLE = re.compile(r"unable to access '[^']*': ")
_NOT_THERE = re.compile(
    r"repository .*not found|repository .*does not exist|does not appear to be a git repository|no such project"
    r"|project .*could not be found",
    re.IGNORECASE,
)


@dataclass
class Clone:
    """A clone.

    Attributes:
        address: of the repository.
        room: the directory of everything that belongs to it: the clone, its lock, checkouts.
        source: the git directory that objects are borrowed from, None for a repository at a URL.
        without: what of a repository at a URL is fetched only when it is needed: contents of files ("blob:none"), or
            directories as well ("tree:0").
    """

    address: RepositoryAddress
    room: Path
    source: Path | None = None
    without: str = "blob:none"
    _refreshed: bool = False
    _thread: threading.RLock = field(default_factory=threading.RLock)

    @property
    def directory(self) -> Path:
        """The git directory."""
        return self.room / "repository"

    def git(self, *arguments: str, given: bytes = b"") -> bytes:
        """What git prints of the clone; see `program.git`."""
        return git(arguments, repository=self.directory, given=given)

    @property
    def is_partial(self) -> bool:
        """Whether some of it is fetched only when it is needed."""
        return self.source is None and not (self.room / _WHOLE).exists()

    @property
    def _filter(self) -> tuple[str, ...]:
        return (f"--filter={self.without}",) if self.is_partial else ()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the right to write to the clone.

        Raises:
            EnvironmentFailureError: the lock cannot be had.
        """
        with self._thread, lock_on(self.room / "lock"):
            yield

    def refresh(self) -> None:
        """Bring the refs up to date, once in the life of this object.

        Raises:
            UsageError: there is no such repository.
            SourceError: it cannot be read.
        """
        with self._thread:
            if not self._refreshed:
                with self.locked():
                    self._refresh()
                self._refreshed = True

    def refs(self) -> dict[str, str]:
        """The commit (or what else) that each ref names, tags followed: full name of the ref -> full hash."""
        printed = self.git("for-each-ref", "--format=%(refname)%00%(objectname)%00%(*objectname)")
        found = {}
        for line in printed.decode("utf-8", "surrogateescape").splitlines():
            name, direct, peeled = line.split("\0")
            found[name] = peeled or direct
        return found

    def gone(self) -> dict[str, str]:
        """Refs that the repository had and has no longer, with what they named last."""
        try:
            found = json.loads((self.room / GONE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}

    def has_commit(self, commit: str) -> bool:
        """Whether a commit, by its full hash, is in the clone."""
        printed = self.git("cat-file", "--batch-check", given=f"{commit}\n".encode()) if self._knows(commit) else b""
        return printed.split()[1:2] == [b"commit"]

    def _knows(self, object_name: str) -> bool:
        """Whether an object is here, without having git fetch it."""
        printed = self.git("rev-parse", f"--disambiguate={object_name}")
        return object_name in printed.decode().split()

    def fetch_commit(self, commit: str) -> bool:
        """Fetch a commit that no branch or tag leads to, by its full hash; False where the server does not give it."""
        if self.source is not None:
            return False
        with self.locked():
            if self.has_commit(commit):
                return True
            try:
                self.git(
                    *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", *self._filter, "origin"),
                    f"+{commit}:refs/bisector/kept/{commit}",
                )
            except GitFailedError:
                return False
        return self.has_commit(commit)

    @property
    def link(self) -> str:
        """The web page of a commit; see `address.commit_link`."""
        if self.source is None:
            return commit_link(self.address.text)
        with suppress(GitFailedError):
            printed = git(["config", "--get", "remote.origin.url"], repository=self.source)
            return commit_link(printed.decode("utf-8", "replace").strip())
        return ""

    def _refresh(self) -> None:
        before: dict[str, str] = {}
        with suppress(GitFailedError):  # there is no clone yet, or what it borrowed is gone
            before = self.refs() if (self.directory / "HEAD").exists() else {}
        if not (self.directory / "HEAD").exists() and is_plain_directory(self.address):
            _write(self.room / _WHOLE, b"")
        self._lay_out()
        if self.source is not None:
            self._copy_refs(self.source)
        else:
            self._fetch()
        after = self.refs()
        gone = {**self.gone(), **before}
        gone = {
            name: value for name, value in gone.items() if name not in after and not name.startswith("refs/bisector")
        }
        _write(self.room / GONE, json.dumps(gone).encode())

    def _lay_out(self) -> None:
        directory = self.directory
        if not (directory / "HEAD").exists():
            git(["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--", str(directory)])
        for pattern in ("*.lock", "refs/**/*.lock"):  # left by a git that was killed: whoever writes holds our lock
            for left in directory.glob(pattern):
                left.unlink(missing_ok=True)
        for left in directory.glob("objects/pack/tmp_*"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > _STALE_PACK:
                    left.unlink()
        _write(directory / "config", configuration(self, bare=True).encode("utf-8", "surrogateescape"))
        if self.source is not None:
            info = directory / "objects" / "info"
            info.mkdir(parents=True, exist_ok=True)
            _write(info / "alternates", f"{self.source / 'objects'}\n".encode("utf-8", "surrogateescape"))
            shallow = self.source / "shallow"
            if shallow.exists():
                _write(directory / "shallow", shallow.read_bytes())
            else:
                (directory / "shallow").unlink(missing_ok=True)

    def _copy_refs(self, source: Path) -> None:
        printed = git(["for-each-ref", "--format=%(refname)%00%(objectname)%00%(*objectname)"], repository=source)
        lines = [b"# pack-refs with: peeled fully-peeled sorted"]
        for name, direct, peeled in sorted(tuple(line.split(b"\0")) for line in printed.splitlines()):
            lines.append(direct + b" " + name)
            if peeled:
                lines.append(b"^" + peeled)
        head = git(["rev-parse", "--quiet", "--verify", "HEAD"], repository=source, statuses=frozenset({0, 1})).strip()
        _write(self.directory / "packed-refs", b"\n".join([*lines, b""]))
        _write(self.directory / "HEAD", (head or b"ref: refs/heads/main") + b"\n")

    def _fetch(self) -> None:
        words = [
            "fetch",
            "--quiet",
            "--prune",
            "--no-tags",
            "--no-write-fetch-head",
            *self._filter,
            "origin",
        ]
        try:
            try:
                self.git(*words, *_FETCHED, f"+HEAD:{REMOTE_HEAD}")
            except GitFailedError as error:
                if "find remote ref HEAD" not in error.said:
                    raise
                self.git(*words, *_FETCHED)  # its HEAD names a branch that does not exist
        except GitFailedError as error:
            shown = self.address.shown
            why = _fault(error)
            if _NOT_THERE.search(error.said):
                raise UsageError(
                    f"there is no repository {shown}, or it is not to be read with the credentials that git has: {why}"
                ) from error
            raise SourceError(
                f"the repository {shown} cannot be read: {why}. Make sure that `git ls-remote {shown}` works here"
            ) from error


def open_clone(address: RepositoryAddress, cache: Path, *, history_only: bool = False) -> Clone:
    """The clone of a repository; nothing is fetched yet.

    Args:
        address: of the repository.
        cache: the user's cache directory of this project.
        history_only: whether little but commits is looked at, so that directories need not be fetched with them.

    Raises:
        UsageError: the path holds no repository.
        EnvironmentFailureError: the clone cannot be made.
    """
    source = _source_of(address) if address.local else None
    history_only = history_only and source is None
    key = str(source) if source is not None else _key(address.text) + " history" * history_only
    last = key.rpartition("://")[2].removesuffix("/.git").rsplit("/", 2)[-2:]
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(last))[:60].strip("-.")
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    room = cache / "git" / f"{readable}-{digest}"
    try:
        room.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFailureError(f"cannot make the directory {room} for a clone: {error.strerror}") from error
    clone = Clone(address, room, source, "tree:0" if history_only else "blob:none")
    if source is not None or not (room / GONE).exists():
        clone.refresh()
    return clone


def configuration(clone: Clone, *, bare: bool) -> str:
    """The configuration file of a clone, or of a checkout of it."""
    lines = [
        "[core]",
        f"\trepositoryformatversion = {1 if clone.is_partial else 0}",
        f"\tbare = {'true' if bare else 'false'}",
        "\tfilemode = true",
        "[gc]",
        "\tauto = 0",
        '[remote "origin"]',
        f"\turl = {_quoted(clone.address.text)}",
    ]
    if clone.is_partial:
        lines += [
            "\tpromisor = true",
            f"\tpartialclonefilter = {clone.without}",
            "[extensions]",
            "\tpartialClone = origin",
        ]
    return "\n".join([*lines, ""])


def _source_of(address: RepositoryAddress) -> Path:
    """The git directory of a repository on this machine."""
    path = Path(address.text)
    nothing = UsageError(f"{path} is no git repository: name the top of a work tree, or a bare repository")
    try:
        printed = git(
            ["-C", str(path), "rev-parse", "--path-format=absolute", "--show-prefix", "--git-common-dir"]
        ).decode("utf-8", "surrogateescape")
    except GitFailedError as error:
        if "not a git repository" in error.said and "unsafe" not in error.said:
            raise nothing from error
        raise
    prefix, _, common = printed.removesuffix("\n").rpartition("\n")
    if prefix.strip():
        raise nothing
    return Path(common).resolve()


def _key(url: str) -> str:
    """One name for the spellings of a URL that lead to the same repository."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}{separator}{host.lower()}{slash}{path}".rstrip("/").removesuffix(".git")


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write(path: Path, content: bytes) -> None:
    """Replace a file as a whole."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise EnvironmentFailureError(f"cannot write {path}: {error.strerror}; is the disk full?") from error


def summary_of(refs: Mapping[str, str]) -> list[str]:
    """The names that people give to refs: without what git puts before branches and tags."""
    return [re.sub(r"^refs/(?:heads|tags|remotes)/", "", name) for name in refs]


def _fault(error: GitFailedError) -> str:
    """What git says is wrong, without where, which is said beside it."""
    said = str(error).partition(": ")[2].removeprefix("fatal: ")
    return _UNREACHABLE.sub("", said)
