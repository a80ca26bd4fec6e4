"""How long builds and runs took in earlier runs like the one that is planned."""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bisector.entries import BuildStatus
from bisector.journal import Journal
from bisector.request import RunRequest
from bisector.runs import JOURNAL, all_runs
from pins.errors import PinsError

LOOKED_AT = 30
"""Runs that are looked at, newest first."""
ENOUGH = 5
"""Runs alike from which durations are taken."""


@dataclass(frozen=True)
class Durations:
    """What building and running took.

    Attributes:
        build: seconds of a build, the median.
        run: seconds of a run of the script, the median.
        runs: from how many earlier runs that is known.
    """

    build: float
    run: float
    runs: int


def earlier_durations(request: RunRequest) -> Durations | None:
    """What a build and a run took in earlier runs of this environment and Dockerfile; None where there are none."""
    builds: list[float] = []
    runs: list[float] = []
    alike = 0
    for directory in all_runs()[:LOOKED_AT]:
        found = _durations_in(directory, request)
        if found is None:
            continue
        builds += found[0]
        runs += found[1]
        alike += 1
        if alike == ENOUGH:
            break
    return Durations(median(builds), median(runs), alike) if builds and runs else None


def _durations_in(directory: Path, request: RunRequest) -> tuple[list[float], list[float]] | None:
    try:
        journal = Journal(directory / JOURNAL, writable=False)
    except (PinsError, OSError):
        return None
    try:
        if journal.meta("environment") != request.environment:
            return None
        before = json.loads(journal.meta("request"))
        dockerfile = before.get("docker", {}).get("dockerfile")
        if request.docker.dockerfile is not None and dockerfile != str(request.docker.dockerfile):
            return None
        builds = [build.seconds for build in journal.builds() if build.status is BuildStatus.BUILT]
        runs = [run.ended.seconds for run in journal.runs() if run.ended is not None]
    except (PinsError, ValueError, AttributeError):
        return None  # of an older version, or damaged: the plan does without it
    finally:
        journal.close()
    return (builds, runs) if builds and runs else None
