"""One release of a distribution: a plain fact, no I/O."""

from dataclasses import dataclass
from datetime import datetime

from packaging.version import Version


@dataclass(frozen=True, order=True)
class Release:
    """One release of a distribution, as a package index lists it.

    Attributes:
        version: the parsed version; releases order by it.
        upload_time: when the first usable file was uploaded (aware, UTC); None where the index does not say.
        yanked: whether every usable file is yanked.
        yanked_reason: what the index gives as the reason, "" when it gives none.
        has_wheel: whether a wheel usable on the asked-for Python and platform is offered.
        has_sdist: whether a source distribution is offered.
        unusable: why no file of it can be used, as a phrase ("needs Python >=3.12"); "" where one can.
    """

    version: Version
    upload_time: datetime | None = None
    yanked: bool = False
    yanked_reason: str = ""
    has_wheel: bool = False
    has_sdist: bool = False
    unusable: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether it can be installed on the asked-for Python and platform."""
        return self.has_wheel or self.has_sdist
