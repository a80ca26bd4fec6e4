"""What refs of a repository name now, asked of its server by their exact names: nothing is fetched."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pins.errors import SourceError
from pins.sources.git.address import RepositoryAddress
from pins.sources.git.program import GitFailedError, git

_PEELED = "^{}"
PATIENCE = 60.0
"""Seconds that a server may take for a few refs; one that never answers would be waited for without an end."""


@dataclass(frozen=True)
class RemoteRef:
    """A ref.

    Attributes:
        ref: its full name, such as "refs/tags/v1.0".
        commit: full hash of the commit, annotated tags followed.
        tag: full hash of the annotated tag itself, "" for none.
    """

    ref: str
    commit: str
    tag: str = ""

    @property
    def is_branch(self) -> bool:
        """Whether it is made to move."""
        return not self.ref.startswith("refs/tags/")


def remote_refs(address: RepositoryAddress, names: Iterable[str]) -> Mapping[str, RemoteRef]:
    """What each name stands for; names that the repository does not have are left out.

    A branch comes before a tag of the same name, as for `git clone --branch`.

    Args:
        address: of the repository.
        names: "main", "v1.0", "pull/12/head", "refs/heads/main", "HEAD".

    Raises:
        SourceError: the repository cannot be asked, or there is none.
    """
    wanted = {name: _candidates(name) for name in names}
    asked = sorted({ref for refs in wanted.values() for ref in refs})
    patterns = [*asked, *(ref + _PEELED for ref in asked if ref.startswith("refs/tags/"))]
    if not patterns:
        return {}
    try:
        printed = git(["ls-remote", "--quiet", "--end-of-options", address.text, *patterns], patience=PATIENCE)
    except GitFailedError as error:
        why = str(error).rpartition("failed: ")[2]
        raise SourceError(
            f"the refs of {address.shown} cannot be read: {why}. Make sure that `git ls-remote {address.shown}` works"
        ) from error
    there: dict[str, str] = {}
    for line in printed.decode("utf-8", "surrogateescape").splitlines():
        commit, tab, ref = line.partition("\t")
        if tab and ref.removesuffix(_PEELED) in asked:  # a pattern also matches the ends of longer names
            there[ref] = commit
    found: dict[str, RemoteRef] = {}
    for name, refs in wanted.items():
        for ref in refs:
            if ref in there:
                peeled = there.get(ref + _PEELED, "")
                found[name] = RemoteRef(ref, peeled or there[ref], there[ref] if peeled else "")
                break
    return found


def _candidates(name: str) -> list[str]:
    """The full names that a name may stand for; none for one that cannot be a ref's."""
    name = re.sub(r"\A(?:remotes/)?origin/", "", name)
    if not name or name.startswith("-") or re.search(r"[\s~^:?*\[\\\x00-\x1f\x7f]|\.\.|@\{", name):
        return []
    if name == "HEAD" or name.startswith("refs/"):
        return [name]
    found = [f"refs/heads/{name}", f"refs/tags/{name}"]
    return [*found, f"refs/{name}"] if re.match(r"(?:heads|tags|pull|merge-requests)/", name) else found
