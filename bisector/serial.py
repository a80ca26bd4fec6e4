"""The project's dataclasses as JSON text, and back."""

from typing import Any

import pydantic_core
from pydantic import TypeAdapter

from bisector.model import Candidate

_adapters: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: Any) -> TypeAdapter[Any]:
    """The (de)serialiser of one of the project's dataclasses, made once."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def to_json(value: object) -> str:
    """One of the project's dataclasses as JSON text, without the serialiser of its kind, which takes time to make."""
    return pydantic_core.to_json(value).decode()


def candidate_to_json(candidate: Candidate) -> str:
    """A candidate as JSON text, equal for equal candidates."""
    return to_json(candidate.pins)


def candidate_from_json(text: str) -> Candidate:
    """The reverse of `candidate_to_json`."""
    return Candidate(adapter(tuple[tuple[str, str], ...]).validate_json(text))
