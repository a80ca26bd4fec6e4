"""What a person asks of axes that are read from files."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


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

    @property
    def dates(self) -> bool:
        """Whether what is not pinned is an axis, too."""
        return self.good_date is not None and self.bad_date is not None
