"""What `pins suggest` asks of indexes: the releases of a name, and the windows of a file."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pins.errors import UsageError
from pins.report.windows_model import EnvironmentWindows
from pins.windows_request import WindowsRequest, gathered_for, moment

if TYPE_CHECKING:
    from pins.resolve.problem import Problem


def releases_of(names: Sequence[str], asked: WindowsRequest, say: Callable[[str], None]) -> Mapping[str, Sequence[str]]:
    """The stable versions that are usable and not yanked, ascending; a project that no index has has none."""
    import os

    from pins.sources.index_configuration import read_index_configuration
    from pins.sources.package_index import PackageIndex
    from pins.sources.page_cache import PageCache, cache_directory

    if not names:
        return {}
    before = moment(asked.exclude_newer) if asked.exclude_newer else None
    configuration = read_index_configuration(environment=os.environ, directory=Path.cwd())
    cache = PageCache(cache_directory(os.environ) / "pages")
    found: dict[str, Sequence[str]] = {}
    with PackageIndex(configuration, cache=cache, offline=asked.offline) as index:
        for name in names:
            try:
                releases = index.releases(name, before=before)
            except UsageError as error:
                say(f"{name}: {error.message}")
                continue
            found[name] = [str(r.version) for r in releases if not r.yanked and not r.version.is_prerelease]
    return found


def windows_of_file(asked: WindowsRequest) -> tuple[Sequence[EnvironmentWindows], Sequence[str]]:
    """Every environment's windows; stages that install the same are solved once."""
    from dataclasses import replace

    from pins.resolve.bounds import package_windows
    from pins.resolve.promises import broken_promises
    from pins.resolve.why import why
    from pins.resolve.windows import windows_of

    solved: list[EnvironmentWindows] = []
    with gathered_for(asked) as question:
        source = question.gathered.source
        seen: list[Problem] = []
        for problem in question.gathered.problems:
            if any(replace(problem, name=other.name) == other for other in seen):
                continue
            seen.append(problem)
            found = windows_of(problem, source)
            solved.append(
                EnvironmentWindows(
                    problem.name,
                    question.target.description,
                    problem.installer.value,
                    found.possible,
                    package_windows(found) if found.possible else (),
                    answer=None if found.possible else why(problem, source),
                    broken=broken_promises(found),
                )
            )
        return solved, question.gathered.notes
