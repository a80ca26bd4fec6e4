"""Where a stage's git checkouts lie, and what is checked out and applied in each."""

import posixpath
from dataclasses import dataclass, field

from pins.files.mention import Mention


@dataclass(slots=True)
class Checkout:
    """A checkout in the image being built.

    Attributes:
        directory: where it lies.
        address: of its repository, "" when it comes with the base image.
        name: of the repository.
        starting: the ref that it was cloned at, if one was named.
        current: what is checked out now.
        fetched: the ref last fetched, checked out by FETCH_HEAD.
        mentions: every ref named for it.
        patches: what is applied, in order.
        unsettled: whether the last part of `directory` is not known, since only the shell knows the address.
    """

    directory: str
    address: str
    name: str
    starting: Mention | None = None
    current: Mention | None = None
    fetched: Mention | None = None
    mentions: list[Mention] = field(default_factory=list)
    patches: list[str] = field(default_factory=list)
    remotes: dict[str, str] = field(default_factory=dict)
    unsettled: bool = False


@dataclass(slots=True)
class Checkouts:
    """The checkouts of one stage, those of its ancestors included."""

    by_directory: dict[str, Checkout] = field(default_factory=dict)
    latest: Checkout | None = None

    def child(self) -> "Checkouts":
        """What a stage built from this one starts with."""
        return Checkouts(dict(self.by_directory), self.latest)

    def add(self, checkout: Checkout) -> None:
        """Take in a new one."""
        self.by_directory[checkout.directory] = checkout
        self.latest = checkout

    def settle(self, directory: str) -> Checkout | None:
        """The latest clone, where it lies beside `directory` under a name not known: what uses that names it."""
        found = self.latest
        if found is None or not found.unsettled or posixpath.dirname(found.directory) != posixpath.dirname(directory):
            return None
        del self.by_directory[found.directory]
        found.directory, found.name, found.unsettled = directory, posixpath.basename(directory).lower(), False
        self.add(found)
        return found

    def around(self, directory: str) -> Checkout | None:
        """The checkout that holds `directory`."""
        path = directory
        while path:
            if path in self.by_directory:
                return self.by_directory[path]
            parent = posixpath.dirname(path)
            if parent == path:
                break
            path = parent
        if "$" in directory and self.latest is not None:
            return self.latest
        return self.by_directory.get(".")
