"""What a source said when somebody last dealt with a pin, kept so that what has moved since stays a finding.

A baseline is the first value seen. It holds while the pin's text and its file stay the same: whoever edits the file has
the next build take what there is then, and so begins anew.
"""

from collections.abc import Mapping
from datetime import datetime

from pins.drift.model import Json


def baseline(previous: Json, written: str, changed: datetime | None) -> Json:
    """The value that was remembered; None where there is none that still holds.

    Args:
        previous: what the check remembered.
        written: the pin's text.
        changed: when its file was last changed.
    """
    if not isinstance(previous, Mapping) or previous.get("written") != written:
        return None
    if changed is not None and previous.get("changed") not in (None, changed.isoformat()):
        return None
    return previous.get("value")


def kept(value: Json, written: str, changed: datetime | None) -> Json:
    """What to remember for a value to be the baseline."""
    return {"value": value, "written": written, "changed": None if changed is None else changed.isoformat()}
