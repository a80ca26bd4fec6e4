"""What runs have left behind on this machine, and its removal."""

import contextlib
import os
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bisector.environments.venv.workplace import remove_abandoned
from bisector.journal import Journal
from bisector.processes import end_marked
from bisector.runs import JOURNAL, all_runs, driving, identity_of, is_driven, marker_of, state_directory
from pins.errors import EnvironmentFailureError, PinsError, UsageError
from pins.sources.page_cache import cache_directory


@dataclass(frozen=True)
class Removed:
    """One thing that was removed (or, on a dry run, would be): what it is, and of which run."""

    what: str
    run: str


@dataclass
class Garbage:
    """What was removed, in the order in which it went, and what could not be looked for, with the reason."""

    removed: list[Removed] = field(default_factory=list)
    not_looked_for: list[str] = field(default_factory=list)


def collect_garbage(*, everything: bool = False, older_than: timedelta | None = None, dry_run: bool = False) -> Garbage:
    """Remove what runs that nobody drives have left: processes, containers, scratch space, finished runs' builds.

    An interrupted run keeps its builds, since `bisector resume` needs them.

    Args:
        everything: also the builds of interrupted runs, and those that were kept with `--keep`.
        older_than: also whole runs, reports and logs included, last touched longer ago than this.
        dry_run: only say what would be removed.
    """
    garbage = Garbage()
    for run in [*all_runs(), *all_runs("probes")]:
        if is_driven(run):
            continue
        try:
            with driving(run):
                _collect(run, garbage, everything=everything, dry_run=dry_run)
                if older_than is not None and _age(run) > older_than:
                    garbage.removed.append(Removed("the run with its logs and report", run.name))
                    if not dry_run:
                        shutil.rmtree(run, ignore_errors=True)
        except UsageError:
            continue  # another process took it up just now
    garbage.removed += _unborn(dry_run=dry_run)
    if not dry_run:
        garbage.removed += [Removed(what, "no run") for what in remove_abandoned(cache_directory(os.environ))]
    return garbage


def _collect(run: Path, garbage: Garbage, *, everything: bool, dry_run: bool) -> None:
    try:
        journal = Journal(run / JOURNAL)
        with contextlib.closing(journal):
            pieces = journal.pieces()
            finished = any(journal.decisions("finished"))
            environment = journal.meta("environment")
            kept = '"keep":true' in journal.meta("request")
    except PinsError as error:
        garbage.not_looked_for.append(f"what {run.name} has left: {error}")
        return
    if not dry_run:
        ended = end_marked({marker_of(run, piece) for piece in pieces})
        garbage.removed += [Removed("a process", run.name)] * ended
    if environment == "docker":
        _collect_docker(run, garbage, images=everything or (finished and not kept), dry_run=dry_run)
    rooms = ["scratch"]
    if everything or (finished and not kept):
        rooms.append("builds")
    for room in rooms:
        directory = run / room
        if directory.is_dir() and any(directory.iterdir()):
            garbage.removed.append(Removed(f"{room} ({directory})", run.name))
            if not dry_run:
                shutil.rmtree(directory, ignore_errors=True)


def _collect_docker(run: Path, garbage: Garbage, *, images: bool, dry_run: bool) -> None:
    from bisector.environments.docker.leftovers import remove_leftovers

    try:
        found = remove_leftovers([identity_of(run)], images=images, dry_run=dry_run)
    except EnvironmentFailureError as error:
        garbage.not_looked_for.append(f"containers and images of {run.name}: {error}")
    else:
        garbage.removed += [Removed(what, run.name) for what in found]


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
