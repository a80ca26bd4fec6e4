"""The day that a comment beside a pin names, such as "as of 08/07"."""

import re
from datetime import date, timedelta

_SAYS = r"(?:as of|as at|updated|dated|from|since|on|at|@|of)"
_FULL = re.compile(r"(?<!\d)(20\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_AMERICAN = re.compile(r"(?<!\d)(\d{1,2})[-/](\d{1,2})[-/](20\d\d)(?!\d)")
_SHORT = re.compile(rf"\b{_SAYS}:?\s+(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])(?![\d/])", re.IGNORECASE)


def day_of(comment: str, written: date) -> date | None:
    """The day that a comment names, None without one.

    Month comes before day where numbers do not tell. A day without a year is the last one before the comment was
    written, or the day after it, for whoever writes ahead of UTC.

    Args:
        comment: what stands beside a pin.
        written: when the line was last changed.
    """
    for form, order in ((_FULL, (0, 1, 2)), (_AMERICAN, (2, 0, 1))):
        if match := form.search(comment):
            year, month, day = (int(match.groups()[place]) for place in order)
            if month > 12:
                month, day = day, month
            return _day(year, month, day)
    if match := _SHORT.search(comment):
        month, day = int(match[1]), int(match[2])
        for year in (written.year + 1, written.year, written.year - 1):
            found = _day(year, month, day)
            if found is not None and found <= written + timedelta(days=1):
                return found
    return None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
