"""The git pins among those that are watched, and what each names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pins.drift.model import About, Subject, WatchedFile
from pins.drift.readings.repository import repository_of
from pins.model import Pin, PinKind

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True)
class GitPin:
    """A pin of a repository that is known.

    Attributes:
        file: that holds it.
        pin: as it was read.
        about: what a check on it is about.
        address: where its repository is read: a clone that the user has named, else its own address.
        own_clone: whether it is such a clone, which may not have everything.
        revision: what is checked out; "HEAD" where the file leaves that open.
    """

    file: WatchedFile
    pin: Pin
    about: About
    address: str
    own_clone: bool
    revision: str

    @property
    def is_commit(self) -> bool:
        """Whether it names a commit by its hash or the beginning of it."""
        return _COMMIT.fullmatch(self.revision) is not None and re.search(r"\d", self.revision) is not None


def git_pins(subject: Subject) -> Iterator[GitPin]:
    """Every git pin whose repository and revision are known."""
    for file, watched in subject.pins():
        pin = watched.pin
        if pin.kind is not PinKind.GIT or pin.unknown:
            continue
        address = repository_of(pin, subject.clones)
        revision = pin.effective or pin.value or "HEAD"
        if not address or "$" in address or "$" in revision or not revision.isprintable():
            continue
        yield GitPin(file, pin, watched.about, address, address != pin.repo, revision)
