"""What floating requirements resolve to now: the newest release that a package index offers."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pins.errors import PinsError, UsageError
from pins.model import PinKind, PinSet


def newest(pin_sets: Sequence[PinSet], say: Callable[[str], None]) -> dict[str, str]:
    """By name of each floating package, the version that the configured index would give now.

    A package that no index has is left out with a line to `say`; it may come from an index that the file names.

    Raises:
        SourceError: the index could not be read.
    """
    from pins.sources.index_configuration import read_index_configuration
    from pins.sources.package_index import PackageIndex

    names = sorted({p.name for s in pin_sets for p in s.pins if p.floating and p.kind is PinKind.PACKAGE})
    if not names:
        return {}
    found: dict[str, str] = {}
    configuration = read_index_configuration(environment=os.environ, directory=Path.cwd())
    with PackageIndex(configuration) as index:
        for name in names:
            try:
                releases = index.releases(name)
            except UsageError as error:
                say(f"{name}: {error.message}")
                continue
            except PinsError:
                raise
            stable = [r for r in releases if not r.yanked and not r.version.is_prerelease]
            if stable:
                found[name] = str(stable[-1].version)
    return found
