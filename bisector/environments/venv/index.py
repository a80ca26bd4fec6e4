"""The package index with what requirement files add to it, and with what its pages leave out."""

from collections.abc import Collection
from dataclasses import replace

from bisector.environments.venv.requirements import BaseRequirements
from pins.sources.index_configuration import IndexConfiguration
from pins.sources.index_location import read_location
from pins.sources.index_settings import IndexStrategy


def with_file_locations(index: IndexConfiguration, base: BaseRequirements) -> IndexConfiguration:
    """The indexes that requirement files name, as pip takes them: one replaces, others add, the best version wins.

    Raises:
        UsageError: one of them is no location that packages can come from.
    """
    if not base.locations and not base.no_index:
        return index
    found = {
        kind: [
            read_location(place.url, directory=place.directory, origin=place.origin, flat=kind == "flat")
            for place in base.locations
            if place.kind == kind
        ]
        for kind in ("index", "extra", "flat")
    }
    indexes = () if base.no_index else (*(found["index"][-1:] or index.indexes), *found["extra"])
    return replace(
        index,
        locations=tuple(dict.fromkeys([*indexes, *index.flat, *found["flat"]])),
        strategy=IndexStrategy.UNSAFE_BEST_MATCH,
    )


def knowing_upload_times(index: IndexConfiguration, names: Collection[str]) -> IndexConfiguration:
    """The configuration with the indexes marked that do not tell when files were uploaded.

    uv takes such an index for empty when it is to read it as of a time.

    Args:
        index: the configuration.
        names: packages by whose pages it is judged.

    Raises:
        SourceError: an index could not be read.
    """
    from pins.sources.package_index import PackageIndex

    with PackageIndex(index) as source:
        judged = source.knowing_upload_times(names)
    return replace(judged, without_upload_times=judged.without_upload_times | index.without_upload_times)
