"""Values as people read them: full hashes cut to their beginnings, everywhere in a result."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

from bisector.model import Candidate, short_text
from bisector.report.model import Result

_WHOLE = frozenset({"input_hash", "content_identity", "image_digest", "commit"})
"""Fields that hold a hash as such, or the one place where a commit is named in full."""


def with_short_values(result: Result) -> Result:
    """The result with every pin's value as a person reads it; what programs read stays as it is."""
    if not any(axis.kind in ("git", "text", "image") for axis in result.axes):
        return result
    shortened: Result = _shortened(result)
    return shortened


def _shortened(value: Any) -> Any:
    match value:
        case str():
            return short_text(value)
        case Candidate():
            return Candidate(tuple((pin, short_text(chosen)) for pin, chosen in value.pins))
        case tuple():
            return tuple(_shortened(each) for each in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            changed = {
                each.name: _shortened(getattr(value, each.name)) for each in fields(value) if each.name not in _WHOLE
            }
            return replace(value, **changed)
        case _:
            return value
