"""A pinned commit, the branch it was taken from, and what that branch has got since."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pins.drift.model import Tools
from pins.drift.readings.repository import repository_host
from pins.errors import SourceError, UsageError
from pins.sources.git.branches import branch_of
from pins.sources.git.clone import Clone
from pins.sources.git.program import GitFailedError
from pins.sources.git.revisions import resolve_revision

_MOST_REVERTED = 50
_REVERTS = re.compile(r"\breverts? (?:commit )?([0-9a-f]{7,40})\b", re.IGNORECASE)
MOST_MESSAGES = 5000
"""So many commits are looked at for what they say."""


@dataclass(frozen=True)
class Told:
    """A commit and what it says.

    Attributes:
        id: full hash.
        date: of the committer (aware).
        subject: first line of the message.
        body: the rest.
    """

    id: str
    date: datetime
    subject: str
    body: str = ""

    @property
    def shown(self) -> str:
        """For people: hash, day and subject."""
        return f"{self.id[:10]} {self.date:%Y-%m-%d} {self.subject[:90]}"


@dataclass(frozen=True)
class Ahead:
    """A pinned commit and its branch.

    Attributes:
        commit: what is pinned.
        missing: why there is no such commit, "" where there is; then nothing else is known.
        held: whether a branch or tag holds it.
        branch: the branch that it was taken from, "" where none can be told.
        named: whether the pin's comment names that branch.
        tip: the branch's newest commit, None without a branch.
        count: commits of the branch that what is pinned lacks.
        beside: commits of what is pinned that the branch lacks.
        newer: those of `count`, newest first, `MOST_MESSAGES` at most.
        reverted: by full hash of a commit that is in what is pinned, the one of `newer` that reverts it.
        where: the repository, for people.
    """

    commit: Told
    where: str
    missing: str = ""
    held: bool = True
    branch: str = ""
    named: bool = False
    tip: Told | None = None
    count: int = 0
    beside: int = 0
    newer: tuple[Told, ...] = ()
    reverted: Mapping[str, Told] = field(default_factory=dict)


@dataclass(frozen=True)
class History:
    """Reads how far a branch is ahead of a commit, from our own clone.

    Attributes:
        address: of the repository.
        revision: a commit, or the beginning of its hash, or a tag.
        pin: for messages.
        comment: what is written beside the pin; it may name the branch.
    """

    address: str
    revision: str
    pin: str
    comment: str = ""

    @property
    def host(self) -> str:
        """Where the repository is."""
        return repository_host(self.address)

    def read(self, tools: Tools) -> Ahead:
        """Read it.

        Raises:
            SourceError: the repository cannot be read.
        """
        clone = opened(tools, self.address)
        try:
            commit = resolve_revision(clone, self.revision, name=self.pin)
        except UsageError as error:
            nothing = Told("", moment(""), "")
            return Ahead(nothing, clone.address.shown, missing=error.message, held=False)
        try:
            return _ahead(clone, commit, self.comment, tools.as_of)
        except GitFailedError as error:
            raise SourceError(
                f"the history of {clone.address.shown} cannot be followed: {error.said[-200:]}"
            ) from error


def opened(tools: Tools, address: str) -> Clone:
    """Our clone of a repository, brought up to date.

    Raises:
        SourceError: it cannot be read, or there is no such repository.
    """
    try:
        clone = tools.clone(address)
        if not tools.offline or clone.source is not None:
            clone.refresh()
    except UsageError as error:  # private and missing repositories look alike
        raise SourceError(error.message) from error
    return clone


def _ahead(clone: Clone, commit: str, comment: str, as_of: datetime | None) -> Ahead:
    where = clone.address.shown
    told = _log(clone, "--no-walk", commit)[0]
    printed = clone.git("for-each-ref", "--count=1", "--format=%(refname)", f"--contains={commit}", *_HOLDERS)
    branch, tip = branch_of(clone, commit, comment=comment)
    if tip and as_of is not None:
        before = clone.git("rev-list", "-1", "--first-parent", f"--before={as_of.isoformat()}", "--end-of-options", tip)
        tip = before.decode().strip()
    if not tip:
        return Ahead(told, where, held=bool(printed.strip()))
    sides = clone.git("rev-list", "--left-right", "--count", "--end-of-options", f"{tip}...{commit}").decode().split()
    newer = _log(clone, f"--max-count={MOST_MESSAGES}", f"{commit}..{tip}") if sides[0] != "0" else []
    return Ahead(
        told,
        where,
        held=bool(printed.strip()),
        branch=branch,
        named=branch != "" and branch in comment,
        tip=_log(clone, "--no-walk", tip)[0],
        count=int(sides[0]),
        beside=int(sides[1]),
        newer=tuple(newer),
        reverted=_reverted(clone, commit, newer),
    )


def _reverted(clone: Clone, pinned: str, newer: list[Told]) -> dict[str, Told]:
    """What newer commits revert of what is pinned, and not of what came since."""
    named = [(match[1].lower(), one) for one in newer for match in _REVERTS.finditer(f"{one.subject}\n{one.body}")]
    found: dict[str, Told] = {}
    for beginning, one in named[:_MOST_REVERTED]:
        try:
            full = clone.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{beginning}^{{commit}}")
            clone.git("merge-base", "--is-ancestor", full.decode().strip(), pinned)
        except GitFailedError:  # of another repository, or made since
            continue
        found.setdefault(full.decode().strip(), one)
    return found


_HOLDERS = ("refs/heads", "refs/tags", "refs/remotes")


def _log(clone: Clone, *arguments: str) -> list[Told]:
    printed = clone.git(
        *("log", "-z", "--no-color", "--no-show-signature", "--no-decorate", "--encoding=UTF-8"),
        "--format=%H%x01%ct%x01%s%x01%b",
        *arguments[:-1],
        "--end-of-options",
        arguments[-1],
    )
    found = []
    for row in printed.decode("utf-8", "replace").split("\0"):
        parts = row.split("\x01", 3)
        if len(parts) == 4:
            found.append(Told(parts[0], moment(parts[1]), parts[2], parts[3]))
    return found


def moment(seconds: str) -> datetime:
    """A time as git prints it; its beginning of time for what is none."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
