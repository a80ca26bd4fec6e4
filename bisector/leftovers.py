"""What runs have left behind on this machine, and its removal."""

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bisector.environments.venv.workplace import remove_abandoned
from bisector.journal import Journal
from bisector.processes import end_marked
from bisector.runs import CHECK, JOURNAL, all_runs, driving, identity_of, is_driven, marker_of, state_directory
from bisector.temporary import remove_abandoned_directories
from pins.errors import EnvironmentFailureError, PinsError, UsageError
from pins.sources.git.work_trees import remove_unused
from pins.sources.page_cache import cache_directory

NO_RUN = "no run"
"""Whose a thing is that belongs to no run in particular."""


@dataclass(frozen=True)
class Leftover:
    """One thing: what it is, and of which run."""

    what: str
    run: str


@dataclass
class Garbage:
    """What was found.

    Attributes:
        removed: what went (or, on a dry run, would go), in that order.
        kept: builds and images that stay, of runs that can be gone on with or that were to keep them.
        strange: what the engine holds of runs that are not recorded here: of another user, or of a directory that was
            removed. It is left alone.
        not_looked_for: what could not be looked for, with the reason.
        cache: where what may be downloaded again lies.
        cache_bytes: how much disk that takes.
        used_docker: whether a run here has ever asked an engine for anything.
    """

    removed: list[Leftover] = field(default_factory=list)
    kept: list[Leftover] = field(default_factory=list)
    strange: list[Leftover] = field(default_factory=list)
    not_looked_for: list[str] = field(default_factory=list)
    cache: str = ""
    cache_bytes: int = 0
    used_docker: bool = False


@dataclass(frozen=True)
class _Asked:
    everything: bool
    dry_run: bool


def collect_garbage(
    *, everything: bool = False, older_than: timedelta | None = None, caches: bool = False, dry_run: bool = False
) -> Garbage:
    """Remove what runs that nobody drives have left: processes, containers, scratch space, finished runs' builds.

    An interrupted run keeps its builds, since `bisector resume` needs them.

    Args:
        everything: also the builds of interrupted runs, and those that were kept with `--keep`.
        older_than: also whole runs, reports and logs included, last touched longer ago than this.
        caches: also what was downloaded and can be again.
        dry_run: only say what would be removed.
    """
    garbage = Garbage()
    asked = _Asked(everything, dry_run)
    under_way = []
    runs = [*all_runs(), *all_runs("probes")]
    known = {identity_of(run) for run in runs}  # those of runs that are removed now, too
    for run in runs:
        if is_driven(run):
            under_way.append(run.name)
            continue
        try:
            with driving(run):
                old = older_than is not None and _age(run) > older_than
                looked = _collect(run, garbage, _Asked(everything or old, dry_run))
                if old and looked:
                    garbage.removed.append(Leftover("the run with its logs and report", run.name))
                    if not dry_run:
                        shutil.rmtree(run, ignore_errors=True)
        except UsageError:
            continue  # another process took it up just now
    _collect_unborn(garbage, asked)
    if garbage.used_docker:
        _look_for_strangers(known, garbage)
    cache = cache_directory(os.environ)
    if not dry_run:
        garbage.removed += [Leftover(what, NO_RUN) for what in remove_abandoned(cache)]
    garbage.removed += [Leftover(what, NO_RUN) for what in remove_unused(cache, dry_run=dry_run)]
    garbage.removed += [
        Leftover(f"a temporary directory ({path})", NO_RUN) for path in remove_abandoned_directories(dry_run=dry_run)
    ]
    _collect_caches(cache, garbage, caches, under_way, dry_run=dry_run)
    return garbage


def _collect(run: Path, garbage: Garbage, asked: _Asked) -> bool:
    """Collect what one run has left; whether all of it could be looked for, so that the run itself may go."""
    try:
        journal = Journal(run / JOURNAL)
        with contextlib.closing(journal):
            pieces = journal.pieces()
            finished = any(journal.decisions("finished"))
            environment = journal.meta("environment")
            kept = '"keep":true' in journal.meta("request")
    except PinsError as error:
        garbage.not_looked_for.append(f"what {run.name} has left: {error}")
        return True  # it never will be
    if not asked.dry_run:
        ended = end_marked({marker_of(run, piece) for piece in pieces})
        garbage.removed += [Leftover("a process", run.name)] * ended
    builds_too = asked.everything or (finished and not kept)
    has_images = environment in ("docker", "image")
    looked = not has_images or _collect_docker(run, garbage, images=builds_too, dry_run=asked.dry_run)
    for room, goes in (("scratch", True), ("builds", builds_too)):
        directory = run / room
        if not (directory.is_dir() and any(directory.iterdir())):
            continue
        (garbage.removed if goes else garbage.kept).append(Leftover(f"{room} ({directory})", run.name))
        if goes and not asked.dry_run:
            shutil.rmtree(directory, ignore_errors=True)
    return looked


def _collect_docker(run: Path, garbage: Garbage, *, images: bool, dry_run: bool) -> bool:
    from bisector.environments.docker.leftovers import kept_images, remove_leftovers

    garbage.used_docker = True
    try:
        found = remove_leftovers([identity_of(run)], images=images, dry_run=dry_run)
        kept = [] if images else kept_images([identity_of(run)])
    except EnvironmentFailureError as error:
        garbage.not_looked_for.append(f"containers and images of {run.name}: {error}")
        return False
    garbage.removed += [Leftover(what, run.name) for what in found]
    garbage.kept += [Leftover(what, run.name) for what in kept]
    return True


def _look_for_strangers(known: Collection[str], garbage: Garbage) -> None:
    from bisector.environments.docker.leftovers import strangers

    with contextlib.suppress(EnvironmentFailureError):  # said of each run already
        garbage.strange += [Leftover(what, run) for what, run in strangers(known)]


def _collect_unborn(garbage: Garbage, asked: _Asked) -> None:
    """Directories of runs that were killed before they had a journal, and what was started to check for them."""
    rooms = [state_directory() / room for room in ("runs", "probes")]
    for directory in (found for room in rooms if room.is_dir() for found in room.iterdir()):
        if directory.is_symlink():
            if not directory.exists() and not asked.dry_run:
                directory.unlink()
        elif directory.is_dir() and not (directory / JOURNAL).exists() and not is_driven(directory):
            if not asked.dry_run:
                ended = end_marked({marker_of(directory, CHECK)})
                garbage.removed += [Leftover("a process", directory.name)] * ended
            with contextlib.suppress(EnvironmentFailureError):  # without an engine there is nothing of it there
                from bisector.environments.docker.leftovers import remove_leftovers

                found = remove_leftovers([identity_of(directory)], dry_run=asked.dry_run)
                garbage.removed += [Leftover(what, directory.name) for what in found]
            garbage.removed.append(Leftover("the directory of a run that never began", directory.name))
            if not asked.dry_run:
                shutil.rmtree(directory, ignore_errors=True)


def _collect_caches(cache: Path, garbage: Garbage, caches: bool, under_way: list[str], *, dry_run: bool) -> None:
    size = sum(_bytes_below(cache))
    if caches and size and under_way:
        garbage.not_looked_for.append(f"the cache {cache}: {', '.join(under_way)} is using it now")
    elif caches and size:
        garbage.removed.append(Leftover(f"the cache ({cache}), {size // 1024**2} MiB", NO_RUN))
        if not dry_run:
            shutil.rmtree(cache, ignore_errors=True)
            size = sum(_bytes_below(cache))
    garbage.cache, garbage.cache_bytes = str(cache), size


def _bytes_below(directory: Path) -> Iterator[int]:
    """The disk space of each file and directory, links not followed."""
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        with contextlib.suppress(OSError):
            yield entry.stat(follow_symlinks=False).st_blocks * 512
            if entry.is_dir(follow_symlinks=False):
                yield from _bytes_below(Path(entry.path))


def _age(run: Path) -> timedelta:
    return datetime.now(UTC) - datetime.fromtimestamp((run / JOURNAL).stat().st_mtime, UTC)
