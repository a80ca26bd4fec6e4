"""The same few files at very many commits, read in a handful of calls of git.

A thousand commits share most of their trees and nearly all contents of the files asked for, so that each tree and each
content is read once. Trees are walked here rather than by git (`COMMIT:PATH`), since git answers alike for a path that
does not exist and for one whose objects are missing, and would fetch contents one by one.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pins.errors import EnvironmentFailureError
from pins.sources.git.clone import Clone
from pins.sources.git.program import GitFailedError

_SUBMODULE = "160000"
_DIRECTORY = "40000"
_AT_ONCE = 2_000
"""Objects that are read by one call: their contents are in memory together."""


class MissingObjectsError(EnvironmentFailureError):
    """The repository lacks objects that its commits name: it is partial, shallow or damaged."""


@dataclass(frozen=True, slots=True)
class Node:
    """What lies at a path.

    Attributes:
        mode: of git, without leading zeros: "100644", "100755", "120000" (a link), "40000", "160000" (a submodule).
        id: full hash of the blob, the tree, or the submodule's commit.
    """

    mode: str
    id: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file with a content."""
        return self.mode.startswith("100")

    @property
    def is_submodule(self) -> bool:
        """Whether it is a commit of another repository."""
        return self.mode == _SUBMODULE

    @property
    def is_directory(self) -> bool:
        """Whether it is a tree."""
        return self.mode == _DIRECTORY


@dataclass
class Trees:
    """Reads trees and contents of one repository; keeps what it has read.

    Attributes:
        clone: the repository.
        unreadable: commits that could not be read, and why.
    """

    clone: Clone
    unreadable: dict[str, str] = field(default_factory=dict)
    _roots: dict[str, str] = field(default_factory=dict)
    _trees: dict[tuple[str, frozenset[str]], dict[str, Node]] = field(default_factory=dict)
    _contents: dict[str, bytes] = field(default_factory=dict)

    def nodes(self, commits: Sequence[str], paths: Collection[str]) -> dict[str, dict[str, Node]]:
        """What lies at each path of each commit: commit -> path -> node; paths that do not exist are left out.

        A commit of which that cannot be told is left out as well; `unreadable` says why.
        """
        self._read_roots(commits)
        places = {
            commit: {"": Node(_DIRECTORY, self._roots[commit])} for commit in commits if commit not in self.unreadable
        }
        wanted = {path: tuple(path.strip("/").split("/")) for path in paths}
        for depth in range(max((len(parts) for parts in wanted.values()), default=0)):
            prefixes = {parts[: depth + 1] for parts in wanted.values() if len(parts) > depth}
            below: dict[str, set[str]] = {}
            for prefix in prefixes:
                below.setdefault("/".join(prefix[:-1]), set()).add(prefix[-1])
            names = {parent: frozenset(found) for parent, found in below.items()}
            above = {
                (commit, parent): node.id
                for commit, found in places.items()
                for parent in names
                if (node := found.get(parent)) is not None and node.is_directory
            }
            self._read_trees((tree, names[parent]) for (_, parent), tree in above.items())
            for (commit, parent), tree in above.items():
                nodes = self._trees.get((tree, names[parent]))
                if nodes is None:
                    self.unreadable[commit] = self._lacks(tree, "tree")
                    places.pop(commit, None)
                elif commit in places:
                    for name, node in nodes.items():
                        places[commit][f"{parent}/{name}".lstrip("/")] = node
        return {
            commit: {path: found[key] for path, parts in wanted.items() if (key := "/".join(parts)) in found}
            for commit, found in places.items()
        }

    def everything(self, commit: str) -> dict[str, Node]:
        """What lies at every path of a commit, files and submodules; one call of git, for looking up many paths of it.

        Raises:
            MissingObjectsError: the commit, or a tree of it, is not in the repository.
        """
        try:
            printed = self.clone.git("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
        except GitFailedError as error:
            raise MissingObjectsError(f"{self.clone.address.shown} cannot be read: {error.said[:200]}") from error
        found = {}
        for row in printed.split(b"\0"):
            head, tab, path = row.partition(b"\t")
            if tab:
                mode, _, name = head.decode().split(" ")
                found[path.decode("utf-8", "surrogateescape")] = Node(mode, name)
        return found

    def bring(self, ids: Iterable[str]) -> None:
        """Read the contents of blobs, all at once; those that a partial clone lacks are fetched together."""
        wanted = [name for name in dict.fromkeys(ids) if name not in self._contents]
        if wanted and self.clone.is_partial:
            self._fetch(wanted)
        for name, content in self._each(wanted, "blob"):
            if content is not None:
                self._contents[name] = content

    def content(self, name: str) -> bytes:
        """The content of a blob by its hash.

        Raises:
            MissingObjectsError: it is not in the repository and cannot be had.
        """
        if name not in self._contents:
            self.bring([name])
        if name not in self._contents:
            raise MissingObjectsError(self._lacks(name, "blob"))
        return self._contents[name]

    def _read_roots(self, commits: Sequence[str]) -> None:
        known = self._roots.keys() | self.unreadable.keys()
        wanted = [commit for commit in dict.fromkeys(commits) if commit not in known]
        for commit, content in self._each(wanted, "commit"):
            match = re.match(rb"tree ([0-9a-f]+)\n", content or b"")
            if match is None:
                self.unreadable[commit] = self._lacks(commit, "commit")
            else:
                self._roots[commit] = match[1].decode()

    def _read_trees(self, wanted: Iterable[tuple[str, frozenset[str]]]) -> None:
        """Read trees, all by one call of git, and keep what lies in each under these names."""
        missing: dict[str, set[frozenset[str]]] = {}
        for tree, names in wanted:
            if (tree, names) not in self._trees:
                missing.setdefault(tree, set()).add(names)
        for tree, content in self._each(list(missing), "tree"):
            if content is None:
                continue
            nodes = _parse(content, len(tree) // 2)
            for names in missing[tree]:
                self._trees[tree, names] = {name: nodes[name] for name in names if name in nodes}

    def _each(self, ids: Sequence[str], kind: str) -> Iterator[tuple[str, bytes | None]]:
        """Objects by their hashes; None for one that is not in the repository, or is of another kind."""
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            try:
                printed = self.clone.git("cat-file", "--batch", "--buffer", given=("\n".join(some) + "\n").encode())
            except GitFailedError as error:
                raise MissingObjectsError(f"{self.clone.address.shown} cannot be read: {error.said[:200]}") from error
            position = 0
            for name in some:
                end = printed.index(b"\n", position)
                head = printed[position:end].split(b" ")
                if len(head) != 3:
                    yield name, None
                    position = end + 1
                    continue
                size = int(head[2])
                yield name, printed[end + 1 : end + 1 + size] if head[1] == kind.encode() else None
                position = end + size + 2

    def _lacks(self, name: str, kind: str) -> str:
        what = {"blob": "the content of a file", "tree": "the directory", "commit": "the commit"}[kind]
        shallow = (self.clone.directory / "shallow").exists()
        hint = "`git fetch --unshallow` may bring it" if shallow else "it may be a partial clone: a full one has it"
        return f"{self.clone.address.shown} lacks {what} {name[:12]}; {hint}"

    def _fetch(self, ids: Sequence[str]) -> None:
        """Fetch the contents that a partial clone lacks, all at once; what cannot be had is found out when read."""
        try:
            # Asked for one by one, git would fetch each by itself; of all that is here, it can say without fetching.
            listed = self.clone.git("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)")
            here = set(listed.decode().split())
            missing = [name for name in ids if name not in here]
            if missing:
                with self.clone.locked():
                    self.clone.git(
                        *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none"),
                        *("--stdin", "origin"),
                        given=("\n".join(missing) + "\n").encode(),
                    )
        except GitFailedError:
            return


def _parse(content: bytes, width: int) -> dict[str, Node]:
    found: dict[str, Node] = {}
    position = 0
    while position < len(content):
        space = content.index(b" ", position)
        zero = content.index(b"\0", space)
        mode = content[position:space].decode()
        name = content[space + 1 : zero].decode("utf-8", "surrogateescape")
        position = zero + 1 + width
        found[name] = Node(mode, content[zero + 1 : position].hex())
    return found
