"""What branches and tags of a repository name now."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pins.drift.model import Tools
from pins.drift.readings.repository import repository_host
from pins.errors import SourceError, UsageError
from pins.sources.git.address import parse_address
from pins.sources.git.remote_refs import RemoteRef, remote_refs


@dataclass(frozen=True)
class Refs:
    """Asks a repository for refs by their names, all at once.

    Attributes:
        address: of the repository.
        names: of refs, sorted.
    """

    address: str
    names: tuple[str, ...]

    @property
    def host(self) -> str:
        """Where the repository is."""
        return repository_host(self.address)

    def read(self, tools: Tools) -> Mapping[str, RemoteRef]:
        """What each name stands for; those that are not there are left out.

        Raises:
            SourceError: it cannot be asked, or not as of a time that has passed.
        """
        try:
            where = parse_address(self.address, Path.cwd())
        except UsageError as error:
            raise SourceError(error.message) from error
        if tools.as_of is not None:
            raise SourceError(
                f"what refs of {where.shown} named on {tools.as_of:%Y-%m-%d} cannot be asked: a server knows only what"
                " they name now"
            )
        if tools.offline and not where.local:
            raise SourceError(f"{where.shown} is not asked for: --offline forbids it")
        return remote_refs(where, self.names)
