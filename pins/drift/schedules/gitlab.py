"""A job for GitLab CI. When it runs is said in the project's pipeline schedules; the file can only wait for them."""

import shlex

from pins.drift.schedules.model import Schedule, ScheduleFile
from pins.drift.schedules.text import quoted, says_what_it_installs, says_what_it_is


def job(schedule: Schedule) -> tuple[ScheduleFile, ...]:
    """The job, to be included by `.gitlab-ci.yml`."""
    state = f".{schedule.name}/state.json"
    words = ("pins", "drift", *schedule.options, "--state", f"file:{state}", "--format", "md")
    command = f"{shlex.join(words)} --output drift.md -- {shlex.join(schedule.paths)}"
    notes = (
        says_what_it_installs(schedule),
        "Include it in .gitlab-ci.yml, then add a pipeline schedule (Build > Pipeline schedules) with the cron",
        f"expression {schedule.cron} and the time zone UTC. Caches can be cleared: what is open is then reported anew.",
    )
    text = f"""\
{says_what_it_is(schedule, *notes)}
{quoted(schedule.name)}:
  image: {quoted(schedule.image)}
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"
  resource_group: {quoted(schedule.name)}
  timeout: 30 minutes
  interruptible: false
  variables:
    GIT_DEPTH: "0"
    XDG_CACHE_HOME: $CI_PROJECT_DIR/.{schedule.name}/cache
  cache:
    key: {quoted(schedule.name)}
    paths:
      - .{schedule.name}/
    when: always
  before_script:
    - {quoted("python -m pip install --disable-pip-version-check -- " + shlex.quote(schedule.requirement))}
    - {quoted(f"mkdir -p .{schedule.name}")}
  script:
    - {quoted(command)}
  after_script:
    - cat drift.md
  # 1: something new was found; 3: a source could not be read. Both show as a warning.
  allow_failure:
    exit_codes: [1, 3]
  artifacts:
    when: always
    paths:
      - drift.md
"""
    return (ScheduleFile(f".gitlab/{schedule.name}.yml", text),)
