"""Whether a change is in what is pinned: a commit by its hash, a pull request by what merging it has left behind."""

import re
from dataclasses import dataclass

from pins.drift.model import Tools
from pins.drift.readings.history import Told, moment, opened
from pins.drift.readings.repository import repository_host
from pins.drift.readings.sources import resolved
from pins.errors import SourceError, UsageError
from pins.sources.git.clone import Clone
from pins.sources.git.program import GitFailedError
from pins.sources.git.revisions import resolve_revision

_MOST = 50


@dataclass(frozen=True)
class ContainedIn:
    """Looks for a change in the history of a revision.

    Attributes:
        address: of the repository.
        revision: what is pinned.
        pin: for messages.
        number: of a pull request or issue, "" for none.
        commit: a hash or the beginning of one, "" for none.
    """

    address: str
    revision: str
    pin: str
    number: str = ""
    commit: str = ""

    @property
    def host(self) -> str:
        """Where the repository is."""
        return repository_host(self.address)

    def read(self, tools: Tools) -> Told | None:
        """The commit that has the change, None where what is pinned lacks it.

        A pull request is in it where a commit says that it merges it, as forges write, or closes the issue of that
        number, and no later one reverts that.

        Raises:
            SourceError: the repository cannot be read, or has no such revision.
        """
        clone = opened(tools, self.address)
        pinned = resolved(clone, self.revision, self.pin, tools)
        try:
            return _by_hash(clone, pinned, self.commit) if self.commit else _by_number(clone, pinned, self.number)
        except GitFailedError as error:
            raise SourceError(
                f"the history of {clone.address.shown} cannot be followed: {error.said[-200:]}"
            ) from error


def _by_hash(clone: Clone, pinned: str, commit: str) -> Told | None:
    try:
        full = resolve_revision(clone, commit)
    except UsageError as error:
        raise SourceError(error.message) from error
    found = clone.git("merge-base", full, pinned).decode().strip() if full != pinned else full
    return _told(clone, full) if found == full else None


def _by_number(clone: Clone, pinned: str, number: str) -> Told | None:
    printed = clone.git(
        *("log", "-z", "--no-color", "--no-show-signature", "--encoding=UTF-8", "--format=%H%x01%ct%x01%s%x01%b"),
        *("-E", f"--grep=[#!]{number}([^0-9]|$)", f"--max-count={_MOST}", "--end-of-options", pinned),
    )
    merges = re.compile(
        rf"\(#{number}\)\s*\Z|\AMerge pull request #{number}\b|\bSee merge request \S*!{number}\b", re.MULTILINE
    )
    closes = re.compile(rf"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):? +(?:\S+/\S+)?#{number}\b", re.IGNORECASE)
    for row in printed.decode("utf-8", "replace").split("\0"):  # newest first
        parts = row.split("\x01", 3)
        if len(parts) != 4:
            continue
        subject, body = parts[2], parts[3]
        if re.match(r"revert\b", subject, re.IGNORECASE) and f"#{number}" in subject and not merges.search(subject):
            return None
        if merges.search(subject) or merges.search(body) or closes.search(f"{subject}\n{body}"):
            return Told(parts[0], moment(parts[1]), subject)
    return None


def _told(clone: Clone, commit: str) -> Told:
    printed = clone.git("log", "--no-walk", "--no-show-signature", "--format=%ct%x01%s", "--end-of-options", commit)
    date, _, subject = printed.decode("utf-8", "replace").strip().partition("\x01")
    return Told(commit, moment(date), subject)
