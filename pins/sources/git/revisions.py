"""From what a person calls a revision to a commit."""

import difflib
import re

from pins.errors import UsageError
from pins.sources.git.clone import REMOTE_HEAD, Clone, summary_of
from pins.sources.git.program import GitFailedError

_FULL = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT = re.compile(r"[0-9a-f]{4,64}")
_PLACES = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/")
SHOWN = 12
"""Characters of a hash in messages."""


def resolve_revision(clone: Clone, revision: str, *, name: str = "") -> str:
    """The full hash of the commit that a revision names.

    A full hash that the clone holds is never looked up in the network; neither is a short one that is not a ref's name.

    Args:
        clone: the repository.
        revision: a branch, a tag, a full ref, a hash or the beginning of one, HEAD; `~` and `^` may follow.
        name: of the pin, for messages.

    Raises:
        UsageError: there is no such revision, or it is ambiguous.
        SourceError: the repository cannot be read.
    """
    base, ways = _taken_apart(revision)
    commit = _named(clone, base, name or clone.address.shown)
    if not ways:
        return commit
    try:
        printed = clone.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}{ways}^{{commit}}")
    except GitFailedError as error:
        raise UsageError(
            f"{name or 'the repository'}: {base} names a commit, but there is no {revision} in {clone.address.shown}"
        ) from error
    return printed.decode().strip()


def _taken_apart(revision: str) -> tuple[str, str]:
    found = re.fullmatch(r"([^~^]+)((?:[~^][0-9]*)*)", revision)
    if found is None or not revision.isprintable():
        raise UsageError(
            f"{revision!r} is no revision; name a branch, a tag or a commit, with ~N or ^N behind it if need be"
        )
    return found[1], found[2]


def _named(clone: Clone, base: str, pin: str) -> str:
    lowered = base.lower()
    if _FULL.fullmatch(lowered):
        if clone.has_commit(lowered) or clone.fetch_commit(lowered):
            return lowered
        raise UsageError(
            f"{pin}: {clone.address.shown} has no commit {base}{_elsewhere(clone)}; it may have been made in a fork, or"
            " removed since"
        )
    is_short = _SHORT.fullmatch(lowered) is not None
    if is_short and not _refs_called(clone, base):
        beginning = _commits_beginning(clone, lowered)
        if len(beginning) == 1:
            return beginning[0]
    clone.refresh()
    refs = _refs_called(clone, base)
    if len(set(refs.values())) > 1:
        listed = ", ".join(f"{ref} ({commit[:SHOWN]})" for ref, commit in refs.items())
        raise UsageError(f"{pin}: {base!r} names several commits of {clone.address.shown}: {listed}; name one in full")
    if refs:
        ref, found = next(iter(refs.items()))
        if not clone.has_commit(found):
            raise UsageError(f"{pin}: {ref} of {clone.address.shown} names no commit that is there")
        return found
    beginning = _commits_beginning(clone, lowered) if is_short else []
    if len(beginning) == 1:
        return beginning[0]
    if beginning:
        listed = ", ".join(commit[:20] for commit in beginning[:5])
        raise UsageError(f"{pin}: {len(beginning)} commits of {clone.address.shown} begin with {base}: {listed}")
    raise UsageError(f"{pin}: {_missing(clone, base, is_short)}")


def _refs_called(clone: Clone, base: str) -> dict[str, str]:
    """The refs that a name stands for: a full name, a tag, a branch, a branch of a remote."""
    refs = clone.refs()
    if base in ("HEAD", "@"):
        head = refs.get(REMOTE_HEAD) or _head(clone)
        return {"HEAD": head} if head else {}
    full = [f"{place}{base}" for place in _PLACES]
    found = {ref: refs[ref] for ref in full if ref in refs}
    if found:
        return found
    remote = re.compile(rf"refs/remotes/[^/]+/{re.escape(base)}")  # a branch that was never checked out in the clone
    return {ref: commit for ref, commit in refs.items() if remote.fullmatch(ref)}


def _head(clone: Clone) -> str:
    try:
        return clone.git("rev-parse", "--verify", "--quiet", "HEAD").decode().strip()
    except GitFailedError:
        return ""


def _commits_beginning(clone: Clone, beginning: str) -> list[str]:
    objects = clone.git("rev-parse", f"--disambiguate={beginning}").decode().split()
    if not objects:
        return []
    checked = clone.git("cat-file", "--batch-check", given="".join(f"{name}\n" for name in objects).encode())
    return [line.split()[0] for line in checked.decode().splitlines() if line.split()[1:2] == ["commit"]]


def _missing(clone: Clone, base: str, is_short: bool) -> str:
    where = clone.address.shown
    gone = clone.gone()
    former = next((gone[f"{place}{base}"] for place in _PLACES if f"{place}{base}" in gone), "")
    if former:
        return f"{where} has no {base!r} any more; it named {former} when it was last read: give that, if it is meant"
    if is_short:
        return (
            f"no commit of {where} that a branch or tag leads to begins with {base}{_elsewhere(clone)}; a commit beside"
            " them can only be had by its full hash"
        )
    near = difflib.get_close_matches(base, summary_of(clone.refs()), n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"{where} has no branch, tag or commit {base!r}{_elsewhere(clone)}{hint}"


def _elsewhere(clone: Clone) -> str:
    shallow = (clone.directory / "shallow").exists()
    return " (it is a shallow clone: `git fetch --unshallow` brings the rest)" if shallow else ""
