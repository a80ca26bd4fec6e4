"""The package index, for the axes of files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pins.sources.page_cache import PageCache, cache_directory

if TYPE_CHECKING:
    from pins.sources.index_configuration import IndexConfiguration
    from pins.sources.package_index import PackageIndex


def package_index(index: "IndexConfiguration", interpreter: Path | None = None) -> "PackageIndex":
    """The index, judged by what an interpreter can install; every file counts where candidates bring their own."""
    from pins.sources.package_index import PackageIndex
    from pins.sources.target import target_of

    target = target_of(interpreter) if interpreter is not None else None
    return PackageIndex(index, target, cache=PageCache(cache_directory(os.environ)))
