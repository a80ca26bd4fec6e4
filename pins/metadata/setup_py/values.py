"""What an expression of a `setup.py` comes to, as far as reading it tells."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Known:
    """A value.

    Attributes:
        value: a plain Python value; the members of lists, tuples and dictionaries are `Known` or `Unknown` in turn.
        line: where it is written.
        assumptions: what was taken for granted, as phrases.
    """

    value: Any
    line: int = 0
    assumptions: frozenset[str] = frozenset()


@dataclass
class Unknown:
    """Something that reading does not tell.

    Attributes:
        why: why not, as a phrase, or the node that is computed: its text is only made when it is asked for.
        line: where it is written.
        members: what it contains all the same, where it is a list.
    """

    why: str | ast.AST
    line: int = 0
    members: list["Value"] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """Why it is not known, as a phrase."""
        return self.why if isinstance(self.why, str) else f"{ast.unparse(self.why)[:60]} is computed"


@dataclass(frozen=True)
class Symbol:
    """Something imported or built in, by its dotted name."""

    name: str


@dataclass
class Function:
    """A function that the file defines."""

    node: ast.FunctionDef


@dataclass(frozen=True)
class Text:
    """A file of the tree that is open for reading."""

    content: str


Value = Known | Unknown | Symbol | Function
Names = dict[str, Value]


def plain(value: Value) -> tuple[bool, Any]:
    """Whether a value is known through and through, and what it is then."""
    if not isinstance(value, Known):
        return False, None
    inner = value.value
    if isinstance(inner, list | tuple | set):
        parts = [plain(member) for member in inner]
        if not all(known for known, _ in parts):
            return False, None
        return True, type(inner)(part for _, part in parts)
    if isinstance(inner, dict):
        pairs = {key: plain(member) for key, member in inner.items()}
        if not all(known for known, _ in pairs.values()):
            return False, None
        return True, {key: part for key, (_, part) in pairs.items()}
    return True, inner


def containers(value: Value) -> set[int]:
    """What in a value can be changed: lists and dictionaries, and what they hold, by their identity."""
    found: set[int] = set()
    waiting: list[Value] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Unknown):
            found.add(id(one))
            waiting += one.members
        elif isinstance(one, Known) and isinstance(one.value, list | tuple | dict):
            if not isinstance(one.value, tuple):
                found.add(id(one.value))
            waiting += one.value.values() if isinstance(one.value, dict) else one.value
    return found


def assumptions_of(*values: Value) -> frozenset[str]:
    """All that these values rest on."""
    found: set[str] = set()
    for value in values:
        if isinstance(value, Known):
            found |= value.assumptions
            if isinstance(value.value, list | tuple):
                found |= assumptions_of(*value.value)
    return frozenset(found)


def copied(names: Mapping[str, Value]) -> Names:
    """The names, with values that can be changed without changing these."""
    memo: dict[int, Value] = {}
    return {name: _copied(value, memo) for name, value in names.items()}


def _copied(value: Value, memo: dict[int, Value]) -> Value:
    """A copy of what can be changed: lists and dictionaries; one that has two names is one in the copy as well."""
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, Unknown):
        made: Value = Unknown(value.why, value.line, [_copied(member, memo) for member in value.members])
    elif isinstance(value, Known) and isinstance(value.value, list):
        made = Known([_copied(member, memo) for member in value.value], value.line, value.assumptions)
    elif isinstance(value, Known) and isinstance(value.value, dict):
        inner = {key: _copied(member, memo) for key, member in value.value.items()}
        made = Known(inner, value.line, value.assumptions)
    else:
        return value
    memo[id(value)] = made
    return made


def merged(one: Mapping[str, Value], other: Mapping[str, Value], reason: str, line: int) -> Names:
    """The names behind a branch of which it is not known which way is taken."""
    return {
        name: _either(one[name], other[name], reason, line) if name in one and name in other else Unknown(reason, line)
        for name in {**one, **other}
    }


def _either(one: Value, other: Value, reason: str, line: int) -> Value:
    if one is other or (type(one) is type(other) and _same(one, other)):
        return one
    here, there = _members(one), _members(other)
    if here is None or there is None:
        return Unknown(reason, line)
    texts = [plain(member) for member in there]
    common = [member for member in here if plain(member)[0] and plain(member) in texts]
    return Unknown(reason, line, common)


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, Known) and isinstance(other, Known):
        here, there = plain(one), plain(other)
        return here[0] and here == there
    if isinstance(one, Unknown) and isinstance(other, Unknown):
        return one.why == other.why and [plain(m) for m in one.members] == [plain(m) for m in other.members]
    return one == other


def _members(value: Value) -> list[Value] | None:
    if isinstance(value, Unknown):
        return list(value.members)
    if isinstance(value, Known) and isinstance(value.value, list | tuple):
        return list(value.value)
    return None
