"""What runs have left behind on this machine, and its removal."""

import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bisector.environments.venv.workplace import remove_abandoned
from bisector.journal import Journal
from bisector.processes import end_marked
from bisector.runs import JOURNAL, all_runs, driving, identity_of, is_driven, marker_of, state_directory
from pins.errors import PinsError, UsageError
from pins.sources.page_cache import cache_directory


@dataclass(frozen=True)
class Removed:
    """One thing that was removed (or, on a dry run, would be): what it is, and of which run."""

    what: str
    run: str


def collect_garbage(
    *, everything: bool = False, older_than: timedelta | None = None, dry_run: bool = False
) -> list[Removed]:
    """Remove what runs that nobody drives have left: processes, containers, scratch space, finished runs' builds.

    An interrupted run keeps its builds, since `bisector resume` needs them.

    Args:
        everything: also the builds of interrupted runs, and those that were kept with `--keep`.
        older_than: also whole runs, reports and logs included, last touched longer ago than this.
        dry_run: only say what would be removed.

    Returns:
        What was removed, in the order in which it went.
    """
    removed: list[Removed] = []
    for run in [*all_runs(), *all_runs("probes")]:
        if is_driven(run):
            continue
        try:
            with driving(run):
                removed += _collect(run, everything=everything, dry_run=dry_run)
                if older_than is not None and _age(run) > older_than:
                    removed.append(Removed("the run with its logs and report", run.name))
                    if not dry_run:
                        shutil.rmtree(run, ignore_errors=True)
        except UsageError:
            continue  # another process took it up just now
    removed += _unborn(dry_run=dry_run)
    if not dry_run:
        removed += [Removed(what, "no run") for what in remove_abandoned(cache_directory(os.environ))]
    return removed


def _collect(run: Path, *, everything: bool, dry_run: bool) -> list[Removed]:
    journal = Journal(run / JOURNAL)
    try:
        pieces = journal.pieces()
        finished = any(journal.decisions("finished"))
        environment = journal.meta("environment")
        kept = '"keep":true' in journal.meta("request")
    finally:
        journal.close()
    removed: list[Removed] = []
    if not dry_run:
        ended = end_marked({marker_of(run, piece) for piece in pieces})
        removed += [Removed("a process", run.name)] * ended
    if environment == "docker":
        removed += _docker_leftovers(run, images=everything or (finished and not kept), dry_run=dry_run)
    rooms = ["scratch"]
    if everything or (finished and not kept):
        rooms.append("builds")
    for room in rooms:
        directory = run / room
        if directory.is_dir() and any(directory.iterdir()):
            removed.append(Removed(f"{room} ({directory})", run.name))
            if not dry_run:
                shutil.rmtree(directory, ignore_errors=True)
    return removed


def _docker_leftovers(run: Path, *, images: bool, dry_run: bool) -> list[Removed]:
    from bisector.environments.docker.leftovers import remove_leftovers

    try:
        return [
            Removed(what, run.name) for what in remove_leftovers([identity_of(run)], images=images, dry_run=dry_run)
        ]
    except PinsError as error:
        return [Removed(f"nothing of Docker's: {error}", run.name)]


def _unborn(*, dry_run: bool) -> list[Removed]:
    """Directories of runs that were killed before they had a journal."""
    removed = []
    rooms = [state_directory() / room for room in ("runs", "probes")]
    for directory in (found for room in rooms if room.is_dir() for found in room.iterdir()):
        if directory.is_symlink():
            if not directory.exists() and not dry_run:
                directory.unlink()
        elif directory.is_dir() and not (directory / JOURNAL).exists() and not is_driven(directory):
            removed.append(Removed("the directory of a run that never began", directory.name))
            if not dry_run:
                shutil.rmtree(directory, ignore_errors=True)
    return removed


def _age(run: Path) -> timedelta:
    return datetime.now(UTC) - datetime.fromtimestamp((run / JOURNAL).stat().st_mtime, UTC)
