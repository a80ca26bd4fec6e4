"""A service and a timer of systemd, for one user.

Words of `ExecStart=` follow systemd.service(5), "Command lines": double quotes, backslash escapes, and `%` and `$`
doubled.
"""

from pins.drift.schedules.model import Schedule, ScheduleFile
from pins.drift.schedules.text import says_what_it_is

_DAY, _WEEK = 60 * 24, 60 * 24 * 7
_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


def units(schedule: Schedule) -> tuple[ScheduleFile, ...]:
    """The service and its timer."""
    words = (*schedule.program, "drift", *schedule.options)
    command = " ".join(
        [*map(_word, words), f'"--state=file:%S/{schedule.name}/state.json"', "--", *map(_word, schedule.paths)]
    )
    place = f"~/.config/systemd/user/{schedule.name}"
    start = f"Then: systemctl --user daemon-reload && systemctl --user enable --now {schedule.name}.timer"
    service = f"""\
{says_what_it_is(schedule, start)}
[Unit]
Description=What has moved in the pins of {_text(schedule.top)}

[Service]
Type=oneshot
WorkingDirectory={_text(schedule.top)}
StateDirectory={schedule.name}
ExecStart={command}
# 1: something new was found; 3: a source could not be read. The journal says what.
SuccessExitStatus=1 3
TimeoutStartSec=30min
Nice=10
NoNewPrivileges=yes
"""
    timer = f"""\
[Unit]
Description=When to look for what has moved in the pins of {_text(schedule.top)}

[Timer]
OnCalendar={_calendar(schedule)}
RandomizedDelaySec={"1min" if schedule.every < 60 else "10min"}
Persistent=yes

[Install]
WantedBy=timers.target
"""
    return (ScheduleFile(f"{place}.service", service), ScheduleFile(f"{place}.timer", timer))


def _calendar(schedule: Schedule) -> str:
    """An expression of systemd.time(7), "Calendar events"."""
    if schedule.every < 60:
        return f"*:{schedule.minute % schedule.every:02}/{schedule.every}:00 UTC"
    if schedule.every < _DAY:
        hours = schedule.every // 60
        start = "*" if hours == 1 else f"{schedule.hour % hours:02}/{hours}"
        return f"{start}:{schedule.minute:02}:00 UTC"
    day = f"{_WEEKDAYS[schedule.weekday]} " if schedule.every == _WEEK else ""
    return f"{day}*-*-* {schedule.hour:02}:{schedule.minute:02}:00 UTC"


def _text(text: str) -> str:
    return text.replace("%", "%%")


def _word(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'
