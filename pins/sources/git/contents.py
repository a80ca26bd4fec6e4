"""What the tree of a commit holds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pins.sources.git.clone import Clone
from pins.sources.git.program import GitFailedError

_GITLINK = "160000"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a tree.

    Attributes:
        mode: "100644", "100755", "120000" (a link), "040000" (a directory) or "160000" (a submodule).
        id: full hash of the blob, the tree, or a submodule's commit.
        path: from the top of the tree.
    """

    mode: str
    id: str
    path: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """A submodule as a commit holds it.

    Attributes:
        path: where it is checked out.
        commit: which commit of it.
        url: of its repository, as `.gitmodules` has it (perhaps relative); "" where it does not say.
    """

    path: str
    commit: str
    url: str


def entries(clone: Clone, commit: str, paths: Sequence[str] = (), *, recursive: bool = False) -> list[Entry]:
    """The entries of a commit's tree: those at these paths, or all of its top."""
    options = ["-r"] if recursive else ["-t"]
    listed = [path.strip("/") for path in paths]
    printed = clone.git("ls-tree", "-z", "--full-tree", *options, "--end-of-options", commit, *listed)
    found = []
    for line in printed.decode("utf-8", "surrogateescape").split("\0"):
        if line:
            head, _, path = line.partition("\t")
            mode, _, name = head.split(" ")
            found.append(Entry(mode, name, path))
    return found


def lacking(clone: Clone, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the paths that a commit's tree does not hold."""
    found = {entry.path for entry in entries(clone, commit, paths)} if paths else set()
    return tuple(path for path in paths if path.strip("/") not in found)


def read_blob(clone: Clone, commit: str, path: str) -> bytes | None:
    """The content of a file at a commit, None where there is none; it is fetched where the clone lacks it."""
    found = [entry for entry in entries(clone, commit, [path]) if entry.mode in ("100644", "100755")]
    return clone.git("cat-file", "blob", found[0].id) if found else None


def submodules(clone: Clone, commit: str) -> tuple[Submodule, ...]:
    """The submodules of a commit, by path."""
    if not entries(clone, commit, [".gitmodules"]):
        return ()
    links = [entry for entry in entries(clone, commit, recursive=True) if entry.mode == _GITLINK]
    if not links:
        return ()
    urls = _urls(clone, commit)
    return tuple(Submodule(link.path, link.id, urls.get(link.path, "")) for link in links)


def _urls(clone: Clone, commit: str) -> dict[str, str]:
    """The URL of each submodule by its path."""
    try:
        printed = clone.git(
            "config", "-z", f"--blob={commit}:.gitmodules", "--get-regexp", r"^submodule\..*\.(path|url)$"
        )
    except GitFailedError:
        return {}
    found: dict[str, dict[str, str]] = {}
    for setting in printed.decode("utf-8", "surrogateescape").split("\0"):
        key, _, value = setting.partition("\n")
        if named := re.fullmatch(r"submodule\.(.*)\.(path|url)", key, re.DOTALL):
            found.setdefault(named[1], {})[named[2]] = value
    return {each["path"].strip("/"): each["url"] for each in found.values() if "path" in each and "url" in each}
