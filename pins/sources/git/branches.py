"""The line of commits that a branch went through, and which branch a commit belongs to."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from packaging.version import InvalidVersion, Version

from pins.sources.git.clone import REMOTE_HEAD, Clone
from pins.sources.git.program import GitFailedError
from pins.sources.git.trees import MissingObjectsError

_PLACES = ("refs/heads/", "refs/remotes/origin/", "refs/remotes/upstream/", "refs/tags/", "refs/")
_USUAL = ("main", "master")


@dataclass(frozen=True, slots=True)
class LineCommit:
    """One commit of a branch's line.

    Attributes:
        id: its full hash.
        date: when it was made (aware); None where git holds nonsense.
    """

    id: str
    date: datetime | None


@dataclass(frozen=True, slots=True)
class Line:
    """The first-parent line of a branch.

    Attributes:
        branch: its name, for people; "" where there is none, and the line ends with the commit asked about.
        commits: oldest first.
        complete: whether the line goes back to its beginning.
    """

    branch: str
    commits: tuple[LineCommit, ...]
    complete: bool


def branch_of(clone: Clone, commit: str = "", *, comment: str = "") -> tuple[str, str]:
    """The branch that a pin follows: its name and its newest commit; ("", "") where none can be told.

    One that is named in the pin's comment comes first, then the repository's own default, then of all that hold the
    commit the one that has moved last.

    Args:
        clone: the repository.
        commit: the full hash that is pinned, "" where the repository does not have it.
        comment: what is written beside the pin, such as "release/internal/3.7.x as of 08/07".
    """
    refs = clone.refs()
    for word in re.findall(r"[A-Za-z0-9][\w./-]*", comment):
        for place in _PLACES[:3]:
            if place + word in refs:
                return word, refs[place + word]
    head = refs.get(REMOTE_HEAD) or _head(clone)
    if head and (not commit or _holds(clone, head, commit)):
        names = [ref for ref in refs if refs[ref] == head and ref.startswith(_PLACES[:3])]
        return _most_likely(clone, [_short(name) for name in names]), head
    if not commit:
        return "", ""
    try:
        printed = clone.git(
            *("for-each-ref", "--sort=-committerdate", "--format=%(refname)", f"--contains={commit}"),
            *("refs/heads", "refs/remotes"),
        )
    except GitFailedError:
        return "", ""
    holding = [name for name in printed.decode("utf-8", "surrogateescape").split() if name in refs]
    return (_short(holding[0]), refs[holding[0]]) if holding else ("", "")


def line_of(clone: Clone, tip: str, branch: str = "", *, most: int) -> Line:
    """The first-parent line that ends in a commit, oldest first.

    Raises:
        MissingObjectsError: a commit on it is not in the repository.
    """
    try:
        printed = clone.git(
            *("log", "--first-parent", f"--max-count={most + 1}", "--no-show-signature", "--format=%H %ct"),
            *("--end-of-options", tip),
        )
    except GitFailedError as error:
        raise MissingObjectsError(
            f"the history of {branch or tip[:12]} in {clone.address.shown} cannot be followed: {error.said[-200:]}"
        ) from error
    rows = [row.split(" ") for row in printed.decode().splitlines()]
    commits = tuple(LineCommit(name, _moment(seconds)) for name, seconds in rows[:most][::-1])
    shallow = (clone.directory / "shallow").exists()
    return Line(branch, commits, complete=len(rows) <= most and not shallow)


def release_tags(clone: Clone) -> dict[str, Version]:
    """The version that a tag gives a commit: full hash -> the newest version that is tagged there.

    A tag counts that is a version, perhaps behind a "v" or a name and a hyphen, as "triton-v3.2.0" is.
    """
    found: dict[str, Version] = {}
    for ref, commit in clone.refs().items():
        if ref.startswith("refs/tags/"):
            text = re.sub(r"^[A-Za-z][A-Za-z_.-]*-(?=v?\d)", "", ref.removeprefix("refs/tags/"))
            try:
                version = Version(text)
            except InvalidVersion:
                continue
            found[commit] = max(version, found.get(commit, version))
    return found


def _holds(clone: Clone, tip: str, commit: str) -> bool:
    try:
        clone.git("merge-base", "--is-ancestor", commit, tip)
    except GitFailedError:
        return False
    return True


def _head(clone: Clone) -> str:
    try:
        return clone.git("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
    except GitFailedError:
        return ""


def _most_likely(clone: Clone, names: list[str]) -> str:
    """Which of the branches at one commit is the default: as the clone has it from its source, else by its name."""
    if len(set(names)) > 1:
        try:
            told = clone.git("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD").decode("utf-8", "surrogateescape")
            usual = [_short(told.strip()), *_USUAL]
        except GitFailedError:
            usual = list(_USUAL)
        return next((name for name in usual if name in names), names[0])
    return names[0] if names else "HEAD"


def _short(ref: str) -> str:
    return next((ref.removeprefix(place) for place in _PLACES if ref.startswith(place)), ref)


def _moment(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None
