"""How words are written in the languages of schedule files."""

import json

from pins.drift.schedules.model import Schedule
from pins.files.values import without_credentials


def quoted(text: str) -> str:
    """A string of YAML (and of Groovy, where it holds no `$`): JSON's, which is a part of both."""
    return json.dumps(text, ensure_ascii=False)


def says_what_it_is(schedule: Schedule, *notes: str, mark: str = "#") -> str:
    """The comment at the top: what this is, how it was made, what is left to do."""
    lines = (
        f"What has moved since the last check, {schedule.in_words}.",
        f"Written by: {schedule.written_by}",
        *notes,
    )
    return "\n".join(f"{mark} {line}" for line in lines)


def says_what_it_installs(schedule: Schedule) -> str:
    """What pip installs where the schedule runs, and how another source is named: one line."""
    return (
        f"It installs {without_credentials(schedule.requirement)} with pip; where no package index has that, name "
        "another source: --install 'bisector @ git+https://HOST/ORG/bisector@COMMIT', or a wheel's path."
    )
