"""The date in a comment beside a pin ("as of 08/18"), changed on request."""

import re
from datetime import date

from pins.files.edit import Edit
from pins.model import Pin

# Longest first. The order of the parts is kept, and so are the separator and whether numbers are padded.
_FORMS = (
    re.compile(rb"(?P<year>20\d\d)(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?![\d.])"),
    re.compile(rb"(?P<month>\d{1,2})(?P<sep>[-/])(?P<day>\d{1,2})(?P=sep)(?P<year>20\d\d)(?!\d)"),
    re.compile(rb"(?<![\d/.-])(?P<month>0?[1-9]|1[0-2])(?P<sep>/)(?P<day>0?[1-9]|[12]\d|3[01])(?![\d/.-])"),
    re.compile(rb"(?<!\d)(?P<year>20\d\d)(?P<sep>)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?!\d)"),
)


def date_edit(data: bytes, pin: Pin, today: date) -> Edit | None:
    """The edit that puts `today` for the date in the comment beside or directly above a pin; None without a date."""
    if not pin.places:
        return None
    place = pin.places[0]
    line_end = data.find(b"\n", place.end)
    line_end = len(data) if line_end < 0 else line_end
    mark = data.find(b"#", place.end, line_end)
    if mark >= 0 and (edit := _dated(data, mark, line_end, today)):
        return edit
    stop = data.rfind(b"\n", 0, place.start)
    while stop > 0:
        start = data.rfind(b"\n", 0, stop) + 1
        if not data[start:stop].lstrip().startswith(b"#"):
            return None
        if edit := _dated(data, start, stop, today):
            return edit
        stop = start - 1
    return None


def _dated(data: bytes, start: int, end: int, today: date) -> Edit | None:
    for form in _FORMS:
        for match in form.finditer(data, start, end):
            replacement = bytearray(match[0])
            offset = match.start()
            for name in sorted(match.groupdict(), key=match.start, reverse=True):
                if name == "sep":
                    continue
                low, high = (p - offset for p in match.span(name))
                number = getattr(today, name)
                padded = name == "year" or match[name].startswith(b"0") or len(match[name]) == 2
                replacement[low:high] = (f"{number:02d}" if padded else str(number)).encode()
            return Edit(match.start(), match.end(), bytes(replacement))
    return None
