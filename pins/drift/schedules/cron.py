"""A line for crontab(5), where a `%` would end the command unless it is escaped."""

import shlex

from pins.drift.schedules.model import Schedule, ScheduleFile
from pins.drift.schedules.text import says_what_it_is
from pins.errors import UsageError

_LONGEST_COMMAND = 998  # MAX_COMMAND of cron(8), with the line's end


def crontab(schedule: Schedule) -> tuple[ScheduleFile, ...]:
    """The entry, with its comment.

    Raises:
        UsageError: it is longer than cron takes.
    """
    state = f'"${{XDG_STATE_HOME:-$HOME/.local/state}}/{schedule.name}'
    words = (*schedule.program, "drift", *schedule.options)
    command = (
        f'mkdir -p {state}" && cd {shlex.quote(schedule.top)} && flock -n {state}/lock" '
        f'{shlex.join(words)} --state file:{state}/state.json" -- {shlex.join(schedule.paths)}'
    )
    if len(command) > _LONGEST_COMMAND:
        raise UsageError(
            f"the line would have {len(command)} characters, and cron takes {_LONGEST_COMMAND}: name a directory in "
            "place of the files in it"
        )
    note = "Add the last line with `crontab -e`. cron mails what is printed; times are those of the machine's own zone."
    text = f"{says_what_it_is(schedule, note)}\n{schedule.cron} {command.replace('%', chr(92) + '%')}\n"
    return (ScheduleFile("crontab", text),)
