"""What a run is doing at this moment, read from outside: for `bisector status`."""

import json
from datetime import datetime
from pathlib import Path

from bisector.entries import BuildStatus
from bisector.journal import Journal
from bisector.report.labels import pins_phrase
from bisector.runs import JOURNAL, LOCK


def activity_of(run_directory: Path, now: datetime) -> tuple[str, ...]:
    """Builds and runs that began and have not ended, each in a phrase, oldest first.

    What began before the present driver took the run up is what an earlier one was interrupted in, and is left out.

    Args:
        run_directory: of a run that a process drives.
        now: the time, aware.
    """
    driven_since = (run_directory / LOCK).stat().st_mtime - 1  # the clocks of files are coarser
    journal = Journal(run_directory / JOURNAL, writable=False)
    try:
        candidates = {entry.id: entry.candidate for entry in journal.probes()}
        places: dict[str, str] = json.loads(journal.meta("building") or "{}")
        begun = [
            (build.started, f"building {pins_phrase(candidates[build.probe])}{_on(places.get(build.probe, ''))}")
            for build in journal.builds()
            if build.status is BuildStatus.STARTED
        ]
        several = bool(journal.meta("hosts"))
        latest = {run.probe: run for run in journal.runs()}
        begun += [
            (run.started, f"running {pins_phrase(candidates[run.probe])}{_on(run.host if several else '')}")
            for run in latest.values()
            if run.ended is None
        ]
    finally:
        journal.close()
    return tuple(
        f"{what}, {max((now - since).total_seconds(), 0):.0f} s"
        for since, what in sorted(begun)
        if since.timestamp() >= driven_since
    )


def _on(host: str) -> str:
    return f" on {host}" if host else ""
