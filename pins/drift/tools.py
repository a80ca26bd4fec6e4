"""What readings read with: the package indexes, HTTP, clones of repositories; opened once for a run."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pins.errors import SourceError
from pins.sources.git.address import parse_address
from pins.sources.git.clone import Clone, open_clone
from pins.sources.http_reader import HttpReader, Patience
from pins.sources.index_configuration import IndexConfiguration, read_index_configuration
from pins.sources.package_index import PackageIndex
from pins.sources.page_cache import PageCache, cache_directory

PATIENCE = Patience(tries=3, connect=10, read=20, page=60, total=45)
"""Nobody waits at a terminal, but a source that is down should not make a scheduled check late."""


@dataclass
class OpenTools:
    """`pins.drift.model.Tools`, with connections that are closed at the end of `with`.

    Attributes:
        index: all configured indexes as one.
        as_of: the time as of which sources are read, None for now.
        offline: whether nothing may be asked over the network.
        environment: variables, for credentials and addresses.
        cache: the user's cache directory of this project.
    """

    index: PackageIndex
    as_of: datetime | None
    offline: bool
    environment: Mapping[str, str]
    cache: Path
    _clones: dict[str, Clone] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def http(self) -> HttpReader:
        """For everything else that is asked over HTTP."""
        return self.index.reader.http

    def clone(self, address: str) -> Clone:
        """Our own clone of a repository.

        Raises:
            SourceError: it cannot be had, or may not be asked for.
            UsageError: it is no address.
        """
        where = parse_address(address, Path.cwd())
        if self.offline and not where.local:
            raise SourceError(f"{where.shown} is not asked for: --offline forbids it")
        with self._lock:
            clone = self._clones.get(where.text)
            if clone is None:
                clone = self._clones[where.text] = open_clone(where, self.cache, history_only=True)
            return clone

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.index.close()


def open_tools(
    *,
    index_url: str = "",
    extra_index_url: tuple[str, ...] = (),
    as_of: datetime | None = None,
    offline: bool = False,
    environment: Mapping[str, str] | None = None,
    configuration: IndexConfiguration | None = None,
    patience: Patience = PATIENCE,
) -> OpenTools:
    """Tools as the command line and the environment configure them.

    Args:
        index_url: in place of what is configured.
        extra_index_url: besides it.
        as_of: the time as of which sources are read, None for now.
        offline: whether nothing may be asked over the network.
        environment: variables; None for those of this process.
        configuration: takes the place of the first two.
        patience: how long to wait.
    """
    variables = os.environ if environment is None else environment
    cache = cache_directory(variables)
    settings = configuration or read_index_configuration(
        index_url, extra_index_url, environment=variables, directory=Path.cwd()
    )
    pages = PageCache(cache / "pages")
    index = PackageIndex(settings, cache=pages, patience=patience, offline=offline)
    return OpenTools(index, as_of, offline, variables, cache)
