"""Ready files that start `pins drift` again and again, one module for each program that does so."""

from collections.abc import Callable

from pins.drift.schedules.cron import crontab
from pins.drift.schedules.github import workflow
from pins.drift.schedules.gitlab import job
from pins.drift.schedules.jenkins import pipeline
from pins.drift.schedules.kubernetes import cron_job
from pins.drift.schedules.model import (
    Schedule,
    ScheduleFile,
    cadence,
    place_in_day,
    place_in_hour,
    place_in_week,
)
from pins.drift.schedules.systemd import units
from pins.drift.schedules.text import says_what_it_installs

__all__ = [
    "INSTALLING",
    "KINDS",
    "Schedule",
    "ScheduleFile",
    "cadence",
    "place_in_day",
    "place_in_hour",
    "place_in_week",
    "says_what_it_installs",
]

KINDS: dict[str, Callable[[Schedule], tuple[ScheduleFile, ...]]] = {
    "github": workflow,
    "systemd": units,
    "cron": crontab,
    "k8s": cron_job,
    "gitlab": job,
    "jenkins": pipeline,
}

INSTALLING = ("github", "k8s", "gitlab", "jenkins")
"""The kinds that install this program where they run; the others start it as it stands on this machine."""
