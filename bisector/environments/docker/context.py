"""What a Dockerfile takes from its build context, as a digest.

Only what its instructions name counts: the log of the very command that runs the bisection often lies beside the
Dockerfile. Where a source cannot be told (a variable, say), the whole context counts.
"""

import hashlib
import json
import os
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from bisector.environments.docker.ignore import IgnoreRules, read_ignore_rules
from bisector.environments.docker.instructions import Dockerfile, Instruction, unquoted, words
from pins.errors import EnvironmentFailureError

WHOLLY_READ = 64 * 1024 * 1024
"""Bytes up to which a file's content is read; of a larger one size and modification time speak."""

_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|git@", re.IGNORECASE)


def context_sources(dockerfile: Dockerfile) -> tuple[str, ...]:
    """The paths below the context that the instructions read, ("",) for all of it."""
    sources = named_sources(dockerfile)
    return ("",) if "" in sources else tuple(sorted(sources))


def named_sources(dockerfile: Dockerfile) -> set[str]:
    """Every path below the context that an instruction names, "" among them where one names all of it."""
    sources: set[str] = set()
    for instruction in dockerfile.instructions:
        if instruction.keyword in {"COPY", "ADD"}:
            sources.update(_copied(instruction))
        elif instruction.keyword == "RUN":
            sources.update(_mounted(instruction))
        elif instruction.keyword == "ONBUILD" and re.match(r"(?i)(copy|add)\b", instruction.text):
            sources.add("")
    return sources


def _copied(instruction: Instruction) -> Iterator[str]:
    rest = instruction.text
    while flag := re.match(r"--([a-z-]+)(?:=(\S*))?\s+", rest):
        if flag[1] == "from":
            return
        rest = rest[flag.end() :]
    if rest.startswith("["):
        try:
            listed = json.loads(rest)
        except ValueError:
            listed = [""]
        taken = [str(source) for source in listed[:-1]] if isinstance(listed, list) else [""]
    else:
        taken = [unquoted(word) for word in words(rest)[:-1]]
    for source in taken:
        if not source.startswith("<<") and not _REMOTE.match(source):
            yield _known_part(source)


def _mounted(instruction: Instruction) -> Iterator[str]:
    for options in re.findall(r"--mount=(\S+)", instruction.text):
        fields = dict(field.partition("=")[::2] for field in unquoted(options).split(","))
        if fields.get("type", "bind") == "bind" and "from" not in fields:
            yield _known_part(fields.get("source", fields.get("src", "")))


def _known_part(source: str) -> str:
    """The part of a source before the first variable or wildcard, as a relative path."""
    parts: list[str] = []
    for part in source.split("/"):
        if re.search(r"[$*?\[\\]", part):
            break
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


class ContextReader:
    """Digests of one build context; a file's content is read again only when its size, inode or times have moved."""

    def __init__(self, dockerfile: Path, context: Path) -> None:
        self._dockerfile = dockerfile
        self._context = context
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}
        self._lock = threading.Lock()

    def entries(self, sources: tuple[str, ...]) -> dict[str, str]:
        """What lies at the sources: relative path -> kind, mode and digest of the content.

        Raises:
            EnvironmentFailureError: the context cannot be read.
        """
        with self._lock:
            try:
                rules, rules_file = read_ignore_rules(self._dockerfile, self._context)
                found = dict(self._walk(sources, rules)) if sources else {}
                if rules_file is not None and sources:
                    found["(ignore rules)"] = hashlib.sha256(rules_file.read_bytes()).hexdigest()
            except OSError as error:
                raise EnvironmentFailureError(
                    f"the build context {self._context} cannot be read: {error.filename}: {error.strerror}"
                ) from error
        return found

    def _walk(self, sources: tuple[str, ...], rules: IgnoreRules) -> Iterator[tuple[str, str]]:
        ours = _own_output()
        waiting = list(sources)
        while waiting:
            relative = waiting.pop()
            path = self._context / relative
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            ignored = bool(relative) and rules.ignores(relative)
            if stat.S_ISDIR(status.st_mode):
                if relative == ".git" or relative.endswith("/.git"):
                    # Its index and logs change whenever somebody looks at the repository.
                    if not ignored:
                        yield relative, _commit(path)
                elif not ignored or rules.has_exceptions:
                    waiting += [f"{relative}/{name}".lstrip("/") for name in os.listdir(path)]  # noqa: PTH208
                    if relative and not ignored:
                        yield relative, f"directory {status.st_mode & 0o7777:o}"
            elif not ignored and (status.st_dev, status.st_ino) not in ours:
                if stat.S_ISLNK(status.st_mode):
                    yield relative, f"link {os.readlink(path)}"  # noqa: PTH115
                elif stat.S_ISREG(status.st_mode):
                    yield relative, f"file {status.st_mode & 0o7777:o} {self._content(relative, path, status)}"

    def _content(self, relative: str, path: Path, status: os.stat_result) -> str:
        if status.st_size > WHOLLY_READ:
            return f"{status.st_size} bytes of {status.st_mtime_ns}"
        state = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        known = self._known.get(relative)
        if known is None or known[0] != state:
            with path.open("rb") as file:
                known = (state, hashlib.file_digest(file, "sha256").hexdigest())
            self._known[relative] = known
        return known[1]


def _own_output() -> set[tuple[int, int]]:
    """The files that this program itself writes to."""
    found = set()
    for descriptor in (1, 2):
        try:
            status = os.fstat(descriptor)
        except OSError:
            continue
        found.add((status.st_dev, status.st_ino))
    return found


def _commit(git: Path) -> str:
    """What is checked out."""
    try:
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return f"commit {head}"
        loose = git / head.removeprefix("ref: ")
        return f"commit {loose.read_text().strip() if loose.is_file() else head}"
    except OSError:
        return "commit unknown"


def digest(entries: dict[str, str]) -> str:
    """One hex SHA-256 over a context's entries."""
    return hashlib.sha256(json.dumps(sorted(entries.items())).encode("utf-8", "surrogatepass")).hexdigest()


def difference(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The paths that differ between two looks at a context."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
