"""A workflow of GitHub Actions.

Actions are named by commit. The state is kept on a branch of the repository, for caches of Actions go after a week
without use. The check fails its job only where nothing else tells a person that something is new.
"""

import shlex

from pins.drift.schedules.model import Schedule, ScheduleFile
from pins.drift.schedules.text import quoted, says_what_it_installs, says_what_it_is
from pins.errors import UsageError

CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
SETUP_PYTHON = "actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0"


def workflow(schedule: Schedule) -> tuple[ScheduleFile, ...]:
    """The workflow file.

    Raises:
        UsageError: a path or option holds `${{`, which Actions would take for an expression.
    """
    for word in (*schedule.paths, *schedule.options, schedule.requirement):
        if "${{" in word:
            raise UsageError(f"{word!r} cannot stand in a workflow: GitHub would take ${{{{ for an expression")
    issue = ' --github-issue "$GITHUB_REPOSITORY"' if schedule.issue else ""
    options = "".join(f" {shlex.quote(option)}" for option in schedule.options)
    found = "echo 'What is new stands in the issue.'" if schedule.issue else 'exit "$code"'
    notes = (
        says_what_it_installs(schedule),
        "Commit it to the default branch: GitHub runs schedules from there only.",
    )
    install = f"python -m pip install --disable-pip-version-check -- {shlex.quote(schedule.requirement)}"
    text = f"""\
{says_what_it_is(schedule, *notes)}
name: {quoted(schedule.name)}
on:
  schedule:
    - cron: {quoted(schedule.cron)}
  workflow_dispatch:
permissions: {{}}
concurrency:
  group: {quoted(schedule.name)}
  cancel-in-progress: false
jobs:
  drift:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: write # what is remembered is kept on the branch {schedule.name}
{"      issues: write # one issue is kept up to date" + chr(10) if schedule.issue else ""}\
    steps:
      - uses: {CHECKOUT}
        with:
          fetch-depth: 0
      - uses: {SETUP_PYTHON}
        with:
          python-version: "3.12"
      - name: Install
        run: {quoted(install)}
      - name: Look for drift
        env:
          GITHUB_TOKEN: ${{{{ github.token }}}}
        run: |
          code=0
          pins drift --state {shlex.quote("git:" + schedule.name)} --push origin{issue}{options} \\
            --format md --output "$RUNNER_TEMP/drift.md" -- {shlex.join(schedule.paths)} || code=$?
          if [ -f "$RUNNER_TEMP/drift.md" ]; then
            head -c 1000000 "$RUNNER_TEMP/drift.md" >> "$GITHUB_STEP_SUMMARY"
          fi
          case $code in
            1) {found} ;;
            3) echo "::warning::a source could not be read; the summary says which" ;;
            *) exit "$code" ;;
          esac
"""
    return (ScheduleFile(f".github/workflows/{schedule.name}.yml", text),)
