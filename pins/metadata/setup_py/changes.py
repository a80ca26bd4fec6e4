"""Changes of lists and dictionaries in place: `append`, `extend`, `insert` and `update`."""

import ast
from collections.abc import Callable

from pins.metadata.setup_py.expressions import Expressions
from pins.metadata.setup_py.values import Known, Unknown, Value

METHODS = frozenset({"append", "extend", "update", "insert"})


def change(
    expressions: Expressions,
    node: ast.Call,
    method: str,
    owner: Value,
    given: list[Value],
    rested: Callable[[Value], Value],
) -> Unknown | bool:
    """Do what a call of one of these methods does to its owner.

    Args:
        expressions: tells what a value goes through.
        node: the call.
        method: its name.
        owner: what is changed.
        given: its arguments.
        rested: marks a value as resting on what has been taken for granted so far.

    Returns:
        Whether it was done; where only a part of it is known, what the owner is from now on.
    """
    if not given:
        return False
    if isinstance(owner, Unknown):
        if method == "update":
            return False
        owner.members += [given[-1]] if method in ("append", "insert") else expressions.members(given[0]) or []
        return True
    if not isinstance(owner, Known):
        return False
    if isinstance(owner.value, dict):
        told = given[0].value if isinstance(given[0], Known) else None
        if method != "update" or not isinstance(told, dict):
            return False
        owner.value.update(told)
        return True
    if not isinstance(owner.value, list) or method == "update":
        return False
    if method in ("append", "insert"):
        owner.value.append(rested(given[-1]))
        return True
    members = expressions.members(given[0])
    if members is None:
        return Unknown(node, node.lineno, list(owner.value))
    owner.value.extend(map(rested, members))
    return True
