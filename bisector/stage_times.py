"""What the stages of a Dockerfile cost, read from the logs of builds; and which of them are worth reusing. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bisector.report.wording import count, duration

_STEP = re.compile(r"#(\d+) \[(?:(?P<stage>[^\]\s]+) +)?\d+/\d+\]")
_DONE = re.compile(r"#(\d+) DONE (\d+(?:\.\d+)?)s\s*")
FULL_BUILDS = 3
"""So often a reused stage is built all the same: once for all, and once at each of the two witnesses."""
LEAST_SAVED = 60.0
"""Seconds below which nothing is proposed."""


def stage_seconds(log: str) -> dict[str, float]:
    """Seconds that each stage took in one build, without steps that the cache held; one without a name by its number.

    Args:
        log: what the builder printed (BuildKit, plain progress).
    """
    stage_of: dict[str, str] = {}
    found: dict[str, float] = {}
    for line in log.splitlines():
        if step := _STEP.match(line):
            stage_of[step[1]] = (step["stage"] or "0").lower().removeprefix("stage-")
        elif (done := _DONE.fullmatch(line)) and done[1] in stage_of:
            stage = stage_of[done[1]]
            found[stage] = found.get(stage, 0.0) + float(done[2])
    return found


@dataclass(frozen=True)
class StageTime:
    """What a stage cost in earlier builds.

    Attributes:
        seconds: of one in which it was built, the median.
        share: of the builds, those in which it was built.
    """

    seconds: float
    share: float


def stage_times(builds: Sequence[Mapping[str, float]]) -> dict[str, StageTime]:
    """What each stage cost, by its name, from what it took in each build."""
    names = {name for build in builds for name in build}
    taken = {name: [build[name] for build in builds if build.get(name)] for name in names}
    return {name: StageTime(median(times), len(times) / len(builds)) for name, times in taken.items() if times}


def proposals(times: Mapping[str, StageTime], reusable: Mapping[str, bool], builds: int) -> list[str]:
    """What `--reuse-stage` would save, in sentences, what saves most first.

    Args:
        times: what stages cost, by name.
        reusable: stages that can be reused, in lower case, with whether packages are put over them.
        builds: that the search takes at most.
    """
    found: list[tuple[float, str]] = []
    for stage, overlaid in reusable.items():
        known = times.get(stage)
        if known is None:
            continue
        expected = known.share * builds
        saved = (expected - FULL_BUILDS) * known.seconds
        if saved < LEAST_SAVED:
            continue
        how = (
            "takes the finished image once and puts packages over it" if overlaid else "builds that stage once for all"
        )
        found.append(
            (
                saved,
                f"--reuse-stage {stage} would save about {duration(saved)}: it {how} and in full at the two witnesses,"
                f" {count(FULL_BUILDS, 'time')} in place of about {expected:.0f}, at {duration(known.seconds)} each as"
                " in earlier builds; what it finds on the way is approximate",
            )
        )
    return [sentence for _, sentence in sorted(found, reverse=True)]
