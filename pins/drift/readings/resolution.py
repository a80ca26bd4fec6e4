"""Whether the pins of a file resolve together, and which newer releases would, each with everything else as it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pins.drift.model import Tools, WatchedFile
from pins.drift.resolved import Resolved
from pins.metadata.known_facts import KnownFacts


@dataclass(frozen=True)
class Resolution:
    """Resolves what a file installs.

    Attributes:
        place: of the file; files are read once.
        file: the file.
        facts: known-bad versions and holds.
        clones: local clones that the user has named.
    """

    place: str
    file: WatchedFile = field(compare=False)
    facts: KnownFacts = field(compare=False)
    clones: Mapping[str, Path] = field(compare=False)

    @property
    def host(self) -> str:
        """This machine: most of it is thinking."""
        return ""

    def read(self, tools: Tools) -> Resolved:
        """Resolve it.

        Raises:
            SourceError: an index could not be read.
            UsageError: a requirement cannot be parsed.
        """
        from pins.drift.resolving import resolved  # takes long to import, and is seldom needed

        return resolved(self.file, self.facts, self.clones, tools)
