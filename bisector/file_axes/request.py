"""What a person asks of axes that are read from files."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

INDEX = "index"
"""The axis of the time as of which package indexes are read."""


@dataclass(frozen=True)
class Inventory:
    """What a built image holds.

    Attributes:
        image: its id.
        created: when it was made (aware).
        installed: its distributions with their versions, by name.
        recorded: versions that its build has written down, in labels or a file, by name.
    """

    image: str
    created: datetime
    installed: tuple[tuple[str, str], ...] = ()
    recorded: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class FilesRequest:
    """Ends that are read from files, from what an index offered at two dates, or from two images.

    Attributes:
        file: the file, absolute (`--dockerfile`, or `--requirements` where dates are given).
        good, bad: revisions of the repository that holds the file (`--good`, `--bad`); "" for the file on disk.
        good_file, bad_file: the two ends as files of their own, absolute.
        chain: `FILE:TARGET=ARG` as typed, with absolute paths, of files whose images the file is built on.
        only, exclude: names of pins among those that differ.
        good_date, bad_date: what is not pinned is as the index offered it then (aware).
        good_image, bad_image: two built images whose inventories are the ends.
        good_inventory, bad_inventory: what they hold, read when a run starts.
        held: names of pins that stay as one candidate has them, while a pin within one of their trees is searched.
    """

    file: Path | None = None
    good: str = ""
    bad: str = ""
    good_file: Path | None = None
    bad_file: Path | None = None
    chain: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    good_date: datetime | None = None
    bad_date: datetime | None = None
    good_image: str = ""
    bad_image: str = ""
    good_inventory: Inventory | None = None
    bad_inventory: Inventory | None = None
    held: tuple[str, ...] = ()

    @property
    def dates(self) -> bool:
        """Whether what is not pinned is an axis, too."""
        return self.span is not None

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """The dates of both ends, given or those of the images; None where what is not pinned stays still."""
        if self.good_date is not None and self.bad_date is not None:
            return self.good_date, self.bad_date
        if self.good_inventory is not None and self.bad_inventory is not None:
            return self.good_inventory.created, self.bad_inventory.created
        return None
