"""How long builds and runs took in earlier runs like the one that is planned."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bisector.entries import BuildStatus
from bisector.journal import Journal
from bisector.request import RunRequest
from bisector.runs import JOURNAL, all_runs
from bisector.stage_times import StageTime, stage_seconds, stage_times
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
    stages: Mapping[str, StageTime] = field(default_factory=dict)
    """What the stages of the Dockerfile took, by name; empty where no log tells."""


def earlier_durations(request: RunRequest) -> Durations | None:
    """What a build and a run took in earlier runs of this environment and Dockerfile; None where there are none."""
    builds: list[float] = []
    runs: list[float] = []
    stages: list[dict[str, float]] = []
    alike = 0
    for directory in all_runs()[:LOOKED_AT]:
        found = _durations_in(directory, request)
        if found is None:
            continue
        builds += found[0]
        runs += found[1]
        stages += found[2]
        alike += 1
        if alike == ENOUGH:
            break
    return Durations(median(builds), median(runs), alike, stage_times(stages)) if builds and runs else None


def _durations_in(
    directory: Path, request: RunRequest
) -> tuple[list[float], list[float], list[dict[str, float]]] | None:
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
        built = [build for build in journal.builds() if build.status is BuildStatus.BUILT]
        builds = [build.seconds for build in built]
        stages = [stage_seconds(_text(directory / build.log)) for build in built] if request.in_containers else []
        runs = [run.ended.seconds for run in journal.runs() if run.ended is not None]
    except (PinsError, ValueError, AttributeError):
        return None  # of an older version, or damaged: the plan does without it
    finally:
        journal.close()
    return (builds, runs, [each for each in stages if each]) if builds and runs else None


def _text(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
